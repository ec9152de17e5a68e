"""Triton kernels of sampled ranks from exact scores: item-item models, and scores that are given.

Their arguments are those of sampled_kernels.py.
"""

from __future__ import annotations

import triton
import triton.language as tl

from fullrank.ranking.cuda.block_kernels import history_sums
from fullrank.ranking.cuda.sampled.kernels import next_items, tally


@triton.jit
def item_item_marks(
    matrix, n_items, indptr, indices, values, starts, targets, marks,
    BLOCK: tl.constexpr, UNROLL: tl.constexpr,
):  # fmt: skip
    """The scores of the targets of each user."""
    g = tl.program_id(0).to(tl.int64)
    begin, end = tl.load(indptr + g), tl.load(indptr + g + 1)
    last = tl.load(starts + g + 1)
    for start in range(tl.load(starts + g), last, BLOCK):
        t = start + tl.arange(0, BLOCK)
        item = tl.load(targets + t, mask=t < last, other=0)
        total = history_sums(matrix, n_items, item, indices, values, begin, end, BLOCK, UNROLL)
        tl.store(marks + t, total, mask=t < last)


@triton.jit
def item_item_above(
    matrix, stride, indptr, indices, values, rows, user_rows, hole_starts, holes, names, sides,
    n_items, key, first, count, given, width, starts, targets, marks, above, seen_starts, seen, bad,
    BLOCK: tl.constexpr, UNROLL: tl.constexpr, DRAW: tl.constexpr, TWELVE: tl.constexpr,
    MAPPED: tl.constexpr, SEEN: tl.constexpr, TIES: tl.constexpr,
):  # fmt: skip
    """Counts for a dense item-item matrix: of its rows only the drawn columns are read."""
    row = tl.program_id(0).to(tl.int64)
    g = tl.load(rows + row)
    n = tl.load(count + row)
    user = tl.load(user_rows + g)
    word = tl.load(key).to(tl.uint64)
    key_low, key_high = word & 0xFFFFFFFF, word >> 32
    begin, end = tl.load(indptr + g), tl.load(indptr + g + 1)
    for start in range(0, n, BLOCK):
        j = start + tl.arange(0, BLOCK)
        item, there = next_items(
            j, n, row, g, user, first, hole_starts, holes, names, sides, n_items, given, width,
            seen_starts, seen, key_low, key_high, DRAW, TWELVE, MAPPED, SEEN,
        )  # fmt: skip
        score = history_sums(matrix, stride, item, indices, values, begin, end, BLOCK, UNROLL)
        tally(
            item, score, there, there, j.to(tl.int64), row, user, tl.load(starts + row),
            tl.load(starts + row + 1), targets, marks, above, bad, key_low, key_high, TIES,
        )  # fmt: skip


@triton.jit
def scored_above(
    scores, rows, user_rows, key, count, given, width, starts, targets, marks, above, seen_starts,
    seen, bad, BLOCK: tl.constexpr, SEEN: tl.constexpr, TIES: tl.constexpr,
):  # fmt: skip
    """Counts from the scores of given items, laid out as they are."""
    row = tl.program_id(0).to(tl.int64)
    g = tl.load(rows + row)
    n = tl.load(count + row)
    user = tl.load(user_rows + g)
    word = tl.load(key).to(tl.uint64)
    key_low, key_high = word & 0xFFFFFFFF, word >> 32
    for start in range(0, n, BLOCK):
        j = start + tl.arange(0, BLOCK)
        item, there = next_items(
            j, n, row, g, user, count, count, count, count, count, width, given, width,
            seen_starts, seen, key_low, key_high, 0, False, False, SEEN,
        )  # fmt: skip
        score = tl.load(scores + row * width + j, mask=there, other=0.0).to(tl.float64)
        tally(
            item, score, there, there, j.to(tl.int64), row, user, tl.load(starts + row),
            tl.load(starts + row + 1), targets, marks, above, bad, key_low, key_high, TIES,
        )  # fmt: skip
