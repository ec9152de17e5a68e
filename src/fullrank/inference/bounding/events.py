"""Events whose probabilities bound P(R): chosen before the data, counted in them.

An event (j, t) says: the target came to level j and stood there at rank t or better. A fixed
design has one level. Along the draws of a target a better true rank, or a larger catalogue, can
only lower every sampled rank (couple the draws one by one), so P(event | R, N) falls with R and
rises with N. That is why the ends of a bin of ranks bound all ranks in it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from fullrank._lib.types import Floats, Ints
from fullrank.designs import Design, RankGrid
from fullrank.designs.probabilities import kernel, kernel_averages
from fullrank.samples import RankSample

_CANDIDATES = 96  # thresholds of a level from which the events are chosen
_FAR = 36.0  # e^-36: a rank beyond this many times n_j / n_(j-1) hardly passes level j - 1
_FINE, _CUTS = 3, 4  # first thresholds, which are events anyway; events for cut-offs
_NODES = 400  # ranks that stand for the log scale when events are chosen
_CELLS = 1_000_000  # table cells computed at a time


@dataclass(frozen=True)
class Events:
    """Levels j and thresholds t of some events of a design, and the sizes of its levels."""

    design: Design
    sizes: tuple[int, ...]
    level: Ints
    rank: Ints

    @classmethod
    def chosen(
        cls, design: Design, size: int, n_items: int, number: int, cuts: Iterable[int] = ()
    ) -> Events:
        """At most `number` events, from nothing but the design and the requested cut-offs.

        In equal steps of probability for a target whose log-rank is uniform: log-spaced
        thresholds of a fixed design, one or two for each level of an adaptive one. The first
        event is the best outcome there is. A few more stand where cut-offs lie, if the sample is
        so fine that they lie between log-spaced thresholds.
        """
        sizes = design.levels if design.levels is not None else (size,)
        pairs = [
            (j, t)
            for j in reversed(range(len(sizes)))
            for t in _thresholds(design, sizes, j).tolist()
        ]
        level, rank = np.array(pairs, np.int64).reshape(-1, 2).T
        every = cls(design, sizes, level, rank)
        if level.size <= number:
            return every
        own = _cut_thresholds(cuts, sizes[-1] / n_items, sizes[-1] - 1)[: number - 1]
        nodes, weight = np.unique(
            np.rint(np.geomspace(1, n_items, _NODES)).astype(np.int64), return_counts=True
        )
        share = weight @ every.probabilities(nodes, n_items) / _NODES
        steps = np.linspace(share[0], 1.0, number - own.size, endpoint=False)
        keep = np.abs(share[:, None] - steps).argmin(axis=0)
        last = np.full(own.size, len(sizes) - 1)
        level, rank = np.append(level[keep], last), np.append(rank[keep], own)
        # best outcomes first, each event once: levels fall, thresholds rise
        below, rank = np.unique(np.stack([-level, rank]), axis=1)
        return cls(design, sizes, -below, rank)

    def counts(self, sample: RankSample) -> Ints:
        """How many targets of the sample each event holds for."""
        r, n = sample.rank, sample.sample_size
        reached = np.searchsorted(self.sizes, n)
        # who has been ranked among all items stands where more levels would leave them
        known = (n == sample.pool) & (not self.design.replacement)
        stays = known & (r <= self.design.stop_rank)
        held = [
            (reached > j) | ((reached == j) & (r <= t)) | ((reached < j) & stays & (r <= t))
            for j, t in zip(self.level.tolist(), self.rank.tolist(), strict=True)
        ]
        return np.asarray(np.array(held).reshape(-1, r.size) @ sample.count)

    def probabilities(self, ranks: Ints, n_items: int) -> Floats:
        """P(event | R) of targets among `n_items`: one row for each R, one column an event."""
        last = len(self.sizes) - 1
        if not self.design.replacement and n_items < self.sizes[-1]:
            last = int(np.searchsorted(self.sizes, n_items))
        sizes = (*self.sizes[:last], min(self.sizes[last], n_items))
        if self.design.replacement:
            sizes = self.sizes
        level = np.minimum(self.level, last)
        # beyond the level that holds all items the rank is what it was, which let it go on
        rank = np.where(self.level > last, np.minimum(self.rank, self.design.stop_rank), self.rank)
        table = np.empty((ranks.size, level.size))
        for j in np.unique(level).tolist():
            here = level == j
            t = np.minimum(rank[here], sizes[j])
            if j == 0:
                table[:, here] = _at_most(ranks, t, sizes[0], n_items, self.design.replacement)
            else:
                table[:, here] = self._at_level(ranks, t, sizes[j - 1], sizes[j], n_items)
        return table

    def _at_level(self, ranks: Ints, t: Ints, before: int, size: int, n_items: int) -> Floats:
        """P(came to the level and rank <= t there): sum over r <= t of c_j(r) P(r | R)."""
        r = np.arange(1, int(t.max()) + 1)
        going_on = self.design.continuation(r, size, n_items)
        table = np.zeros((ranks.size, t.size))
        # to come here at most a = s - 1 of the draws before stood above, of μ expected: a chance
        # below exp(a - μ + a log(μ/a)) (Chernoff), which is left out below e^-36
        a = self.design.stop_rank - 1
        mu = np.maximum((before - 1) * (ranks - 1.0) / (n_items - 1.0), a)
        likely = np.flatnonzero(mu - a - a * np.log(np.maximum(mu, 1.0) / max(a, 1)) < _FAR)
        for rows in np.array_split(likely, -(-likely.size * r.size // _CELLS) or 1):
            pmf = kernel(
                ranks[rows],
                r,
                sample_size=size,
                n_items=n_items,
                replacement=self.design.replacement,
            )
            table[rows] = np.cumsum(pmf * going_on, axis=1)[:, t - 1]
        return table


def _thresholds(design: Design, sizes: tuple[int, ...], j: int) -> Ints:
    """Ranks of a level at which an event may end, the sure event left out."""
    first = 1 if j == len(sizes) - 1 else design.stop_rank
    last = sizes[j] - 1
    if j > 0:
        reach = design.stop_rank + np.ceil(_FAR * sizes[j] / sizes[j - 1])
        last = min(last, int(reach), design.stop_rank + sizes[j] - sizes[j - 1])
    if last < first:
        return np.zeros(0, np.int64)
    return np.unique(np.rint(np.geomspace(first, last, _CANDIDATES)).astype(np.int64))


def _cut_thresholds(cuts: Iterable[int], rate: float, last: int) -> Ints:
    """Where a few cut-offs K lie in the largest sample, K n/N, beyond the first thresholds."""
    t = np.unique(np.rint(np.array([*cuts], np.float64) * rate)).astype(np.int64)
    t = t[(t >= _FINE) & (t <= last)]
    return np.asarray(
        t[np.unique(np.linspace(0, t.size - 1, _CUTS).astype(np.int64))] if t.size else t
    )


def _at_most(ranks: Ints, t: Ints, n: int, n_items: int, replacement: bool) -> Floats:
    """P(r <= t | R) of a fixed size n, one row for each R."""
    table = np.ones((ranks.size, t.size))
    short = t < n
    if not short.any():
        return table
    if replacement:
        from scipy.special import betaincc

        share = (ranks - 1.0) / (n_items - 1.0)
        table[:, short] = betaincc(t[short], n - t[short], share[:, None])
        return table
    # P(Hypergeometric(N - 1, R - 1, n - 1) >= t) is (n - 1)/(N - 1) times the sum over the
    # ranks below R of the kernel of n - 1 among N - 1 items (the closed sum in `kernels`)
    edges = np.unique(np.concatenate([[0, n_items - 1], ranks - 1]))
    grid = RankGrid(edges)
    means = kernel_averages(
        t[short], sample_size=n - 1, n_items=n_items - 1, replacement=False, grid=grid
    )
    beyond = np.cumsum(means * grid.widths[:, None], axis=0) * ((n - 1.0) / (n_items - 1.0))
    beyond = np.concatenate([np.zeros((1, beyond.shape[1])), beyond])
    table[:, short] = np.clip(1.0 - beyond[np.searchsorted(edges, ranks - 1)], 0.0, 1.0)
    return table
