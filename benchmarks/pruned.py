"""Exact ranks of factor models beside the bare product, in full and up to rank 20.

Goals, on two cores, with trained factors of gowalla (iALS and BPR, 64 and 128 factors), training
items excluded, over the product of users and items in float32:

- one target per user: full ranks at most 0.30, `max_rank=20` at most 0.04;
- all targets, seven per user: at most 0.7 and 0.1;
- normalised factors, where no item is too short for any user: at most 0.7 and 0.4;
- random factors: at most 1.18.

Everything takes turns. A ratio is the median over the rounds of a time over that of the product of
the same round; "processor" is the same of the seconds that processors were busy, which other work
on the machine disturbs less. "float32" is the filter by float32 products alone. `scored` is the
mean share of the catalogue whose scores were computed at least in part.

    FULLRANK_DATA=folder python benchmarks/pruned.py [rounds] [model …]
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from _measure import has_data, peak_megabytes, report
from ranking_exact import bare_product, read

from fullrank.data import Interactions
from fullrank.models import IALS, EmbeddingMF
from fullrank.ranking.cpu.factors import exact_factors
from fullrank.ranking.job import Job
from fullrank.ranking.request import make_request
from fullrank.scorers import FactorScorer

MODELS: dict[str, Callable[[Interactions], Any]] = {
    "iALS, 64": lambda train: IALS(n_factors=64, epochs=8).fit(train),
    "iALS, 128": lambda train: IALS(n_factors=128, epochs=8).fit(train),
    "BPR, 64": lambda train: EmbeddingMF(n_factors=64, loss="bpr", epochs=6).fit(train),
    "BPR, 128": lambda train: EmbeddingMF(n_factors=128, loss="bpr", epochs=6).fit(train),
}
GOALS = {
    "one target": 0.30, "one target, max_rank=20": 0.04, "all targets": 0.7,
    "all targets, max_rank=20": 0.1, "normalised": 0.7, "normalised, max_rank=20": 0.4,
    "random": 1.18,
}  # fmt: skip


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    result: dict[str, Any] = {"rounds": rounds, "goals": GOALS}
    wanted = sys.argv[2:] or [*MODELS, "random", "memory"]
    if has_data("gowalla"):
        train, test = read("gowalla")
        for name in wanted:
            if name in MODELS:
                result[name] = trained(MODELS[name](train).scorer(), train, test, rounds)
    if "random" in wanted:
        result["random"] = random_factors(rounds)
    if "memory" in wanted:
        result["memory"] = memory()
    report("pruned exact ranks", result)


def trained(
    scorer: FactorScorer, train: Interactions, test: Interactions, rounds: int
) -> dict[str, Any]:
    at = test.pairs()
    shuffle = np.random.default_rng(0).permutation(at[0].size)
    first = shuffle[np.unique(at[0][shuffle], return_index=True)[1]]
    one = at[0][first], at[1][first]
    factors = np.asarray(scorer.user_factors), np.asarray(scorer.item_factors)
    plain, cosine = FactorScorer(*factors), FactorScorer(*factors, similarity="cosine")
    seen = train.matrix()
    users = np.ascontiguousarray(factors[0][np.unique(at[0])])
    works: dict[str, Callable[[], Any]] = {}
    for name, model, targets in (
        ("one target", plain, one), ("all targets", plain, at), ("normalised", cosine, one)
    ):  # fmt: skip
        works[name] = count(model, targets, seen)
        works[f"{name}, max_rank=20"] = count(model, targets, seen, max_rank=20)
        works[f"{name}, float32"] = count(model, targets, seen, filter_="singles")
    return ratios(lambda: bare_product(users, factors[1], 512, 512), works, rounds)


def random_factors(rounds: int) -> dict[str, Any]:
    random = np.random.default_rng(0)
    users, items = (random.standard_normal((n, 64), np.float32) for n in (4096, 100_000))
    at = np.arange(4096), random.integers(0, 100_000, 4096)
    scorer = FactorScorer(users, items)
    works = {
        "random": count(scorer, at, None),
        "random, float32": count(scorer, at, None, filter_="singles"),
    }
    return ratios(lambda: bare_product(users, items, 512, 512), works, rounds)


def count(
    scorer: FactorScorer,
    targets: Any,
    seen: Any,
    max_rank: int | None = None,
    filter_: str | None = None,
) -> Callable[[], float]:
    """Everything between the arguments and the counts; gives the share that was scored."""

    def work() -> float:
        asked = make_request(scorer, targets, exclude=seen, items=None)
        job = Job(
            scorer=asked.scorer, targets=asked.targets, catalogue=None, exclusion=asked.exclusion,
            random=False, key=0, fast=False, n_jobs=None, batch_size=None, progress=None,
            max_rank=max_rank, policy="mean",
        )  # fmt: skip
        with filtered_by(filter_):
            counts = exact_factors.count_factors(job, scorer)
        assert counts is not None
        return float(counts.scored[asked.targets.starts[:-1]].mean() / scorer.n_items)

    return work


@contextmanager
def filtered_by(name: str | None) -> Iterator[None]:
    chosen, exact_factors.FILTER = exact_factors.FILTER, name
    try:
        yield
    finally:
        exact_factors.FILTER = chosen


def ratios(
    bare: Callable[[], None], works: dict[str, Callable[[], float]], rounds: int
) -> dict[str, Any]:
    bare()
    scored = {name: work() for name, work in works.items()}  # compiles, and fills caches
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in works}
    seconds = []
    for _ in range(rounds):
        product = timed(bare)
        seconds.append(product[0])
        for name, work in works.items():
            wall, busy = timed(work)
            times[name].append((wall / product[0], busy / product[1]))
    result: dict[str, Any] = {"product, seconds": round(statistics.median(seconds), 3)}
    for name, pairs in times.items():
        wall, busy = (statistics.median(column) for column in zip(*pairs, strict=True))
        result[name] = {
            "over the product": round(wall, 3),
            "processor": round(busy, 3),
            "scored": round(scored[name], 4),
        }
    return result


def timed(work: Callable[[], Any]) -> tuple[float, float]:
    start, busy = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - start, time.process_time() - busy


def memory() -> dict[str, float]:
    setup = """
import numpy as np
from fullrank.scorers import FactorScorer
from fullrank.ranking import rank
random = np.random.default_rng(0)
users = random.standard_normal((4096, 64), np.float32)
items = random.standard_normal(({n_items}, 64), np.float32)
items *= np.exp(random.standard_normal(({n_items}, 1), np.float32))
scorer = FactorScorer(users, items)
rank(FactorScorer(users[:10], items[:1000]), ([0], [0]))
at = np.arange({n_users}), random.integers(0, {n_items}, {n_users})
"""
    return {
        f"{n_items:,} items, MB beyond the inputs": peak_megabytes(
            setup.format(n_items=n_items, n_users=n_users), "rank(scorer, at)"
        )
        for n_items, n_users in ((100_000, 4096), (1_000_000, 1024))
    }


if __name__ == "__main__":
    main()
