"""The rank grid: ranks 1..N in a few hundred bins.

The first ranks are kept one by one, because top-K metrics live there; the rest lies in
bins whose ends grow geometrically, because a sample of n candidates cannot tell ranks
apart that differ by a few percent. A distribution is constant inside a bin. Cost and
memory of everything built on the grid are therefore independent of N.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import ArrayLike

from fullrank._lib import checks, memory
from fullrank._lib.types import Floats, Ints
from fullrank.errors import InputError
from fullrank.metrics import Metric

HEAD = 128  # ranks kept one by one, unless a larger K is requested
TAIL = 256  # geometric bins behind them
LARGEST = 2**53  # items: floats cannot distinguish more ranks
_SUMMED = 4096  # widest bin over which a metric is summed rank by rank
_RANKS = 1_000_000  # of a metric with steps, held at once
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)


@dataclass(frozen=True, eq=False)
class RankGrid:
    """Ranks 1..N in bins; bin b holds the ranks ``edges[b] + 1 .. edges[b + 1]``.

    Examples
    --------
    >>> grid = RankGrid.default(100_000_000)
    >>> grid
    RankGrid(n_items=100000000, n_bins=385, head=128)
    >>> grid.widths[[0, 127, 128, 383, 384]]
    array([      1,       1,       7, 5162240,       1])
    """

    edges: Ints

    def __post_init__(self) -> None:
        edges = checks.integers("edges", self.edges, low=0)
        _n_items(int(edges.max(initial=1)))
        if edges.size < 2 or edges[0] != 0 or (np.diff(edges) <= 0).any():
            raise InputError("`edges` must start at 0 and increase up to the number of items.")
        object.__setattr__(self, "edges", checks.frozen(edges))

    @classmethod
    def default(cls, n_items: int, *, max_k: int = HEAD // 2, tail: int = TAIL) -> RankGrid:
        """A grid for metrics up to ``@max_k``: twice as many ranks are kept one by one."""
        n_items = _n_items(n_items)
        max_k = checks.integer("max_k", max_k, low=1)
        tail = checks.integer("tail", tail, low=1)
        return _growing(n_items, min(n_items, max(HEAD, 2 * max_k)), tail)

    @classmethod
    def for_metrics(cls, n_items: int, metrics: Iterable[Metric]) -> RankGrid:
        """The default grid for the largest cut-off among `metrics`."""
        # a cut-off that cuts nothing off asks for no rank of its own
        cuts = [one.k for one in metrics if one.k is not None and one.k < n_items]
        return cls.default(n_items, max_k=max(cuts, default=HEAD // 2))

    @classmethod
    def dense(cls, n_items: int) -> RankGrid:
        """One bin for each rank."""
        n_items = _n_items(n_items)
        memory.ask("n_items", 24 * n_items, f"a grid of {n_items:,} bins")
        return cls(np.arange(n_items + 1))

    def __repr__(self) -> str:
        return f"RankGrid(n_items={self.n_items}, n_bins={self.n_bins}, head={self.head})"

    @property
    def n_items(self) -> int:
        return int(self.edges[-1])

    @property
    def n_bins(self) -> int:
        return self.edges.size - 1

    @cached_property
    def head(self) -> int:
        """How many ranks are kept one by one from rank 1 on."""
        wide = np.flatnonzero(self.widths > 1)
        return int(self.edges[wide[0]]) if wide.size else self.n_items

    @cached_property
    def widths(self) -> Ints:
        """How many ranks each bin holds."""
        return np.diff(self.edges)

    def bin_of(self, ranks: ArrayLike) -> Ints:
        """The bin of each rank."""
        rank = checks.integers("ranks", ranks, low=1, high=self.n_items, hint="Ranks are 1-based.")
        if 4 * rank.size > self.n_items:  # looking up is quicker than searching
            return self._bins[rank - 1]
        return np.searchsorted(self.edges, rank, side="left").astype(np.int64) - 1

    @cached_property
    def _bins(self) -> Ints:
        """The bin of every rank."""
        return np.repeat(np.arange(self.n_bins), self.widths)

    def averages(self, metric: Metric, *, n_targets: int = 1, offset: int = 0) -> Floats:
        """The mean gain of `metric` over the ranks of each bin.

        For multi-target users the grid is over R' = 1 + z, z the non-targets above, and the
        gain is that of rank R' + offset (`Metric.gains`) in a catalogue of as many items
        more as there are other targets.
        """
        n_items = self.n_items + n_targets - 1
        if metric.first_only and offset > 0:
            return np.zeros(self.n_bins)

        def gain(rank: Floats) -> Floats:
            return metric.shape(rank + offset, n_items, n_targets=n_targets, offset=offset)

        cut = self.n_items if metric.k is None else max(0, metric.k - offset)
        sums = self._sums(gain, cut, metric.promises.smooth)
        return sums / self.widths * float(metric.factor(n_targets, n_items))

    def _sums(self, function: Callable[[Floats], Floats], cut: int, smooth: bool) -> Floats:
        """Sum of a function over the ranks of each bin that do not exceed `cut`."""
        low = np.minimum(self.edges[:-1], cut)
        high = np.minimum(self.edges[1:], cut)
        if not smooth:
            return np.array([_summed(function, a, b) for a, b in zip(low, high, strict=True)])
        sums = np.zeros(self.n_bins)
        wide = high - low > _SUMMED
        # bins summed rank by rank are the first ones, so that their ranks are consecutive
        summed = int(np.argmax(wide)) if wide.any() else self.n_bins
        last = int(high[summed - 1]) if summed else 0
        running = np.concatenate([[0.0], np.cumsum(function(np.arange(1.0, last + 1.0)))])
        sums[:summed] = running[high[:summed]] - running[low[:summed]]
        # a wide bin starts beyond rank 4096/0.06, where the sum differs from the integral
        # over [low + 1/2, high + 1/2] by 1/(24 R^2) of its value at most: 1e-11
        middle, half = (high + low + 1.0) / 2.0, (high - low) / 2.0
        nodes = middle[summed:, None] + half[summed:, None] * _NODES
        sums[summed:] = half[summed:] * (function(nodes) @ _WEIGHTS)
        return sums


def _summed(function: Callable[[Floats], Floats], low: int, high: int) -> float:
    """The sum over the ranks low + 1 .. high, a million at a time."""
    parts = range(low, high, _RANKS)
    return sum(
        float(function(np.arange(a + 1.0, min(a + _RANKS, high) + 1.0)).sum()) for a in parts
    )


@lru_cache(maxsize=32)
def _growing(n_items: int, head: int, tail: int) -> RankGrid:
    """The first ranks one by one, then bins whose ends grow; made once, as grids do not change."""
    memory.ask("max_k", 32 * head, f"a grid that keeps {head:,} ranks one by one")
    memory.ask("tail", 32 * tail, f"a grid of {tail:,} bins")
    singles = np.arange(head + 1)
    bins: ArrayLike = (
        np.rint(np.geomspace(head, n_items - 1, tail + 1)) if n_items - 1 > head else []
    )
    # the last rank is a bin of its own: there the kernel is 1 at r = n and 0 elsewhere
    return RankGrid(np.unique(np.concatenate([singles, bins, [n_items]]).astype(np.int64)))


def _n_items(value: int) -> int:
    n_items = checks.integer("n_items", value, low=1)
    return checks.integer("n_items", n_items, high=LARGEST)
