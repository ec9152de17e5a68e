"""Samples that hardly tell anything: finite numbers, no warning, no exception."""

import numpy as np
import pytest

from fullrank.designs import Adaptive, RankGrid, Uniform
from fullrank.estimators import METHODS, bv, fit_beta, mes, mle, weighted_mle
from fullrank.inference import estimate
from fullrank.samples import RankSample

BASE = {"sample_size": 10, "n_items": 50, "design": Uniform()}
CLIMB = Adaptive(levels=(10, 20, 40))
CASES: dict[str, tuple[list[int], dict]] = {
    "one user": ([3], {}),
    "one user at rank 1": ([1], {}),
    "all at rank 1": ([1] * 100, {}),
    "all at rank n": ([10] * 100, {}),
    "a single outcome": ([4] * 1000, {}),
    "n = 2": ([1, 2, 2], {"sample_size": 2}),
    "n = 1": ([1, 1], {"sample_size": 1}),
    "n = 2 of many": ([1, 1], {"sample_size": 2, "n_items": 100_000}),
    "N = n": ([1, 5, 50, 50], {"sample_size": 50}),
    "N = n = 2": ([1, 2, 2], {"sample_size": 2, "n_items": 2}),
    "N = n = 2, all at rank 1": ([1, 1], {"sample_size": 2, "n_items": 2}),
    "N = 3": ([1, 2], {"sample_size": 2, "n_items": 3}),
    "all at rank 1 of a million": ([1] * 9, {"sample_size": 50, "n_items": 1_000_000}),
    "all at rank n of a million": ([50] * 9, {"sample_size": 50, "n_items": 1_000_000}),
    "adaptive, rank 1 of the last level": ([1] * 50, {"sample_size": 40, "design": CLIMB}),
    "adaptive, last rank of the last level": ([21] * 50, {"sample_size": 40, "design": CLIMB}),
    "adaptive, one user": ([10], {"design": CLIMB}),
    "adaptive, all items": (
        [1] * 50,
        {"sample_size": 50, "design": Adaptive(levels=(10, 20, 50))},
    ),
    "weights of 0": ([1, 7, 3], {"weight": [0.0, 1.0, 0.0]}),
    "catalogues of their own": ([1, 2, 9], {"n_items": [50, 60, 70]}),
    "many catalogues": ([1 + i % 10 for i in range(60)], {"n_items": [50 + i for i in range(60)]}),
}


@pytest.mark.parametrize("replacement", [True, False], ids=["with", "without"])
@pytest.mark.parametrize("case", CASES)
def test_every_method_gives_finite_numbers(case: str, replacement: bool) -> None:
    rank, settings = CASES[case]
    settings = {**BASE, **settings}
    settings["design"] = settings["design"].with_(replacement=replacement)
    sample = RankSample.from_ranks(rank, **settings)
    grid = RankGrid.default(int(sample.pool.max()), tail=32)
    for name in ("auto", *METHODS):
        if name == "exact" and not sample.exhausted:
            continue
        result = estimate(sample, method=name, metrics="recall@1, ndcg@10, auc", grid=grid)
        assert np.isfinite(list(result.values.values())).all(), name
        assert result.distribution is not None
        np.testing.assert_allclose(result.distribution.mass.sum(), 1.0, atol=1e-9, err_msg=name)
        if not METHODS.get(name, METHODS["MLE"]).signed:
            assert (result.distribution.mass >= 0.0).all(), name
        assert str(result)


@pytest.mark.parametrize("case", CASES)
def test_every_form_gives_finite_numbers(case: str) -> None:
    rank, settings = CASES[case]
    sample = RankSample.from_ranks(rank, **{**BASE, **settings})
    for found in (
        mle(sample, tol=1e-6),
        mle(sample, iterations=1),
        weighted_mle(sample, form="literal"),
        weighted_mle(sample, weight="ap"),
        mes(sample, weighting="weighted"),
        mes(sample, eta=1e-7),
        bv(sample, gamma=0.0),
        bv(sample, gamma=1.0),
    ):
        assert np.isfinite(found.mass).all()
        np.testing.assert_allclose(found.mass.sum(), 1.0, atol=1e-9)


@pytest.mark.parametrize("rank", [[1], [2], [1, 2], [2] * 9])
@pytest.mark.parametrize("size", [2, 20_000])
def test_beta_is_fitted_to_anything(rank: list[int], size: int) -> None:
    for ranks in (rank, [size + 1 - r for r in rank]):
        fitted = fit_beta(
            RankSample.from_ranks(
                ranks, sample_size=size, n_items=50_000, design="sampled:replacement=true"
            )
        )
        values = fitted.values()
        assert np.isfinite(values).all()
        assert (np.diff(values) >= 0.0).all()
        np.testing.assert_allclose(values[-1], 50_000, rtol=1e-9)


def test_an_outcome_that_nested_levels_could_hardly_give() -> None:
    """c_j(r) is below any float here; the likelihood does not need it."""
    sample = RankSample.from_ranks(
        [1601], sample_size=3200, n_items=10_000, design="adaptive:levels=1600/3200"
    )
    found = mle(sample)
    assert abs(found.quantile(0.5) - 5000) < 500


@pytest.mark.parametrize(("ranks", "n"), [([1, 2], 2), ([10], 10)])
@pytest.mark.parametrize("n_items", [10**9, 10**12])
def test_a_target_or_two_of_a_huge_catalogue_give_numbers(
    ranks: list[int], n: int, n_items: int
) -> None:
    """Curvatures are singular to rounding here, and outcomes may have next to no probability."""
    sample = RankSample.from_ranks(
        ranks, sample_size=n, n_items=n_items, design="sampled:replacement=true"
    )
    found = estimate(sample, method="smoothed", metrics="recall@10")
    low, high = found.confidence_interval["recall@10"]
    assert 0.0 <= low <= found["recall@10"] <= high <= 1.0
    if max(ranks) > 1:  # one target at the end of its candidates is not at the top of the catalogue
        assert found["recall@10"] < 0.5


def test_the_largest_catalogue() -> None:
    """At N = 2^53, the most that is accepted, N + 1 - N is 0 in double precision."""
    sample = RankSample.from_ranks([1, 2, 5], sample_size=5, n_items=2**53)
    assert 0.0 <= estimate(sample, metrics="recall@10", method="smoothed")["recall@10"] <= 1.0
