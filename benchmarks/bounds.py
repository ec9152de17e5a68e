"""Bounds for K = 1..50 of three metrics at n = 1,000, and beside one program over every rank.

N = 16,980 items and 5,551 users (the size of citeulike-a), ranks like a model's. Goals: 150
metrics in under 60 s on two cores; the ends of the dense program over all N ranks within 1e-6.
Also a catalogue of 10^8 items, and the form that is replaced: a dense program for each end.

    python benchmarks/bounds.py [rounds]
"""

from __future__ import annotations

import sys
import time
from functools import partial
from typing import Any

import numpy as np
from _measure import in_turn, peak_megabytes, report
from estimators import ranks_like_a_model
from scipy.optimize import linprog

from fullrank.designs import Adaptive, Design, Uniform
from fullrank.inference.bounding.bounds import bounds
from fullrank.inference.bounding.events import Events
from fullrank.inference.bounding.region import clopper_pearson
from fullrank.metrics import parse, parse_all
from fullrank.samples import RankSample, simulate

ITEMS, USERS, SIZE = 16_980, 5_551, 1_000
LARGE = 10**8
NAMES = [f"{metric}@{k}" for metric in ("recall", "ndcg", "ap") for k in range(1, 51)]
FEW = ["recall@1", "recall@10", "recall@50", "ndcg@10", "ap@50"]
DESIGNS: dict[str, Design] = {
    "fixed 1,000": Uniform(SIZE),
    "adaptive 25 to 2,122": Adaptive(25, limit=2_122),
}


def drawn(n_items: int, design: str | Design) -> RankSample:
    ranks = ranks_like_a_model(n_items, USERS)
    return simulate(ranks, n_items=n_items, design=design, rng=1)


def dense(sample: RankSample, metric: str) -> tuple[float, float]:
    """The two programs over all ranks, given to the solver whole."""
    cuts = [one.k for one in parse_all(FEW) if one.k is not None]
    events = Events.chosen(sample.design, int(sample.sample_size.max()), ITEMS, 12, cuts)
    table = events.probabilities(np.arange(1, ITEMS + 1), ITEMS)
    rows, limits = clopper_pearson(events.counts(sample), USERS, 0.05, table, table)
    gain = parse(metric).weights(np.arange(1, ITEMS + 1), ITEMS)
    ends = []
    for sign in (1.0, -1.0):
        found = linprog(sign * gain, A_ub=rows.T, b_ub=limits, A_eq=np.ones((1, ITEMS)), b_eq=[1.0])
        ends.append(sign * found.fun)
    return ends[0], ends[1]


def all_cut_offs(rounds: int) -> dict[str, Any]:
    samples = {name: drawn(ITEMS, design) for name, design in DESIGNS.items()}
    work = {
        f"{name}, {shape}": partial(bounds, one, NAMES, shape=shape)
        for name, one in samples.items()
        for shape in (None, "decreasing")
    }
    seconds = in_turn(work, rounds)
    setup = (
        "import sys; sys.path.insert(0, 'benchmarks')\n"
        "import bounds as b\n"
        f"sample = b.drawn({ITEMS}, 'sampled:{SIZE}')"
    )
    return {
        "n_items": ITEMS,
        "users": USERS,
        "metrics": len(NAMES),
        "seconds": {name: round(value, 2) for name, value in seconds.items()},
        "peak MB beyond the inputs": peak_megabytes(setup, "b.bounds(sample, b.NAMES)"),
        "goals": {"seconds": 60},
    }


def beside_dense() -> dict[str, Any]:
    sample = drawn(ITEMS, Uniform(SIZE))
    start = time.perf_counter()
    found = bounds(sample, FEW)
    ours = time.perf_counter() - start
    start = time.perf_counter()
    ends = {metric: dense(sample, metric) for metric in FEW}
    theirs = time.perf_counter() - start
    # positive: ours lies outside, as it must
    outside = [
        (low - found[metric].low, found[metric].high - high) for metric, (low, high) in ends.items()
    ]
    return {
        "metrics": len(FEW),
        "seconds": {"ours": round(ours, 2), "all ranks in one program": round(theirs, 2)},
        "all ranks / ours": round(theirs / ours, 1),
        "ours outside by, least and most": [float(np.min(outside)), float(np.max(outside))],
        "goals": {"outside by at most": 1e-6},
    }


def large() -> dict[str, Any]:
    designs = {"fixed 1,000": Uniform(SIZE), "adaptive": Adaptive(25, limit=25 * 2**18)}
    result = {}
    for name, design in designs.items():
        sample = drawn(LARGE, design)
        start = time.perf_counter()
        found = bounds(sample, "recall@50")["recall@50"]
        result[name] = {"seconds": round(time.perf_counter() - start, 2), "recall@50": list(found)}
    return {"n_items": LARGE, **result}


def main(rounds: int = 3) -> None:
    report(
        "bounds",
        {
            "K = 1..50 of three metrics": all_cut_offs(rounds),
            "beside all ranks": beside_dense(),
            "N = 10^8": large(),
        },
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
