"""Compiled counts for dense item-item models; see _exact_item_item.py."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank._jit import jit, jit_fused
from fullrank.ranking._draw_kernels import contains
from fullrank.ranking._exact_kernels import count_tile, stands_before

Array = NDArray[Any]

PIECE = 2048  # sums that are rounded and counted while they are in the first-level cache


@jit
def pair_scores(
    indptr: Array,
    indices: Array,
    values: Array,
    matrix: Array,
    users: Array,
    items: Array,
    out: Array,
) -> None:
    """The scores of pairs as they are defined: float64, in the order of the history."""
    for t in range(users.size):
        total = 0.0
        for p in range(indptr[users[t]], indptr[users[t] + 1]):
            total += np.float64(values[p]) * np.float64(matrix[indices[p], items[t]])
        out[t] = total


@jit
def sum_history(rows: Array, values: Array, matrix: Array, start: int, total: Array) -> None:
    """The scores of the items from `start` on, as they are defined, for one user's history.

    Rows are added one after the other, but eight at a time: the sums are read and written an
    eighth as often.
    """
    stop = start + total.size
    total[:] = 0.0
    n = rows.size
    for p in range(0, n - 7, 8):
        r0, x0 = matrix[rows[p], start:stop], np.float64(values[p])
        r1, x1 = matrix[rows[p + 1], start:stop], np.float64(values[p + 1])
        r2, x2 = matrix[rows[p + 2], start:stop], np.float64(values[p + 2])
        r3, x3 = matrix[rows[p + 3], start:stop], np.float64(values[p + 3])
        r4, x4 = matrix[rows[p + 4], start:stop], np.float64(values[p + 4])
        r5, x5 = matrix[rows[p + 5], start:stop], np.float64(values[p + 5])
        r6, x6 = matrix[rows[p + 6], start:stop], np.float64(values[p + 6])
        r7, x7 = matrix[rows[p + 7], start:stop], np.float64(values[p + 7])
        for j in range(total.size):
            s = total[j]
            s += x0 * np.float64(r0[j])
            s += x1 * np.float64(r1[j])
            s += x2 * np.float64(r2[j])
            s += x3 * np.float64(r3[j])
            s += x4 * np.float64(r4[j])
            s += x5 * np.float64(r5[j])
            s += x6 * np.float64(r6[j])
            s += x7 * np.float64(r7[j])
            total[j] = s
    for p in range(n - n % 8, n - n % 2, 2):
        r0, x0 = matrix[rows[p], start:stop], np.float64(values[p])
        r1, x1 = matrix[rows[p + 1], start:stop], np.float64(values[p + 1])
        for j in range(total.size):
            s = total[j] + x0 * np.float64(r0[j])
            total[j] = s + x1 * np.float64(r1[j])
    if n % 2:
        r0, x0 = matrix[rows[n - 1], start:stop], np.float64(values[n - 1])
        for j in range(total.size):
            total[j] += x0 * np.float64(r0[j])


@jit_fused
def sum_history_fused(rows: Array, values: Array, matrix: Array, start: int, total: Array) -> None:
    """The same numbers, where every product is exact, in fewer operations.

    It repeats the loop above because compiled code is cached by function, not by its flags.
    """
    stop = start + total.size
    total[:] = 0.0
    n = rows.size
    for p in range(0, n - 7, 8):
        r0, x0 = matrix[rows[p], start:stop], np.float64(values[p])
        r1, x1 = matrix[rows[p + 1], start:stop], np.float64(values[p + 1])
        r2, x2 = matrix[rows[p + 2], start:stop], np.float64(values[p + 2])
        r3, x3 = matrix[rows[p + 3], start:stop], np.float64(values[p + 3])
        r4, x4 = matrix[rows[p + 4], start:stop], np.float64(values[p + 4])
        r5, x5 = matrix[rows[p + 5], start:stop], np.float64(values[p + 5])
        r6, x6 = matrix[rows[p + 6], start:stop], np.float64(values[p + 6])
        r7, x7 = matrix[rows[p + 7], start:stop], np.float64(values[p + 7])
        for j in range(total.size):
            s = total[j]
            s += x0 * np.float64(r0[j])
            s += x1 * np.float64(r1[j])
            s += x2 * np.float64(r2[j])
            s += x3 * np.float64(r3[j])
            s += x4 * np.float64(r4[j])
            s += x5 * np.float64(r5[j])
            s += x6 * np.float64(r6[j])
            s += x7 * np.float64(r7[j])
            total[j] = s
    for p in range(n - n % 8, n - n % 2, 2):
        r0, x0 = matrix[rows[p], start:stop], np.float64(values[p])
        r1, x1 = matrix[rows[p + 1], start:stop], np.float64(values[p + 1])
        for j in range(total.size):
            s = total[j] + x0 * np.float64(r0[j])
            total[j] = s + x1 * np.float64(r1[j])
    if n % 2:
        r0, x0 = matrix[rows[n - 1], start:stop], np.float64(values[n - 1])
        for j in range(total.size):
            total[j] += x0 * np.float64(r0[j])


@jit
def first_at_least(sorted_items: Array, item: int) -> int:
    low, high = 0, sorted_items.size
    while low < high:
        middle = (low + high) >> 1
        if sorted_items[middle] < item:
            low = middle + 1
        else:
            high = middle
    return low


@jit
def hide(hidden: Array, outside: Array, start: int, scores: Array) -> int:
    """NaN for the user's excluded items and for what is not in the catalogue; how many."""
    n = 0
    for p in range(first_at_least(hidden, start), hidden.size):
        if hidden[p] >= start + scores.size:
            break
        scores[hidden[p] - start] = np.nan
        n += 1
    if outside.size:
        for j in range(scores.size):
            if outside[start + j]:
                scores[j] = np.nan
                n += 1
    return n


@jit
def count_columns(
    start: int,
    stop: int,
    exact_products: bool,
    users: Array,
    starts: Array,
    targets: Array,
    indptr: Array,
    indices: Array,
    values: Array,
    matrix: Array,
    outside: Array,
    seen_indptr: Array,
    seen: Array,
    random: bool,
    key: np.uint64,
    mark: Array,
    greater: Array,
    equal: Array,
    before: Array,
) -> tuple[int, int]:
    """Counts over the items start..stop-1; (-1, -1), or user and item of a score that is NaN."""
    total = np.empty(stop - start)
    piece = np.empty((1, PIECE), np.float32)
    rounded_mark = mark.astype(np.float32)
    above, within = np.empty(mark.size, np.int32), np.empty(mark.size, np.int32)
    ends = np.empty(1, np.int64)
    for a in range(users.size):
        user = users[a]
        history = slice(indptr[user], indptr[user + 1])
        if exact_products:
            sum_history_fused(indices[history], values[history], matrix, start, total)
        else:
            sum_history(indices[history], values[history], matrix, start, total)
        hidden = seen[:0]
        if seen_indptr.size:
            hidden = seen[seen_indptr[user] : seen_indptr[user + 1]]
        n_bad = -hide(hidden, outside, start, total)
        mine = slice(starts[a], starts[a + 1])
        ends[0] = starts[a + 1] - starts[a]
        for first in range(0, total.size, PIECE):
            rounded = piece[:, : min(PIECE, total.size - first)]
            for j in range(rounded.size):
                n_bad += np.isnan(total[first + j])
                rounded[0, j] = np.float32(total[first + j])
            count_tile(
                rounded, ends, rounded_mark[mine], rounded_mark[mine], above[mine], within[mine]
            )
            for t in range(starts[a], starts[a + 1]):
                greater[t] += above[t]
                if within[t] == above[t]:
                    continue
                for j in range(rounded.size):
                    item = start + first + j
                    if rounded[0, j] != rounded_mark[t] or item == targets[t]:
                        continue
                    score = total[first + j]
                    if score > mark[t]:
                        greater[t] += 1
                    elif score == mark[t]:
                        equal[t] += 1
                        if random:
                            before[t] += stands_before(key, user, item, targets[t])
        if n_bad > 0:
            for j in range(total.size):
                known = outside.size and outside[start + j]
                known = known or contains(hidden, start + j)
                if np.isnan(total[j]) and not known:
                    return user, start + j
    return -1, -1
