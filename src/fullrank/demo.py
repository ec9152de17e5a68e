"""The demonstration: what sampling does to metrics, on a worked example and on a real model.

`run` computes everything; `fullrank demo` only prints it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from fullrank import _checks, metrics
from fullrank.data import Interactions, datasets
from fullrank.errors import InputError
from fullrank.inference import estimate
from fullrank.models import EASE, Popularity
from fullrank.ranking import adaptive_ranks, rank, sample_ranks
from fullrank.sampling import expected_metric, sampled_metric_std

# Rendle 2019, section 3.2: true ranks of three models' targets among 10,000 items
RENDLE = {
    "A": (100, 100, 100, 100, 100),
    "B": (40, 40, 8437, 9266, 4482),
    "C": (212, 2, 743, 5342, 1548),
}
RENDLE_ITEMS = 10_000
RENDLE_METRICS = ("auc", "ap", "ndcg", "recall@10")
METRICS = ("recall@10", "ndcg@10", "ap@10", "auc")
SAMPLE_SIZE = 100


@dataclass(frozen=True, kw_only=True)
class Row:
    """One metric of one model: exact, and as measured among a sample of candidates."""

    model: str
    metric: str
    exact: float
    sampled: float
    spread: float | None = None  # of the sampled value over repeated draws, where it is known
    corrected: float | None = None  # estimated from the same candidates
    adaptive: float | None = None  # estimated from an adaptive sample


@dataclass(frozen=True, kw_only=True)
class Demo:
    """Everything that the demonstration shows."""

    example: tuple[Row, ...]
    data: str
    simulated: bool
    n_users: int
    n_items: int
    sample_size: int
    models: tuple[Row, ...]
    adaptive_size: float
    seed: int

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, with a format version."""
        return {"format": 1, **asdict(self)}


def run(*, seed: int = 0) -> Demo:
    """Rendle's example in expectation, then two models on a real data set (or a simulated one).

    Examples
    --------
    >>> demo = run()  # doctest: +SKIP
    """
    seed = _checks.integer("seed", seed, low=0)
    name, interactions = _interactions()
    split = interactions.split("leave-one-out", rng=seed)
    rows: list[Row] = []
    sizes = []
    for label, model in (("popularity", Popularity()), ("EASE", EASE(regularization=200.0))):
        scorer = model.fit(split.train).scorer()
        exact = rank(scorer, split.test, exclude=split.train).metrics(METRICS)
        sample = sample_ranks(
            scorer,
            split.test,
            exclude=split.train,
            sample_size=SAMPLE_SIZE,
            pool="unseen",
            rng=seed,
        )
        adaptive = adaptive_ranks(scorer, split.test, exclude=split.train, rng=seed)
        sizes.append(adaptive.average_size)
        fixed, deeper = (estimate(one, metrics=METRICS) for one in (sample, adaptive))
        rows += [
            Row(
                model=label,
                metric=one,
                exact=value,
                sampled=sample.naive(one),
                corrected=fixed[one],
                adaptive=deeper[one],
            )
            for one, value in exact.items()
        ]
    return Demo(
        example=tuple(example()),
        data=name,
        simulated=name == "simulated",
        n_users=split.test.n_interactions,
        n_items=interactions.n_items,
        sample_size=SAMPLE_SIZE,
        models=tuple(rows),
        adaptive_size=sum(sizes) / len(sizes),
        seed=seed,
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
                sampled=float(expected_metric(name, ranks, SAMPLE_SIZE, RENDLE_ITEMS).mean()),
                spread=sampled_metric_std(name, ranks, SAMPLE_SIZE, RENDLE_ITEMS),
            )
            for name, value in exact.items()
        ]
    return rows


def _interactions() -> tuple[str, Interactions]:
    """The data set of the source tree; from an installed wheel, which has none, a simulated one."""
    try:
        return "ml-latest-small", datasets.load("ml-latest-small")
    except InputError:
        return "simulated", datasets.load("simulated")
