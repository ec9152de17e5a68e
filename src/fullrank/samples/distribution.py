"""The distribution of true ranks P(R), which gives every metric at every K by a dot product."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fullrank._lib import checks, tabular
from fullrank._lib.types import Floats
from fullrank.designs.grid import RankGrid
from fullrank.errors import InputError
from fullrank.metrics import DEFAULT, Metric, parse, parse_all

_Number = TypeVar("_Number", np.float64, np.int64)
FORMAT = 1


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RankDistribution(tabular.Tabular):
    """P(R) for R = 1..N on a rank grid, constant inside each bin.

    Parameters
    ----------
    grid : the rank grid
    mass : probability of each bin; sums to 1. Negative entries are allowed, since linear
        estimators give them, and `signed` says that there are some.
    method : where it comes from
    slope_error : standard error of the slope of its log-density at the top, where others borrow
        its shape

    Examples
    --------
    >>> ranks = [1, 3, 3, 40, 900]
    >>> distribution = RankDistribution.from_ranks(ranks, n_items=1000)
    >>> print(distribution)
    ranks 1..1,000 (exact): quartiles 3, 3, 40
    >>> round(distribution.metric("recall@10"), 6)
    0.6
    """

    grid: RankGrid
    mass: Floats
    method: str = "given"
    slope_error: float = 0.0

    def __post_init__(self) -> None:
        mass = checks.reals("mass", self.mass, size=self.grid.n_bins)
        total = float(mass.sum())
        if abs(total - 1.0) > 1e-6 * max(1.0, float(np.abs(mass).sum())):
            raise InputError(f"`mass` must sum to 1, not {total:.6g}.")
        object.__setattr__(self, "mass", checks.frozen(mass))

    @classmethod
    def from_ranks(
        cls,
        ranks: ArrayLike,
        *,
        n_items: int,
        weight: ArrayLike | None = None,
        grid: RankGrid | None = None,
        method: str = "exact",
    ) -> RankDistribution:
        """The distribution of known whole ranks."""
        grid = grid if grid is not None else RankGrid.default(n_items)
        if grid.n_items != checks.integer("n_items", n_items, low=1):
            raise InputError(f"`grid` must reach n_items = {n_items}; it ends at {grid.n_items}.")
        bins = grid.bin_of(ranks)
        if bins.size == 0:
            raise InputError("`ranks` must hold at least one rank; it is empty.")
        weights = (
            np.ones(bins.size) if weight is None else checks.weights("weight", weight, bins.size)
        )
        mass = np.bincount(bins, weights=weights, minlength=grid.n_bins)
        return cls(grid=grid, mass=mass / mass.sum(), method=method)

    @property
    def n_items(self) -> int:
        return self.grid.n_items

    @cached_property
    def signed(self) -> bool:
        """Whether some probabilities are negative."""
        return bool((self.mass < 0.0).any())

    @cached_property
    def _running(self) -> Floats:
        return np.concatenate([[0.0], np.cumsum(self.mass)])

    def pmf(self, ranks: ArrayLike) -> Floats:
        """P(R) at given ranks."""
        bins = self.grid.bin_of(_flat("ranks", ranks))
        return _like(ranks, self.mass[bins] / self.grid.widths[bins])

    def cdf(self, ranks: ArrayLike) -> Floats:
        """P(R <= rank) at given ranks: recall@rank."""
        rank = _flat("ranks", ranks)
        bins = self.grid.bin_of(rank)
        share = (rank - self.grid.edges[bins]) / self.grid.widths[bins]
        return _like(ranks, self._running[bins] + self.mass[bins] * share)

    def density(self, grid: RankGrid) -> Floats:
        """P(R) averaged over the bins of another grid; beyond the last rank as at the last rank."""
        edges = np.minimum(grid.edges, self.n_items)
        running = np.interp(edges, self.grid.edges, self._running)
        width = np.diff(edges)
        last = self.mass[-1] / self.grid.widths[-1]
        found = np.where(width > 0, np.diff(running) / np.maximum(width, 1), last)
        return np.maximum(found, 1e-9 / self.n_items)  # a shape has no holes

    def quantile(self, q: ArrayLike) -> NDArray[np.int64]:
        """The smallest rank with P(R <= rank) at least q; the first such if signed."""
        level = checks.reals("q", _flat("q", q))
        checks.reject("q", level, (level < 0.0) | (level > 1.0), "lie in 0..1")
        reached = np.maximum.accumulate(self._running[1:])
        # a sum that misses 1 by a rounding must still be reached by q = 1
        bins = np.searchsorted(reached, level - 1e-12, side="left").clip(0, self.grid.n_bins - 1)
        before = self._running[bins]
        share = np.divide(
            level - before, self.mass[bins], out=np.ones_like(level), where=self.mass[bins] > 0
        )
        step = np.ceil(share * self.grid.widths[bins] - 1e-9)
        return _like(
            q, self.grid.edges[bins] + step.astype(np.int64).clip(1, self.grid.widths[bins])
        )

    def metric(self, metric: str | Metric) -> float:
        """The metric of users with one target each, whose ranks have this distribution."""
        return float(self.mass @ self.grid.averages(parse(metric)))

    def metrics(self, metrics: str | Metric | Iterable[str | Metric] = DEFAULT) -> dict[str, float]:
        """Several metrics by name."""
        return {metric.name: self.metric(metric) for metric in parse_all(metrics)}

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, with a format version."""
        return {
            "format": FORMAT,
            "kind": "RankDistribution",
            "method": self.method,
            "slope_error": self.slope_error,
            "edges": self.grid.edges.tolist(),
            "mass": self.mass.tolist(),
        }

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> RankDistribution:
        """Create a distribution from the output of `to_dict`."""
        if not isinstance(content, dict) or content.get("kind") != "RankDistribution":
            raise InputError("`content` must be a RankDistribution written by to_dict.")
        if content.get("format") != FORMAT:
            raise InputError(
                f"`content` must be of format {FORMAT}, not {content.get('format')!r}."
            )
        missing = sorted({"edges", "mass", "method"} - set(content))
        if missing:
            raise InputError(
                f"`content` must have the keys edges, mass and method; {', '.join(missing)} "
                f"{'is' if len(missing) == 1 else 'are'} missing."
            )
        grid = RankGrid(content["edges"])
        error = checks.real("slope_error", content.get("slope_error", 0.0), low=0.0)
        return cls(
            grid=grid, mass=content["mass"], method=str(content["method"]), slope_error=error
        )

    def _to_plain(self) -> dict[str, Any]:
        return self.to_dict()

    @classmethod
    def _from_plain(cls, content: Any) -> RankDistribution:
        return cls.from_dict(content)

    def _title(self) -> str:
        return str(self)

    def _records(self) -> list[dict[str, Any]]:
        """One row for each bin: first and last rank, mass."""
        edges = self.grid.edges.tolist()
        return [
            {"first_rank": low + 1, "last_rank": high, "mass": mass}
            for (low, high), mass in zip(pairwise(edges), self.mass.tolist(), strict=True)
        ]

    def _table(self) -> tuple[list[str], list[list[str]]]:
        """The share of targets in the top K, for K = 1, 2, 5, 10 and so on."""
        steps = [d * 10**e for e in range(19) for d in (1, 2, 5) if d * 10**e <= self.n_items]
        rows = [[f"{k:,}", f"{share:.4f}"] for k, share in zip(steps, self.cdf(steps), strict=True)]
        return ["K", "share of targets at rank K or better"], rows

    def plot(self, ax: Any = None, *, label: str | None = None) -> Any:
        """Draw P(R <= K) against K on a log axis: the recall curve. Returns the axes."""
        ax = tabular.axes(ax)
        ax.step(self.grid.edges[1:], self._running[1:], where="post", label=label or self.method)
        ax.set(xscale="log", xlabel="rank K", ylabel="share of targets at rank K or better")
        ax.set_xlim(1, self.n_items)
        return ax

    def __str__(self) -> str:
        low, middle, high = self.quantile([0.25, 0.5, 0.75])
        sign = ", signed" if self.signed else ""
        return (
            f"ranks 1..{self.n_items:,} ({self.method}{sign}): "
            f"quartiles {low:,}, {middle:,}, {high:,}"
        )


def _flat(name: str, asked: ArrayLike) -> NDArray[Any]:
    return np.atleast_1d(checks.as_array(name, asked))


def _like(asked: ArrayLike, values: NDArray[_Number]) -> NDArray[_Number]:
    """A scalar for a scalar (as numpy has them), an array for an array."""
    return values.reshape(np.shape(asked))[()]
