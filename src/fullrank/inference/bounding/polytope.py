"""What a bin of ranks allows: the smallest and largest chance of each event, and gain.

P(event | R) and the gain of a metric fall with R, so that the values at the ends of a bin enclose
all between. Mass in the bin may take any of them; a polytope on a coarser grid therefore contains
that on a finer one. A distribution that does not increase with R is a mixture of uniform ones on
1..b, whose chances and gains are means over 1..b, and these fall with b.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fullrank._lib.types import Floats, Ints
from fullrank.designs import RankGrid
from fullrank.errors import InputError
from fullrank.inference.bounding.events import Events
from fullrank.metrics import Metric
from fullrank.samples import RankSample

_DENSE = 2**15  # ranks that have a bin each


@dataclass(frozen=True)
class Columns:
    """Bins of ranks, one after the other for each group of users with like catalogues."""

    first: Ints  # rank of each bin
    last: Ints
    least: Ints  # catalogue of the users of its group
    most: Ints
    group: Ints
    mass: Floats  # share of the users in each group
    top: Floats  # largest P(event | R) in each bin, one column for each event
    bottom: Floats

    @classmethod
    def build(cls, sample: RankSample, events: Events, edges: Ints, groups: int) -> Columns:
        parts = []
        pools = _pools(sample, groups)
        for number, (least, most, _) in enumerate(pools):
            here = edges[:-1] < most
            first, last = edges[:-1][here] + 1, np.minimum(edges[1:][here], most)
            top = events.probabilities(first, most)
            exact = least == most and bool((first == last).all())
            # P(event | R, N) rises with N, and a user of rank R has R items or more: beyond the
            # smallest catalogue, its last rank is no better than any
            bottom = top if exact else events.probabilities(np.minimum(last, least), least)
            sizes = (np.full(first.size, value) for value in (least, most, number))
            parts.append((first, last, *sizes, top, bottom))
        first, last, least_, most_, group, top, bottom = map(
            np.concatenate, zip(*parts, strict=True)
        )
        mass = np.array([share for *_, share in pools])
        return cls(first, last, least_, most_, group, mass, top, bottom)

    def chances(self, reach: int) -> tuple[Floats, Floats]:
        """Ends of P(event) for each bin; for means over 1..b up to the rank `reach`."""
        return self._means(self.top, self.bottom, reach)

    def gains(self, metric: Metric, reach: int) -> tuple[Floats, Floats]:
        """Ends of the gain for each bin; for means over 1..b up to the rank `reach`."""
        top = [metric.weights(self.first, n) for n in self._catalogues(self.first)]
        bottom = [metric.weights(self.last, n) for n in self._catalogues(self.last)]
        return self._means(np.maximum(*top), np.minimum(*bottom), reach)

    def _catalogues(self, rank: Ints) -> tuple[Ints, Ints]:
        """The smallest and the largest that a user of this rank can have."""
        return np.maximum(self.least, rank), self.most

    def _means(self, top: Floats, bottom: Floats, reach: int) -> tuple[Floats, Floats]:
        inside = self.last <= reach
        if not inside.any():
            return top, bottom
        column = (-1,) + (1,) * (top.ndim - 1)
        first, last = self.first[inside].reshape(column), self.last[inside].reshape(column)
        width = last - first + 1
        # the largest mean is that over 1..first, the smallest that over 1..last
        above = np.cumsum(width * top[inside], axis=0) - (width - 1) * top[inside]
        below = np.cumsum(width * bottom[inside], axis=0)
        top, bottom = top.copy(), bottom.copy()
        top[inside], bottom[inside] = above / first, below / last
        return top, bottom


def edges_for(
    grid: RankGrid | None, n_items: int, metrics: tuple[Metric, ...], until: int | None
) -> Ints:
    """Edges of the bins; cut-offs of the metrics and the end of the shape are always edges."""
    if grid is None:
        edges = _default_edges(n_items)
    elif not isinstance(grid, RankGrid):
        raise InputError(f"`grid` must be a RankGrid, not {type(grid).__name__}.")
    elif grid.n_items < n_items:
        raise InputError(
            f"`grid` must cover the {n_items} items of the sample; it ends at {grid.n_items}."
        )
    else:
        edges = grid.edges
    cuts = [0, n_items, *(metric.k for metric in metrics if metric.k is not None)]
    cuts += [until] if until is not None else []
    whole = [min(cut, n_items) for cut in cuts]
    return np.unique(np.concatenate([np.minimum(edges, n_items), whole]).astype(np.int64))


def _default_edges(n_items: int) -> Ints:
    if n_items <= _DENSE:
        return np.arange(n_items + 1)
    # a kernel at r = t is 1/√t wide in log R: equal steps of log R serve small t, of √R large t
    half = _DENSE // 2
    steps = [np.geomspace(1, n_items, half), np.linspace(0, n_items**0.5, half) ** 2]
    return np.unique(np.rint(np.concatenate(steps)).astype(np.int64))


def _pools(sample: RankSample, groups: int) -> list[tuple[int, int, float]]:
    """Smallest and largest catalogue of each group of users, and its share of them."""
    pools, where = np.unique(sample.pool, return_inverse=True)
    users = np.bincount(where, sample.count)
    middle = (np.cumsum(users) - users / 2.0) / users.sum()
    number = np.floor(middle * groups).astype(np.int64)
    return [
        (int(pools[here].min()), int(pools[here].max()), float(users[here].sum() / users.sum()))
        for here in (number == g for g in np.unique(number))
    ]
