"""The time of a fit, by what is assumed of the ranks that a sample does not resolve.

    python benchmarks/smoothed.py [rounds]

The fit of "auto", the same with an anchor, and one that assumes a power of the rank (the estimator
before the rank bank) take turns; ratios of medians, for catalogues and numbers of users that grow a
hundredfold.
"""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
from _measure import in_turn, report

from fullrank.estimators import smoothed
from fullrank.estimators.anchors import shape
from fullrank.estimators.system import Prior, observed_system
from fullrank.estimators.uniform.smoothed import best_fit
from fullrank.samples import ExactRanks, RankSample, simulate

ITEMS, USERS = (4_000, 40_000, 400_000), (1_000, 100_000)


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    base, rows = None, []
    for n_items in ITEMS:
        for n_users in USERS:
            sample, other = (_sample(n_items, n_users, seed) for seed in (0, 1))
            exact = ExactRanks.from_ranks(other, n_items=n_items)
            lent = sample_of(sample, n_items).anchored(shape(exact, n_items))
            plain = sample_of(sample, n_items)
            times = in_turn(
                {
                    "power": lambda one=plain: _power(replace(one)),
                    "auto": lambda one=plain: smoothed(replace(one)),  # a copy has no fit yet
                    "anchored": lambda one=lent: smoothed(replace(one)),
                },
                rounds,
            )
            base = base or times["auto"]
            rows.append(
                {
                    "items": n_items,
                    "users": n_users,
                    "auto over a power": round(times["auto"] / times["power"], 2),
                    "anchored over a power": round(times["anchored"] / times["power"], 2),
                    "auto over its first row": round(times["auto"] / base, 2),
                }
            )
    report("fits of the smoothed estimator", {"fits": rows})


def _sample(n_items: int, n_users: int, seed: int) -> np.ndarray:
    drawn = 1 + (5.0 * np.random.default_rng(seed).pareto(0.5, n_users)).astype(np.int64)
    return np.minimum(drawn, n_items)


def sample_of(ranks: np.ndarray, n_items: int) -> RankSample:
    return simulate(ranks, n_items=n_items, design="sampled:100,excluded=true", rng=1)


def _power(sample: RankSample) -> None:
    best_fit(replace(observed_system(sample), prior=Prior()))


if __name__ == "__main__":
    main()
