"""The demonstration: what sampling does to metrics, on paper and on five trained models.

`run` computes everything; `fullrank demo` only prints it and writes the report.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from itertools import combinations
from types import MappingProxyType
from typing import Any

import numpy as np

from fullrank import metrics
from fullrank._lib import checks
from fullrank._lib.progress import Progress
from fullrank.data import Interactions, Split
from fullrank.data.sets import datasets
from fullrank.designs import Uniform, expected_metric, sampled_metric_std
from fullrank.engines import Engine, Serial
from fullrank.errors import InputError
from fullrank.inference import Estimate, Interval, bounds, estimate
from fullrank.models import MODELS
from fullrank.ranking import rank, sample_ranks
from fullrank.reporting import drawn_metrics
from fullrank.samples import ExactRanks, RankSample
from fullrank.scorers import ScoreArray

# Rendle 2019, section 3.2: true ranks of three models' targets among 10,000 items
RENDLE = {
    "A": (100, 100, 100, 100, 100),
    "B": (40, 40, 8437, 9266, 4482),
    "C": (212, 2, 743, 5342, 1548),
}
RENDLE_ITEMS = 10_000
RENDLE_METRICS = ("auc", "ap", "ndcg", "recall@10")
# chosen on validation items by the study demo_models
SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "popularity": {},
    "item-knn": {"n_neighbors": 200, "weighting": "none", "shrinkage": 0.0},
    "pure-svd": {"n_factors": 64},
    "ease": {"regularization": 200.0},
    "ials": {"n_factors": 128, "regularization": 0.003, "unobserved_weight": 1.0},
}
METRICS = ("recall@10", "ndcg@10")
APPROACHES = ("naive", "corrected", "adaptive")
SAMPLE_SIZE = 100
RENDLE_DESIGN = f"sampled:{SAMPLE_SIZE},replacement=true"  # as in Rendle (2019)
N_DRAWS = 100

Values = dict[str, float]  # by metric


@dataclass(frozen=True, kw_only=True)
class Row:
    """One metric of one model: exact, and as measured among a sample of candidates."""

    model: str
    metric: str
    exact: float
    naive: float
    spread: float | None = None  # of the naive value over repeated draws, where it is known
    corrected: float | None = None  # estimated from the same candidates
    corrected_interval: Interval | None = None
    adaptive: float | None = None  # estimated from an adaptive sample
    adaptive_interval: Interval | None = None
    allowed: Interval | None = None  # the bounds: what the fixed sample does not rule out


@dataclass(frozen=True, kw_only=True)
class Draws:
    """One metric over repeated draws: how often each approach is right, and by how much off.

    Attributes
    ----------
    best : the model with the largest exact value
    winner : approach to the share of draws in which it names that model
    pairs : the two names, the better one first, to the share of draws in which it puts them so
    error : approach to its mean relative error over models and draws
    """

    metric: str
    n_draws: int
    best: str
    winner: Mapping[str, float]
    pairs: Mapping[tuple[str, str], Mapping[str, float]]
    error: Mapping[str, float]

    def ordered(self, approach: str) -> float:
        """The share of pairs, over all draws, that an approach puts in the right order."""
        return float(np.mean([shares[approach] for shares in self.pairs.values()]))

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and names."""
        pairs = [{"better": a, "worse": b, **shares} for (a, b), shares in self.pairs.items()]
        return {
            "metric": self.metric,
            "n_draws": self.n_draws,
            "best": self.best,
            "winner": dict(self.winner),
            "pairs": pairs,
            "error": dict(self.error),
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class Demo:
    """Everything that the demonstration shows."""

    example: tuple[Row, ...]
    data: str
    simulated: bool
    n_users: int
    n_items: int
    sample_size: int
    adaptive_size: float
    models: tuple[Row, ...]
    draws: tuple[Draws, ...]
    seed: int
    estimates: Mapping[str, Estimate] = field(repr=False)
    exact: Mapping[str, ExactRanks] = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, with a format version."""
        return {
            "format": 1,
            "kind": "Demo",
            "example": [asdict(row) for row in self.example],
            "data": self.data,
            "simulated": self.simulated,
            "n_users": self.n_users,
            "n_items": self.n_items,
            "sample_size": self.sample_size,
            "adaptive_size": self.adaptive_size,
            "settings": {name: dict(settings) for name, settings in SETTINGS.items()},
            "models": [asdict(row) for row in self.models],
            "draws": [one.to_dict() for one in self.draws],
            "seed": self.seed,
        }


def run(
    *,
    seed: int = 0,
    n_draws: int = N_DRAWS,
    brief: bool = False,
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> Demo:
    """Rendle's example in expectation, then five models on a real data set (or a simulated one).

    Parameters
    ----------
    seed : of the split and of the draws
    n_draws : how often the samples are drawn
    brief : leave out the bounds and the repeated draws, which take most of the time
    engine : who draws; default: this process
    progress : a function of (done, total)

    Examples
    --------
    >>> demo = run()  # doctest: +SKIP
    """
    seed = checks.integer("seed", seed, low=0)
    n_draws = 0 if brief else checks.integer("n_draws", n_draws, low=1)
    steps = Steps(len(SETTINGS) + n_draws, progress)
    name, interactions = load_interactions()
    split = interactions.split("leave-one-out", by="random", rng=seed)
    bench = {}
    for model in SETTINGS:
        bench[model] = Bench(model, split)
        steps.next()
    fixed = {model: one.fixed(seed) for model, one in bench.items()}
    deeper = {model: one.adaptive(seed) for model, one in bench.items()}
    exact = {model: one.exact for model, one in bench.items()}
    sizes = [sample.average_size for sample in deeper.values()]
    corrected = {
        model: estimate(
            sample,
            metrics=METRICS,
            also=drawn_metrics([sample], METRICS),
            interval_for="users",
        )
        for model, sample in fixed.items()
    }
    return Demo(
        example=tuple(example()),
        data=name,
        simulated=name == "simulated",
        n_users=split.test.n_interactions,
        n_items=interactions.n_items,
        sample_size=SAMPLE_SIZE,
        adaptive_size=sum(sizes) / len(sizes),
        models=tuple(_rows(exact, corrected, deeper, bounded=not brief)),
        draws=(
            ()
            if brief
            else _over_draws(bench, range(seed, seed + n_draws), engine or Serial(), steps)
        ),
        seed=seed,
        estimates=MappingProxyType(corrected),
        exact=MappingProxyType(exact),
    )


def example() -> list[Row]:
    """Rendle's three models, exactly and in expectation among 100 candidates."""
    rows = []
    for model, ranks in RENDLE.items():
        exact = metrics.evaluate(ranks, RENDLE_METRICS, n_items=RENDLE_ITEMS)
        rows += [
            Row(
                model=model,
                metric=name,
                exact=value,
                naive=float(
                    expected_metric(
                        ranks,
                        name,
                        n_items=RENDLE_ITEMS,
                        design=RENDLE_DESIGN,
                    ).mean()
                ),
                spread=sampled_metric_std(ranks, name, n_items=RENDLE_ITEMS, design=RENDLE_DESIGN),
            )
            for name, value in exact.items()
        ]
    return rows


class Steps:
    """The steps of a run, counted for a progress bar."""

    def __init__(self, total: int, progress: Progress | None) -> None:
        self.done, self.total, self.progress = 0, total, progress

    def next(self) -> None:
        """Count one step more."""
        self.done += 1
        if self.progress is not None:
            self.progress(self.done, self.total)


class Bench:
    """A trained model with all its scores in memory, so that drawing again costs little."""

    def __init__(self, model: str, split: Split) -> None:
        scorer = MODELS[model](**SETTINGS[model]).fit(split.train).scorer()
        self.split = split
        self.exact = rank(scorer, split.test, exclude=split.train)
        self.scores = ScoreArray(
            scorer.scores(np.arange(split.train.n_users)),
            user_ids=scorer.user_ids,
            item_ids=scorer.item_ids,
        )

    def fixed(self, seed: int, n_jobs: int | None = None) -> RankSample:
        """Among 100 candidates that the user has not seen, as it is usually done."""
        return sample_ranks(
            self.scores,
            self.split.test,
            exclude=self.split.train,
            design=Uniform(SAMPLE_SIZE, pool="unseen"),
            n_jobs=n_jobs,
            rng=seed,
        )

    def adaptive(self, seed: int, n_jobs: int | None = None) -> RankSample:
        """Among 25, and twice as many while the target is on top."""
        return sample_ranks(
            self.scores,
            self.split.test,
            exclude=self.split.train,
            n_jobs=n_jobs,
            rng=seed,
            design="adaptive",
        )


def _sample_of(found: Estimate) -> RankSample:
    assert isinstance(found.sample, RankSample)
    return found.sample


def _rows(
    exact: Mapping[str, ExactRanks],
    corrected: Mapping[str, Estimate],
    deeper: Mapping[str, RankSample],
    *,
    bounded: bool,
) -> Iterator[Row]:
    found: dict[str, tuple[Values, Estimate, Estimate, Mapping[str, Interval]]] = {
        model: (
            exact[model].metrics(METRICS),
            corrected[model],
            estimate(deeper[model], METRICS, interval_for="users"),
            bounds(_sample_of(corrected[model]), METRICS, interval_for="users").intervals
            if bounded
            else {},
        )
        for model in exact
    }
    for metric in METRICS:
        for model, (true, fixed, adaptive, allowed) in found.items():
            yield Row(
                model=model,
                metric=metric,
                exact=true[metric],
                naive=_sample_of(fixed).naive(metric),
                corrected=fixed[metric],
                corrected_interval=fixed.confidence_interval[metric],
                adaptive=adaptive[metric],
                adaptive_interval=adaptive.confidence_interval[metric],
                allowed=allowed.get(metric),
            )


def _over_draws(
    bench: Mapping[str, Bench], seeds: range, engine: Engine, steps: Steps
) -> tuple[Draws, ...]:
    """Every approach's value of every model, draw by draw, the same candidates for all models."""
    found = np.empty((len(seeds), len(APPROACHES), len(bench), len(METRICS)))
    one_thread = engine.threads == 1
    for place, values in engine.map(_drawn, (list(bench.values()), one_thread), seeds):
        found[place] = values
        steps.next()
    exact = np.array([list(one.exact.metrics(METRICS).values()) for one in bench.values()])
    return tuple(
        _judged(
            metric,
            dict(zip(bench, exact[:, at].tolist(), strict=True)),
            {approach: found[:, s, :, at] for s, approach in enumerate(APPROACHES)},
        )
        for at, metric in enumerate(METRICS)
    )


def _drawn(shared: tuple[list[Bench], bool], seed: int) -> np.ndarray:
    """What the approaches make of one draw: (approaches, models, metrics)."""
    bench, one_thread = shared
    n_jobs = 1 if one_thread else None
    columns = []
    for one in bench:
        fixed, deeper = one.fixed(seed, n_jobs), one.adaptive(seed, n_jobs)
        columns.append(
            [
                [fixed.naive(metric) for metric in METRICS],
                *(
                    list(estimate(sample, metrics=METRICS, confidence_level=None).values.values())
                    for sample in (fixed.without_rows(), deeper.without_rows())
                ),
            ]
        )
    return np.array(columns).transpose(1, 0, 2)


def _judged(metric: str, exact: Mapping[str, float], found: Mapping[str, np.ndarray]) -> Draws:
    """`found` has a row for each draw and a column for each model; equal values count half."""
    names, true = list(exact), np.array(list(exact.values()))
    order = np.argsort(-true, kind="stable")
    best = int(order[0])
    top = {s: values == values.max(axis=1)[:, None] for s, values in found.items()}
    shared = {s: one / one.sum(axis=1)[:, None] for s, one in top.items()}
    return Draws(
        metric=metric,
        n_draws=len(found["naive"]),
        best=names[best],
        winner={s: float(one[:, best].mean()) for s, one in shared.items()},
        pairs={
            (names[a], names[b]): {
                s: float(np.heaviside(values[:, a] - values[:, b], 0.5).mean())
                for s, values in found.items()
            }
            for a, b in combinations(order.tolist(), 2)
        },
        error={s: float((np.abs(values - true) / true).mean()) for s, values in found.items()},
    )


def load_interactions() -> tuple[str, Interactions]:
    """The data set of the source tree; from an installed wheel, which has none, a simulated one."""
    try:
        return "ml-latest-small", datasets.load("ml-latest-small")
    except InputError:
        return "simulated", datasets.load("simulated")
