"""Sampled ranks of a factor model: beside numpy's gather, and flat in the number of items.

20,000 users, d = 64, n = 100 of 10^4 to 10^6 items; goals at 10^6: three times faster than numpy's
gather and einsum, draws included in both. Sampling waits for memory, so the speed of a bare gather
of the same rows (each read once, nothing kept but a sum) is measured in the same run.

    python benchmarks/ranking_sampled.py [rounds]
"""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

import numba
import numpy as np
from _measure import in_turn, peak_megabytes, report

from fullrank._lib import threads
from fullrank.designs import Uniform
from fullrank.ranking import sample_ranks
from fullrank.scorers import FactorScorer

USERS, D, N = 20_000, 64, 100
ITEMS = [10**4, 10**5, 10**6]


def world(n_items: int) -> tuple[FactorScorer, tuple[np.ndarray, np.ndarray]]:
    random = np.random.default_rng(0)
    users = random.standard_normal((USERS, D), np.float32)
    items = random.standard_normal((n_items, D), np.float32)
    return FactorScorer(users, items), (np.arange(USERS), random.integers(0, n_items, USERS))


def by_numpy(scorer: FactorScorer, targets: Any, block: int) -> np.ndarray:
    """Draw with replacement, gather, multiply, compare; blocks of users keep the copies small."""
    random = np.random.default_rng(1)
    users, items = scorer.user_factors, scorer.item_factors
    ranks = np.empty(USERS, np.int64)
    for start in range(0, USERS, block):
        here = slice(start, start + block)
        drawn = random.integers(0, items.shape[0] - 1, (users[here].shape[0], N - 1))
        drawn += drawn >= targets[1][here, None]  # never the target
        scores = np.einsum("ud,und->un", users[here], items[drawn])
        marks = np.einsum("ud,ud->u", users[here], items[targets[1][here]])
        ranks[here] = 1 + (scores > marks[:, None]).sum(axis=1)
    return ranks


@numba.njit(nogil=True, fastmath=True)
def _sum_rows(items: np.ndarray, drawn: np.ndarray) -> float:
    total = np.float32(0)
    for row in drawn:
        for k in range(items.shape[1]):
            total += items[row, k]
    return total


def bare_gather(scorer: FactorScorer, drawn: np.ndarray) -> None:
    threads.run(lambda part: _sum_rows(scorer.item_factors, part), np.array_split(drawn, 8))


def speed(n_items: int, rounds: int) -> dict[str, Any]:
    scorer, targets = world(n_items)
    drawn = np.random.default_rng(2).integers(0, n_items, USERS * (N - 1))
    sampled = partial(sample_ranks, scorer, targets, rng=1)
    repeating = partial(sampled, design=Uniform(N, replacement=True))
    work = {
        "fullrank, with replacement": repeating,
        "fullrank, without": partial(sampled, design=Uniform(N)),
        "fullrank, with replacement, one thread": partial(repeating, n_jobs=1),
        "numpy gather + einsum": partial(by_numpy, scorer, targets, USERS),
        "numpy gather + einsum, blocks of 256": partial(by_numpy, scorer, targets, 256),
        "bare gather": partial(bare_gather, scorer, drawn),
    }
    seconds = in_turn(work, rounds)
    own = seconds["fullrank, with replacement"]
    gigabytes = drawn.size * D * 4 / 1e9
    return {
        "seconds": {name: round(value, 4) for name, value in seconds.items()},
        "times faster than numpy": round(seconds["numpy gather + einsum"] / own, 2),
        "times faster than numpy in blocks": round(
            seconds["numpy gather + einsum, blocks of 256"] / own, 2
        ),
        "gather, GB/s": round(gigabytes / seconds["bare gather"], 2),
        "reached, GB/s": round(gigabytes / own, 2),
        "share of the bare gather": round(seconds["bare gather"] / own, 2),
    }


def memory(n_items: int) -> float:
    setup = (
        "import sys; sys.path.insert(0, 'benchmarks')\n"
        "import ranking_sampled as b\n"
        f"scorer, targets = b.world({n_items})\n"
        "b.sample_ranks(scorer, (targets[0][:100], targets[1][:100]), rng=1)"
    )
    return peak_megabytes(setup, "b.sample_ranks(scorer, targets, rng=1)")


def main(rounds: int = 7) -> None:
    result: dict[str, Any] = {"users": USERS, "d": D, "sample size": N}
    for n_items in ITEMS:
        result[f"{n_items:,} items"] = speed(n_items, rounds)
    result["peak MB beyond the inputs, 1,000,000 items"] = memory(10**6)
    report("sampled ranks", result)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
