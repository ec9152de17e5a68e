"""Exact ranks of factor models: a float32 product as a filter, float64 where it cannot decide.

The score of user u and item v is defined in float64 (factors.py). Write s for that number, f for
what a float32 matrix product makes of the same inputs, in whatever order it adds them, b for the
item's bias, δ = 2^-24 and |·| for the Euclidean length. Then Σ|u_k v_k| ≤ |u||v|, and

- rounding the inputs to float32 (only float64 ones change), the d products, any order of d - 1
  additions and one more for the bias touch each term with at most d + 4 factors 1 + δ_i,
  |δ_i| ≤ δ (Higham 2002, section 3.1), and the float64 sum with d + 1 factors of 2^-53;
- underflow, even if the processor flushes tiny numbers to zero, adds at most 2^-126 for each
  rounded input, product and sum, multiplied by no more than m = max(1, |u|)·max(1, |v|).

So |f - s| ≤ ε := 1.125·(d + 10)·δ·(|u||v| + |b|) + (4d + 8)·2^-126·m, where 1.125 covers the
higher orders as long as (d + 10)·δ ≤ 1/16, the rounding of |u| and |v|, and the float64 terms. With
t the target's score, f > t + ε proves s > t and f < t - ε proves s < t; what lies between is summed
again as defined. ε takes the largest |v| and |b| of the block of items. Factors of float64 and
factors of unusual size are first multiplied by powers of two that bring the longest user and the
longest item to a length of at most 1, and t and b with them: that is exact, and then m = 1 and
nothing overflows.

No s exceeds |u||v| + b (but for its own rounding), so a block whose longest item is too short for
every target of a user needs no product at all. Where that is likely to pay, items are taken in the
order of their lengths; users always are in the order of t/|u|, so that every block is needed by the
first of them only, and often by none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank._lib import threads
from fullrank._lib.types import Floats, Ints
from fullrank.ranking.cpu import exact_kernels as kernels
from fullrank.ranking.job import Job, exclusion_arrays
from fullrank.ranking.ties import Counts
from fullrank.scorers.factors import FactorScorer

USERS, ITEMS = 512, 512  # a tile of 1 MB is counted while it is still in the second-level cache
_MAX_FACTORS = 1 << 19  # (d + 10)·2^-24 stays below 1/16


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
    kernels.pair_scores(
        scorer.user_factors, scorer.item_factors, bias, t.user_rows[t.order], targets, counts.mark
    )
    length *= scale.users
    lowest = scale.both * np.minimum.reduceat(counts.mark, t.starts[:-1])
    # the shortest item that can reach the user's lowest target; a zero user rules nothing out
    needed = np.divide(lowest, length, out=np.full(length.size, -np.inf), where=length > 0)
    groups = np.argsort(needed)
    blocks = _blocks(
        scorer, catalogue, item_length * scale.items, bias * scale.both, needed, scale.is_one
    )
    seen = exclusion_arrays(job.exclusion)
    d = scorer.user_factors.shape[1]
    relative, absolute = 1.125 * (d + 10) * 2.0**-24, (4 * d + 8) * 2.0**-126 * scale.room
    user_scale, item_scale = scale.typed(scorer.item_factors.dtype)

    def work(batch: slice) -> None:
        here = groups[batch]
        sizes = t.starts[here + 1] - t.starts[here]
        ends = np.cumsum(sizes)
        at = np.repeat(t.starts[here] - ends + sizes, sizes) + np.arange(ends[-1])
        part = Counts.empty(at.size)
        kernels.count_chunk(
            t.users[here], length[here], lowest[here], ends, targets[at],
            np.repeat(length[here], sizes), counts.mark[at], ITEMS, blocks.order, blocks.place,
            blocks.length, blocks.longest, blocks.bias32, blocks.bias_size, blocks.bias_high,
            *seen, scorer.user_factors, scorer.item_factors, blocks.plain, bias, user_scale,
            item_scale, scale.both, relative, absolute, job.fast, job.random, np.uint64(job.key),
            part.greater, part.equal, part.before,
        )  # fmt: skip
        counts.add(part, at)

    batches = job.batches(USERS)
    threads.run(
        work,
        batches,
        n_jobs=job.n_jobs,
        progress=job.progress,
        sizes=[batch.stop - batch.start for batch in batches],
    )
    return counts


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
        if finite.max(initial=0.0) * scale.both > 2.0**100:
            return None
    return scale


@dataclass(frozen=True, kw_only=True, eq=False)
class _Blocks:
    """The catalogue in blocks of ITEMS, by falling length where that pays.

    For each item of the catalogue `order` (its row) and the scaled `bias32`; for each item row its
    `place` in that order and its scaled `length`; for each block the `longest` item, the largest
    finite |bias| and the largest bias. `plain` is the float32 item factors, if they are in this
    order and need no scaling, else empty.
    """

    order: Ints
    bias32: NDArray[np.float32]
    place: NDArray[np.int32]
    length: Floats
    longest: Floats
    bias_size: Floats
    bias_high: Floats
    plain: NDArray[np.float32]


def _blocks(
    scorer: FactorScorer,
    catalogue: Ints,
    item_length: Floats,
    bias: Floats,
    needed: Floats,
    unscaled: bool,
) -> _Blocks:
    sort = _worth_sorting(item_length, needed) and not bias.size
    order = catalogue[np.argsort(-item_length)] if sort else catalogue
    plain = np.empty((0, scorer.item_factors.shape[1]), np.float32)
    narrow = scorer.item_factors.dtype == np.float32  # float64 ones may have a scale of 1 too
    if not sort and unscaled and narrow and catalogue.size == scorer.n_items:
        plain = scorer.item_factors
    place = np.full(scorer.n_items, -1, np.int32)
    place[order] = np.arange(order.size)
    length = np.zeros(scorer.n_items)
    length[catalogue] = item_length
    edges = np.arange(0, order.size, ITEMS)
    bias_size = bias_high = np.zeros(edges.size)
    if bias.size:
        bias = bias[order]
        finite = np.where(np.isfinite(bias), np.abs(bias), 0.0)
        bias_size = np.maximum.reduceat(finite, edges)
        bias_high = np.maximum.reduceat(bias, edges)
    return _Blocks(
        order=order,
        bias32=bias.astype(np.float32),
        place=place,
        length=length,
        longest=np.maximum.reduceat(length[order], edges),
        bias_size=bias_size,
        bias_high=bias_high,
        plain=plain,
    )


def _worth_sorting(item_length: Floats, needed: Floats) -> bool:
    """Whether lengths rule out more than a twentieth of the scores, judged by a sample of items."""
    sample = np.sort(item_length[:: 1 + item_length.size // 4096])
    ruled_out = np.searchsorted(sample, needed) / sample.size
    return bool(ruled_out.mean() > 0.05)
