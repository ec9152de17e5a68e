"""Tests of the mean difference between two models on the same users."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fullrank._lib import checks, tabular
from fullrank._lib.checks import RandomState, generator
from fullrank._lib.types import Floats
from fullrank.errors import InputError
from fullrank.inference.statistics.normal import (
    level,
    mean_and_covariance,
    quantile,
    spread,
    two_sided,
)
from fullrank.inference.statistics.resampled_means import bootstrap_means, flipped_means

_NUMBERS = ("estimate", "standard_error", "low", "high", "p_value", "effect_size")
_ROUNDING = 1e-9  # sums in another order may differ by so much of the statistic


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PairedTest(tabular.Tabular):
    """Tests of mean differences, one for each column.

    Attributes
    ----------
    estimate, standard_error : mean difference over users, and its standard error
    low, high : ends of the interval of the mean difference
    p_value : two-sided
    effect_size : Cohen's d_z, the mean difference over the standard deviation of the differences
    test, confidence_level, n_users : as asked
    """

    estimate: Floats
    standard_error: Floats
    low: Floats
    high: Floats
    p_value: Floats
    effect_size: Floats
    test: str
    confidence_level: float
    n_users: int

    def _title(self) -> str:
        return f"paired {self.test} test of {self.n_users:,} users"

    def _records(self) -> list[dict[str, Any]]:
        columns = {name: np.atleast_1d(getattr(self, name)).tolist() for name in _NUMBERS}
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def _table(self) -> tuple[list[str], list[list[str]]]:
        rows = [[f"{value:.4g}" for value in one.values()] for one in self._records()]
        return [name.replace("_", " ") for name in _NUMBERS], rows

    def plot(self, ax: Any = None) -> Any:
        """Draw the mean differences with their intervals. Returns the axes."""
        ax, found = tabular.axes(ax), self._records()
        names = [f"column {at + 1}" for at in range(len(found))]
        ends = [(one["low"], one["high"]) for one in found]
        tabular.whiskers(ax, names, [one["estimate"] for one in found], ends)
        ax.set_xlabel("mean difference")
        return ax


def _more_users(d: Floats) -> Floats:
    return np.asarray(np.sign(np.sign(d).sum(axis=0)))


def _higher_ranks(d: Floats) -> Floats:
    from scipy.stats import rankdata

    sums = [(np.sign(one) * rankdata(np.abs(one))).sum() for one in (x[x != 0.0] for x in d.T)]
    return np.asarray(np.sign(sums))


@dataclass(frozen=True, kw_only=True)
class _Test:
    """What a test asks, and its p values and interval from differences, weights and settings."""

    says: str
    run: Callable[[Floats, Floats, _Summary, int, np.random.Generator], _Found]
    weighted: bool = True  # whether weights have a meaning
    favours: Callable[[Floats], Floats] | None = None  # the sign of what it tests; None: the mean's
    resamples: bool = False

    @property
    def of_means(self) -> bool:
        """Whether it tests the mean difference."""
        return self.favours is None


@dataclass(frozen=True, kw_only=True)
class _Summary:
    estimate: Floats
    error: Floats
    df: float
    confidence: float
    extra: Floats  # part of the error's square that users do not show

    def noisy(self, means: Floats, rng: np.random.Generator) -> Floats:
        """Means over resampled users, with that part."""
        if not self.extra.any():
            return means
        return means + rng.standard_normal(means.shape) * np.sqrt(self.extra)

    @property
    def statistic(self) -> Floats:
        """The estimate in standard errors; without spread 0 or infinite."""
        large = np.where(self.estimate == 0.0, 0.0, np.copysign(np.inf, self.estimate))
        return np.divide(self.estimate, self.error, out=large, where=self.error > 0.0)

    def ends(self, df: float) -> tuple[Floats, Floats]:
        half = quantile(self.confidence, df) * self.error
        return self.estimate - half, self.estimate + half


_Found = tuple[Floats, tuple[Floats, Floats]]


def _t(d: Floats, w: Floats, of: _Summary, n: int, rng: np.random.Generator) -> _Found:
    return two_sided(of.statistic, of.df), of.ends(of.df)


def _z(d: Floats, w: Floats, of: _Summary, n: int, rng: np.random.Generator) -> _Found:
    return two_sided(of.statistic), of.ends(np.inf)


def _bootstrap(d: Floats, w: Floats, of: _Summary, n: int, rng: np.random.Generator) -> _Found:
    """The percentile interval, and the level at which it just touches 0."""
    means = of.noisy(bootstrap_means(d, w, n, rng), rng)
    tail = (1.0 - of.confidence) / 2.0
    low, high = np.quantile(means, [tail, 1.0 - tail], axis=0)
    below, above = (1 + (means <= 0.0).sum(axis=0)), (1 + (means >= 0.0).sum(axis=0))
    return np.minimum(1.0, 2.0 * np.minimum(below, above) / (n + 1.0)), (low, high)


def _randomization(d: Floats, w: Floats, of: _Summary, n: int, rng: np.random.Generator) -> _Found:
    means = of.noisy(flipped_means(d, w, n, rng), rng)
    as_far = np.abs(means) >= np.abs(of.estimate) * (1.0 - _ROUNDING)
    return (1.0 + as_far.sum(axis=0)) / (n + 1.0), of.ends(of.df)


def _sign(d: Floats, w: Floats, of: _Summary, n: int, rng: np.random.Generator) -> _Found:
    from scipy.special import bdtr

    above, below = (d > 0.0).sum(axis=0), (d < 0.0).sum(axis=0)
    p = 2.0 * bdtr(np.minimum(above, below), above + below, 0.5)
    return np.minimum(1.0, p), of.ends(of.df)


def _wilcoxon(d: Floats, w: Floats, of: _Summary, n: int, rng: np.random.Generator) -> _Found:
    from scipy.stats import wilcoxon

    p = [float(wilcoxon(column).pvalue) if column.any() else 1.0 for column in d.T]
    return np.array(p), of.ends(of.df)


TESTS: Mapping[str, _Test] = MappingProxyType(
    {
        "t": _Test(says="paired t test of the mean difference", run=_t),
        "z": _Test(says="paired z test of the mean difference", run=_z),
        "bootstrap": _Test(says="users resampled with replacement", run=_bootstrap, resamples=True),
        "randomization": _Test(
            says="the two models swapped at random for each user",
            run=_randomization,
            resamples=True,
        ),
        "sign": _Test(
            says="exact sign test: do as many users gain as lose?",
            run=_sign,
            weighted=False,
            favours=_more_users,
        ),
        "wilcoxon": _Test(
            says="signed-rank test: are differences symmetric about 0?",
            run=_wilcoxon,
            weighted=False,
            favours=_higher_ranks,
        ),
    }
)


def paired_test(
    differences: ArrayLike,
    *,
    test: str = "t",
    weight: ArrayLike | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 2000,
    rng: RandomState = None,
) -> PairedTest:
    """Test mean differences between two models that were measured on the same users.

    Parameters
    ----------
    differences : (n_users,) or (n_users, n_columns), first model minus second, user by user
    test : "t", "z"; "bootstrap": percentile interval of resampled users, and the level at which
        it reaches 0; "randomization": the models are swapped at random; "sign" and "wilcoxon":
        see Notes
    weight : the weights of the users; users with weight 0 are left out. Must be equal for "sign"
        and "wilcoxon"
    confidence_level : of the interval
    n_resamples : of bootstrap and randomization, whose smallest p values are 2/(n_resamples + 1)
        and 1/(n_resamples + 1)
    rng : of the same two

    Notes
    -----
    The sign test asks whether more users gain than lose, and the signed-rank test whether the
    differences are symmetric about 0. Neither tests the mean: a model that helps a few users much
    and harms many users slightly may have the same mean, but with thousands of users both tests
    reject. The interval of these tests, and of the randomisation test, is the t interval of the
    mean difference.

    Cost: 2,000 resamples of 100,000 users take a few seconds at most, and less with top-K metrics,
    because users with a value of 0 under both models are only counted. Memory is bounded.

    Examples
    --------
    >>> found = paired_test([0.3, 0.1, 0.0, 0.4, -0.1, 0.2])
    >>> round(float(found.estimate[0]), 3), round(float(found.p_value[0]), 3)
    (0.15, 0.107)
    """
    checks.choice("test", test, TESTS)
    confidence = level(confidence_level)
    n_resamples = checks.integer("n_resamples", n_resamples, low=1)
    d = _columns(differences)
    weights = np.ones(len(d)) if weight is None else checks.reals("weight", weight, size=len(d))
    checks.reject("weight", weights, weights < 0.0, "be at least 0")
    if not weights.sum() > 0.0:
        raise InputError("`weight` must have a positive sum; all are 0.")
    d, weights = d[weights > 0.0], weights[weights > 0.0]
    if len(d) < 2:
        raise InputError(
            "`weight` must be above 0 for at least two users; only one has such a weight."
        )
    if not TESTS[test].weighted and (weights != weights[0]).any():
        raise InputError(
            f'`weight` must be the same for all users with test="{test}", which counts users.'
        )
    return run_paired(
        d,
        weights,
        np.zeros(d.shape[1]),
        test=test,
        confidence=confidence,
        n_resamples=n_resamples,
        rng=generator(rng),
    )


def run_paired(
    d: Floats,
    weights: Floats,
    extra: Floats,
    *,
    test: str,
    confidence: float,
    n_resamples: int,
    rng: np.random.Generator,
) -> PairedTest:
    """`paired_test` of checked input; `extra` is variance of the estimates besides the users'."""
    mean, covariance = mean_and_covariance(d, weights)
    summary = _Summary(
        estimate=mean,
        error=np.sqrt(np.diagonal(covariance) + extra),
        df=len(d) - 1.0,
        confidence=confidence,
        extra=extra,
    )
    p, (low, high) = TESTS[test].run(d, weights, summary, n_resamples, rng)
    sd = spread(d, weights)
    return PairedTest(
        estimate=checks.frozen(mean),
        standard_error=checks.frozen(summary.error),
        low=checks.frozen(low),
        high=checks.frozen(high),
        p_value=checks.frozen(p),
        effect_size=checks.frozen(np.divide(mean, sd, out=np.zeros_like(mean), where=sd > 0.0)),
        test=test,
        confidence_level=confidence,
        n_users=len(d),
    )


def _columns(differences: ArrayLike) -> Floats:
    try:
        given = np.asarray(differences)
    except ValueError:
        raise InputError("`differences` must have rows of equal length.") from None
    if given.dtype.kind not in "iufb":
        raise InputError(f"`differences` must hold numbers, not {given.dtype}.")
    d = given.astype(np.float64)
    d = d[:, None] if d.ndim == 1 else d
    if d.ndim != 2 or d.shape[0] < 2 or d.shape[1] == 0:
        raise InputError(
            "`differences` must have at least two rows, one for each user; its shape is "
            f"{np.shape(differences)}."
        )
    for column in d.T:
        checks.reject("differences", column, ~np.isfinite(column), "be finite")
        large = np.abs(column) > checks.LARGEST
        checks.reject("differences", column, large, f"lie within ±{checks.LARGEST:g}")
    return d


def bonferroni(p_values: ArrayLike) -> Floats:
    """Multiply each p value by the number of tests, which controls the family-wise error rate.

    Examples
    --------
    >>> bonferroni([0.01, 0.04, 0.03])
    array([0.03, 0.12, 0.09])
    """
    p = _p_values(p_values)
    return np.minimum(1.0, p * p.size)


def holm(p_values: ArrayLike) -> Floats:
    """Holm's step-down form of Bonferroni: the same guarantee with p values that are never larger.

    Notes
    -----
    With the p values sorted, the i-th is multiplied by m - i + 1, then none falls below the one
    before it.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    p = _p_values(p_values)
    order = np.argsort(p, kind="stable")
    corrected = np.empty_like(p)
    corrected[order] = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1))
    return np.minimum(1.0, corrected)


def benjamini_hochberg(p_values: ArrayLike) -> Floats:
    """Correct p values by Benjamini and Hochberg, which controls the false discovery rate.

    Valid for independent tests and for positively dependent ones, as metrics of the same users
    mostly are.

    Examples
    --------
    >>> benjamini_hochberg([0.01, 0.04, 0.03])
    array([0.03, 0.04, 0.04])
    """
    p = _p_values(p_values)
    order = np.argsort(p, kind="stable")[::-1]
    corrected = np.empty_like(p)
    corrected[order] = np.minimum.accumulate(p[order] * p.size / np.arange(p.size, 0, -1))
    return np.minimum(1.0, corrected)


CORRECTIONS: Mapping[str, Callable[[ArrayLike], Floats]] = MappingProxyType(
    {"holm": holm, "bonferroni": bonferroni, "bh": benjamini_hochberg}
)


def corrected(p_values: ArrayLike, correction: str | None) -> Floats:
    """The p values as the named correction has them; as they are for None."""
    if correction is None:
        return _p_values(p_values)
    return CORRECTIONS[checks.choice("correction", correction, CORRECTIONS)](p_values)


def _p_values(p_values: ArrayLike) -> Floats:
    p = checks.reals("p_values", p_values)
    if p.size == 0:
        raise InputError("`p_values` must hold at least one p value; it is empty.")
    checks.reject("p_values", p, (p < 0.0) | (p > 1.0), "lie in 0..1")
    return p
