"""The public functions, given arguments of which most are right."""

from __future__ import annotations

import functools
import json
import random
from typing import Any

import numpy as np
from harness import folder, target
from mutation import NAMES, anything, spoiled
from scipy.sparse import csr_array

from fullrank import inference, metrics, models, ranking, samples, scorers
from fullrank.data import Interactions, sample_users, simulate
from fullrank.designs import (
    Adaptive,
    Design,
    RankGrid,
    Uniform,
    collapse,
    draw_negatives,
    expected_metric,
    kernel,
    sampled_metric_std,
)
from fullrank.errors import FullrankError
from fullrank.estimators.methods import METHODS
from fullrank.metrics import names as metric_names
from fullrank.samples import RankDistribution, RankSample

_KINDS = tuple(metric_names())


def _bounded(named: dict[str, Any], name: str, most: int, absurd: float = 10**15) -> dict[str, Any]:
    """Work that is only long is no fault: numbers beyond `most` are absurd ones or `most`."""
    value = named.get(name)
    if isinstance(value, int | float) and most < value < absurd:
        named[name] = most
    return named


def _metric(source: random.Random) -> Any:
    kind = source.choice(_KINDS)
    return source.choice((kind, f"{kind}@{source.choice((1, 2, 5, 10, 100, 10**15))}", f"{kind}@3"))


def _ranks(source: random.Random, size: int, high: int) -> Any:
    return np.array([1 + int(min(source.expovariate(4.0 / high), high - 1)) for _ in range(size)])


@target("metrics.parse", share=30)
def parse(source: random.Random) -> Any:
    text: Any = _metric(source)
    for _ in range(source.randrange(4)):
        at = source.randrange(len(text) + 1)
        piece = source.choice(
            ("@", "1", " ", "0", "-", "_", "K", "é", "\n", "\x1b", "٣", ",", "1e3")
        )
        text = text[:at] + piece + text[at + source.randrange(2) :]
    if source.random() < 0.2:
        text = anything(source)
    return [str(one) for one in metrics.parse_all(text)]


@target("metrics.evaluate", share=10)
def evaluate(source: random.Random) -> Any:
    size = source.randrange(1, 8)
    named: dict[str, Any] = {
        "ranks": _ranks(source, size, 50),
        "metrics": _metric(source),
        "n_items": source.choice((50, 50, 10**6, 10**12)),
    }
    if source.random() < 0.4:
        named["user"] = np.array([source.randrange(4) for _ in range(size)])
    if source.random() < 0.3:
        named["weight"] = np.array([source.random() for _ in range(size)])
    return metrics.evaluate(**spoiled(source, named))


def _raw(source: random.Random) -> dict[str, Any]:
    """Arguments of RankSample.from_ranks."""
    size = source.randrange(1, 12)
    n = source.choice((2, 5, 10, 100))
    named: dict[str, Any] = {
        "rank": _ranks(source, size, n),
        "sample_size": n,
        "n_items": source.choice((n, n + 1, 100, 1000, 10**6, 10**9, 10**12)),
    }
    how: dict[str, Any] = {"replacement": source.random() < 0.5}
    if source.random() < 0.2:
        how["levels"] = (n, 2 * n, 4 * n)
        named["sample_size"] = np.where(named["rank"] > 1, n, 4 * n)
    if source.random() < 0.2:
        named["user"] = np.arange(size) if source.random() < 0.5 else [str(i) for i in range(size)]
    if source.random() < 0.2:
        named["weight"] = np.array([source.random() for _ in range(size)])
    if source.random() < 0.1:
        named |= {"n_targets": np.full(size, 2), "offset": np.arange(size) % 2,
                  "user": np.arange(size) // 2}  # fmt: skip
    if source.random() < 0.2:
        how |= {"ties": "best", "pool": source.choice(("all", "unseen"))}
    named["design"] = _design(source, how)
    return named


def _design(source: random.Random, how: dict[str, Any]) -> Any:
    """A design of these settings, as an object or as text."""
    design = Adaptive(**how) if {"levels", "start"} & set(how) else Uniform(**how)
    return source.choice((design, str(design)))


@target("RankSample.from_ranks", share=12)
def from_ranks(source: random.Random) -> Any:
    sample = RankSample.from_ranks(**spoiled(source, _raw(source)))
    both = sample + sample if sample.rows is None or sample.rows.user is None else sample
    naive = None if sample.design.adaptive or sample.several else sample.naive("ndcg@5")
    return str(sample), repr(sample), both.weight, naive, sample.to_arrow().num_rows


@target("RankSample.from_counts", share=8)
def from_counts(source: random.Random) -> Any:
    named = _raw(source)
    for name in ("user", "n_targets", "offset"):
        named.pop(name, None)
    named["count"] = np.array([source.randrange(5) for _ in named["rank"]])
    return str(RankSample.from_counts(**spoiled(source, named)))


@target("a sample written and read", share=4)
def round_trip(source: random.Random) -> Any:
    sample = _sample(source)
    path = folder() / source.choice(("s.parquet", "s.json", "s.csv", "s", "no/s.json", "\x00.json"))
    sample.write(path)
    back = RankSample.read(path)
    assert (back.weight == sample.weight).all()
    return str(back)


def _sample(source: random.Random) -> RankSample:
    """A sound sample of some size and design."""
    n_items = source.choice((2, 5, 30, 200, 5000, 10**6, 10**9))
    ranks = _ranks(source, source.choice((1, 2, 5, 30, 100)), n_items)
    replacement = source.random() < 0.5
    how: dict[str, Any] = {"sample_size": source.choice((2, 3, 10, 40, n_items))}
    if not replacement or n_items > 1000:
        how["sample_size"] = min(how["sample_size"], n_items, 200)
    if source.random() < 0.4 and n_items >= 30:
        how = {"levels": (5, 10, 20, 30)[: source.randrange(1, 5)]}
        if source.random() < 0.3:
            how["refine_rank"] = source.randrange(1, 5)
    design = _design(source, how | {"replacement": replacement})
    sample = samples.simulate(ranks, n_items=n_items, design=design, rng=source.randrange(100))
    if source.random() < 0.2:
        sample = sample.without_rows()
    return sample


@target("simulate", share=6)
def simulated_ranks(source: random.Random) -> Any:
    n_items = source.choice((5, 100, 10**6, 10**9, 10**12))
    named = {
        "true_ranks": _ranks(source, source.randrange(1, 9), min(n_items, 10**6)),
        "n_items": n_items,
        "rng": source.randrange(9),
    }
    how = source.choice(({"sample_size": 5}, {"levels": (2, 4, 5), "refine_rank": 1}))
    named["design"] = _design(source, how | {"replacement": source.random() < 0.5})
    return str(samples.simulate(**spoiled(source, named)))


@target("designs", share=8)
def designs(source: random.Random) -> Any:
    named = {"replacement": True, "levels": [5, 10, 20], "refine_rank": 2, "pool": "all",
             "ties": "best"}  # fmt: skip
    design = Adaptive(**spoiled(source, named))
    assert Design.of(str(design)) == design == Design.from_dict(design.to_dict())
    design.rounds(100)
    rank, size = design.possible(100)
    return str(design), design.probabilities(rank, size, n_items=100, grid=RankGrid.default(100))


@target("kernel and expectations", share=8)
def kernels(source: random.Random) -> Any:
    n_items = source.choice((2, 10, 1000, 10**6, 10**9))
    named: dict[str, Any] = {
        "true_ranks": _ranks(source, source.randrange(1, 6), n_items),
        "n_items": n_items,
    }
    how = {
        "sample_size": source.choice((1, 2, 10, 100)),
        "replacement": source.random() < 0.5,
    }
    which = source.randrange(4)
    if which == 0:
        return kernel(**spoiled(source, named | how))
    named |= {"metric": _metric(source), "design": _design(source, how)}
    if which == 1:
        return expected_metric(**spoiled(source, named))
    if which == 2:
        return sampled_metric_std(**spoiled(source, named))
    return collapse(**spoiled(source, {"metric": _metric(source), "n_items": n_items}))


@target("consistency", share=0.6)
def consistency(source: random.Random) -> Any:
    n_items = source.choice((2, 10, 60, 300))
    named = {
        "metric": _metric(source),
        "first": _ranks(source, 3, n_items),
        "second": _ranks(source, 3, n_items),
        "n_items": n_items,
        "sample_sizes": source.choice((None, [2], [2, 5])),
        "design": _design(source, {"replacement": source.random() < 0.5}),
    }
    found = samples.consistency(**_bounded(spoiled(source, named), "n_items", 1000))
    return str(found), found.expected, found.exact


@target("rank grids", share=8)
def grids(source: random.Random) -> Any:
    which = source.randrange(3)
    if which == 0:
        named: dict[str, Any] = {"n_items": source.choice((1, 100, 10**8, 10**12)), "max_k": 10,
                                 "tail": 20}  # fmt: skip
        grid = RankGrid.default(**spoiled(source, named))
    elif which == 1:
        grid = RankGrid(**spoiled(source, {"edges": np.array([0, 1, 2, 5, 9])}))
    else:
        grid = RankGrid.dense(**spoiled(source, {"n_items": 50}))
    metric = metrics.parse(_metric(source))
    return repr(grid), grid.averages(metric), grid.bin_of([1])


@target("distributions", share=8)
def distributions(source: random.Random) -> Any:
    named: dict[str, Any] = {"ranks": _ranks(source, 5, 50), "n_items": 50}
    if source.random() < 0.4:
        named["weight"] = np.array([source.random() for _ in range(5)])
    found = RankDistribution.from_ranks(**spoiled(source, named))
    asked = spoiled(source, {"ranks": [1, 5], "q": [0.1, 0.9]}, 0.5)
    return (
        str(found),
        found.pmf(asked["ranks"]),
        found.cdf(asked["ranks"]),
        found.quantile(asked["q"]),
    )


_SETTINGS: dict[str, Any] = {"iterations": 3, "tol": 0.01, "gamma": 0.5, "eta": 0.01,
                             "prior": "mle", "penalty": 1.0}  # fmt: skip


def _plain(result: Any) -> Any:
    """What is printed and kept of a result; `to_dict` has no NaN but what it says is unknown."""
    json.dumps(result.to_dict(), allow_nan=False)
    return str(result), repr(result), result.to_markdown(), result.to_latex(), result._repr_html_()


@target("estimate", share=0.5)
def estimate(source: random.Random) -> Any:
    named: dict[str, Any] = {
        "ranks": _sample(source),
        "method": source.choice(("auto", *METHODS)),
        "metrics": [_metric(source), "recall@2"],
        "confidence_level": source.choice((0.95, None, 0.5)),
        "interval_for": source.choice(("population", "users")),
    }
    if source.random() < 0.1:
        named |= {"uncertainty": "bootstrap", "n_resamples": 20, "rng": 0}
    if source.random() < 0.2:
        name = source.choice(list(_SETTINGS))
        named[name] = _SETTINGS[name]
    if source.random() < 0.1:
        named |= {"ranks": [1, 2, 1], "n_items": 50, "design": "sampled:5"}
    found = inference.estimate(**_bounded(spoiled(source, named, 0.5), "n_resamples", 200))
    return dict(found.values), _plain(found)


@target("bounds", share=0.3)
def bounds(source: random.Random) -> Any:
    named = {
        "ranks": _sample(source),
        "metrics": "recall@5",
        "shape": source.choice((None, "decreasing")),
        "interval_for": source.choice(("population", "users")),
        "confidence_level": 0.9,
        "n_events": source.choice((2, 12)),
    }
    found = inference.bounds(**spoiled(source, named, 0.5))
    return _plain(found)


def _results(source: random.Random, kind: int) -> dict[str, Any]:
    """Several models on the same users."""
    names = ["a", "b", "c"][: source.choice((2, 2, 3))]
    if source.random() < 0.3:
        names[0] = source.choice(NAMES)
    size = source.choice((2, 5, 40))
    if kind == 0:
        return {
            name: {"ndcg@10": np.array([source.random() for _ in range(size)])} for name in names
        }
    if kind == 1:
        scores = np.array([[source.random() for _ in range(9)] for _ in range(size)])
        rows = np.arange(size), np.arange(size) % 9
        return {
            name: ranking.rank(np.roll(scores, i, axis=1), rows) for i, name in enumerate(names)
        }
    n_items = source.choice((20, 500))
    return {
        name: samples.simulate(
            _ranks(source, size, n_items), n_items=n_items, design="sampled:10", rng=i,
            user=np.arange(size) if source.random() < 0.9 else None,
        )
        for i, name in enumerate(names)
    }  # fmt: skip


@target("compare", share=0.5)
def compare(source: random.Random) -> Any:
    kind = source.randrange(3)
    named: dict[str, Any] = {
        "ranks": _results(source, kind),
        "metrics": "ndcg@10",
        "test": source.choice(("t", "z", "bootstrap", "randomization", "sign", "wilcoxon")),
        "correction": source.choice(("holm", "bonferroni", "bh", None)),
        "method": source.choice(("auto", "auto", "naive", *METHODS)),
        "paired": source.choice((None, None, True, False)),
        "n_resamples": 50,
        "rng": 0,
    }
    found = inference.compare(**_bounded(_spoiled_results(source, named), "n_resamples", 200))
    return _plain(found)


def _spoiled_results(source: random.Random, named: dict[str, Any]) -> dict[str, Any]:
    if source.random() < 0.3:
        results = dict(named["ranks"])
        name = source.choice(list(results))
        value = results[name]
        results[name] = spoiled(source, value, 1.0) if isinstance(value, dict) else anything(source)
        named = {**named, "ranks": results}
    return spoiled(source, named, 0.4)


@target("plan", share=0.12)
def plan(source: random.Random) -> Any:
    named: dict[str, Any] = {
        "metric": source.choice(("recall@10", "ndcg@5", "ap")),
        "n_items": 2000,
        "n_users": source.choice((2, 100, 10**6)),
        "shape": source.choice((0.3, 0.05, 1.0)),
        "designs": ["sampled:50", "adaptive:levels=10/20/40", "exact"],
        "interval_for": source.choice(("users", "population")),
    }
    named |= source.choice(
        ({"margin": "5%"}, {"margin": 0.01}, {"budget": 1e6}, {"difference": 0.01, "power": 0.8})
    )
    if source.random() < 0.3:
        named["pilot"] = _sample(source)
        named["shape"] = named["n_items"] = None
    return _plain(inference.plan(**spoiled(source, named, 0.6)))


@target("users_needed", share=20)
def users_needed(source: random.Random) -> Any:
    named: dict[str, Any] = {
        "margin": source.choice((0.01, 0.5, 1e-9, 1e-200)),
        "proportion": source.random(),
        "relative": source.random() < 0.5,
        "confidence_level": 0.95,
        "compare": source.random() < 0.5,
        "n_models": source.choice((1, 2, 10, 10**9)),
        "uncertainty": source.choice(("normal", "hoeffding")),
        "population": source.choice((None, 1, 1000)),
    }
    found = inference.users_needed(**spoiled(source, named))
    json.dumps(found.to_dict(), allow_nan=False)
    return str(found), found.exact


@target("proportions and two samples", share=12)
def proportions(source: random.Random) -> Any:
    n = source.choice((1, 2, 100, 10**9))
    hits = source.randrange(n + 1)
    which = source.randrange(5)
    if which < 2:
        function = (inference.wald, inference.wilson)[which]
        found = function(**spoiled(source, {"hits": hits, "n": n, "confidence_level": 0.9}))
        return found.low, found.high
    if which == 2:
        found = inference.hoeffding(**spoiled(source, {"mean": hits / n, "n": n}))
        return found.low, found.high
    if which == 3:
        named = {"first_hits": hits, "first_n": n, "second_hits": 1, "second_n": 3}
        return str(inference.two_proportions(**spoiled(source, named)))
    sides: dict[str, Any] = {"first_mean": 0.5, "first_sd": 0.1, "first_n": n, "second_mean": 0.4,
                             "second_sd": source.choice((0, 0.2)), "second_n": 5}  # fmt: skip
    return str(inference.two_means(**spoiled(source, sides)))


@target("means and paired tests", share=8)
def means(source: random.Random) -> Any:
    size = source.choice((1, 2, 3, 20))
    values = np.array([source.choice((0.0, 1.0, source.random())) for _ in range(size)])
    if source.random() < 0.5:
        named: dict[str, Any] = {"differences": values - 0.5, "n_resamples": 30, "rng": 0}
        tests = ("t", "z", "bootstrap", "randomization", "sign", "wilcoxon")
        named["test"] = source.choice(tests)
        return str(inference.paired_test(**spoiled(source, named)))
    uncertainties = ("t", "normal", "wilson", "hoeffding")
    named = {"values": values, "uncertainty": source.choice(uncertainties),
             "interval_for": source.choice(("users", "population")),
             "population": source.choice((None, 100))}  # fmt: skip
    if source.random() < 0.2:
        named["strata"] = np.arange(size) % 2
    found = inference.mean_interval(**spoiled(source, named))
    return found.value, str(found)


@target("dominance and pseudo-values", share=1)
def dominance(source: random.Random) -> Any:
    if source.random() < 0.6:
        named: dict[str, Any] = {"first": _ranks(source, 9, 50), "second": _ranks(source, 9, 50),
                                 "depth": 10, "rng": 0}  # fmt: skip
        return str(inference.dominance(**spoiled(source, named)))
    named = {"ranks": _sample(source), "metrics": _metric(source)}
    found = inference.pseudo_values(**spoiled(source, named))
    return found.values


# ---- ranking ----


def _scores(source: random.Random, n_users: int, n_items: int) -> Any:
    kind = source.randrange(4)
    random_ = np.random.default_rng(source.randrange(1000))
    if kind == 0:
        scores = random_.normal(size=(n_users, n_items)).round(1)
        return _with_odd(source, scores)
    if kind == 1:
        named = {"user_factors": random_.normal(size=(n_users, 3)),
                 "item_factors": random_.normal(size=(n_items, 3)),
                 "item_bias": source.choice((None, np.arange(float(n_items)))),
                 "similarity": source.choice(("dot", "cosine"))}  # fmt: skip
        if source.random() < 0.3:
            which = source.choice(("user_factors", "item_factors"))
            named[which] = _with_odd(source, named[which])
        return scorers.FactorScorer(**spoiled(source, named, 0.15))
    if kind == 2:
        history = csr_array((random_.random((n_users, n_items)) < 0.3).astype(float))
        weights = random_.normal(size=(n_items, n_items))
        given = {"history": history, "item_item": _with_odd(source, weights)}
        return scorers.ItemItemScorer(**spoiled(source, given, 0.15))
    return lambda users, items=None: np.zeros((len(users), n_items))


def _with_odd(source: random.Random, matrix: Any) -> Any:
    if source.random() < 0.2:
        matrix = matrix.astype(source.choice(("f4", "f8", "f2")))
        at = source.randrange(matrix.shape[0]), source.randrange(matrix.shape[1])
        matrix[at] = source.choice((np.nan, np.inf, -np.inf, 6e4, -0.0))
    return matrix


def _asked(source: random.Random, n_users: int, n_items: int) -> dict[str, Any]:
    size = source.randrange(1, n_users + 1)
    users = np.arange(size)
    named: dict[str, Any] = {
        "scorer": _scores(source, n_users, n_items),
        "targets": (users, np.array([source.randrange(n_items) for _ in users])),
    }
    if source.random() < 0.4:
        rows = np.array([[source.random() < 0.2 for _ in range(n_items)] for _ in range(n_users)])
        named["exclude"] = csr_array(rows.astype(float))
    if source.random() < 0.2:
        named["items"] = np.arange(n_items) if source.random() < 0.5 else np.ones(n_items, bool)
    if source.random() < 0.2:
        named["weight"] = np.array([source.random() for _ in users])
    return named | {"rng": source.randrange(5), "n_jobs": 1}


def _spoiled_ask(source: random.Random, named: dict[str, Any]) -> dict[str, Any]:
    if source.random() < 0.2:
        pair = spoiled(source, dict(zip("ui", named["targets"], strict=True)), 1.0)
        named = {**named, "targets": tuple(pair.values())}
    return spoiled(source, named, 0.4)


@target("rank", share=3)
def rank(source: random.Random) -> Any:
    named = _asked(source, 4, 9) | {
        "ties": source.choice(("mean", "best", "worst", "random")),
        "precision": source.choice(("exact", "fast")),
        "batch_size": source.choice((None, 1, 3)),
    }
    found = ranking.rank(**_spoiled_ask(source, named))
    return found.ranks, str(found), found.metrics("ndcg@3, auc")


@target("sample_ranks", share=3)
def sample_ranks(source: random.Random) -> Any:
    named = _asked(source, 4, 9) | {
        "ties": source.choice(("best", "worst", "random")),
    }
    how: dict[str, Any] = {
        "sample_size": source.choice((2, 5, 9)),
        "replacement": source.random() < 0.5,
        "pool": source.choice(("all", "unseen")),
    }
    if source.random() < 0.2:
        n = named["targets"][0].size
        named["negatives"] = np.array(
            [[source.randrange(-1, 9) for _ in range(3)] for _ in range(n)]
        )
        how["sample_size"] = None
    named["design"] = _design(source, how)
    return str(ranking.sample_ranks(**_spoiled_ask(source, named)))


@target("sample_ranks, adaptive", share=3)
def adaptive_ranks(source: random.Random) -> Any:
    how = {
        "start": source.choice((2, 5)),
        "limit": source.choice((None, 20, 30)),
        "growth": source.choice((2, 1.5, 1.0001)),
        "refine_rank": 1,
        "replacement": source.random() < 0.3,
        "pool": source.choice(("all", "unseen")),
    }
    named = _asked(source, 4, 30) | {"design": Adaptive(**spoiled(source, how))}
    return str(ranking.sample_ranks(**_spoiled_ask(source, named)))


@target("sample_users and draw_negatives", share=6)
def draws(source: random.Random) -> Any:
    if source.random() < 0.5:
        named: dict[str, Any] = {"users": source.choice((6, 100, 10**12)), "size": 3, "rng": 1}
        if source.random() < 0.5:
            named |= {"users": 6, "strata": ["a", "a", "b", "b", "b", "b"],
                      "allocation": source.choice(("proportional", "neyman", {"a": 1, "b": 2})),
                      "spread": source.choice((None, {"a": 1, "b": 2}, [1.0] * 6))}  # fmt: skip
        found = sample_users(**spoiled(source, named))
        return str(found), found.weight
    named = {"targets": (np.array([0, 1]), np.array([5, 3])), "rng": 1,
             "n_items": source.choice((8, 2**31 - 1, 10**12)),
             "design": _design(source, {"sample_size": 4, "replacement": source.random() < 0.5}),
             }  # fmt: skip
    return draw_negatives(**spoiled(source, named)).items


# ---- data and models ----


@functools.cache
def _data() -> list[Interactions]:
    random_ = np.random.default_rng(0)
    users, items = random_.integers(0, 8, 40), random_.integers(0, 6, 40)
    plain = Interactions.from_arrays(users, items, value=np.ones(40), repeats="sum")
    timed = Interactions.from_arrays(users, items, timestamp=np.arange(40), repeats="sum")
    return [plain, timed, Interactions.from_arrays(["a"], ["x"])]


@target("splits and filters", share=8)
def splits(source: random.Random) -> Any:
    data = source.choice(_data())
    kind = source.choice(("leave-one-out", "ratio", "strong"))
    named: dict[str, Any] = {"name": kind, "by": source.choice(("random", "last")), "rng": 3,
                             "valid": source.choice((0, 0.5, 1))}  # fmt: skip
    if kind != "leave-one-out":
        named["test"] = source.choice((0.3, 0.1, 0.999))
    if kind == "ratio":
        named["per"] = source.choice(("user", "all"))
    if kind == "strong":
        named |= {"fold_in": 0.5, "min_interactions": 2, "items": source.choice(("train", "all"))}
    if source.random() < 0.2:
        core = {"items_per_user": 2, "users_per_item": 2, "rounds": source.choice((None, 1))}
        return repr(data.k_core(**spoiled(source, core)))
    return str(data.split(**spoiled(source, named)))


@target("data.simulate", share=2)
def simulated_data(source: random.Random) -> Any:
    named = {"n_users": 5, "n_items": 40, "mean_interactions": 12.0, "n_factors": 3, "rng": 0}
    return repr(simulate(**spoiled(source, named)))


_MODELS: dict[str, dict[str, Any]] = {
    "popularity": {},
    "item-knn": {"n_neighbors": 2},
    "pure-svd": {"n_factors": 2},
    "mf": {"n_factors": 2, "regularization": 1.0},
    "lrr": {"n_factors": 2, "regularization": 1.0},
    "slim": {"l1": 0.1, "l2": 1.0},
    "ease": {"regularization": 5.0},
    "debiased-ease": {"regularization": 5.0, "debiasing": 0.3},
    "dlae": {"dropout": 0.5, "regularization": 1.0},
    "edlae": {"dropout": 0.5, "regularization": 1.0},
    "low-rank-edlae": {"n_factors": 2, "epochs": 1},
    "ials": {"n_factors": 2, "epochs": 1, "regularization": 0.1},
    "debiased-ials": {"n_factors": 2, "epochs": 1},
}


@target("models fitted, saved and loaded", share=1.5)
def fitted(source: random.Random) -> Any:
    name = source.choice(list(_MODELS))
    settings = dict(_MODELS[name])
    if source.random() < 0.3 and name.endswith("ials"):
        settings["rng"] = 3
    try:
        model = models.MODELS[name](**_bounded(spoiled(source, settings, 0.6), "epochs", 2, 2**63))
    except TypeError as error:  # a name that a model does not take is Python's affair
        if "unexpected keyword" in str(error):
            return None
        raise
    data = source.choice(_data())
    model.fit(data)
    path = folder() / "fitted.safetensors"
    model.save(path)
    again = models.load(path)
    rows = ([0], [0])
    ranks = ranking.rank(again, rows).ranks
    if not np.array_equal(ranks, ranking.rank(model, rows).ranks):
        raise FullrankError(
            "a model that was loaded ranks differently\n"
        )  # no sentence: a violation
    return ranks
