"""What every estimator must do."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fullrank.samples import RankDistribution, RankSample, simulate


def check_estimator(
    fit: Callable[[RankSample], RankDistribution], *, adaptive: bool = True
) -> None:
    """Run an estimator through the contract: who the users are must not matter, nor their order.

    Parameters
    ----------
    fit : callable
        Estimates P(R) from a sample with one target for each user.
    adaptive : bool
        Whether it can be asked of adaptive samples.

    Raises
    ------
    AssertionError
        Says which promise was broken.

    Examples
    --------
    >>> from fullrank.estimators import mle
    >>> check_estimator(mle)
    """
    true = np.minimum(np.random.default_rng(0).geometric(0.03, 200), 150)
    _check(fit, simulate(true, n_items=150, design="sampled:20,replacement=true", rng=1))
    if adaptive:
        _check(fit, simulate(true, n_items=150, design="adaptive:levels=10/20/40", rng=1))


def _check(fit: Callable[[RankSample], RankDistribution], sample: RankSample) -> None:
    found = fit(sample)
    _expect(isinstance(found, RankDistribution), "an estimator must return a RankDistribution")
    _expect(bool(np.isfinite(found.mass).all()), "every probability must be finite")
    _expect(abs(float(found.mass.sum()) - 1.0) < 1e-9, "the probabilities must sum to 1")
    _expect(_same(found, fit(sample)), "the same sample must give the same estimate")
    _expect(_same(found, fit(_rows(sample, slice(None, None, -1)))), "order must not matter")
    half = _rows(sample, slice(0, 90)) + _rows(sample, slice(90, None))
    _expect(_same(found, fit(half)), "two shards must give what the whole gives")
    _expect(_same(found, fit(sample.without_rows())), "counts alone must be enough")
    heavy = _rows(sample, slice(None), weight=7.0)
    _expect(_same(found, fit(heavy)), "a common factor of the weights must not matter")


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


def _expect(true: bool, promise: str) -> None:
    if not true:
        raise AssertionError(f"{promise}.")
