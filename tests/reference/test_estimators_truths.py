"""Samples of every item: what can be known exactly must come out exactly."""

import numpy as np
import pytest

from fullrank import metrics
from fullrank.designs import Adaptive, RankGrid, Uniform
from fullrank.estimators import METHODS, cls, mle
from fullrank.inference import estimate
from fullrank.samples import RankDistribution, RankSample, simulate

METRICS = ("recall@1", "recall@10", "ndcg@10", "ap@10", "rr@5", "precision@20")
EXACT = [name for name, method in METHODS.items() if method.recovers]


@pytest.fixture(scope="module", params=[60, 700, 1500], ids=lambda n: f"{n} items")
def ranks(request: pytest.FixtureRequest) -> tuple[np.ndarray, int]:
    true = np.random.default_rng(3).geometric(0.01, 400)
    return np.minimum(true, request.param), request.param


@pytest.mark.parametrize("name", EXACT)
def test_a_sample_of_every_item_gives_the_exact_distribution(
    ranks: tuple[np.ndarray, int], name: str
) -> None:
    true, n_items = ranks
    sample = simulate(true, n_items=n_items, design=Uniform(n_items))
    grid = RankGrid.default(n_items, tail=32)
    result = estimate(sample, method=name, metrics=METRICS, grid=grid)
    exact = RankDistribution.from_ranks(true, n_items=n_items, grid=grid)
    assert result.distribution is not None
    head = grid.head
    np.testing.assert_allclose(result.distribution.mass[:head], exact.mass[:head], atol=1e-8)
    for metric, value in metrics.evaluate(true, METRICS, n_items=n_items).items():
        np.testing.assert_allclose(result[metric], value, atol=1e-8)
    assert result.recovers_exact


def test_the_converged_mle_of_every_item_is_exact(ranks: tuple[np.ndarray, int]) -> None:
    true, n_items = ranks
    sample = simulate(true, n_items=n_items, design=Uniform(n_items))
    found = mle(sample, tol=1e-9)
    exact = RankDistribution.from_ranks(true, n_items=n_items, grid=found.grid)
    np.testing.assert_allclose(found.mass, exact.mass, atol=1e-9)


def test_ranks_kept_one_by_one_are_exact_beyond_merged_outcomes() -> None:
    """At n = N = 3000 outcomes beyond 512 are merged, unless the grid looks at them."""
    true = np.random.default_rng(0).integers(1, 3001, 2000)
    sample = simulate(true, n_items=3000, design="sampled:3000")
    exact = metrics.evaluate(true, "recall@450", n_items=3000)["recall@450"]
    np.testing.assert_allclose(
        estimate(sample, method="BV", metrics="recall@450")["recall@450"], exact, atol=1e-9
    )


@pytest.mark.parametrize("name", [name for name in METHODS if name not in EXACT])
def test_smoothers_say_that_they_would_not_be_exact(name: str) -> None:
    true = np.repeat([1, 4, 9, 40], [5, 1, 7, 2])
    result = estimate(simulate(true, n_items=60, design="sampled:60"), method=name)
    exact = metrics.evaluate(true, METRICS, n_items=60)
    assert not result.recovers_exact
    says = {
        "smoothed": "Smoothing leaves a bias that more users do not remove; the interval is "
        "widened to allow for it."
    }.get(name, "This estimator stays biased even when every item is sampled.")
    assert says in str(result).splitlines()
    if name != "WMLE":  # exact up to the bins, which this catalogue does not have
        assert abs(result["ndcg@10"] - exact["ndcg@10"]) > 1e-4


def test_those_who_reached_the_end_of_an_adaptive_design_are_known() -> None:
    """Levels up to N, without replacement: of a target at rank 1 of all items R is 1."""
    true = np.repeat([1, 2, 30, 80], 50)
    sample = simulate(true, n_items=80, design="adaptive:levels=10/40/80", rng=0)
    for name in ("MLE", "BV", "MN", "MES", "WMLE"):
        # the outcomes (1, 80) and (2, 80) tell ranks 1 and 2 apart for certain
        found = estimate(sample, method=name, metrics="recall@1")["recall@1"]
        assert abs(found - 0.25) < 0.02, name
    assert estimate(sample).blind_share == 0.0


def _several(seed: int, sizes: tuple[int, ...] = (1, 2, 3, 5)) -> tuple:
    """Users with several targets, their ranks in the whole list, offsets and user weights."""
    rng = np.random.default_rng(seed)
    user = np.repeat(np.arange(60), rng.choice(sizes, 60))
    rank = np.concatenate(
        [
            rng.permutation(50)[: (user == one).sum()] + 1
            if one % 2
            else rng.permutation(12)[: (user == one).sum()] + 1
            for one in range(60)
        ]
    )
    number = np.bincount(user)[user]
    offset = metrics.averages.offsets(rank, user)
    weight = rng.uniform(0.5, 2.0, 60)
    return user, rank, number, offset, weight


SEVERAL = (
    "recall@5", "recall@10", "ndcg@5", "ndcg@10", "ap@10", "ap", "ndcg", "precision@10",
    "hit_rate@5", "rr", "capped_recall@3", "auc", "auc@10",
)  # fmt: skip


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", ["exact", "MLE", "BV", "MN"])
def test_several_targets_of_exhausted_samples(name: str, weighted: bool) -> None:
    """Against brute force over the whole lists, with user weights."""
    user, rank, number, offset, weight = _several(0)
    weights = weight if weighted else np.ones(60)
    sample = RankSample.from_ranks(
        rank - offset,
        sample_size=50 - number + 1,
        n_items=50,
        user=user,
        n_targets=number,
        offset=offset,
        weight=weights[user],
    )
    exact = metrics.evaluate(rank, SEVERAL, n_items=50, user=user, weight=weights)
    found = estimate(sample, method=name, metrics=SEVERAL)
    assert found.distribution is None
    for metric, value in exact.items():
        np.testing.assert_allclose(found[metric], value, atol=1e-8, err_msg=metric)


def test_several_targets_agree_with_one_where_there_is_one() -> None:
    """A user with two targets makes the sample one of several; the others have one each."""
    true = np.minimum(np.random.default_rng(1).geometric(0.05, 500), 200)
    rank = simulate(true, n_items=200, design="sampled:40", rng=2).rows.rank
    one = estimate(rank, method="MLE", n_items=200, design="sampled:40")
    # the extra user weighs nothing
    both = RankSample.from_ranks(
        [*rank, 1, 1],
        sample_size=40,
        n_items=200,
        user=[*range(500), 500, 500],
        n_targets=[1] * 500 + [2, 2],
        offset=[0] * 500 + [0, 1],
        weight=[1.0] * 500 + [0.0, 0.0],
    )
    found = estimate(both, method="MLE")
    for metric, value in one.values.items():
        np.testing.assert_allclose(found[metric], value, rtol=1e-9)


@pytest.mark.parametrize("name", ["MLE", "BV", "MN", "MES", "CLS", "WMLE"])
def test_catalogues_of_the_users_own(name: str) -> None:
    """Seventy catalogues from 900 to 1100 items: as good as one catalogue of 1000."""
    rng = np.random.default_rng(5)
    pool = rng.integers(900, 1101, 4000)
    true = np.minimum(rng.geometric(0.01, 4000), pool)
    sampled = 1 + rng.hypergeometric(true - 1, pool - true, 199)
    own = RankSample.from_ranks(sampled, sample_size=200, n_items=pool)
    exact = metrics.evaluate(true, "recall@50", n_items=1100)["recall@50"]
    found = estimate(own, method=name, metrics="recall@50")["recall@50"]
    common = simulate(true.clip(max=1000), n_items=1000, design="sampled:200", rng=rng)
    same = estimate(common, method=name, metrics="recall@50")["recall@50"]
    assert abs(found - exact) < max(0.02, 1.5 * abs(same - exact))


def test_adaptive_catalogues_of_the_users_own_that_end_before_the_levels() -> None:
    """Users exhausted at sizes of their own stay with users of like catalogues."""
    rng = np.random.default_rng(7)
    pool = rng.integers(60, 125, 2000)
    true = np.minimum(rng.geometric(0.1, 2000), pool)
    parts = [
        (
            simulate(
                true[pool == n],
                n_items=int(n),
                design=Adaptive(levels=[*(size for size in (10, 50, 100) if size < n), n]),
                rng=rng,
            ),
            n,
        )
        for n in np.unique(pool)
    ]
    sample = RankSample.from_ranks(
        np.concatenate([part.rows.rank for part, _ in parts]),
        sample_size=np.concatenate([part.rows.sample_size for part, _ in parts]),
        n_items=np.concatenate([np.full(part.n_targets, n) for part, n in parts]),
        design="adaptive:levels=10/50/100/200",
    )
    assert np.unique(sample.pool).size > 48
    exact = metrics.evaluate(true, "recall@5", n_items=400)["recall@5"]
    for name in ("MLE", "BV", "MN", "MES", "WMLE"):
        found = estimate(sample, method=name, metrics="recall@5")["recall@5"]
        assert abs(found - exact) < 0.03, name


def test_cls_of_a_metric_is_the_sum_of_its_distribution_for_recall() -> None:
    sample = simulate(np.arange(1, 201), n_items=200, design="sampled:20", rng=0)
    grid = RankGrid.default(200)
    found = cls(sample, grid=grid)
    assert isinstance(found, RankDistribution)
    np.testing.assert_allclose(found.metric("recall@10"), cls(sample, "recall@10", grid=grid))
