"""Means over users with their covariance, and intervals and p values from the normal and the t.

`scipy.special` is loaded when they are first used; `scipy.stats`, which is slower to load by
a second, is not needed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fullrank._lib import checks
from fullrank._lib.types import Floats
from fullrank.errors import InputError


class Interval(NamedTuple):
    """The ends of a confidence interval."""

    low: float
    high: float

    def with_(self, value: float) -> Interval:
        """The interval, stretched to hold a value."""
        return Interval(min(self.low, value), max(self.high, value))


def mean_and_covariance(values: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Means of the columns, and the covariance matrix of these means over draws of users.

    The mean Σwx/Σw is a ratio; linearised, user u adds w(x - mean)/Σw, and the covariance is
    n/(n - 1) times the sum of the products (equal weights: that of the sample over n).

    Parameters
    ----------
    values : (n_users, n_columns), at least two users
    weight : (n_users,)
    """
    share = weight / weight.sum()
    mean = share @ values
    parts = share[:, None] * (values - mean)
    n = weight.size
    return mean, parts.T @ parts * (n / (n - 1.0))


def spread(values: Floats, weight: Floats) -> Floats:
    """Standard deviations of the columns over users, with n - 1 for n where weights are equal."""
    share = weight / weight.sum()
    variance = share @ (values - share @ values) ** 2
    n = weight.size
    return np.asarray(np.sqrt(variance * (n / (n - 1.0))))


_FAR = 8.0  # standard errors


def level(confidence_level: Any) -> float:
    """A confidence level strictly between 0 and 1."""
    number = checks.real("confidence_level", confidence_level)
    if not 0.0 < number < 1.0:
        raise InputError(
            f"`confidence_level` must lie between 0 and 1, such as 0.95, not {number:g}."
        )
    return number


def quantile(confidence_level: float, df: ArrayLike = np.inf) -> Floats:
    """Half the width, in standard errors, of a two-sided t interval (normal for df = inf)."""
    from scipy.special import ndtri, stdtrit

    upper = 0.5 + confidence_level / 2.0
    freedom = np.asarray(df, dtype=np.float64)
    finite = np.where(np.isfinite(freedom), freedom, 1.0)
    return np.where(np.isfinite(freedom), stdtrit(finite, upper), ndtri(upper))


def biased_quantile(confidence_level: float, shift: ArrayLike) -> Floats:
    """The quantile of |N(shift, 1)|: half the width of an interval that allows for a bias.

    An estimate whose bias is at most `shift` standard errors is within as many standard errors of
    the truth (Armstrong and Kolesár 2018); at shift 0 the normal `quantile`.
    """
    from scipy.special import chndtrix, ndtri

    moved = np.abs(np.asarray(shift, dtype=np.float64))
    near = np.minimum(moved, _FAR)
    # beyond _FAR only the nearer end of the interval is ever passed
    far = moved + ndtri(confidence_level)
    return np.where(moved < _FAR, np.sqrt(chndtrix(confidence_level, 1.0, near**2)), far)


def two_sided(statistic: ArrayLike, df: ArrayLike = np.inf) -> Floats:
    """P(|t| >= |statistic|) with df degrees of freedom (normal for df = inf)."""
    from scipy.special import ndtr, stdtr

    lower = -np.abs(np.asarray(statistic, dtype=np.float64))
    freedom = np.asarray(df, dtype=np.float64)
    finite = np.where(np.isfinite(freedom), freedom, 1.0)
    return np.asarray(2.0 * np.where(np.isfinite(freedom), stdtr(finite, lower), ndtr(lower)))
