"""Is one recall curve above another at every cut-off?

Theorem 2.1 of Li et al. (KDD 2020): if the recall of one model on the full catalogue is at least
that of another at every K, so is its expected sampled recall at every k, for any sample size. A
sampled metric that falls with the rank is a sum of sampled recalls, so its order is right as well.

The theorem goes from the full curves to the sampled ones. Back it goes only by contradiction:
sampled curves that cross show that neither full curve dominates, so that the order of the models
depends on K. Sampled curves that do not cross are what dominance would give, but a crossing below
the resolution of the sample (rank 1 of n covers about N/n ranks) cannot be seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fullrank._lib import checks, memory, tabular
from fullrank._lib.checks import RandomState, generator
from fullrank._lib.types import Floats, Ints
from fullrank.errors import InputError
from fullrank.inference.statistics.normal import level

_FEW = 10  # users who must differ at a cut-off before its difference is tested
_RESAMPLES = 500


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Dominance(tabular.Tabular):
    """The difference of two recall curves, first minus second, and what it shows.

    Attributes
    ----------
    verdict : "first" or "second": its curve is nowhere below, and surely above somewhere;
        "crossing": each is surely above somewhere; "undecided": neither can be shown
    difference, standard_error : at cut-offs 1, 2, …, depth - 1
    critical : standard errors from which on a difference is sure at all cut-offs together
    above, below : the cut-offs at which the first is surely above, and surely below
    """

    verdict: str
    difference: Floats
    standard_error: Floats
    critical: float
    above: Ints
    below: Ints
    confidence_level: float

    def __str__(self) -> str:
        n = self.difference.size
        return (
            f"{self.verdict}: the first curve is significantly above the second at "
            f"{self.above.size:,} and below it at {self.below.size:,} of {n:,} cut-offs"
        )

    def _title(self) -> str:
        return str(self)

    def _records(self) -> list[dict[str, Any]]:
        numbers = zip(self.difference.tolist(), self.standard_error.tolist(), strict=True)
        return [
            {"k": k, "difference": value, "standard_error": error}
            for k, (value, error) in enumerate(numbers, 1)
        ]

    def _table(self) -> tuple[list[str], list[list[str]]]:
        found, last = self._records(), self.difference.size
        steps = [d * 10**e for e in range(19) for d in (1, 2, 5) if d * 10**e <= last]
        rows = [
            [
                f"{k:,}",
                f"{found[k - 1]['difference']:+.4f}",
                f"{found[k - 1]['standard_error']:.4f}",
            ]
            for k in steps
        ]
        return ["cut-off", "first − second", "standard error"], rows

    def plot(self, ax: Any = None) -> Any:
        """Draw the difference with its simultaneous band. Returns the axes."""
        ax = tabular.axes(ax)
        k = np.arange(1, self.difference.size + 1)
        half = self.critical * self.standard_error
        ax.fill_between(k, self.difference - half, self.difference + half, alpha=0.3)
        ax.plot(k, self.difference)
        ax.axhline(0.0, color="grey", linewidth=0.8)
        ax.set(xscale="log", xlabel="cut-off k", ylabel="recall, first − second")
        return ax


def dominance(
    first: ArrayLike,
    second: ArrayLike,
    *,
    depth: int,
    weight: ArrayLike | None = None,
    confidence_level: float = 0.95,
    rng: RandomState = None,
) -> Dominance:
    """Test whether one model's recall curve dominates another's in the population of users.

    Parameters
    ----------
    first, second : ranks of the same users' targets under two models: exact ranks, or ranks among
        n sampled candidates
    depth : the largest rank there is: N for exact ranks, n for sampled ones
    weight : the weights of the users; users with weight 0 are left out
    confidence_level : with which every cut-off said to be above or below is so
    rng : seed of the band

    Notes
    -----
    The band is simultaneous over all cut-offs at which ten users or more differ: the quantile of
    the largest |difference| in standard errors when users are weighted by independent normal
    numbers (the multiplier bootstrap).

    If sampled curves cross, neither full curve dominates; if they do not cross, a crossing below
    the sample's resolution may still be missed.

    Examples
    --------
    >>> import numpy as np
    >>> second = np.random.default_rng(0).integers(1, 101, 2000)
    >>> first = np.maximum(1, second - 5)
    >>> dominance(first, second, depth=100, rng=0).verdict
    'first'
    """
    depth = checks.integer("depth", depth, low=2)
    memory.ask("depth", 80 * depth, f"curves of {depth:,} points")
    a, b = (_ranks(name, r, depth) for name, r in (("first", first), ("second", second)))
    if a.size != b.size or a.size < 2:
        raise InputError(
            "`first` and `second` must hold the ranks of the same users, at least two; their "
            f"lengths are {a.size} and {b.size}."
        )
    w = np.ones(a.size) if weight is None else checks.reals("weight", weight, size=a.size, low=0.0)
    if not w.sum() > 0.0:
        raise InputError("`weight` must have a positive sum; all are 0.")
    confidence = level(confidence_level)
    a, b, w = a[w > 0.0], b[w > 0.0], w[w > 0.0]
    w = w / w.sum()

    def curve(rank: Ints, mass: Floats | None = None) -> Floats:
        """Σ mass 1[rank <= k] at k = 1..depth - 1."""
        return np.cumsum(np.bincount(rank, mass, depth + 1)[1:depth])

    difference = curve(a, w) - curve(b, w)
    both = np.maximum(a, b)  # users of both curves cancel
    squares = curve(a, w**2) + curve(b, w**2) - 2.0 * curve(both, w**2)
    # Σ w²(D - d)², D = 1, 0 or -1
    signed = curve(a, w**2) - curve(b, w**2)
    variance = squares - 2.0 * difference * signed + difference**2 * float((w**2).sum())
    error = np.sqrt(np.maximum(0.0, variance))
    differ = curve(a) + curve(b) - 2 * curve(both)
    tested = (differ >= _FEW) & (error > 0.0)
    critical = np.inf
    if tested.any():
        random = generator(rng)
        largest = np.empty(_RESAMPLES)
        for i in range(_RESAMPLES):
            mass = w * random.standard_normal(a.size)
            moved = curve(a, mass) - curve(b, mass) - difference * mass.sum()
            largest[i] = np.abs(moved[tested] / error[tested]).max()
        critical = float(np.quantile(largest, confidence))
    statistic = np.divide(difference, error, out=np.zeros_like(error), where=tested)
    above, below = (np.flatnonzero(s > critical) + 1 for s in (statistic, -statistic))
    return Dominance(
        verdict=_verdict(difference, above, below),
        difference=checks.frozen(difference),
        standard_error=checks.frozen(error),
        critical=critical,
        above=checks.frozen(above),
        below=checks.frozen(below),
        confidence_level=confidence,
    )


def _verdict(difference: Floats, above: Ints, below: Ints) -> str:
    rounding = 1e-12
    if above.size and below.size:
        return "crossing"
    if above.size and (difference >= -rounding).all():
        return "first"
    if below.size and (difference <= rounding).all():
        return "second"
    return "undecided"


def _ranks(name: str, ranks: ArrayLike, depth: int) -> Ints:
    return checks.integers(name, ranks, low=1, high=depth, hint="Ranks are 1-based.")
