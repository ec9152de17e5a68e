import numpy as np
import pytest

from fullrank import metrics
from fullrank.designs import RankGrid
from fullrank.errors import InputError


@pytest.mark.parametrize("n_items", [1, 2, 100, 128, 129, 130, 400, 10_000, 10**8])
def test_default_grid_covers_every_rank_once(n_items: int) -> None:
    grid = RankGrid.default(n_items)
    assert grid.n_items == n_items
    assert grid.edges[0] == 0
    assert grid.widths.min() >= 1
    assert grid.widths.sum() == n_items
    assert grid.n_bins <= 128 + 256 + 1
    assert grid.head >= min(n_items, 128)
    assert grid.widths[-1] == 1


def test_twice_the_largest_cut_off_is_kept_one_by_one() -> None:
    wanted = metrics.parse_all("recall@10, ndcg@500, auc")
    assert RankGrid.for_metrics(10**6, wanted).head >= 1_000
    assert RankGrid.for_metrics(300, metrics.parse_all("recall@5000")).n_bins == 300


def test_bin_of_and_edges_agree() -> None:
    grid = RankGrid(np.array([0, 1, 2, 10, 100]))
    assert grid.bin_of([1, 2, 3, 10, 11, 100]).tolist() == [0, 1, 2, 2, 3, 3]
    assert grid.head == 2


@pytest.mark.parametrize("name", metrics.names())
@pytest.mark.parametrize("k", [1, 7, 150, 30_000, None])
def test_averages_equal_the_mean_over_ranks(name: str, k: int | None) -> None:
    n_items = 200_000
    grid = RankGrid.default(n_items)
    metric = metrics.Metric(name, k)
    dense = metric.weights(np.arange(1, n_items + 1), n_items)
    means = np.add.reduceat(dense, grid.edges[:-1]) / grid.widths
    np.testing.assert_allclose(grid.averages(metric), means, rtol=1e-9, atol=1e-15)


def test_averages_with_other_targets_above() -> None:
    """The grid runs over 1 + z; the rank is 1 + z + offset in a catalogue of |T| - 1 more."""
    grid, n_targets, offset = RankGrid.default(5_000), 4, 2
    rank = np.arange(1, 5_001) + offset
    for text in ("recall@10", "ndcg@10", "ap@10", "hit_rate@10", "auc", "ap"):
        metric = metrics.parse(text)
        dense = metric.gains(rank, 5_003, n_targets=n_targets, offset=offset)
        means = np.add.reduceat(dense, grid.edges[:-1]) / grid.widths
        ours = grid.averages(metric, n_targets=n_targets, offset=offset)
        np.testing.assert_allclose(ours, means, rtol=1e-9, atol=1e-15)


def test_wide_bins_are_integrated() -> None:
    """Beyond a few thousand ranks a bin, against the harmonic numbers and their like."""
    mp = pytest.importorskip("mpmath").mp
    mp.dps = 40
    grid = RankGrid.default(10**8)
    averages = grid.averages(metrics.parse("ap"))
    for b in (300, 350, 383):
        low, high = int(grid.edges[b]), int(grid.edges[b + 1])
        truth = (mp.harmonic(high) - mp.harmonic(low)) / (high - low)
        assert abs(averages[b] / truth - 1) < 1e-11
    assert grid.averages(metrics.parse("recall@1000000")) @ grid.widths == pytest.approx(10**6)


@pytest.mark.parametrize("edges", [[1, 5], [0], [0, 3, 3], [0, 5, 2]])
def test_bad_edges(edges: list[int]) -> None:
    with pytest.raises(InputError, match=r"`edges`.*start at 0\b.*increase"):
        RankGrid(np.array(edges))


def test_bad_sizes() -> None:
    with pytest.raises(InputError, match=r"`n_items`.*\b0\b"):
        RankGrid.default(0)
    with pytest.raises(InputError, match=r"`n_items`.*\b2\.5\b"):
        RankGrid.default(2.5)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"`ranks`.*1 of 2.*ranks\[1\] = 11\b"):
        RankGrid.dense(10).bin_of([3, 11])


def test_edges_cannot_be_changed() -> None:
    grid = RankGrid.default(10)
    with pytest.raises(ValueError, match="read-only"):
        grid.edges[0] = 1
