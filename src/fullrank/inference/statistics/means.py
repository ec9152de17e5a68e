"""The mean of a metric over sampled users, with its interval (Li, dissertation, section 2.7.1)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fullrank._lib import checks, tabular
from fullrank._lib.types import Floats
from fullrank.data.user_samples import UserSample
from fullrank.errors import InputError
from fullrank.inference.statistics.normal import Interval, level, quantile
from fullrank.inference.statistics.proportions import hoeffding, wilson

UNCERTAINTIES = ("t", "normal", "wilson", "hoeffding")
TARGETS = ("users", "population")
FEW_HITS = 30  # users above 0 from which on t intervals cover as they say


@dataclass(frozen=True, kw_only=True, repr=False)
class SampleMean(tabular.OneRow):
    """A mean over sampled users.

    Attributes
    ----------
    value, standard_error : the estimate and its standard error
    confidence_interval, confidence_level, uncertainty : the interval and how it was made
    n_users : users it was measured on
    population : users it represents, where they are a known number of which these were drawn
    n_strata : strata they were drawn from; 1 for a simple sample
    n_hits : users whose value is not 0
    """

    value: float
    standard_error: float
    confidence_interval: Interval
    confidence_level: float
    uncertainty: str
    n_users: int
    population: int | None
    n_strata: int
    n_hits: int

    @property
    def few_hits(self) -> bool:
        """Whether t and normal intervals may be too short: fewer than 30 users above 0."""
        return self.n_hits < FEW_HITS

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, with a format version."""
        plain = {k: v for k, v in self.__dict__.items() if k != "confidence_interval"}
        ends = {"low": self.confidence_interval.low, "high": self.confidence_interval.high}
        return {"format": 1, "kind": "SampleMean"} | plain | ends | {"few_hits": self.few_hits}

    def plot(self, ax: Any = None) -> Any:
        """Draw the mean with its interval. Returns the axes."""
        ax = tabular.axes(ax)
        tabular.whiskers(ax, ["mean"], [self.value], [self.confidence_interval])
        return ax

    def __str__(self) -> str:
        low, high = self.confidence_interval
        of = "" if self.population is None else f" of {self.population:,}"
        text = (
            f"{self.value:.4f} (SE {self.standard_error:.4f}) [{low:.4f}, {high:.4f}] at "
            f"{100 * self.confidence_level:g} % ({self.uncertainty}, {self.n_users:,}{of} users)"
        )
        if self.few_hits and self.uncertainty in ("t", "normal"):
            text += (
                f"; the number of users with a value above 0 is only {self.n_hits}, so the "
                "interval may be too narrow"
            )
        return text


@dataclass(frozen=True, kw_only=True)
class _Parts:
    """What every interval is made from."""

    value: float
    variance: float
    df: float
    effective: float  # users with equal weights that would do as well, for Hoeffding and p = 0, 1


def mean_interval(
    values: ArrayLike,
    *,
    uncertainty: str = "t",
    users: UserSample | None = None,
    interval_for: str = "users",
    weight: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    population: int | Mapping[Any, int] | None = None,
    confidence_level: float = 0.95,
) -> SampleMean:
    """Compute the mean of a metric over a sample of users, with its standard error and interval.

    Parameters
    ----------
    values : the metric of each sampled user
    uncertainty : "t"; "normal"; "wilson", for hits (values 0 and 1); "hoeffding", for values in
        [0, 1]: wider, and right at any size
    users : the `UserSample` that the values belong to, in its order: it brings weights, strata and
        the size of the population
    interval_for : with `users`: their "users", the M of whom the sample was drawn (the interval
        shrinks to nothing as the sample grows to M), or the "population" of users
    weight : how many users each one represents, instead of `users`
    strata : a label for each user, if each stratum was sampled separately
    population : number of users from whom these were drawn without replacement; with
        `strata` a mapping from labels to numbers; None for an unlimited number
    confidence_level : between 0 and 1

    Notes
    -----
    Simple samples: variance (1 - n/M)s²/n; with weights that of the linearised ratio Σwx/Σw.
    Stratified: Σ_h (N_h/M)²(1 - n_h/N_h)s_h²/n_h, with Satterthwaite's degrees of freedom. For an
    unlimited population the factors 1 - n/M go, and the strata's shares, known from M users, add
    the variance between strata over M. Wilson takes the number of users that, drawn simply, would
    have this standard error; Hoeffding that of equally weighted ones, and Serfling's inequality
    where a simple sample comes from a known population.

    Examples
    --------
    >>> import numpy as np
    >>> hits = np.repeat([1.0, 0.0], [300, 700])
    >>> print(mean_interval(hits, uncertainty="wilson"))
    0.3000 (SE 0.0145) [0.2724, 0.3291] at 95 % (wilson, 1,000 users)
    >>> print(mean_interval(hits, uncertainty="wilson", population=1500))
    0.3000 (SE 0.0084) [0.2839, 0.3166] at 95 % (wilson, 1,000 of 1,500 users)
    """
    x = checks.reals("values", values)
    checks.choice("uncertainty", uncertainty, UNCERTAINTIES)
    confidence = level(confidence_level)
    if x.size < 2:
        raise InputError(f"`values` must hold at least two users, not {x.size}.")
    if uncertainty == "wilson":
        checks.reject("values", x, (x != 0.0) & (x != 1.0), "be 0 or 1 for uncertainty='wilson'")
    if uncertainty == "hoeffding":
        checks.reject("values", x, (x < 0.0) | (x > 1.0), "lie in 0..1 for uncertainty='hoeffding'")
    n_strata, known = 1, None
    if users is not None:
        if weight is not None or strata is not None or population is not None:
            raise InputError("`users` must not be given with `weight`, `strata` or `population`.")
        finite = checks.choice("interval_for", interval_for, TARGETS) == "users"
        parts, n_strata = _from_users(x, users, finite, uncertainty == "wilson")
        known = users.n_users if finite else None
    elif strata is not None:
        parts, n_strata, known = _from_strata(x, strata, weight, population)
    else:
        if isinstance(population, Mapping):
            raise InputError(
                "`population` must be a number, not a mapping, if there are no `strata`."
            )
        if population is not None:
            known = checks.integer("population", population, low=x.size)
        parts = _simple(x, _weights(weight, x.size), known, uncertainty == "wilson")
    return SampleMean(
        value=parts.value,
        standard_error=math.sqrt(parts.variance),
        confidence_interval=_interval(parts, uncertainty, confidence),
        confidence_level=confidence,
        uncertainty=uncertainty,
        n_users=x.size,
        population=known,
        n_strata=n_strata,
        n_hits=int(np.count_nonzero(x)),
    )


def _interval(parts: _Parts, uncertainty: str, confidence: float) -> Interval:
    p, variance = parts.value, parts.variance
    if math.isinf(parts.effective):  # every user was measured
        return Interval(p, p)
    if uncertainty == "hoeffding":
        return hoeffding(min(1.0, p), parts.effective, confidence_level=confidence)
    if uncertainty == "wilson":
        n = p * (1.0 - p) / variance if variance > 0.0 and p < 1.0 else parts.effective
        return wilson(p * n, n, confidence_level=confidence)
    half = float(quantile(confidence, parts.df if uncertainty == "t" else math.inf))
    half *= math.sqrt(variance)
    return Interval(p - half, p + half)


def _simple(x: Floats, weight: Floats, population: int | None, hits: bool) -> _Parts:
    n = x.size
    share = weight / weight.sum()
    mean = float(share @ x)
    variance = float(((share * (x - mean)) ** 2).sum()) * n / (n - 1.0)
    effective = 1.0 / float((share**2).sum())
    if population is not None:
        variance *= 1.0 - n / population
        # Serfling 1974: 2 exp(-2nt²/(1 - (n - 1)/M))
        effective = math.inf if n == population else effective / (1.0 - (n - 1.0) / population)
    if hits:  # p(1 - p)/n, as Wilson's interval has it, for s²/n
        variance *= (n - 1.0) / n
    return _Parts(value=mean, variance=variance, df=n - 1.0, effective=effective)


def _from_users(x: Floats, users: UserSample, finite: bool, hits: bool) -> tuple[_Parts, int]:
    if users.user_rows.size != x.size:
        raise InputError(
            f"`values` must have one entry for each of the {users.user_rows.size} users drawn, "
            f"not {x.size}."
        )
    if users.stratum is None or users.stratum_sizes is None or users.strata is None:
        known = users.n_users if finite else None
        return _simple(x, np.asarray(users.weight), known, hits), 1
    sizes = users.stratum_sizes.astype(np.float64)
    parts = _stratified(x, users.stratum, sizes, users.strata.tolist(), finite, users.n_users)
    return parts, int(sizes.size)


def _from_strata(
    x: Floats,
    strata: ArrayLike,
    weight: ArrayLike | None,
    population: int | Mapping[Any, int] | None,
) -> tuple[_Parts, int, int | None]:
    labels, stratum = np.unique(
        checks.labels("strata", strata, x.size, "value"), return_inverse=True
    )
    names = labels.tolist()
    if isinstance(population, Mapping):
        if weight is not None:
            raise InputError(
                "`weight` must not be given if `population` holds the sizes of the strata."
            )
        missing = [name for name in names if name not in population]
        extra = [name for name in population if name not in names]
        if missing or extra:
            raise InputError(
                f"`population` must have a number for each stratum ({', '.join(map(str, names))}) "
                f"and no other; it has numbers for {', '.join(map(str, population)) or 'none'}."
            )
        drawn = np.bincount(stratum)
        sizes = np.array(
            [
                float(checks.integer(f"population[{name!r}]", population[name], low=int(n)))
                for name, n in zip(names, drawn, strict=True)
            ]
        )
        total = int(sizes.sum())
        return _stratified(x, stratum, sizes, names, True, total), labels.size, total
    if population is not None or weight is None:
        raise InputError(
            "`population` must map each stratum to its number of users, or `weight` must be given."
        )
    weights = _weights(weight, x.size)
    uneven = weights != weights[np.unique(stratum, return_index=True)[1]][stratum]
    checks.reject("weight", weights, uneven, "be equal within each stratum")
    sizes = np.bincount(stratum, weights).astype(np.float64)
    return _stratified(x, stratum, sizes, names, False, math.inf), labels.size, None


def _stratified(
    x: Floats,
    stratum: NDArray[np.int64],
    sizes: Floats,
    names: list[Any],
    finite: bool,
    frame: float,
) -> _Parts:
    """From strata of given sizes, measured on `frame` users (infinite: sizes are known shares)."""
    n = np.bincount(stratum, minlength=sizes.size).astype(np.float64)
    census = finite & (n >= sizes)
    if ((n < 2) & ~census).any():
        lone = names[int(np.argmax((n < 2) & ~census))]
        raise InputError(
            f"`strata` must have at least two users each; {lone!r} has one. Merge strata."
        )
    share = sizes / sizes.sum()
    mean = np.bincount(stratum, x, sizes.size) / n
    squares = np.bincount(stratum, (x - mean[stratum]) ** 2, sizes.size)
    each = share**2 * squares / (np.maximum(n - 1.0, 1.0) * n)
    value = float(share @ mean)
    if finite:
        each = np.where(census, 0.0, each * (1.0 - n / sizes))
    variance = float(each.sum())
    df = variance**2 / float((each**2 / np.maximum(n - 1.0, 1.0)).sum()) if variance > 0 else 1.0
    if not finite:  # the strata's shares were counted on so many users, not on all
        variance += float(share @ (mean - value) ** 2) / frame
    effective = math.inf if census.all() else 1.0 / float((share**2 / n).sum())
    return _Parts(value=value, variance=variance, df=df, effective=effective)


def _weights(weight: ArrayLike | None, size: int) -> Floats:
    if weight is None:
        return np.ones(size)
    weights = checks.reals("weight", weight, size=size, low=0.0)
    if not weights.sum() > 0.0:
        raise InputError("`weight` must have a positive sum; all are 0.")
    return weights
