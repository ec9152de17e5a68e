import json

import numpy as np
import pytest

from fullrank import metrics
from fullrank.designs import RankGrid
from fullrank.errors import InputError
from fullrank.samples import RankDistribution


def ranks_like_a_recommender(n_items: int, size: int = 20_000) -> np.ndarray:
    rng = np.random.default_rng(3)
    return np.ceil(n_items ** rng.beta(1.5, 1.0, size)).astype(int).clip(1, n_items)


def test_metrics_on_single_ranks_are_exact() -> None:
    ranks = ranks_like_a_recommender(20_000)
    distribution = RankDistribution.from_ranks(ranks, n_items=20_000)
    wanted = [f"{name}@{k}" for name in metrics.names() for k in (1, 10, 50, 100)]
    exact = metrics.evaluate(ranks, wanted, n_items=20_000)
    assert distribution.metrics(wanted) == pytest.approx(exact, rel=1e-12)


def test_unbounded_metrics_are_close_on_the_grid_and_exact_on_the_dense_one() -> None:
    ranks = ranks_like_a_recommender(5_000)
    wanted = ["auc", "ndcg", "ap", "rr", "recall", "precision", "recall@1000"]
    exact = metrics.evaluate(ranks, wanted, n_items=5_000)
    dense = RankDistribution.from_ranks(ranks, n_items=5_000, grid=RankGrid.dense(5_000))
    assert dense.metrics(wanted) == pytest.approx(exact, rel=1e-12)
    binned = RankDistribution.from_ranks(ranks, n_items=5_000)
    assert binned.metrics(wanted) == pytest.approx(exact, rel=1e-3)


def test_pmf_cdf_quantile_by_hand() -> None:
    grid = RankGrid(np.array([0, 1, 2, 10]))
    one = RankDistribution(grid=grid, mass=np.array([0.5, 0.1, 0.4]))
    assert one.pmf([1, 2, 3, 10]).tolist() == [0.5, 0.1, 0.05, 0.05]
    np.testing.assert_allclose(one.cdf([1, 2, 3, 10]), [0.5, 0.6, 0.65, 1.0])
    assert one.quantile([0.0, 0.5, 0.51, 0.61, 0.65, 0.66, 1.0]).tolist() == [1, 1, 2, 3, 3, 4, 10]
    assert float(one.cdf(2)) == pytest.approx(0.6)
    assert np.ndim(one.quantile(0.3)) == 0


def test_cdf_is_recall_at_every_rank() -> None:
    ranks = ranks_like_a_recommender(3_000, 500)
    one = RankDistribution.from_ranks(ranks, n_items=3_000)
    for k in (1, 5, 128, 700, 2_999, 3_000):
        assert one.metric(f"recall@{k}") == pytest.approx(float(one.cdf(k)), rel=1e-12)


def test_quantile_inverts_cdf() -> None:
    one = RankDistribution.from_ranks(ranks_like_a_recommender(3_000, 500), n_items=3_000)
    for q in np.linspace(0.01, 1, 50):
        rank = int(one.quantile(q))
        assert float(one.cdf(rank)) >= q - 1e-9
        assert rank == 1 or float(one.cdf(rank - 1)) < q + 1e-9


def test_signed_mass_is_allowed_and_said() -> None:
    grid = RankGrid.dense(3)
    one = RankDistribution(grid=grid, mass=np.array([0.7, -0.1, 0.4]), method="BV")
    assert one.signed
    assert str(one) == "ranks 1..3 (BV, signed): quartiles 1, 1, 3"
    assert not RankDistribution(grid=grid, mass=np.array([0.7, 0.3, 0.0])).signed


def test_round_trip_through_json() -> None:
    one = RankDistribution.from_ranks([1, 5, 900], n_items=1_000)
    back = RankDistribution.from_dict(json.loads(json.dumps(one.to_dict())))
    assert np.array_equal(back.mass, one.mass)
    assert np.array_equal(back.grid.edges, one.grid.edges)
    assert back.method == one.method == "exact"
    table = one.to_arrow()
    assert table["mass"].to_pylist() == one.mass.tolist()


def test_weights_count() -> None:
    one = RankDistribution.from_ranks([1, 2], n_items=10, weight=[3.0, 1.0])
    assert one.metric("recall@1") == 0.75


def test_plot_draws_the_recall_curve() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    one = RankDistribution.from_ranks([1, 5, 900], n_items=1_000)
    axes = one.plot()
    (line,) = axes.get_lines()
    assert line.get_ydata()[-1] == pytest.approx(1.0)
    assert axes.get_xscale() == "log"
    assert one.plot(axes) is axes
    matplotlib.pyplot.close("all")


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (
            lambda: RankDistribution(grid=RankGrid.dense(2), mass=np.array([0.5, 0.4])),
            r"`mass`.*\b1\b.*\b0\.9\b",
        ),
        (
            lambda: RankDistribution(grid=RankGrid.dense(2), mass=np.array([1.0])),
            r"`mass`.*\b2\b.*\b1\b",
        ),
        (
            lambda: RankDistribution(grid=RankGrid.dense(2), mass=np.array([np.nan, 1.0])),
            r"`mass`.*1 of 2.*mass\[0\] = nan\b",
        ),
        (
            lambda: RankDistribution.from_ranks([0], n_items=5),
            r"`ranks`.*1 of 1.*ranks\[0\] = 0\b",
        ),
        (
            lambda: RankDistribution.from_ranks([], n_items=5),
            r"`ranks`.*empty",
        ),
        (
            lambda: RankDistribution.from_ranks([1], n_items=5, grid=RankGrid.dense(4)),
            r"`grid`.*n_items = 5\b.*\b4\b",
        ),
        (
            lambda: RankDistribution.from_ranks([1], n_items=5).quantile(1.5),
            r"`q`.*1 of 1.*q\[0\] = 1\.5\b",
        ),
        (
            lambda: RankDistribution.from_dict({"kind": "RankDistribution", "format": 2}),
            r"`content`.*\b1\b.*\b2\b",
        ),
        (
            lambda: RankDistribution.from_dict({"kind": "RankDistribution", "format": 1}),
            r"`content`.*edges, mass, method are missing",
        ),
        (
            lambda: RankDistribution.from_dict({}),
            r"`content`.*RankDistribution.*to_dict",
        ),
    ],
)
def test_bad_input(make: object, says: str) -> None:
    with pytest.raises(InputError, match=says):
        make()  # type: ignore[operator]
