"""Triton kernels of sampled ranks: how many of a user's items rank above each of its targets.

One program takes one user's items, some at a time, and counts them for all targets of the user;
neither scores nor draws are stored. The counts are those of the CPU's _sampled_kernels.py.

Rows are users to count for: row r is group rows[r] of the arrays by user, its targets are
starts[r]..starts[r + 1] of `targets`, `marks` and `above`, its items are draws first[r] to
first[r] + count[r] of the user's stream, or given[r * width:][:count[r]] (-1 for none). `bad`
becomes the smallest r·2^32 + j of an item j whose score is NaN and which is not excluded.
"""

from __future__ import annotations

import triton
import triton.language as tl

from fullrank.ranking.cuda.draws import contains, drawn_items
from fullrank.ranking.cuda.exact.decide_kernels import true_scores
from fullrank.ranking.cuda.words import tie_words


@triton.jit
def next_items(
    j, n, row, g, user, first, hole_starts, holes, names, sides, n_items, given, width,
    seen_starts, seen, key_low, key_high,
    DRAW: tl.constexpr, TWELVE: tl.constexpr, MAPPED: tl.constexpr, SEEN: tl.constexpr,
):  # fmt: skip
    """The user's items j, and which of them are there: excluded ones rank below and are not.

    Those that are not are item 0, for loads without a mask: one row, always in the cache.
    """
    there = j < n
    if DRAW == 0:
        item = tl.load(given + row * width + j, mask=there, other=-1)
        there = item >= 0
        item = tl.where(there, item, 0)
    else:
        first_hole = tl.load(hole_starts + g)
        n_holes = tl.load(hole_starts + g + 1) - first_hole
        item = drawn_items(
            tl.load(first + row) + j, there, user, first_hole, n_holes, holes, names, n_items,
            tl.load(sides + g), key_low, key_high, DRAW, TWELVE, MAPPED,
        )  # fmt: skip
    if SEEN:
        first_seen = tl.load(seen_starts + g)
        n_seen = tl.load(seen_starts + g + 1) - first_seen
        there = there & (contains(seen, first_seen, n_seen, item) == 0)
        item = tl.where(there, item, 0)
    return item, there


@triton.jit
def tally(
    item, score, settled, there, j, row, user, first, last, targets, marks, above, bad, key_low,
    key_high, TIES: tl.constexpr,
):  # fmt: skip
    """Count some items for targets first..last-1; only `settled` scores can equal a target's."""
    code = tl.min(tl.where(there & (score != score), j, 0xFFFFFFFF), axis=0)
    if code < 0xFFFFFFFF:
        tl.atomic_min(bad, (row << 32) | code)
    for t in range(first, last):
        mark = tl.load(marks + t)
        higher = there & (score > mark)
        if TIES > 0:
            same = there & settled & (score == mark)
            if TIES == 1:
                higher = higher | same
            elif tl.max(same.to(tl.int32), axis=0) > 0:
                mine = tl.load(targets + t)
                a = tie_words(item, user, key_low, key_high)
                b = tie_words(mine + tl.zeros_like(item), user, key_low, key_high)
                higher = higher | (same & ((a > b) | ((a == b) & (item > mine))))
        tl.atomic_add(above + t, tl.sum(higher.to(tl.int64), axis=0))


@triton.jit
def target_scores(
    users, items, bias, group_of, targets, out, n,
    D: tl.constexpr, BLOCK: tl.constexpr, HAS_BIAS: tl.constexpr,
):  # fmt: skip
    """The scores of targets as they are defined; D is a multiple of 4, which are loaded at once."""
    t = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    here = t < n
    user = tl.load(group_of + t, mask=here, other=0)
    item = tl.load(targets + t, mask=here, other=0)
    k = tl.arange(0, 4)
    total = tl.zeros((BLOCK,), tl.float64)
    for start in range(0, D, 4):
        x = tl.load(users + user[:, None] * D + start + k[None, :]).to(tl.float64)
        y = tl.load(items + item[:, None] * D + start + k[None, :]).to(tl.float64)
        even, odd = tl.split(tl.reshape(x * y, (BLOCK, 2, 2)))
        first, third = tl.split(even)
        second, fourth = tl.split(odd)
        total = total + first + second + third + fourth
    if HAS_BIAS:
        total += tl.load(bias + item)
    tl.store(out + t, total, mask=here)


@triton.jit
def length(x):
    """|x|, with the largest entry taken out so that no square vanishes or overflows."""
    largest = tl.max(tl.abs(x), axis=0)
    unit = x / tl.where(largest > 0, largest, 1.0)
    return largest * tl.sqrt(tl.sum(unit * unit, axis=0))


@triton.jit
def rough_sums(users, items, g, item, D: tl.constexpr, BK: tl.constexpr, BLOCK: tl.constexpr):
    """The products of the user's factors with those of some items, in the factors' precision.

    Rows come by BK factors, a line of the cache, and are added up across threads once, at the
    end. Loads without a mask leave the compiler free to ask for many at once.
    """
    k = tl.arange(0, BK)
    at = item.to(tl.int64)[:, None] * D + k[None, :]
    total = tl.zeros((BLOCK, BK), users.dtype.element_ty)
    for start in tl.static_range(0, D, BK):
        if start + BK <= D:
            x, y = tl.load(users + g * D + start + k), tl.load(items + at + start)
        else:
            here = start + k < D
            x = tl.load(users + g * D + start + k, mask=here, other=0.0)
            y = tl.load(items + at + start, mask=here[None, :], other=0.0)
        total += x[None, :] * y
    return tl.sum(total, axis=1)


@triton.jit
def factor_above(
    users, items, bias, longest, rows, user_rows, hole_starts, holes, names, sides, n_items, key,
    first, count, given, width, starts, targets, marks, above, seen_starts, seen, bad,
    D: tl.constexpr, WIDE: tl.constexpr, BK: tl.constexpr, BLOCK: tl.constexpr, ONE: tl.constexpr,
    RATE: tl.constexpr, TINY: tl.constexpr, DRAW: tl.constexpr, TWELVE: tl.constexpr,
    MAPPED: tl.constexpr, HAS_BIAS: tl.constexpr, SEEN: tl.constexpr, TIES: tl.constexpr,
):  # fmt: skip
    """Counts for a factor model: BLOCK items at a time, their factors read once.

    A rough sum is within ε = RATE·(|x||y| + |bias|) + TINY of the score (Cauchy and Schwarz), and
    `longest` bounds |y|. It decides unless it is within ε of a target's score; then the score is
    added up as defined. Where a sum might overflow on its way, so does |x||y|, and none decides.
    With ONE, every row has one target, whose count stays in registers.
    """
    row = tl.program_id(0).to(tl.int64)
    g = tl.load(rows + row)
    n = tl.load(count + row).to(tl.int32)
    user = tl.load(user_rows + g)
    word = tl.load(key).to(tl.uint64)
    key_low, key_high = word & 0xFFFFFFFF, word >> 32
    if ONE:
        first_target = row
        last_target = row + 1
    else:
        first_target = tl.load(starts + row)
        last_target = tl.load(starts + row + 1)
    k = tl.arange(0, WIDE)
    x = tl.load(users + g * D + k, mask=k < D, other=0.0)
    own_mark = tl.load(marks + first_target).to(x.dtype)
    reach = length(x) * tl.load(longest).to(x.dtype) * RATE + TINY
    n_above = tl.zeros((BLOCK,), tl.int32)
    for start in range(0, n, BLOCK):
        j = start + tl.arange(0, BLOCK)
        item, there = next_items(
            j, n, row, g, user, first, hole_starts, holes, names, sides, n_items, given, width,
            seen_starts, seen, key_low, key_high, DRAW, TWELVE, MAPPED, SEEN,
        )  # fmt: skip
        score = rough_sums(users, items, g, item, D, BK, BLOCK)
        error = reach
        if HAS_BIAS:
            added = tl.load(bias + item).to(x.dtype)
            score += added
            error += tl.abs(added) * RATE
        if ONE:
            # not (distance > ε): a NaN is near
            far = tl.abs(score - own_mark) > error + tl.abs(own_mark) * RATE
        else:
            far = score == score
            for t in range(first_target, last_target):
                mark = tl.load(marks + t).to(x.dtype)
                far = far & (tl.abs(score - mark) > error + tl.abs(mark) * RATE)
        near = there & (far == 0)
        if tl.max(near.to(tl.int32), axis=0) > 0:
            exact = true_scores(users, items, bias, g, item.to(tl.int64), near, D, HAS_BIAS)
            tally(
                item, tl.where(near, exact, score.to(tl.float64)), near, there & (near | (not ONE)),
                j.to(tl.int64), row, user, first_target, last_target, targets, marks, above, bad,
                key_low, key_high, TIES,
            )  # fmt: skip
        elif not ONE:
            for t in range(first_target, last_target):
                higher = there & (score > tl.load(marks + t).to(x.dtype))
                tl.atomic_add(above + t, tl.sum(higher.to(tl.int32), axis=0).to(tl.int64))
        if ONE:
            n_above += (there & far & (score > own_mark)).to(tl.int32)
    if ONE:
        tl.atomic_add(above + row, tl.sum(n_above, axis=0).to(tl.int64))
