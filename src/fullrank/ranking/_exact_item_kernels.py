"""Compiled counts for dense item-item models; see _exact_item_item.py."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank._jit import jit, jit_any_order
from fullrank.ranking._draw_kernels import contains
from fullrank.ranking._exact_kernels import ULPS, stands_before

Array = NDArray[Any]

UNDERFLOW = 2.0**-126
DELTA = 1.125 * 2.0**-24


@jit
def exact_sum(
    indptr: Array, indices: Array, values: Array, matrix: Array, user: int, item: int
) -> float:
    """The score as it is defined: float64, in the order of the history."""
    total = 0.0
    for p in range(indptr[user], indptr[user + 1]):
        total += np.float64(values[p]) * np.float64(matrix[indices[p], item])
    return total


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
    for t in range(users.size):
        out[t] = exact_sum(indptr, indices, values, matrix, users[t], items[t])


@jit
def history_lengths(indptr: Array, indices: Array, values: Array, users: Array) -> Array:
    out = np.zeros(users.size)
    for a in range(users.size):
        for p in range(indptr[users[a]], indptr[users[a] + 1]):
            out[a] += np.float64(values[p]) ** 2
    return np.sqrt(out)


@jit
def column_lengths(matrix: Array, start: int, stop: int) -> Array:
    """Euclidean lengths of some columns, in float64; not finite if an entry is not."""
    out = np.zeros(stop - start)
    for h in range(matrix.shape[0]):
        row = matrix[h, start:stop]
        for j in range(row.size):
            out[j] += np.float64(row[j]) ** 2
    return np.sqrt(out)


@jit
def sum_rows(
    indices: Array, values: Array, matrix: Array, start: int, stop: int, total: Array
) -> None:
    """Into total: Σ_h values[h]·matrix[indices[h], start:stop], in order, in float64.

    Eight rows at a time: the sums are read and written an eighth as often.
    """
    total[:] = 0.0
    n = indices.size
    for p in range(0, n - 7, 8):
        r0, x0 = matrix[indices[p], start:stop], np.float64(values[p])
        r1, x1 = matrix[indices[p + 1], start:stop], np.float64(values[p + 1])
        r2, x2 = matrix[indices[p + 2], start:stop], np.float64(values[p + 2])
        r3, x3 = matrix[indices[p + 3], start:stop], np.float64(values[p + 3])
        r4, x4 = matrix[indices[p + 4], start:stop], np.float64(values[p + 4])
        r5, x5 = matrix[indices[p + 5], start:stop], np.float64(values[p + 5])
        r6, x6 = matrix[indices[p + 6], start:stop], np.float64(values[p + 6])
        r7, x7 = matrix[indices[p + 7], start:stop], np.float64(values[p + 7])
        for j in range(total.size):
            s = total[j] + x0 * np.float64(r0[j])
            s = s + x1 * np.float64(r1[j])
            s = s + x2 * np.float64(r2[j])
            s = s + x3 * np.float64(r3[j])
            s = s + x4 * np.float64(r4[j])
            s = s + x5 * np.float64(r5[j])
            s = s + x6 * np.float64(r6[j])
            total[j] = s + x7 * np.float64(r7[j])
    for p in range(n - n % 8, n):
        r0, x0 = matrix[indices[p], start:stop], np.float64(values[p])
        for j in range(total.size):
            total[j] += x0 * np.float64(r0[j])


@jit_any_order
def sum_rows_any_order(
    indices: Array, values: Array, matrix: Array, start: int, stop: int, total: Array
) -> None:
    """As sum_rows, in the precision of its arguments and in any order."""
    total[:] = 0.0
    n = indices.size
    for p in range(0, n - 7, 8):
        r0, x0 = matrix[indices[p], start:stop], values[p]
        r1, x1 = matrix[indices[p + 1], start:stop], values[p + 1]
        r2, x2 = matrix[indices[p + 2], start:stop], values[p + 2]
        r3, x3 = matrix[indices[p + 3], start:stop], values[p + 3]
        r4, x4 = matrix[indices[p + 4], start:stop], values[p + 4]
        r5, x5 = matrix[indices[p + 5], start:stop], values[p + 5]
        r6, x6 = matrix[indices[p + 6], start:stop], values[p + 6]
        r7, x7 = matrix[indices[p + 7], start:stop], values[p + 7]
        for j in range(total.size):
            s = x0 * r0[j] + x1 * r1[j] + x2 * r2[j] + x3 * r3[j]
            total[j] += s + x4 * r4[j] + x5 * r5[j] + x6 * r6[j] + x7 * r7[j]
    for p in range(n - n % 8, n):
        r0, x0 = matrix[indices[p], start:stop], values[p]
        for j in range(total.size):
            total[j] += x0 * r0[j]


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
def hide_columns(hidden: Array, outside: Array, start: int, scores: Array) -> int:
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
    filtered: bool,
    users: Array,
    starts: Array,
    targets: Array,
    indptr: Array,
    indices: Array,
    values: Array,
    weight: Array,
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
    """Counts over the items start..stop-1 for all users, with the filter or without.

    Returns (-1, -1), or the user and the item whose score is NaN.
    """
    width = stop - start
    total = np.empty(width)
    score = np.empty(width, matrix.dtype)
    lower, upper = np.empty(width, np.float32), np.empty(width, np.float32)
    column = np.empty(width, np.float32)
    longest = 1.0
    if filtered:
        lengths = column_lengths(matrix, start, stop)
        longest = max(1.0, lengths.max())
        filtered = bool(np.all(lengths < 2.0**60))  # NaN is not
        column[:] = lengths * (1.0 + ULPS)
    for a in range(users.size):
        user = users[a]
        history = slice(indptr[user], indptr[user + 1])
        hidden = seen[:0]
        if seen_indptr.size:
            hidden = seen[seen_indptr[user] : seen_indptr[user + 1]]
        if filtered:
            n = indptr[user + 1] - indptr[user]
            sum_rows_any_order(indices[history], values[history], matrix, start, stop, score)
            hide_columns(hidden, outside, start, score)
            error = np.float32(DELTA * (1.0 + ULPS) * (n + 12) * weight[a])
            least = np.float32((4 * n + 9) * UNDERFLOW * max(1.0, weight[a]) * longest)
            for j in range(width):
                margin = error * column[j] + least
                lower[j] = score[j] - margin
                upper[j] = score[j] + margin
        else:
            sum_rows(indices[history], values[history], matrix, start, stop, total)
            n_hidden = hide_columns(hidden, outside, start, total)
            if np.isnan(total).sum() > n_hidden:
                for j in range(width):
                    known = outside.size and outside[start + j]
                    known = known or contains(hidden, start + j)
                    if np.isnan(total[j]) and not known:
                        return user, start + j
        for t in range(starts[a], starts[a + 1]):
            if filtered:
                room = abs(mark[t]) * ULPS if np.isfinite(mark[t]) else 0.0
                high, low = np.float32(mark[t] + room), np.float32(mark[t] - room)
                above = within = np.int32(0)
                for j in range(width):
                    above = np.int32(above + (lower[j] > high))
                    within = np.int32(within + (upper[j] >= low))
            else:
                high = low = np.float32(0.0)
                above = within = np.int32(0)
                for j in range(width):
                    above = np.int32(above + (total[j] > mark[t]))
                    within = np.int32(within + (total[j] >= mark[t]))
            greater[t] += above
            if within == above:
                continue
            for j in range(width):
                item = start + j
                if item == targets[t]:
                    continue
                if filtered:
                    if not (upper[j] >= low) or lower[j] > high:
                        continue
                    exact = exact_sum(indptr, indices, values, matrix, user, item)
                    greater[t] += exact > mark[t]
                else:
                    exact = total[j]
                if exact == mark[t]:
                    equal[t] += 1
                    if random:
                        before[t] += stands_before(key, user, item, targets[t])
    return -1, -1
