"""Exact ranks of factor models: a float32 product as a filter, float64 where it cannot decide.

The score of user u and item v is defined in float64 (factors.py). Write s for that number, f for
what a float32 matrix product makes of the same inputs, in whatever order it adds them. Before the
product, users and items are scaled by powers of two so that no entry exceeds 1; s and the biases b
are scaled along, exactly. With δ = 2^-24 and |·| the Euclidean length, Σ|u_k v_k| ≤ |u||v|, and

- rounding the inputs to float32 (only float64 ones change), the d products, any order of d - 1
  additions and one more for the bias touch each term with at most d + 4 factors 1 + δ_i,
  |δ_i| ≤ δ (Higham 2002, section 3.1), and the float64 sum with d + 1 factors of 2^-53;
- underflow, even if the processor flushes tiny numbers to zero, adds at most 2^-126 for each
  rounded input, product and sum, all of them multiplied by numbers of at most 1.

So |f - s| ≤ ε := 1.125·(d + 10)·δ·(|u||v| + |b|) + (4d + 8)·2^-126, where 1.125 covers the higher
orders as long as (d + 10)·δ ≤ 1/16, the rounding of |u| and |v|, and the float64 terms. With t the
target's score, f > t + ε proves s > t and f < t - ε proves s < t; what lies between is summed again
as defined. ε takes the largest |v| and |b| of the block of items.

No s exceeds |u||v| + b, so a block whose longest item is too short for every target of a user
needs no product at all. Items are therefore taken in the order of their lengths and users in the
order of t/|u|: then every block is needed by the first users only, and often by none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank import _threads
from fullrank.ranking import _exact_kernels as kernels
from fullrank.ranking._counting import Job, exclusion_arrays
from fullrank.ranking.factors import FactorScorer
from fullrank.ranking.ties import Counts

Array = NDArray[Any]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

USERS, ITEMS = 512, 512  # a tile of 1 MB is counted while it is still in the second-level cache
_MAX_FACTORS = 1 << 19  # (d + 10)·2^-24 stays below 1/16


def count_factors(job: Job, scorer: FactorScorer) -> Counts | None:
    """Certified counts, or with `job.fast` those of the float32 products.

    None where the bound does not hold: factors that are not finite, or so large or so small that
    the float64 sums themselves over- or underflow, or biases out of all proportion.
    """
    t = job.targets
    catalogue = np.arange(scorer.n_items) if job.catalogue is None else job.catalogue
    lengths = (
        kernels.lengths(scorer.user_factors, t.users),
        kernels.lengths(scorer.item_factors, catalogue),
    )
    scale = _scales(scorer, *lengths)
    if scale is None:
        return None
    counts = Counts.empty(t.order.size)
    bias = np.empty(0) if scorer.item_bias is None else scorer.item_bias
    kernels.pair_scores(
        scorer.user_factors, scorer.item_factors, bias, t.user_rows[t.order],
        t.item_rows[t.order], counts.mark,
    )  # fmt: skip
    blocks = _blocks(scorer, catalogue, scale[1] * lengths[1], bias * (scale[0] * scale[1]))
    _count_blocks(job, scorer, scale, scale[0] * lengths[0], blocks, counts)
    return counts


def _scales(
    scorer: FactorScorer, user_lengths: Floats, item_lengths: Floats
) -> tuple[float, float] | None:
    """Powers of two that bring the longest user and the longest item to at most 1."""
    longest = user_lengths.max(), item_lengths.max()
    exponents = np.frexp(longest)[1]
    if scorer.user_factors.shape[1] > _MAX_FACTORS:
        return None
    if not np.isfinite(longest).all() or np.abs(exponents).max() > 400:
        return None
    users, items = (2.0 ** -int(exponent) for exponent in exponents)
    if scorer.item_bias is not None:
        finite = np.abs(scorer.item_bias[np.isfinite(scorer.item_bias)])
        if finite.max(initial=0.0) * users * items > 2.0**100:
            return None
    return users, items


def _typed(scale: float, dtype: np.dtype[Any]) -> float | np.float32:
    """The scale in the precision of the factors where that can hold it: float32 is faster."""
    return np.float32(scale) if dtype == np.float32 and 2.0**-120 < scale < 2.0**120 else scale


def _count_blocks(
    job: Job,
    scorer: FactorScorer,
    scale: tuple[float, float],
    length: Floats,
    blocks: _Blocks,
    counts: Counts,
) -> None:
    t = job.targets
    d = scorer.user_factors.shape[1]
    relative, absolute = 1.125 * (d + 10) * 2.0**-24, (4 * d + 8) * 2.0**-126
    both = scale[0] * scale[1]
    targets = t.item_rows[t.order]
    lowest = both * np.minimum.reduceat(counts.mark, t.starts[:-1])
    with np.errstate(divide="ignore", invalid="ignore"):
        groups = np.argsort(lowest / length)
    seen_indptr, seen = exclusion_arrays(job.exclusion)
    bias = np.empty(0) if scorer.item_bias is None else scorer.item_bias
    user_scale, item_scale = (_typed(x, scorer.item_factors.dtype) for x in scale)

    def work(batch: slice) -> None:
        kernels.count_chunk(
            groups[batch], ITEMS, blocks.order, blocks.place, blocks.length, blocks.longest,
            blocks.bias32, blocks.bias_size, blocks.bias_high, t.users, t.starts, targets, length,
            lowest, seen_indptr, seen, scorer.user_factors, scorer.item_factors, bias, user_scale,
            item_scale, both, relative, absolute, job.fast, job.random, np.uint64(job.key),
            counts.mark, counts.greater, counts.equal, counts.before,
        )  # fmt: skip

    batches = job.batches(USERS)
    _threads.run(
        work,
        batches,
        n_jobs=job.n_jobs,
        progress=job.progress,
        sizes=[batch.stop - batch.start for batch in batches],
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Blocks:
    """The catalogue by falling length, in blocks of ITEMS.

    For each item of the catalogue `order` (its row) and the scaled `bias32`; for each item row its
    `place` in that order and its scaled `length`; for each block the `longest` item, the largest
    finite |bias| and the largest bias.
    """

    order: Ints
    bias32: NDArray[np.float32]
    place: NDArray[np.int32]
    length: Floats
    longest: Floats
    bias_size: Floats
    bias_high: Floats


def _blocks(
    scorer: FactorScorer, catalogue: Ints, lengths: Floats, scaled_bias: Floats
) -> _Blocks:
    by_length = np.argsort(-lengths)
    order = catalogue[by_length]
    place = np.full(scorer.n_items, -1, np.int32)
    place[order] = np.arange(order.size)
    length = np.zeros(scorer.n_items)
    length[catalogue] = lengths
    edges = np.arange(0, order.size, ITEMS)
    bias_size = bias_high = np.zeros(edges.size)
    bias = scaled_bias
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
        longest=length[order[edges]],
        bias_size=bias_size,
        bias_high=bias_high,
    )
