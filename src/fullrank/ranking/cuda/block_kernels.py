"""Triton kernels for item-item models and for scores that are stored in blocks.

The same code runs without a GPU in Triton's interpreter, which is how the tests run it.
"""

from __future__ import annotations

import triton
import triton.language as tl

from fullrank.ranking.cuda.words import tie_words


@triton.jit
def history_sums(
    matrix, stride, column, indices, values, first, last, SIZE: tl.constexpr, UNROLL: tl.constexpr
):  # fmt: skip
    """Scores of some columns as they are defined: float64, in the order of the history.

    UNROLL rows are loaded before the first of them is needed.
    """
    total = tl.zeros((SIZE,), tl.float64)
    whole = first + (last - first) // UNROLL * UNROLL
    for p in range(first, whole, UNROLL):
        for j in tl.static_range(UNROLL):
            row = tl.load(indices + p + j).to(tl.int64)
            x = tl.load(values + p + j).to(tl.float64)
            total += x * tl.load(matrix + row * stride + column).to(tl.float64)
    for p in range(whole, last):
        row = tl.load(indices + p).to(tl.int64)
        x = tl.load(values + p).to(tl.float64)
        total += x * tl.load(matrix + row * stride + column).to(tl.float64)
    return total


@triton.jit
def mark_targets(
    matrix, stride, indptr, indices, values, user_of, column_of, listed, marks,
    BN: tl.constexpr, UNROLL: tl.constexpr,
):  # fmt: skip
    """The scores of the targets `listed`, whose columns are in the strip, by the sums of all."""
    t = tl.load(listed + tl.program_id(0))
    user, own = tl.load(user_of + t), tl.load(column_of + t)
    column = own // BN * BN + tl.arange(0, BN)
    total = history_sums(
        matrix, stride, column, indices, values, tl.load(indptr + user), tl.load(indptr + user + 1),
        BN, UNROLL,
    )  # fmt: skip
    tl.store(marks + t, tl.sum(tl.where(column == own, total, 0.0)))


@triton.jit
def first_at_least(table, low, high, item):
    """Where `item` stands, or would stand, in the sorted table[low:high]."""
    while low < high:
        middle = (low + high) // 2
        below = tl.load(table + middle) < item
        low = tl.where(below, middle + 1, low)
        high = tl.where(below, high, middle)
    return low


@triton.jit
def add_counts(
    scores, item, here, user, first, last, targets, marks, greater, equal, before,
    key_low, key_high, RANDOM: tl.constexpr,
):  # fmt: skip
    """Count some scores of a user for each of the targets first..last-1.

    Scores that do not count are NaN, which is neither above nor equal.
    """
    for t in range(first, last):
        mark, own = tl.load(marks + t), tl.load(targets + t)
        same = (scores == mark) & (item != own) & here
        # one sum of both: at most 2^15 scores are counted together
        both = tl.sum((scores > mark).to(tl.int32) + (same.to(tl.int32) << 16))
        n_greater, n_equal = (both & 0xFFFF).to(tl.int64), (both >> 16).to(tl.int64)
        tl.atomic_add(greater + t, n_greater, mask=n_greater > 0, sem="relaxed")
        if n_equal > 0:
            tl.atomic_add(equal + t, n_equal, sem="relaxed")
            if RANDOM:
                a = tie_words(item, user, key_low, key_high)
                b = tie_words(own + tl.zeros_like(item), user, key_low, key_high)
                ahead = same & ((a > b) | ((a == b) & (item > own)))
                tl.atomic_add(before + t, tl.sum(ahead.to(tl.int64)), sem="relaxed")


@triton.jit(do_not_specialize=["key_low", "key_high"])
def count_strip(
    matrix, stride, width, names, n_items, indptr, indices, values, order, users, starts, targets,
    marks, seen_indptr, seen, greater, equal, before, bad, n_users, key_low, key_high,
    BN: tl.constexpr, USERS: tl.constexpr, UNROLL: tl.constexpr, HAS_SEEN: tl.constexpr,
    RANDOM: tl.constexpr,
):  # fmt: skip
    """Some users' targets against BN columns of a strip of the matrix; nothing is stored.

    Programs that run side by side have the same columns and other users, so that the rows of
    popular items are found in the caches. `bad` becomes the lowest user·n_items + item whose
    score is NaN.
    """
    column = tl.program_id(1) * BN + tl.arange(0, BN)
    inside = column < width
    item = tl.load(names + column, mask=inside, other=-1)
    lowest = tl.load(names + tl.program_id(1) * BN)
    highest = tl.load(names + tl.minimum(tl.program_id(1) * BN + BN, width) - 1)
    step = tl.num_programs(0)
    for k in range(USERS):
        place = tl.program_id(0) + k * step
        if place < n_users:
            a = tl.load(order + place)
            user = tl.load(users + a)
            total = history_sums(
                matrix, stride, column, indices, values, tl.load(indptr + user),
                tl.load(indptr + user + 1), BN, UNROLL,
            )  # fmt: skip
            here = inside
            if HAS_SEEN:
                end = tl.load(seen_indptr + user + 1)
                e = first_at_least(seen, tl.load(seen_indptr + user), end, lowest)
                hidden = -1
                if e < end:
                    hidden = tl.load(seen + e)
                while (e < end) & (hidden <= highest):
                    here = here & (item != hidden)
                    e += 1
                    if e < end:
                        hidden = tl.load(seen + e)
            missing = here & (total != total)
            if tl.sum(missing.to(tl.int32)) > 0:
                first = tl.min(tl.where(missing, item, n_items))
                tl.atomic_min(bad, user * n_items + first, sem="relaxed")
            total = tl.where(here, total, float("nan"))
            add_counts(
                total, item, here, user, tl.load(starts + a), tl.load(starts + a + 1), targets,
                marks, greater, equal, before, key_low, key_high, RANDOM,
            )  # fmt: skip


@triton.jit(do_not_specialize=["key_low", "key_high"])
def count_stored(
    scores, width, names, users, starts, targets, marks, greater, equal, before, n_nan,
    key_low, key_high, BN: tl.constexpr, SHARD: tl.constexpr, RANDOM: tl.constexpr,
):  # fmt: skip
    """The targets of one user against SHARD blocks of BN stored scores; `n_nan` counts NaN."""
    a = tl.program_id(0)
    user = tl.load(users + a)
    row = scores + a.to(tl.int64) * width
    first = tl.program_id(1) * SHARD * BN
    for start in range(first, tl.minimum(first + SHARD * BN, width), BN):
        column = start + tl.arange(0, BN)
        inside = column < width
        block = tl.load(row + column, mask=inside, other=float("-inf"))
        item = tl.load(names + column, mask=inside, other=-1)
        missing = tl.sum((block != block).to(tl.int32))
        tl.atomic_add(n_nan + a, missing.to(tl.int64), mask=missing > 0, sem="relaxed")
        add_counts(
            block, item, inside, user, tl.load(starts + a), tl.load(starts + a + 1), targets,
            marks, greater, equal, before, key_low, key_high, RANDOM,
        )  # fmt: skip


@triton.jit
def add_sparse(
    row_starts, columns, weights, indptr, indices, values, users, out, width,
    BK: tl.constexpr,
):  # fmt: skip
    """A user's scores by a sparse matrix, into a row of float64 zeros, in the history's order.

    One program has the whole row to itself: its threads wait for each other between two items of
    the history, whose columns may be the same.
    """
    a = tl.program_id(0)
    user = tl.load(users + a)
    row = out + a.to(tl.int64) * width
    for p in range(tl.load(indptr + user), tl.load(indptr + user + 1)):
        x = tl.load(values + p).to(tl.float64)
        h = tl.load(indices + p).to(tl.int64)
        last = tl.load(row_starts + h + 1)
        for start in range(tl.load(row_starts + h), last, BK):
            q = start + tl.arange(0, BK)
            there = q < last
            at = tl.load(columns + q, mask=there, other=0)
            w = tl.load(weights + q, mask=there, other=0.0).to(tl.float64)
            total = tl.load(row + at, mask=there, other=0.0)
            tl.store(row + at, total + x * w, mask=there)
        tl.debug_barrier()
