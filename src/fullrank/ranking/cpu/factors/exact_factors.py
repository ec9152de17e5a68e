"""Exact ranks of factor models: most scores are ruled out, filtered or left alone, few are summed.

The score of user u and item v is defined in float64 (factors.py). It is summed as defined for the
targets, and for the few other items that nothing cheaper decides:

1. No score exceeds |u||v| + b, |·| the Euclidean length and b the item's bias, but for its own
   rounding. So a block of items whose longest is too short for every target of a user needs no
   product at all. Where that is likely to pay, items are taken in the order of their lengths; users
   always are in the order of t/|u|, t their lowest target's score, so that every block is needed by
   the first of them only, and often by none.
2. With `max_rank`, a target of which enough is counted to rank beyond it is out, and a user whose
   targets are all out leaves. Long items come first: they are likely to be above.
3. Products of rounded factors decide what lies further from t than their error (factor_filters.py).
4. A float64 sum in any order decides all but ties and what differs by its rounding.

Blocks are multiplied for all users that still need them, a slab of the catalogue at a time: short
slabs at first where users are likely to leave, so that those who remain stand together again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fullrank._lib import threads
from fullrank._lib.types import Floats, Ints
from fullrank.ranking.cpu import exact_kernels as kernels
from fullrank.ranking.cpu.factors import factor_filters as filters
from fullrank.ranking.cpu.factors.factor_counts import Blocks, Found, Wanted, count_chunk, reach
from fullrank.ranking.cpu.factors.integer_products import IS_FAST, LANES
from fullrank.ranking.job import Job, exclusion_arrays
from fullrank.ranking.ties import Counts, between_targets
from fullrank.scorers.factors import FactorScorer

# A tile of 2 MB is counted while it is still in the second-level cache. Up to a rank, tiles are
# narrower, because users leave between them.
USERS, ITEMS, ITEMS_UP_TO = 512, 1024, 256
SLAB = 1 << 24  # bytes of packed items
FIRST = 4  # blocks in the first slab where users are likely to leave
FILTER: str | None = None  # "integers" or "singles" for tests; None chooses
_MAX_FACTORS = 1 << 19  # (d + 10)·2^-24 stays below 1/16
_NEVER = 1 << 62  # more than any count
_PIECES, _FEW = 8, 64  # users come in this many pieces for a thread, unless they are few
_PAIRS = 1 << 14  # scores summed together by a thread
_SAMPLE_USERS, _SAMPLE_ITEMS, _EXTRA = 32, 512, 0.02


def count_factors(job: Job, scorer: FactorScorer) -> Counts | None:
    """Certified counts, or with `job.fast` those of the float32 products.

    None where the bound does not hold: factors that are not finite, or so large or so small that
    the float64 sums themselves over- or underflow, or biases out of all proportion.
    """
    t = job.targets
    catalogue = np.arange(scorer.n_items) if job.catalogue is None else job.catalogue
    length = kernels.lengths(scorer.user_factors, t.users)
    item_length = kernels.lengths(scorer.item_factors, catalogue)
    scale = scale_for(scorer, float(length.max()), float(item_length.max()))
    if scale is None:
        return None
    counts = Counts.empty(t.order.size)
    bias = np.empty(0) if scorer.item_bias is None else scorer.item_bias
    targets = t.item_rows[t.order]
    users = t.user_rows[t.order]

    def work(here: slice) -> None:
        kernels.pair_scores(
            scorer.user_factors, scorer.item_factors, bias, users[here], targets[here],
            counts.mark[here],
        )  # fmt: skip

    parts = [slice(a, a + _PAIRS) for a in range(0, targets.size, _PAIRS)]
    threads.run(work, parts, n_jobs=job.n_jobs)
    length *= scale.users
    wanted = _wanted(job, counts, targets, length, scale)
    # the shortest item that can reach the user's lowest target; a zero user rules nothing out
    needed = np.divide(wanted.lowest, length, out=np.full(length.size, -np.inf), where=length > 0)
    groups = np.argsort(needed)
    blocks = _blocks(
        job, scorer, catalogue, item_length * scale.items, bias, needed, float(np.median(length)),
        scale,
    )  # fmt: skip
    _Count(job, scorer, counts, wanted, blocks, bias, scale).run(groups)
    return counts


def _wanted(job: Job, counts: Counts, targets: Ints, length: Floats, scale: Scale) -> Wanted:
    """The targets, and how much may be counted for each before it is out."""
    t = job.targets
    room = np.full(targets.size, _NEVER)
    for_equal, for_before = {"best": (0, 0), "mean": (1, 0), "worst": (2, 0), "random": (0, 2)}[
        job.policy
    ]
    if job.max_rank is not None:
        others, offset = between_targets(counts, t, job.policy, job.key)
        room = 2 * (job.max_rank - 1 - offset + others.greater)
        room += for_equal * others.equal + for_before * others.before
    return Wanted(
        users=t.users, starts=t.starts, targets=targets, mark=counts.mark, length=length,
        lowest=scale.both * np.minimum.reduceat(counts.mark, t.starts[:-1]), room=room,
        for_equal=for_equal, for_before=for_before, random=job.random, key=np.uint64(job.key),
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Count:
    """One pass over the catalogue, slab by slab."""

    job: Job
    scorer: FactorScorer
    counts: Counts
    wanted: Wanted
    blocks: Blocks
    bias: Floats
    scale: Scale

    def run(self, groups: Ints) -> None:
        scored = np.zeros(groups.size, np.int64)
        c = self.counts
        found = Found(c.greater, c.equal, c.before, c.out, scored)
        seen = exclusion_arrays(self.job.exclusion)
        n_blocks = self.blocks.longest.size
        integers = self._prefers_integers(groups)
        slabs = _slabs(self, n_blocks) if integers else [(0, n_blocks)]
        total, done = groups.size, 0
        for first, last in slabs:
            groups = self._still_wanted(groups, first)
            if groups.size == 0:
                break
            items = self._integers(first, last) if integers else self._singles()

            def work(
                batch: slice, first: int = first, last: int = last, groups: Ints = groups,
                items: Any = items,
            ) -> None:  # fmt: skip
                count_chunk(
                    groups[batch], first, last, self.wanted, self.blocks, items, self.job.fast,
                    self.scale.both, *seen, self.scorer.user_factors, self.scorer.item_factors,
                    self.bias, found,
                )  # fmt: skip

            share_out = -(-groups.size // (_PIECES * threads.n_threads(self.job.n_jobs)))
            batches = self.job.batches(min(USERS, max(_FEW, share_out)), groups.size)
            ended, share = total - groups.size, (last - first) / (n_blocks - first)

            def report(now: int, of: int, ended: int = ended, share: float = share) -> None:
                nonlocal done
                done = max(done, ended + int(now * share))
                if self.job.progress is not None:
                    self.job.progress(done, total)

            threads.run(
                work,
                batches,
                n_jobs=self.job.n_jobs,
                progress=None if self.job.progress is None else report,
                sizes=[batch.stop - batch.start for batch in batches],
            )
        if self.job.progress is not None and done < total:
            self.job.progress(total, total)
        sizes = np.diff(self.wanted.starts)
        c.scored[:] = np.repeat(scored + sizes, sizes)  # the targets were scored before

    def _still_wanted(self, groups: Ints, first: int) -> Ints:
        """Those of the users whom some item from block `first` on may concern."""
        b = self.blocks
        farthest = reach(
            self.wanted.length[groups], b.later[first], b.later_size[first], b.later_high[first],
            b.absolute,
        )  # fmt: skip
        near: Ints = groups[self.wanted.lowest[groups] <= farthest]
        return near

    def _integers(self, first: int, last: int) -> filters.Integers:
        """The items of some blocks, rounded and packed."""
        b, width = self.blocks, self.blocks.width
        order = b.order[first * width : last * width]
        n_blocks, strips = last - first, -(-width // LANES)
        size, unit = self._sizes()
        edges = np.arange(0, order.size, width)
        longest = np.maximum.reduceat(size[order], edges)
        beta = np.ones(n_blocks)
        if size.max() > 0.0:
            beta = filters.Q / np.maximum(longest, max(size.max() * filters.SHORT, filters.LEAST))
        behind = np.zeros(order.size)
        if unit > 0.0:
            behind = self.bias[order] * (self.scale.both / unit)
        packed = np.zeros((n_blocks * strips, self._half(), 2 * LANES), np.int16)
        loss = np.empty(n_blocks)

        def work(part: slice) -> None:
            items = slice(part.start * width, part.stop * width)
            filters.pack(
                self.scorer.item_factors, order[items], behind[items], self.scale.items,
                beta[part], width, packed[part.start * strips : part.stop * strips], loss[part],
            )  # fmt: skip

        step = max(4, -(-n_blocks // (4 * threads.n_threads(self.job.n_jobs))))
        parts = [slice(a, min(a + step, n_blocks)) for a in range(0, n_blocks, step)]
        threads.run(work, parts, n_jobs=self.job.n_jobs)
        return filters.Integers(
            packed=packed, first=first, strips=strips, beta=beta, loss=loss, unit=unit,
            user_scale=self.scale.users,
            longest_user=float(np.hypot(self.wanted.length.max(), unit)),
        )  # fmt: skip

    def _half(self) -> int:
        """Pairs of entries in a row: the factors, and the constant if there is a bias."""
        return int(self.scorer.item_factors.shape[1] + bool(self.bias.size) + 1) // 2

    def _sizes(self) -> tuple[Floats, float]:
        """Of each item row the length with b/c behind it, and c, which keeps the products short."""
        length = self.blocks.item_length
        if not self.bias.size:
            return length, 0.0
        bias = np.zeros(length.size)
        bias[self.blocks.order] = np.abs(self.bias[self.blocks.order]) * self.scale.both
        parts = float(self.wanted.length.max()), float(bias.max()), float(length.max())
        unit = 1.0
        if min(parts) > 0.0:
            user, constant, item = np.log2(parts)  # a product of these may vanish
            unit = 2.0 ** round((user + constant - item) / 2)
        return np.hypot(length, bias / unit), unit

    def _singles(self) -> filters.Singles:
        d = self.scorer.user_factors.shape[1]
        scorer, order = self.scorer, self.blocks.order
        plain = np.empty((0, d), np.float32)
        narrow = scorer.item_factors.dtype == np.float32  # float64 ones may have a scale of 1 too
        in_order = order.size == scorer.n_items and bool((np.diff(order) == 1).all())
        if in_order and self.scale.is_one and narrow:
            plain = scorer.item_factors
        bias = self.bias[order] * self.scale.both if self.bias.size else self.bias
        user_scale, item_scale = self.scale.typed(scorer.item_factors.dtype)
        return filters.Singles(
            factors=scorer.item_factors, plain=plain, bias=bias.astype(np.float32),
            user_scale=user_scale, item_scale=item_scale, relative=_relative(d),
            absolute=self.blocks.absolute, fast=self.job.fast,
        )  # fmt: skip

    def _prefers_integers(self, groups: Ints) -> bool:
        """Whether integers leave little more undecided than float32, judged by a sample of scores.

        What they leave costs some 25 ns a score, and what they save is more than half a ns.
        """
        if self.job.fast:
            return False
        if self.bias.size and not np.isfinite(self.bias[self.blocks.order]).all():
            return False
        if FILTER is not None:
            return FILTER == "integers"
        if not IS_FAST:
            return False
        users = groups[:: 1 + groups.size // _SAMPLE_USERS]
        items = self.blocks.order[:: 1 + self.blocks.order.size // _SAMPLE_ITEMS]
        left = self.scorer.user_factors[self.wanted.users[users]].astype(np.float64)
        right = self.scorer.item_factors[items].astype(np.float64)
        with threads.one_blas_thread():  # float32 does not hold every scale
            scores = (left * self.scale.users) @ (right * self.scale.items).T
        size, unit = self._sizes()
        if self.bias.size:
            scores += self.bias[items] * self.scale.both
        apart = np.abs(scores - self.wanted.lowest[users][:, None])
        apart /= np.maximum(np.hypot(self.wanted.length[users], unit), 1e-300)[:, None]
        apart /= np.maximum(size[items], 1e-300)
        d = self.scorer.user_factors.shape[1]
        rounded = 2.0 * np.sqrt(d / 12.0) / filters.Q
        extra = (apart < rounded).mean() - (apart < _relative(d)).mean()
        return bool(extra < _EXTRA)


def _relative(d: int) -> float:
    return 1.125 * (d + 10) * 2.0**-24


def _slabs(count: _Count, n_blocks: int) -> list[tuple[int, int]]:
    """Ranges of blocks: as many as SLAB bytes hold, and few at first where users may leave."""
    width = -(-count.blocks.width // LANES) * LANES
    most = max(1, SLAB // (4 * count._half() * width))
    step = most if count.job.max_rank is None else min(most, FIRST)
    slabs = []
    first = 0
    while first < n_blocks:
        slabs.append((first, min(first + step, n_blocks)))
        first, step = first + step, min(most, 4 * step)
    return slabs


@dataclass(frozen=True, kw_only=True)
class Scale:
    """The powers of two by which users and items are multiplied for the filter.

    `room` is what underflow can be multiplied with: the lengths of the longest user and item.
    """

    users: float = 1.0
    items: float = 1.0
    room: float = 1.0

    @property
    def both(self) -> float:
        return self.users * self.items

    @property
    def is_one(self) -> bool:
        return self.users == self.items == 1.0

    def typed(self, dtype: np.dtype[Any]) -> tuple[Any, Any]:
        """In float32 where that holds both and the factors are float32, which is faster."""
        fits = all(2.0**-120 < scale < 2.0**120 for scale in (self.users, self.items))
        kind = np.float32 if fits and dtype == np.float32 else np.float64
        return kind(self.users), kind(self.items)


def scale_for(scorer: FactorScorer, longest_user: float, longest_item: float) -> Scale | None:
    """No scale for float32 factors of ordinary size; else one that makes the longest at most 1."""
    longest = longest_user, longest_item
    if scorer.user_factors.shape[1] > _MAX_FACTORS or not np.isfinite(longest).all():
        return None
    exponents = [int(np.frexp(x)[1]) for x in longest]
    if max(abs(x) for x in exponents) > 400:
        return None
    if scorer.item_factors.dtype == np.float32 and all(abs(x) < 30 for x in exponents):
        scale = Scale(room=max(1.0, longest_user) * max(1.0, longest_item))
    else:
        scale = Scale(users=2.0 ** -exponents[0], items=2.0 ** -exponents[1])
    if scorer.item_bias is not None:
        finite = np.abs(scorer.item_bias[np.isfinite(scorer.item_bias)])
        if finite.max(initial=0.0) > 2.0**100 / scale.both:
            return None
    return scale


def _blocks(
    job: Job,
    scorer: FactorScorer,
    catalogue: Ints,
    item_length: Floats,
    bias: Floats,
    needed: Floats,
    typical: float,
    scale: Scale,
) -> Blocks:
    d = scorer.user_factors.shape[1]
    bias = bias[catalogue] * scale.both if bias.size else bias
    order = np.arange(catalogue.size)
    if job.max_rank is not None:  # by what is likely to be above
        likely = item_length * typical + bias if bias.size else item_length
        order = np.argsort(-likely, kind="stable")
    elif not bias.size and _worth_sorting(item_length, needed):
        order = np.argsort(-item_length)
    place = np.full(scorer.n_items, -1, np.int32)
    place[catalogue[order]] = np.arange(order.size)
    length = np.zeros(scorer.n_items)
    length[catalogue] = item_length
    width = ITEMS if job.max_rank is None else ITEMS_UP_TO
    edges = np.arange(0, order.size, width)
    bias_size = bias_high = np.zeros(edges.size)
    if bias.size:
        bias = bias[order]
        finite = np.where(np.isfinite(bias), np.abs(bias), 0.0)
        bias_size = np.maximum.reduceat(finite, edges)
        bias_high = np.maximum.reduceat(bias, edges)
    longest = np.maximum.reduceat(item_length[order], edges)
    return Blocks(
        width=width, order=catalogue[order], place=place, item_length=length, longest=longest,
        bias_size=bias_size, bias_high=bias_high, later=_from_here_on(longest),
        later_size=_from_here_on(bias_size), later_high=_from_here_on(bias_high),
        absolute=(4 * d + 8) * 2.0**-126 * scale.room,
    )  # fmt: skip


def _from_here_on(values: Floats) -> Floats:
    """The largest of each value and those behind it."""
    return np.ascontiguousarray(np.maximum.accumulate(values[::-1])[::-1])


def _worth_sorting(item_length: Floats, needed: Floats) -> bool:
    """Whether lengths rule out more than a twentieth of the scores, judged by a sample of items."""
    sample = np.sort(item_length[:: 1 + item_length.size // 4096])
    ruled_out = np.searchsorted(sample, needed) / sample.size
    return bool(ruled_out.mean() > 0.05)
