"""What binning costs: estimates on the default grid against one bin for each rank.

The estimate is EM from the uniform start (100 steps for a fixed design, 50 for an adaptive
one), the smoothest thing that the kernel is used for; metrics at K <= 50 are to differ by
less than 0.1 %.
"""

import numpy as np
import pytest

from fullrank.designs import Adaptive, Design, RankGrid, Uniform
from fullrank.samples import RankDistribution, RankSample, simulate

METRICS = [f"{name}@{k}" for name in ("recall", "ndcg", "ap") for k in (1, 5, 10, 20, 50)]


def em(sample: RankSample, grid: RankGrid, steps: int) -> RankDistribution:
    table = sample.probabilities(grid)
    observed = sample.weight / sample.weight.sum()
    mass = grid.widths / grid.n_items
    for _ in range(steps):
        mass = mass * (table @ (observed / (mass @ table)))
    return RankDistribution(grid=grid, mass=mass / mass.sum())


def like_published(n_items: int, a: float, size: int) -> np.ndarray:
    """Ranks whose cumulative share is (R/N)^a: the beta shape of Li et al. 2020, eq. 16."""
    share = np.random.default_rng(n_items).random(size)
    return np.ceil(n_items * share ** (1 / a)).astype(int).clip(1, n_items)


@pytest.mark.parametrize("replacement", [True, False])
@pytest.mark.parametrize("design", [Uniform(100), Adaptive(levels=(25, 50, 100, 200, 400))])
@pytest.mark.parametrize(("n_items", "a"), [(3_706, 0.35), (9_916, 0.45), (16_980, 0.25)])
def test_default_grid_within_a_thousandth_of_the_dense_one(
    n_items: int, a: float, design: Design, replacement: bool
) -> None:
    ranks = like_published(n_items, a, 6_000)
    design = design.with_(replacement=replacement)
    sample = simulate(ranks, n_items=n_items, design=design, rng=1)
    steps = 50 if sample.design.adaptive else 100
    dense = em(sample, RankGrid.dense(n_items), steps).metrics(METRICS)
    binned = em(sample, RankGrid.default(n_items), steps).metrics(METRICS)
    worst = max(abs(binned[name] / dense[name] - 1) for name in METRICS)
    assert worst < 1e-3
