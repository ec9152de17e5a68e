"""Events whose probabilities bound P(R): chosen before the data are seen, then counted in them.

An event (j, t) means that the target reached level j and had rank t or better there. A fixed
design has one level. Along the draws of a target a better true rank, or a larger catalogue, can
only lower every sampled rank (couple the draws one by one), so P(event | R, N) falls with R and
rises with N. That is why the ends of a bin of ranks bound all ranks in it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from fullrank._lib.types import Floats, Ints
from fullrank.designs import Design, Rounds
from fullrank.samples import RankSample

_CANDIDATES = 96  # thresholds of a level from which the events are chosen
_FAR = 36.0  # e^-36: a rank beyond this many times n_j / n_(j-1) hardly passes level j - 1
_FINE, _CUTS = 3, 4  # first thresholds, which are events anyway; events for cut-offs
_NODES = 400  # ranks that stand for the log scale when events are chosen
_CELLS = 1_000_000  # table cells computed at a time


@dataclass(frozen=True)
class Events:
    """Levels j and thresholds t of some events of a design, and its rounds."""

    design: Design
    rounds: Rounds
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
        rounds = design.rounds(n_items, size)
        sizes = rounds.sizes
        pairs = [
            (j, t) for j in reversed(range(len(sizes))) for t in _thresholds(rounds, j).tolist()
        ]
        level, rank = np.array(pairs, np.int64).reshape(-1, 2).T
        every = cls(design, rounds, level, rank)
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
        return cls(design, rounds, -below, rank)

    def counts(self, sample: RankSample) -> Ints:
        """How many targets of the sample each event holds for."""
        r, n = sample.rank, sample.sample_size
        reached = np.searchsorted(self.rounds.sizes, n)
        # a target ranked among all items keeps its rank at further levels
        known = self.design.exhausted(n, sample.pool)
        held = [
            (reached > j)
            | ((reached == j) & (r <= t))
            | ((reached < j) & known & (r <= np.minimum(t, self._kept(reached, j))))
            for j, t in zip(self.level.tolist(), self.rank.tolist(), strict=True)
        ]
        return np.asarray(np.array(held).reshape(-1, r.size) @ sample.count)

    def probabilities(self, ranks: Ints, n_items: int) -> Floats:
        """P(event | R) of targets among `n_items`: one row for each R, one column an event."""
        rounds = self.rounds.within(n_items)
        last = len(rounds.sizes) - 1
        level = np.minimum(self.level, last)
        # beyond the level that holds all items the rank is what it was, which let it continue
        kept = [self._kept(np.array([last]), int(j))[0] for j in self.level]
        rank = np.where(self.level > last, np.minimum(self.rank, kept), self.rank)
        table = np.empty((ranks.size, level.size))
        for j in np.unique(level).tolist():
            here = level == j
            t = np.minimum(rank[here], rounds.sizes[j])
            if j == 0:
                table[:, here] = self.design.at_most(t, ranks, rounds.sizes[0], n_items)
            else:
                table[:, here] = self._at_level(ranks, t, rounds, j, n_items)
        return table

    def _kept(self, first: Ints, last: int) -> Ints:
        """The rank up to which a target passes every round from `first` on to `last`."""
        refine = np.array([*self.rounds.refine, np.iinfo(np.int64).max])
        return np.array([refine[j:last].min() if j < last else refine[-1] for j in first.tolist()])

    def _at_level(self, ranks: Ints, t: Ints, rounds: Rounds, j: int, n_items: int) -> Floats:
        """P(came to the level and rank <= t there): sum over r <= t of c_j(r) P(r | R)."""
        r = np.arange(1, int(t.max()) + 1)
        size, before = rounds.sizes[j], rounds.sizes[j - 1]
        continued = rounds.continuation(r, size)
        table = np.zeros((ranks.size, t.size))
        # to come here at most a = s - 1 of the draws before stood above, of μ expected: a chance
        # below exp(a - μ + a log(μ/a)) (Chernoff), which is left out below e^-36
        a = rounds.refine[j - 1] - 1
        mu = np.maximum((before - 1) * (ranks - 1.0) / (n_items - 1.0), a)
        likely = np.flatnonzero(mu - a - a * np.log(np.maximum(mu, 1.0) / max(a, 1)) < _FAR)
        for rows in np.array_split(likely, -(-likely.size * r.size // _CELLS) or 1):
            pmf = self.design.likelihood_at(ranks[rows], r, size, n_items=n_items)
            table[rows] = np.cumsum(pmf * continued, axis=1)[:, t - 1]
        return table


def _thresholds(rounds: Rounds, j: int) -> Ints:
    """Ranks of a level at which an event may end, the sure event left out."""
    sizes, refine = rounds.sizes, rounds.refine
    first = 1 if j == len(sizes) - 1 else refine[j]
    last = sizes[j] - 1
    if j > 0:
        reach = refine[j - 1] + np.ceil(_FAR * sizes[j] / sizes[j - 1])
        last = min(last, int(reach), refine[j - 1] + sizes[j] - sizes[j - 1])
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
