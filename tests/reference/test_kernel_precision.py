"""Kernels against SciPy where it is exact, and against 50 digits where N is huge."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from fullrank.designs import Adaptive, RankGrid, Uniform, kernel, kernel_averages

HUGE = 10**8


@pytest.mark.parametrize("n_items", [2, 3, 10, 257, 3_000])
@pytest.mark.parametrize("share", [0.0, 0.03, 0.5, 1.0])
def test_one_bin_per_rank_equals_scipy(n_items: int, share: float) -> None:
    n = max(2, round(share * n_items))
    outcomes, grid = np.arange(1, n + 1), RankGrid.dense(n_items)
    above = np.arange(0, n_items, max(1, n_items // 300))[:, None]  # SciPy is slow
    binomial = stats.binom.pmf(outcomes - 1, n - 1, above / (n_items - 1))
    hypergeometric = stats.hypergeom.pmf(outcomes - 1, n_items - 1, above, n - 1)
    for replacement, truth in ((True, binomial), (False, hypergeometric)):
        ours = kernel_averages(
            outcomes, sample_size=n, n_items=n_items, replacement=replacement, grid=grid
        )
        np.testing.assert_allclose(ours[above.ravel()], truth, rtol=0, atol=1e-12)


def exact_pmf(mp, n_items, rank, n, r, replacement):
    if replacement:
        p = mp.mpf(rank - 1) / (n_items - 1)
        return mp.binomial(n - 1, r - 1) * p ** (r - 1) * (1 - p) ** (n - r)
    top = mp.binomial(rank - 1, r - 1) * mp.binomial(n_items - rank, n - r)
    return top / mp.binomial(n_items - 1, n - 1)


@pytest.mark.parametrize("replacement", [True, False])
def test_kernel_in_a_huge_catalogue(replacement: bool) -> None:
    mp = pytest.importorskip("mpmath").mp
    mp.dps = 50
    checked = 0
    for n in (2, 100, 1_000):
        ranks = np.array([1, 2, 100, 12_345, 10**6, 3 * 10**7, HUGE - 5, HUGE])
        outcomes = np.unique(np.linspace(1, n, 12).astype(int))
        ours = kernel(ranks, outcomes, sample_size=n, n_items=HUGE, replacement=replacement)
        for i, rank in enumerate(ranks.tolist()):
            for j, r in enumerate(outcomes.tolist()):
                truth = exact_pmf(mp, HUGE, rank, n, r, replacement)
                if truth > mp.mpf(10) ** -290:  # far tails come out as 0
                    assert abs(ours[i, j] / truth - 1) < 1e-9, (n, rank, r)
                    checked += 1
                else:
                    assert ours[i, j] < 1e-289
    assert checked > 60


@pytest.mark.parametrize("replacement", [True, False])
def test_bin_averages_in_a_huge_catalogue(replacement: bool) -> None:
    """Against sums over every rank, for bins where 50-digit sums are affordable."""
    mp = pytest.importorskip("mpmath").mp
    mp.dps = 50
    edges = [0, 1, 120, 127, 700, 764, 5_000, 5_080, 10**6, 10**6 + 70, HUGE - 90, HUGE - 1, HUGE]
    grid = RankGrid(np.array(edges))
    checked = 0
    for n in (100, 1_000):
        outcomes = np.array([1, 2, 12, 40, n - 40, n - 1, n])
        ours = kernel_averages(
            outcomes, sample_size=n, n_items=HUGE, replacement=replacement, grid=grid
        )
        for b, (low, high) in enumerate(pairwise(edges)):
            if high - low > 150:
                continue
            for j, r in enumerate(outcomes.tolist()):
                ranks = range(low + 1, high + 1)
                truth = mp.fsum(exact_pmf(mp, HUGE, R, n, r, replacement) for R in ranks)
                truth /= high - low
                if truth > mp.mpf(10) ** -290:
                    assert abs(ours[b, j] / truth - 1) < 1e-9, (n, low, high, r)
                    checked += 1
    assert checked > 40


def counts_below(mp, n, r, odds):
    """P(Y < r) from P(0) = odds(0) and the ratios P(y + 1)/P(y) = odds(y + 1)."""
    term, total = odds(0), mp.mpf(0)
    for y in range(r):
        total += term
        term *= odds(y + 1)
    return total


@pytest.mark.parametrize("replacement", [True, False])
def test_wide_bins_in_a_huge_catalogue(replacement: bool) -> None:
    """Against differences of tails in 400 digits, of which 300 may cancel."""
    mp = pytest.importorskip("mpmath").mp
    mp.dps = 400
    n, grid = 1_000, RankGrid.default(HUGE)
    outcomes = np.array([1, 2, 10, 100, 500, 990, 1_000])
    ours = kernel_averages(
        outcomes, sample_size=n, n_items=HUGE, replacement=replacement, grid=grid
    )
    scale = mp.mpf(HUGE - 1)

    def hypergeometric(c):
        def odds(y):
            if y == 0:
                return mp.fprod(mp.mpf(HUGE - c - i) / (HUGE - i) for i in range(n))
            return mp.mpf(c - y + 1) * (n - y + 1) / (y * mp.mpf(HUGE - c - n + y))

        return odds

    def binomial(c):
        p = (mp.mpf(c) - 0.5) / scale
        return lambda y: (1 - p) ** n if y == 0 else p / (1 - p) * (n - y + 1) / y

    def slope(c, r):
        t = mp.mpf(c) - 0.5
        p = t / scale
        value = mp.binomial(n - 1, r - 1) * p ** (r - 1) * (1 - p) ** (n - r)
        return value * ((r - 1) / t - (n - r) / (scale - t))

    checked = 0
    for b in (160, 200, 250, 300, 320, 340, 370):
        low, high = int(grid.edges[b]), int(grid.edges[b + 1])
        for j, r in enumerate(outcomes.tolist()):
            law = binomial if replacement else hypergeometric
            truth = counts_below(mp, n, r, law(low)) - counts_below(mp, n, r, law(high))
            truth *= scale / n if replacement else mp.mpf(HUGE) / n
            if replacement:
                truth -= (slope(high, r) - slope(low, r)) / 24
            truth /= high - low
            if truth > mp.mpf(10) ** -250:
                assert abs(ours[b, j] / truth - 1) < 1e-9, (b, r)
                checked += 1
            else:
                assert ours[b, j] < 1e-249
    assert checked > 15


def test_averages_over_bins_equal_means_over_ranks() -> None:
    grid = RankGrid(np.array([0, 1, 2, 10, 90, 400, 1_200, 1_999, 2_000]))
    for replacement in (True, False):
        for n in (2, 50, 400):
            outcomes = np.arange(1, n + 1)
            dense = kernel(
                np.arange(1, 2_001), sample_size=n, n_items=2_000, replacement=replacement
            )
            means = np.add.reduceat(dense, grid.edges[:-1], axis=0) / grid.widths[:, None]
            ours = kernel_averages(
                outcomes, sample_size=n, n_items=2_000, replacement=replacement, grid=grid
            )
            np.testing.assert_allclose(ours, means, rtol=0, atol=2e-11)


def test_a_grid_beyond_the_catalogue_counts_missing_ranks_as_nothing() -> None:
    grid = RankGrid(np.array([0, 1, 10, 60, 100]))
    for replacement in (True, False):
        dense = kernel(np.arange(1, 51), sample_size=5, n_items=50, replacement=replacement)
        ours = kernel_averages(
            np.arange(1, 6), sample_size=5, n_items=50, replacement=replacement, grid=grid
        )
        padded = np.vstack([dense, np.zeros((50, 5))])
        means = np.add.reduceat(padded, grid.edges[:-1], axis=0) / grid.widths[:, None]
        np.testing.assert_allclose(ours, means, atol=1e-13)


def test_large_samples_are_windowed_around_their_mode() -> None:
    """n = 10^6 of N = 10^8: only what is not zero is followed."""
    ranks, n = np.array([1, 1_000, 10**6, 5 * 10**7]), 10**6
    outcomes = np.array([1, 9, 10_000, 10_001, 500_000, 500_200])
    ours = kernel(ranks, outcomes, sample_size=n, n_items=HUGE, replacement=True)
    truth = stats.binom.pmf(outcomes - 1, n - 1, (ranks[:, None] - 1) / (HUGE - 1))
    np.testing.assert_allclose(ours, truth, rtol=1e-9, atol=1e-300)


def test_probabilities_of_a_design_sum_to_one_on_the_grid() -> None:
    grid = RankGrid.default(50_000)
    for design, size in (
        (Uniform(replacement=True), 100),
        (Uniform(replacement=False), 100),
        (Adaptive(replacement=True, levels=(25, 50, 100, 200)), None),
        (Adaptive(replacement=False, levels=(25, 50, 100, 200), refine_rank=3), None),
    ):
        rank, sample_size = design.possible(50_000, size)
        table = design.probabilities(rank, sample_size, n_items=50_000, grid=grid)
        np.testing.assert_allclose(table.sum(axis=1), 1.0, atol=1e-11)
