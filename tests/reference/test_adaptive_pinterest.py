"""Adaptive sampling on the pinterest part with EASE: size and error of Li et al. (AAAI 2023).

The paper has an average size of 307.7 for 100 to 3200 on all 55,187 users. The figures compared
with were measured independently on the part of 37,501 users, training items kept: 299 and an error
of Recall@1..50 of 1.98 ± 0.74 % for 100 to 3200 with replacement, 251 and 1.97 ± 0.56 % for 25 to
3200 without (50 EM steps from the uniform start).
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullrank.data import Interactions, read_split
from fullrank.designs import Adaptive, RankGrid
from fullrank.metrics import parse
from fullrank.models import EASE
from fullrank.ranking import rank, sample_ranks
from fullrank.samples import RankSample
from fullrank.samples.efficiency import recommend_limit, sampling_efficiency

pytestmark = [pytest.mark.slow, pytest.mark.verify]

N_ITEMS, REPEATS = 9_916, 6
World = tuple[Any, Interactions, np.ndarray]


@pytest.fixture(scope="module")
def world(data_file: Callable[[str], Path]) -> World:
    split = read_split(data_file("pinterest-20-part.parquet"), item_ids=np.arange(N_ITEMS))
    scorer = EASE(regularization=1500).fit(split.train).scorer()
    return scorer, split.test, rank(scorer, split.test, ties="random", rng=0).ranks


def recall_error(sample: RankSample, exact: np.ndarray) -> float:
    """Average over K = 1..50 of |estimate - exact| / exact after 50 EM steps."""
    grid = RankGrid.default(N_ITEMS)
    kernel = sample.probabilities(grid)
    share = sample.count / sample.count.sum()
    mass = grid.widths / N_ITEMS
    for _ in range(50):
        mass = mass * (kernel @ (share / (mass @ kernel)))
    truth = np.array([np.mean(exact <= k) for k in range(1, 51)])
    estimate = np.array([grid.averages(parse(f"recall@{k}")) @ mass for k in range(1, 51)])
    return float(np.mean(np.abs(estimate - truth) / truth))


@pytest.mark.parametrize(
    ("design", "size", "error"),
    [
        ("adaptive:100,limit=3200,replacement=true", 299, (1.98, 0.74)),
        ("adaptive:25,limit=3200", 251, (1.97, 0.56)),
    ],
)
def test_size_and_error(world: World, design: str, size: float, error: tuple[float, float]) -> None:
    scorer, targets, exact = world
    samples = [sample_ranks(scorer, targets, design=design, rng=seed) for seed in range(REPEATS)]
    assert np.mean([s.average_size for s in samples]) == pytest.approx(size, rel=0.015)
    errors = 100 * np.array([recall_error(s, exact) for s in samples])
    # the mean of six repeats, within three of its standard errors
    assert abs(errors.mean() - error[0]) < 3 * error[1] / np.sqrt(REPEATS)


def test_who_reaches_the_end_has_the_exact_rank(world: World) -> None:
    scorer, targets, exact = world
    sample = sample_ranks(scorer, targets, design=Adaptive(limit=N_ITEMS), rng=0)
    full = sample.rows.sample_size == N_ITEMS
    assert 200 < full.sum() < 1000
    np.testing.assert_array_equal(sample.rows.rank[full], exact[full])
    assert (exact[~full] > 1).all()  # who stopped before has an item above
    cost = sampling_efficiency(sample).cost
    assert (np.diff(cost) > 0).all()  # Figure 2: ever dearer
    assert 0.08 <= recommend_limit(sample) / N_ITEMS <= 0.17  # the paper: 10 to 15 %
