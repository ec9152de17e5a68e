"""Kernel columns on the rank grid: flat in the catalogue size, beside SciPy's own functions.

A thousand outcomes of n = 1,000 at N from 10^4 to 10^8, both kernels; goals: under 2 s and
300 MB at N = 10^8, and less than 1.5 times the time of N = 10^4.

    python benchmarks/kernels.py [rounds]
"""

from __future__ import annotations

import sys
from functools import partial

import numpy as np
from _measure import in_turn, peak_megabytes, report
from scipy import special, stats

from fullrank.designs import RankGrid, kernel_averages

N, ITEMS = 1_000, [10**4, 10**5, 10**6, 10**7, 10**8]
FEW = np.unique(np.linspace(1, N, 20).astype(int))  # SciPy's hypergeometric is slow
KERNELS = {"with replacement": True, "without": False}


def columns(outcomes: np.ndarray, n_items: int, replacement: bool) -> np.ndarray:
    grid = RankGrid.default(n_items)
    return kernel_averages(
        outcomes, sample_size=N, n_items=n_items, replacement=replacement, grid=grid
    )


def scipy_hypergeometric(outcomes: np.ndarray, n_items: int) -> np.ndarray:
    """The closed bin averages, one library call for each outcome and edge."""
    edges = RankGrid.default(n_items).edges
    tails = stats.hypergeom.sf(outcomes - 1, n_items, edges[:, None], N)
    return np.asarray(n_items / N * np.diff(tails, axis=0) / np.diff(edges)[:, None])


def scipy_binomial(outcomes: np.ndarray, n_items: int) -> np.ndarray:
    edges = RankGrid.default(n_items).edges
    share = np.clip((edges - 0.5) / (n_items - 1), 0, 1)[:, None]
    tails = special.betainc(outcomes, N - outcomes + 1, share)
    return np.asarray((n_items - 1) / N * np.diff(tails, axis=0) / np.diff(edges)[:, None])


def main(rounds: int = 5) -> None:
    every = np.arange(1, N + 1)
    ours = {
        f"{name}, N = {n_items:.0e}": partial(columns, every, n_items, replacement)
        for n_items in ITEMS
        for name, replacement in KERNELS.items()
    }
    others = {
        "betainc, all outcomes, N = 1e+08": partial(scipy_binomial, every, ITEMS[-1]),
        "hypergeom.sf, 20 outcomes, N = 1e+08": partial(scipy_hypergeometric, FEW, ITEMS[-1]),
        "ours without, 20 outcomes, N = 1e+08": partial(columns, FEW, ITEMS[-1], False),
    }
    seconds = in_turn(ours | others, rounds)
    setup = (
        "import numpy as np\n"
        "from fullrank.designs import RankGrid, kernel_averages\n"
        f"grid = RankGrid.default({ITEMS[-1]})"
    )
    work = (
        f"kernel_averages(np.arange(1, {N + 1}), sample_size={N}, n_items={ITEMS[-1]}, "
        "replacement={0}, grid=grid)"
    )
    result: dict[str, object] = {
        "outcomes": N,
        "rounds": rounds,
        "median_seconds": {name: round(value, 4) for name, value in seconds.items()},
        "time_1e8_over_1e4": {
            name: round(seconds[f"{name}, N = 1e+08"] / seconds[f"{name}, N = 1e+04"], 3)
            for name in KERNELS
        },
        "peak_megabytes_1e8": {
            name: peak_megabytes(setup, work.format(replacement))
            for name, replacement in KERNELS.items()
        },
        "scipy_over_ours": {
            "binomial, all outcomes": round(
                seconds["betainc, all outcomes, N = 1e+08"]
                / seconds["with replacement, N = 1e+08"],
                2,
            ),
            "hypergeometric, 20 outcomes": round(
                seconds["hypergeom.sf, 20 outcomes, N = 1e+08"]
                / seconds["ours without, 20 outcomes, N = 1e+08"],
                2,
            ),
        },
        "goals": {"seconds": 2.0, "megabytes": 300, "time_1e8_over_1e4": 1.5},
    }
    report("kernels", result)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
