"""Adaptive sampling on the pinterest part with EASE: size, error and time beside exact ranks.

Counterpart of Table 2 of Li et al. (AAAI 2023): the mean over repeats of the average over
K = 1..50 of |estimate - exact| / exact, the estimate being 50 EM steps from the uniform start
(100 for the fixed sample). FULLRANK_DATA names the folder of pinterest-20-part.parquet.

    python benchmarks/adaptive.py [repeats] [rounds]
"""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from _measure import has_data, in_turn, peak_megabytes, report

from fullrank.data import Split, read_split
from fullrank.designs import Adaptive, RankGrid
from fullrank.metrics import parse
from fullrank.models import EASE
from fullrank.ranking import rank, sample_ranks
from fullrank.samples import RankSample
from fullrank.samples.efficiency import recommend_limit, sampling_efficiency

KS = range(1, 51)
METRICS = ("recall", "ndcg", "ap")
DESIGNS = {  # and the EM steps of the papers
    "fixed 100, with replacement": ("sampled:100,replacement=true", 100),
    "adaptive 100 to 3200, with replacement": ("adaptive:100,limit=3200,replacement=true", 50),
    "adaptive 25 to 3200, without": ("adaptive:25,limit=3200", 50),
    "adaptive, defaults": ("adaptive", 50),
}


def data() -> Split:
    path = Path(os.environ["FULLRANK_DATA"], "pinterest-20-part.parquet")
    return read_split(path, item_ids=np.arange(9_916))


def world() -> tuple[Any, Any]:
    split = data()
    return EASE(regularization=1500).fit(split.train).scorer(), split.test


def expectation_maximisation(sample: RankSample, grid: RankGrid, steps: int) -> np.ndarray:
    """P(R) per bin after plain EM steps from the uniform distribution."""
    kernel = sample.probabilities(grid)
    share = sample.count / sample.count.sum()
    mass = grid.widths / grid.n_items
    for _ in range(steps):
        mass = mass * (kernel @ (share / (mass @ kernel)))
    return mass


def curves(grid: RankGrid) -> dict[str, np.ndarray]:
    """For each metric the gains of the bins at every K."""
    return {m: np.array([grid.averages(parse(f"{m}@{k}")) for k in KS]) for m in METRICS}


def study(scorer: Any, targets: Any, repeats: int) -> dict[str, Any]:
    exact = rank(scorer, targets, ties="random", rng=0).ranks
    grid = RankGrid.default(scorer.n_items)
    gains = curves(grid)
    truth = {
        m: np.array([parse(f"{m}@{k}").weights(exact, scorer.n_items).mean() for k in KS])
        for m in METRICS
    }
    result = {}
    for name, (design, steps) in DESIGNS.items():
        sizes, errors = [], {m: [] for m in METRICS}
        for seed in range(repeats):
            sample = sample_ranks(scorer, targets, design=design, rng=seed)
            mass = expectation_maximisation(sample, grid, steps)
            sizes.append(sample.average_size)
            for m in METRICS:
                errors[m].append(np.mean(np.abs(gains[m] @ mass - truth[m]) / truth[m]))
        result[name] = {
            "average size": round(float(np.mean(sizes)), 1),
            **{f"{m} error %": _spread(errors[m]) for m in METRICS},
        }
    return result


def _spread(values: list[float]) -> str:
    return f"{100 * np.mean(values):.2f} ± {100 * np.std(values, ddof=1):.2f}"


def memory() -> float:
    """Of a matrix of the same size but not fitted: fitting needs more than ranking does."""
    setup = (
        "import sys; sys.path.insert(0, 'benchmarks')\n"
        "import adaptive as b, numpy as np\n"
        "from fullrank.scorers import ItemItemScorer\n"
        "split = b.data()\n"
        "matrix = np.random.default_rng(0).standard_normal((9_916, 9_916), np.float32)\n"
        "scorer = ItemItemScorer(split.train, matrix)\n"
        "one = split.test.select(np.arange(split.test.n_interactions) == 0)\n"
        "b.sample_ranks(scorer, one, design='adaptive:limit=3200', rng=1)"
    )
    work = "b.sample_ranks(scorer, split.test, design='adaptive:limit=3200', rng=1)"
    return peak_megabytes(setup, work)


def main(repeats: int = 10, rounds: int = 5) -> None:
    if not has_data("pinterest-20-part"):
        return
    scorer, targets = world()
    seconds = in_turn(
        {
            "exact": partial(rank, scorer, targets),
            **{
                name: partial(sample_ranks, scorer, targets, design=design, rng=1)
                for name, (design, _) in DESIGNS.items()
            },
        },
        rounds,
    )
    pilot = sample_ranks(scorer, targets, design=Adaptive(limit=scorer.n_items), rng=1)
    curve = sampling_efficiency(pilot)
    report(
        "adaptive ranks, pinterest part, EASE",
        {
            "users": targets.n_interactions,
            "repeats": repeats,
            "training items kept": study(scorer, targets, repeats),
            "seconds": {name: round(value, 3) for name, value in seconds.items()},
            "exact / adaptive": {
                name: round(seconds["exact"] / seconds[name], 2) for name in DESIGNS
            },
            "peak MB beyond the inputs": memory(),
            "cost of each level": dict(
                zip(map(str, curve.level), np.round(curve.cost, 1).tolist(), strict=True)
            ),
            "recommended limit": recommend_limit(pilot),
        },
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
