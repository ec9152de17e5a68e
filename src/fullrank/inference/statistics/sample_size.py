"""How many users a wanted margin needs (Li, dissertation, equations 50-52 and 56)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from fullrank._lib import checks, tabular
from fullrank._lib.text import counted
from fullrank.errors import InputError
from fullrank.inference.statistics.normal import level, quantile

UNCERTAINTIES = ("normal", "hoeffding")


@dataclass(frozen=True, kw_only=True, repr=False)
class UsersNeeded(tabular.OneRow):
    """A number of users, and the margin that it gives.

    Attributes
    ----------
    n_users : the number to take, rounded up
    exact : the number before rounding
    margin : the requested half-width of the interval
    confidence_level : of each interval, or of all together where there are several
    n_intervals : how many intervals hold simultaneously, by Bonferroni
    uncertainty : "normal" or "hoeffding"
    """

    n_users: int
    exact: float
    margin: float
    confidence_level: float
    n_intervals: int
    uncertainty: str

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, with a format version."""
        return {"format": 1, "kind": "UsersNeeded"} | self.__dict__

    def plot(self, ax: Any = None) -> Any:
        """Draw the margin against the number of users. Returns the axes."""
        import numpy as np

        ax, users = tabular.axes(ax), self.n_users * np.geomspace(0.1, 10.0, 50)
        ax.plot(users, self.margin * np.sqrt(self.n_users / users))
        ax.plot(self.n_users, self.margin, "o")
        ax.set(xscale="log", xlabel="users", ylabel="half-width of the interval")
        return ax

    def __str__(self) -> str:
        together = (
            "" if self.n_intervals == 1 else f" for {self.n_intervals} simultaneous intervals"
        )
        users = counted(self.n_users, "user")
        return (
            f"{users} ({self.exact:,.2f} before rounding up): ±{self.margin:g} at "
            f"{100 * self.confidence_level:g} %{together} ({self.uncertainty})"
        )


def users_needed(
    margin: float,
    *,
    proportion: float = 0.5,
    spread: float | None = None,
    relative: bool = False,
    confidence_level: float = 0.95,
    compare: bool = False,
    n_models: int = 1,
    uncertainty: str = "normal",
    population: int | None = None,
) -> UsersNeeded:
    """Find how many users must be sampled to estimate a metric within a margin.

    Parameters
    ----------
    margin : half-width of the interval; with `relative`, as a share of the metric
    proportion : the expected recall or hit rate, which determines the variance; 0.5 is the worst
        case
    spread : standard deviation of the metric over users, for other metrics (from a pilot);
        `proportion` is then the mean, and only `relative` uses it
    relative : read `margin` relative to `proportion`
    confidence_level : level of the interval
    compare : True plans for the difference of two models on different users, which needs twice as
        many (equation 56). The same users for both need fewer: give the standard deviation of the
        differences as `spread` instead.
    n_models : number of models whose intervals (with `compare`, those of every pair) should hold
        simultaneously, by Bonferroni
    uncertainty : "normal", or "hoeffding", which holds for any metric in [0, 1] at any size
    population : size of the user base, if it is sampled without replacement; fewer users are then
        needed

    Notes
    -----
    m = p(1-p)(z/e)² (equation 50), or s²(z/e)²; by Hoeffding log(2/α)/(2e²) (equation 52), in a
    comparison twice that. From a population of M, m/(1 + (m - 1)/M); for Hoeffding by Serfling's
    inequality m(1 + 1/M)/(1 + m/M).

    Examples
    --------
    >>> print(users_needed(0.03))
    1,068 users (1,067.07 before rounding up): ±0.03 at 95 % (normal)
    >>> users_needed(0.01).n_users
    9604
    """
    margin = checks.positive("margin", margin)
    proportion = checks.real("proportion", proportion, low=0.0, high=1.0)
    if spread is None and proportion in (0.0, 1.0):
        raise InputError(f"`proportion` must be above 0 and below 1, not {proportion:g}.")
    if checks.flag("relative", relative):
        if proportion == 0.0:
            raise InputError(
                "`proportion` must be above 0 with relative=True: a margin relative "
                "to 0 would be 0."
            )
        margin *= proportion
    n_intervals = checks.integer("n_models", n_models, low=1)
    if checks.flag("compare", compare):
        n_intervals = max(1, n_intervals * (n_intervals - 1) // 2)
    alpha = (1.0 - level(confidence_level)) / n_intervals
    if checks.choice("uncertainty", uncertainty, UNCERTAINTIES) == "hoeffding":
        if spread is not None:
            raise InputError(
                '`spread` must not be given with uncertainty="hoeffding", which needs none.'
            )
        factor = math.log(2.0 / alpha) / 2.0
    else:
        sd = checks.real("spread", spread, low=0.0) if spread is not None else None
        variance = proportion * (1.0 - proportion) if sd is None else sd * sd
        factor = variance * float(quantile(1.0 - alpha)) ** 2
    if compare:
        factor *= 2.0
    square = margin * margin  # 0 or infinite where ** would fail
    needed = factor / square if square > 0.0 else math.inf
    if not math.isfinite(needed):
        raise InputError(f"`margin` must be larger; no number of users is enough for {margin:g}.")
    if population is not None:
        needed = _finite(needed, checks.integer("population", population, low=1), uncertainty)
    return UsersNeeded(
        n_users=max(1, math.ceil(needed)),
        exact=needed,
        margin=margin,
        confidence_level=float(confidence_level),
        n_intervals=n_intervals,
        uncertainty=uncertainty,
    )


def _finite(needed: float, population: int, uncertainty: str) -> float:
    if needed == 0.0 or population == 1:  # any user tells, or the only one
        return float(needed > 0.0)
    if uncertainty == "normal":  # variance s²/m · (M - m)/(M - 1)
        return needed / (1.0 + (needed - 1.0) / population)
    # Serfling 1974: m is worth m/(1 - (m - 1)/M)
    return min(float(population), needed * (1.0 + 1.0 / population) / (1.0 + needed / population))
