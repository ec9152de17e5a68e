"""What must hold for every sample, design and metric."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fullrank import metrics
from fullrank.designs import Adaptive, RankGrid, expected_metric, kernel, kernel_averages
from fullrank.samples import RankDistribution, RankSample, simulate

SIZES = st.integers(2, 400).flatmap(
    lambda n_items: st.tuples(st.just(n_items), st.integers(2, n_items))
)
METRICS = st.builds(
    metrics.Metric, st.sampled_from(sorted(metrics.names())), st.none() | st.integers(1, 60)
)


@given(SIZES, st.booleans())
def test_kernel_rows_are_distributions_with_the_right_mean(
    sizes: tuple[int, int], replacement: bool
) -> None:
    n_items, n = sizes
    ranks = np.arange(1, n_items + 1)
    table = kernel(ranks, sample_size=n, n_items=n_items, replacement=replacement)
    assert (table >= 0).all()
    np.testing.assert_allclose(table.sum(axis=1), 1.0, atol=1e-12)
    # E[r - 1] = (n - 1)(R - 1)/(N - 1), with replacement or without
    mean = table @ np.arange(n)
    np.testing.assert_allclose(mean, (n - 1) * (ranks - 1) / (n_items - 1), atol=1e-9)


@given(SIZES, st.booleans(), st.data())
def test_bins_average_their_ranks(
    sizes: tuple[int, int], replacement: bool, data: st.DataObject
) -> None:
    n_items, n = sizes
    cuts = data.draw(st.sets(st.integers(1, n_items - 1)))
    grid = RankGrid(np.array(sorted({0, n_items} | cuts)))
    table = kernel(
        np.arange(1, n_items + 1), sample_size=n, n_items=n_items, replacement=replacement
    )
    means = np.add.reduceat(table, grid.edges[:-1], axis=0) / grid.widths[:, None]
    ours = kernel_averages(
        np.arange(1, n + 1), sample_size=n, n_items=n_items, replacement=replacement, grid=grid
    )
    # the corrected integral with replacement is exact to 1e-9 only while n is well below N
    np.testing.assert_allclose(ours, means, atol=1e-7 if replacement else 1e-12)


@given(st.integers(3, 60), st.booleans(), st.data())
def test_adaptive_outcomes_sum_to_one(n_items: int, replacement: bool, data: st.DataObject) -> None:
    levels = sorted(data.draw(st.sets(st.integers(2, n_items), min_size=1, max_size=5)))
    stop_rank = data.draw(st.integers(1, levels[0] - 1))
    design = Adaptive(replacement=replacement, levels=tuple(levels), refine_rank=stop_rank)
    rank, size = design.possible(n_items)
    table = design.probabilities_at(np.arange(1, n_items + 1), rank, size, n_items=n_items)
    np.testing.assert_allclose(table.sum(axis=1), 1.0, atol=1e-11)


@given(st.lists(st.integers(1, 20), min_size=2, max_size=60), st.randoms(use_true_random=False))
def test_order_and_sharding_change_nothing(ranks: list[int], random) -> None:
    settings = {"sample_size": 20, "n_items": 300}
    whole = RankSample.from_ranks(ranks, **settings)
    cut = len(ranks) // 2
    shuffled = ranks[:]
    random.shuffle(shuffled)
    for other in (
        RankSample.from_ranks(shuffled, **settings),
        RankSample.from_ranks(ranks[cut:], **settings)
        + RankSample.from_ranks(ranks[:cut], **settings),
    ):
        assert other.rank.tolist() == whole.rank.tolist()
        assert other.count.tolist() == whole.count.tolist()


@given(st.lists(st.integers(1, 50), min_size=1, max_size=40), METRICS)
def test_sampling_every_item_is_exact(ranks: list[int], metric: metrics.Metric) -> None:
    sample = simulate(ranks, n_items=50, design="sampled:50")
    exact = metrics.evaluate(ranks, metric, n_items=50)[metric.name]
    np.testing.assert_allclose(sample.naive(metric), exact, atol=1e-12)
    expected = expected_metric(ranks, metric, n_items=50, design="sampled:50").mean()
    np.testing.assert_allclose(expected, exact, atol=1e-12)


@given(st.lists(st.integers(1, 900), min_size=1, max_size=40), METRICS)
def test_a_distribution_gives_the_metric_of_its_ranks(
    ranks: list[int], metric: metrics.Metric
) -> None:
    dense = RankDistribution.from_ranks(ranks, n_items=900, grid=RankGrid.dense(900))
    exact = metrics.evaluate(ranks, metric, n_items=900)[metric.name]
    np.testing.assert_allclose(dense.metric(metric), exact, atol=1e-12)


@given(METRICS, st.integers(1, 50))
def test_a_better_rank_never_lowers_a_metric(metric: metrics.Metric, rank: int) -> None:
    better, worse = metric.weights([rank, rank + 1], 51)
    assert better >= worse
    assert 0.0 <= worse <= 1.0
