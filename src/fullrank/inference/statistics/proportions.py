"""Shares of users: intervals for one, and the test of two (Li, dissertation, section 2.7).

Recall with one target for each user, and the hit rate, are shares of users with a hit among n.
"""

from __future__ import annotations

import math

from fullrank._lib import checks
from fullrank.errors import InputError
from fullrank.inference.statistics.normal import Interval, level, quantile, two_sided
from fullrank.inference.statistics.two_samples import TwoSampleTest


def wilson(hits: float, n: float, *, confidence_level: float = 0.95) -> Interval:
    """Wilson's score interval for a share: good with few hits, and never outside [0, 1].

    Parameters
    ----------
    hits, n : users with a hit, and users; for weighted users effective numbers, not always whole
    confidence_level : between 0 and 1

    Notes
    -----
    The shares p that a z test at this level does not reject: |hits/n - p| <= z √(p(1-p)/n).

    Examples
    --------
    >>> low, high = wilson(15, 50)
    >>> round(low, 4), round(high, 4)
    (0.191, 0.4375)
    """
    share, n = _share(hits, n)
    z = float(quantile(level(confidence_level)))
    centre = (share + z * z / (2.0 * n)) / (1.0 + z * z / n)
    half = z / (1.0 + z * z / n) * math.sqrt(share * (1.0 - share) / n + (z / (2.0 * n)) ** 2)
    # at either end one limit is the share itself, which rounding would miss
    low = 0.0 if share == 0.0 else max(centre - half, 0.0)
    return Interval(low, 1.0 if share == 1.0 else min(centre + half, 1.0))


def wald(hits: float, n: float, *, confidence_level: float = 0.95) -> Interval:
    """The normal interval p ± z √(p(1-p)/n); too narrow with few hits.

    See Li, dissertation, equation 50.

    Examples
    --------
    >>> low, high = wald(15, 50)
    >>> round(low, 4), round(high, 4)
    (0.173, 0.427)
    """
    share, n = _share(hits, n)
    half = float(quantile(level(confidence_level))) * math.sqrt(share * (1.0 - share) / n)
    return Interval(share - half, share + half)


def hoeffding(mean: float, n: float, *, confidence_level: float = 0.95) -> Interval:
    """An interval for the mean of n values in [0, 1], valid whatever their distribution.

    Notes
    -----
    P(|mean - truth| >= t) <= 2 exp(-2 n t²) (Li, dissertation, equation 52), solved for t, within
    [0, 1].

    Examples
    --------
    >>> low, high = hoeffding(0.3, 10_000)
    >>> round(low, 4), round(high, 4)
    (0.2864, 0.3136)
    """
    mean = checks.real("mean", mean, low=0.0, high=1.0)
    n = _positive("n", n)
    half = math.sqrt(math.log(2.0 / (1.0 - level(confidence_level))) / (2.0 * n))
    return Interval(max(0.0, mean - half), min(1.0, mean + half))


def hoeffding_confidence(margin: float, n: float) -> float:
    """How surely the mean of n users is within `margin`: 1 - 2 exp(-2 n t²) (equation 52).

    Examples
    --------
    >>> round(hoeffding_confidence(0.02, 10_000), 5)
    0.99933
    """
    margin = checks.real("margin", margin, low=0.0)
    return max(0.0, 1.0 - 2.0 * math.exp(-2.0 * _positive("n", n) * margin**2))


def two_proportions(
    first_hits: float,
    first_n: float,
    second_hits: float,
    second_n: float,
    *,
    confidence_level: float = 0.95,
) -> TwoSampleTest:
    """The z test of two shares measured on different users.

    For the same users use `compare`, which pairs users and is more powerful.

    Notes
    -----
    The statistic takes the pooled share (Li, dissertation, equation 53), the interval both
    (equation 55).

    Examples
    --------
    >>> print(two_proportions(60, 200, 40, 200))
    +0.1000 [+0.0157, +0.1843]  z = 2.309, p = 0.0209
    """
    (first, m1), (second, m2) = _share(first_hits, first_n), _share(second_hits, second_n)
    difference = first - second
    pooled = (first * m1 + second * m2) / (m1 + m2)
    spread = math.sqrt(pooled * (1.0 - pooled) * (1.0 / m1 + 1.0 / m2))
    error = math.sqrt(first * (1.0 - first) / m1 + second * (1.0 - second) / m2)
    statistic = difference / spread if spread > 0.0 else 0.0  # all hit, or none: no difference
    half = float(quantile(level(confidence_level))) * error
    return TwoSampleTest(
        difference=difference,
        standard_error=error,
        confidence_interval=Interval(difference - half, difference + half),
        confidence_level=confidence_level,
        statistic=statistic,
        df=math.inf,
        p_value=float(two_sided(statistic)),
    )


def _share(hits: float, n: float) -> tuple[float, float]:
    n = _positive("n", n)
    hits = checks.real("hits", hits, low=0.0)
    if hits > n:
        raise InputError(f"`hits` must be at most `n` = {n:g}, not {hits:g}.")
    return hits / n, n


def _positive(name: str, value: float) -> float:
    return checks.real(
        name, checks.positive(name, value), low=1e-100
    )  # its square is to stay above 0
