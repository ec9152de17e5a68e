"""Estimators of one's own: a function is enough, and the bootstrap stands in for derivatives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import fullrank as fr
from fullrank import estimators
from fullrank.designs import RankGrid
from fullrank.errors import InputError
from fullrank.estimators import METHODS, mle
from fullrank.estimators.methods import choose
from fullrank.estimators.numerical import numerical_sensitivity
from fullrank.samples import RankDistribution, RankSample, simulate

RANKS = np.minimum(np.random.default_rng(0).geometric(0.02, 600), 300)
USERS = np.arange(600)


def sampled(ranks: Any, rng: int = 0) -> RankSample:
    drawn = simulate(ranks, n_items=300, design="sampled:40", rng=rng)
    assert drawn.rows is not None
    return RankSample.from_ranks(
        drawn.rows.rank, n_items=300, sample_size=40, design=drawn.design, user=USERS
    )


SAMPLE = sampled(RANKS)
OTHER = sampled(np.minimum(1 + RANKS * 2 // 3, 300), rng=1)


def em(sample: RankSample, grid: RankGrid, iterations: int = 100) -> RankDistribution:
    """The library's own MLE, without its derivative."""
    return mle(sample, grid=grid, iterations=iterations)


@pytest.fixture
def registered() -> Iterator[None]:
    estimators.register("my_em", em)
    yield
    estimators.unregister("my_em")


def test_a_function_is_an_estimator() -> None:
    found = fr.estimate(SAMPLE, method=em, metrics="recall@20", rng=0)
    known = fr.estimate(SAMPLE, method="MLE", metrics="recall@20")
    assert found["recall@20"] == known["recall@20"]
    assert found.procedure == "bootstrap"
    assert found.standard_error["recall@20"] == pytest.approx(
        known.standard_error["recall@20"], rel=0.15
    )


def test_settings_are_passed_on_and_others_refused() -> None:
    few = fr.estimate(SAMPLE, method=em, iterations=3, metrics="recall@20", rng=0)
    known = fr.estimate(SAMPLE, method="MLE", iterations=3, metrics="recall@20")
    assert few["recall@20"] == known["recall@20"]
    with pytest.raises(InputError, match=r"`steps`.*em; it takes iterations"):
        fr.estimate(SAMPLE, method=em, steps=3)


def test_a_function_of_the_library_keeps_its_derivative() -> None:
    found = fr.estimate(SAMPLE, method=mle, metrics="recall@20")
    assert found.procedure == "influence"
    assert found.method.startswith("MLE")


@pytest.mark.usefixtures("registered")
def test_a_registered_one_has_a_name() -> None:
    found = fr.estimate(SAMPLE, method="my-em", metrics="recall@20", rng=0)
    assert found["recall@20"] == fr.estimate(SAMPLE, method="MLE", metrics="recall@20")["recall@20"]
    assert METHODS["my_em"].says == "The library's own MLE, without its derivative."
    with pytest.raises(InputError, match=r"`method` must be one of 'my_em'.*not 'my_emm'"):
        fr.estimate(SAMPLE, method="my_emm")


def test_its_comparison_is_that_of_the_derivative() -> None:
    samples = {"a": SAMPLE, "b": OTHER}
    found = fr.compare(samples, "recall@20", method=em, rng=0)
    known = fr.compare(samples, "recall@20", method="MLE", rng=0)
    np.testing.assert_array_equal(found.estimate, known.estimate)
    ours, theirs = (one.between("a", "b", "recall@20").standard_error for one in (found, known))
    assert ours == pytest.approx(theirs, rel=0.2)
    assert fr.winner(samples, "recall@20", method=em, rng=0)["recall@20"]["b"] > 0.9


def test_numerical_derivatives_are_near_the_exact_ones() -> None:
    grid = RankGrid.default(300)
    values = grid.averages(fr.metrics.parse("recall@20"))[:, None]
    exact = choose("MLE", SAMPLE, {}).sensitivity(SAMPLE, values, grid)
    found = numerical_sensitivity(lambda one: mle(one, grid=grid), SAMPLE, values, grid)
    seen = exact.system.observed > 0.0
    share = exact.system.observed[seen]
    first, second = (
        one.gradient[seen, 0] - share @ one.gradient[seen, 0] for one in (exact, found)
    )
    assert float(np.sqrt(share @ (first - second) ** 2 / (share @ first**2))) < 0.15
    np.testing.assert_array_equal(found.gradient[~seen], 0.0)
    np.testing.assert_allclose(found.centre, exact.centre)


def test_several_targets_and_these_users() -> None:
    two = RankSample.from_ranks(
        [1, 4, 2, 8, 3, 3],
        sample_size=10,
        n_items=50,
        user=list("aabbcc"),
        n_targets=2,
        offset=[0, 1] * 3,
    )
    found = fr.estimate(two, method=em, metrics="recall@10", n_resamples=20, rng=0)
    known = fr.estimate(two, method="MLE", metrics="recall@10")
    assert found["recall@10"] == known["recall@10"]
    assert np.isfinite(found.standard_error["recall@10"])
    these = fr.estimate(two, method=em, metrics="recall@10", interval_for="users")
    assert np.isnan(these.standard_error["recall@10"])
    assert "em has no derivative" in str(these)
    one = fr.estimate(SAMPLE, method=em, metrics="recall@20", interval_for="users", rng=0)
    assert one.standard_error["recall@20"] > 0.0


@pytest.mark.parametrize(
    ("method", "message"),
    [
        (lambda sample: None, r"`method`.*f\(sample, grid\)"),
        (lambda sample, grid: np.ones(3), r"`method`.*bins.*\(3,\)"),
        (lambda sample, grid: "no", r"`method`.*bins"),
        (lambda sample, grid: np.ones(grid.n_bins), r"`mass`.*sum to 1"),
        (
            lambda sample, grid: mle(sample, grid=RankGrid(np.array([0, 10, 300]))),
            r"`method`.*grid",
        ),
        (7, r"`method`.*'auto'.*not 7"),
    ],
)
def test_what_is_no_estimator_is_refused(method: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        fr.estimate(SAMPLE, method=method)


def test_names_that_mean_something_else() -> None:
    for name in ("auto", "Naive", "mle"):
        with pytest.raises(InputError, match=rf"`name`.*{name}"):
            estimators.register(name, em)


def test_an_exact_derivative_of_ones_own() -> None:
    from fullrank.estimators.uniform.likelihood import mle_sensitivity

    estimators.register("with_derivative", em, sensitivity=mle_sensitivity)
    try:
        found = fr.estimate(SAMPLE, method="with_derivative", metrics="recall@20")
    finally:
        estimators.unregister("with_derivative")
    known = fr.estimate(SAMPLE, method="MLE", metrics="recall@20")
    assert found.procedure == "influence"
    assert found.standard_error == known.standard_error
