"""The contract of estimators."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from fullrank.designs import RankGrid
from fullrank.estimators.registry import method_of
from fullrank.samples import RankDistribution, RankSample, simulate
from fullrank.testing.expect import expect


def check_estimator(
    fit: str | Callable[..., Any], *, adaptive: bool = True, recovers: bool = False
) -> None:
    """Check that an estimator keeps the contract, such as not depending on the order of users.

    Parameters
    ----------
    fit : name of a registered estimator, or a function
        It estimates P(R) from a sample with one target per user. It takes the sample alone, or the
        sample and a grid, as in `fullrank.estimators.register`.
    adaptive : bool
        Whether it supports adaptive samples.
    recovers : bool
        Whether a complete sample must give the exact distribution.

    Raises
    ------
    AssertionError
        If a promise is broken; the message names it.

    Examples
    --------
    >>> from fullrank.estimators import mle
    >>> check_estimator(mle)
    """
    fit = _of_samples(fit)
    true = np.minimum(np.random.default_rng(0).geometric(0.03, 200), 150)
    _check(fit, simulate(true, n_items=150, design="sampled:20,replacement=true", rng=1))
    if adaptive:
        _check(fit, simulate(true, n_items=150, design="adaptive:levels=10/20/40", rng=1))
    if recovers:
        exact = RankDistribution.from_ranks(true, n_items=150)
        found = fit(simulate(true, n_items=150, design="sampled:150", rng=1))
        same = np.allclose(found.metric("recall@10"), exact.metric("recall@10"), atol=1e-6)
        expect(bool(same), "recovers: a complete sample must give the exact distribution")


def _of_samples(fit: str | Callable[..., Any]) -> Callable[[RankSample], RankDistribution]:
    """The fit as a function of samples alone."""
    if not isinstance(fit, str):
        grid = inspect.signature(fit).parameters.get("grid")
        if grid is None or grid.default is not grid.empty:
            return fit
    return partial(method_of(fit)[1].fit, grid=RankGrid.default(150))


def _check(fit: Callable[[RankSample], RankDistribution], sample: RankSample) -> None:
    found = fit(sample)
    expect(isinstance(found, RankDistribution), "an estimator must return a RankDistribution")
    expect(bool(np.isfinite(found.mass).all()), "every probability must be finite")
    expect(abs(float(found.mass.sum()) - 1.0) < 1e-9, "the probabilities must sum to 1")
    expect(_same(found, fit(sample)), "the same sample must give the same estimate")
    reverse = _rows(sample, slice(None, None, -1))
    expect(_same(found, fit(reverse)), "the order of the users must not change the estimate")
    half = _rows(sample, slice(0, 90)) + _rows(sample, slice(90, None))
    expect(_same(found, fit(half)), "splitting a sample into shards must not change the estimate")
    counts = sample.without_rows()
    expect(_same(found, fit(counts)), "counts alone, without rows, must give the same estimate")
    heavy = _rows(sample, slice(None), weight=7.0)
    expect(_same(found, fit(heavy)), "multiplying all weights by 7 must not change the estimate")


def _rows(sample: RankSample, which: slice, weight: float = 1.0) -> RankSample:
    rows, design = sample.rows, sample.design
    assert rows is not None
    return RankSample.from_ranks(
        rows.rank[which],
        sample_size=rows.sample_size[which],
        n_items=rows.n_items[which],
        design=design,
        weight=weight * rows.weight[which],
    )


def _same(first: RankDistribution, second: RankDistribution) -> bool:
    return bool(np.allclose(first.mass, second.mass, rtol=1e-6, atol=1e-9))
