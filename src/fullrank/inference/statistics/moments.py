"""Weighted means over users, and the covariance of those means."""

from __future__ import annotations

import numpy as np

from fullrank._lib.types import Floats


def mean_and_covariance(values: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Means of the columns, and the covariance matrix of these means over draws of users.

    The mean Σwx/Σw is a ratio; linearised, user u adds w(x - mean)/Σw, and the covariance is
    n/(n - 1) times the sum of the products (equal weights: that of the sample over n).

    Parameters
    ----------
    values : (n_users, n_columns), two users or more
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
