"""Measure the cost of standard errors: influence and bootstrap refits, relative to a single fit.

    python benchmarks/intervals.py [rounds]

One JSON: seconds (medians, taken in turn), ratios to a fit, peak memory, and how both grow with
the number of users and items.
"""

from __future__ import annotations

import sys
from functools import partial

import numpy as np
from _measure import in_turn, peak_megabytes, report

from fullrank.designs import RankGrid, Uniform
from fullrank.estimators.system import observed_system
from fullrank.estimators.uniform.likelihood import STEPS_FIXED, plain
from fullrank.inference import estimate
from fullrank.samples import RankSample, simulate

N_ITEMS, SIZE, REFITS, GOAL = 25_815, 500, 200, 5.0
SETUP = """
import numpy as np
from fullrank.inference import estimate
from fullrank.samples import simulate
rng = np.random.default_rng(0)
ranks = np.minimum(1 + (25_815 * rng.beta(0.3, 2.0, 20_000)).astype(int), 25_815)
sample = simulate(ranks, n_items=25_815, design="sampled:500,replacement=true", rng=0)
estimate(sample, method="MLE")
"""
WORK = 'estimate(sample, method="MLE", uncertainty="bootstrap", n_resamples=200, rng=0)'


def sample_of(n_users: int, n_items: int, size: int = SIZE) -> RankSample:
    rng = np.random.default_rng(0)
    ranks = np.minimum(1 + (n_items * rng.beta(0.3, 2.0, n_users)).astype(int), n_items)
    return simulate(ranks, n_items=n_items, design=Uniform(size, replacement=True), rng=0)


def one_by_one(sample: RankSample) -> None:
    """What refits would cost without their columns side by side: EM on the system alone."""
    system = observed_system(sample, RankGrid.default(N_ITEMS))
    for _ in range(REFITS):
        plain(system, STEPS_FIXED)


def main(rounds: int) -> None:
    sample = sample_of(20_000, N_ITEMS)
    refits = {"method": "MLE", "uncertainty": "bootstrap", "n_resamples": REFITS, "rng": 0}
    times = in_turn(
        {
            "fit": lambda: estimate(sample, method="MLE", confidence_level=None),
            "influence": lambda: estimate(sample, method="MLE"),
            "200 refits side by side": lambda: estimate(sample, **refits),
            "200 fits one by one": partial(one_by_one, sample),
            "smoothed, influence": lambda: estimate(sample, method="smoothed"),
        },
        rounds,
    )
    sizes = ((10_000, N_ITEMS), (1_000_000, N_ITEMS), (10_000, 10_000_000))
    samples = [sample_of(*size) for size in sizes]
    growth = in_turn(
        {
            f"{users:,} users, {items:,} items": partial(estimate, one, **refits)
            for (users, items), one in zip(sizes, samples, strict=True)
        },
        rounds,
    )
    report(
        "intervals",
        {
            "n_items": N_ITEMS,
            "sample_size": SIZE,
            "seconds": {name: round(value, 3) for name, value in times.items()},
            "over_a_fit": {name: round(v / times["fit"], 2) for name, v in times.items()},
            "goal_seconds_200_refits": GOAL,
            "met": times["200 refits side by side"] < GOAL,
            "growth_seconds": {name: round(value, 3) for name, value in growth.items()},
            "peak_megabytes_200_refits": peak_megabytes(SETUP, WORK),
        },
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
