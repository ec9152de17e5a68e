"""Two means measured on different users: the two-sample t test.

See Li, dissertation, section 2.7.2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from fullrank._lib import checks, tabular
from fullrank.errors import InputError
from fullrank.inference.statistics.normal import Interval, level, quantile, two_sided

_LARGEST = 1e70  # the fourth power of a standard error is still finite


@dataclass(frozen=True, kw_only=True, repr=False)
class TwoSampleTest(tabular.OneRow):
    """The difference of two independent means, first minus second, and its test.

    `df` is infinite for a z test.
    """

    difference: float
    standard_error: float
    confidence_interval: Interval
    confidence_level: float
    statistic: float
    df: float
    p_value: float

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, with a format version; None for infinite degrees of freedom."""
        return {
            "format": 1,
            "kind": "TwoSampleTest",
            "difference": self.difference,
            "standard_error": self.standard_error,
            "low": self.confidence_interval.low,
            "high": self.confidence_interval.high,
            "confidence_level": self.confidence_level,
            "statistic": self.statistic,
            "df": self.df if math.isfinite(self.df) else None,
            "p_value": self.p_value,
        }

    def plot(self, ax: Any = None) -> Any:
        """Draw the difference with its interval. Returns the axes."""
        ax = tabular.axes(ax)
        tabular.whiskers(ax, ["difference"], [self.difference], [self.confidence_interval])
        return ax

    def __str__(self) -> str:
        low, high = self.confidence_interval
        name = "t" if math.isfinite(self.df) else "z"
        return (
            f"{self.difference:+.4f} [{low:+.4f}, {high:+.4f}]  "
            f"{name} = {self.statistic:.3f}, p = {self.p_value:.3g}"
        )


def two_means(
    first_mean: float,
    first_sd: float,
    first_n: int,
    second_mean: float,
    second_sd: float,
    second_n: int,
    *,
    confidence_level: float = 0.95,
) -> TwoSampleTest:
    """The two-sample t test from summaries, for models measured on different users.

    Parameters
    ----------
    first_mean, first_sd, first_n : mean, standard deviation (of n - 1) and number of users
    second_mean, second_sd, second_n : of the other model
    confidence_level : of the interval

    Notes
    -----
    Welch's form: the spreads may differ, and the degrees of freedom are Satterthwaite's.

    Examples
    --------
    >>> print(two_means(0.0712, 0.21, 1000, 0.0611, 0.19, 1200))
    +0.0101 [-0.0068, +0.0270]  t = 1.173, p = 0.241
    """
    variances = []
    for name, sd, n in (("first", first_sd, first_n), ("second", second_sd, second_n)):
        sd = checks.real(f"{name}_sd", sd, low=0.0, high=_LARGEST)
        variances.append((sd**2, checks.integer(f"{name}_n", n, low=2)))
    one, two = (
        checks.real(name, mean, low=-_LARGEST, high=_LARGEST)
        for name, mean in (("first_mean", first_mean), ("second_mean", second_mean))
    )
    difference = one - two
    return welch(
        difference,
        tuple(variance / n for variance, n in variances),
        tuple(n - 1.0 for _, n in variances),
        level(confidence_level),
    )


def welch(
    difference: float,
    variances: tuple[float, ...],
    dfs: tuple[float, ...],
    confidence_level: float,
) -> TwoSampleTest:
    """The test of a difference from the variances of its two means and their freedom."""
    error = math.sqrt(sum(variances))
    if error > 0.0:
        doubt = sum(v**2 / d for v, d in zip(variances, dfs, strict=True))
        df = error**4 / doubt if doubt > 0.0 else math.inf
        statistic = difference / error
    elif difference == 0.0:
        df, statistic = sum(dfs), 0.0
    else:
        raise InputError(
            "`first_sd` or `second_sd` must be above 0: without variance no difference can be "
            "tested."
        )
    half = float(quantile(confidence_level, df)) * error
    return TwoSampleTest(
        difference=difference,
        standard_error=error,
        confidence_interval=Interval(difference - half, difference + half),
        confidence_level=confidence_level,
        statistic=statistic,
        df=df,
        p_value=float(two_sided(statistic, df)),
    )
