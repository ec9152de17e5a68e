"""Compiled counts for dense item-item models; see _exact_item_item.py."""

from __future__ import annotations

import numpy as np

from fullrank._lib.jit import jit, jit_fused
from fullrank._lib.types import Array
from fullrank.designs.draw_kernels import contains
from fullrank.ranking.cpu.exact_kernels import ULPS, count_tile, stands_before

DELTA = 1.125 * 2.0**-24
UNDERFLOW = 2.0**-126
PIECE = 2048  # sums that are rounded and counted while they are in the first-level cache


@jit
def exact_sum(
    indptr: Array, indices: Array, values: Array, matrix: Array, user: int, item: int
) -> float:
    """The score of a pair as it is defined: float64, in the order of the history."""
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
    """out[t] is the score of items[t] for users[t], as it is defined."""
    for t in range(users.size):
        out[t] = exact_sum(indptr, indices, values, matrix, users[t], items[t])


@jit
def history_lengths(indptr: Array, values: Array, users: Array) -> Array:
    """The Euclidean length of each user's weights."""
    out = np.zeros(users.size)
    for a in range(users.size):
        for p in range(indptr[users[a]], indptr[users[a] + 1]):
            out[a] += np.float64(values[p]) ** 2
        out[a] = np.sqrt(out[a])
    return out


@jit
def longest_column(matrix: Array, start: int, stop: int) -> float:
    """The largest Euclidean length of the columns; infinite if an entry is not finite."""
    square = np.zeros(stop - start)
    for h in range(matrix.shape[0]):
        row = matrix[h, start:stop]
        for j in range(row.size):
            square[j] += np.float64(row[j]) ** 2
    longest = 0.0
    for j in range(square.size):
        if not square[j] < np.inf:  # NaN too
            return np.inf
        longest = max(longest, square[j])
    return float(np.sqrt(longest))


@jit
def sum_history(rows: Array, values: Array, matrix: Array, start: int, total: Array) -> None:
    """The scores of the items from `start` on, as they are defined, for one user's history."""
    total[:] = 0.0
    for p in range(rows.size):
        row, x = matrix[rows[p], start : start + total.size], np.float64(values[p])
        for j in range(total.size):
            total[j] += x * np.float64(row[j])


@jit_fused
def sum_history_fused(rows: Array, values: Array, matrix: Array, start: int, total: Array) -> None:
    """The same numbers, if every product is exact, in fewer operations.

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
    for p in range(n - n % 8, n):
        r0, x0 = matrix[rows[p], start:stop], np.float64(values[p])
        for j in range(total.size):
            total[j] += x0 * np.float64(r0[j])


@jit_fused
def sum_history_rough(rows: Array, values: Array, matrix: Array, start: int, total: Array) -> None:
    """Float32 sums: eight rows among themselves, then onto the total."""
    stop = start + total.size
    total[:] = 0.0
    n = rows.size
    for p in range(0, n - 7, 8):
        r0, x0 = matrix[rows[p], start:stop], np.float32(values[p])
        r1, x1 = matrix[rows[p + 1], start:stop], np.float32(values[p + 1])
        r2, x2 = matrix[rows[p + 2], start:stop], np.float32(values[p + 2])
        r3, x3 = matrix[rows[p + 3], start:stop], np.float32(values[p + 3])
        r4, x4 = matrix[rows[p + 4], start:stop], np.float32(values[p + 4])
        r5, x5 = matrix[rows[p + 5], start:stop], np.float32(values[p + 5])
        r6, x6 = matrix[rows[p + 6], start:stop], np.float32(values[p + 6])
        r7, x7 = matrix[rows[p + 7], start:stop], np.float32(values[p + 7])
        for j in range(total.size):
            s = x0 * r0[j] + x1 * r1[j] + x2 * r2[j] + x3 * r3[j]
            total[j] += s + x4 * r4[j] + x5 * r5[j] + x6 * r6[j] + x7 * r7[j]
    for p in range(n - n % 8, n):
        r0, x0 = matrix[rows[p], start:stop], np.float32(values[p])
        for j in range(total.size):
            total[j] += x0 * r0[j]


@jit
def first_at_least(sorted_items: Array, item: int) -> int:
    """The place of the first item that is not below `item`."""
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
    piece = np.empty(PIECE, np.float32)
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
            exact = total[first : first + PIECE]
            rounded = piece[: exact.size].reshape(1, exact.size)
            n_nan = np.int32(0)
            for j in range(exact.size):
                rounded[0, j] = np.float32(exact[j])
                n_nan = np.int32(n_nan + (exact[j] != exact[j]))
            n_bad += int(n_nan)
            count_tile(
                rounded, ends, rounded_mark[mine], rounded_mark[mine], above[mine], within[mine]
            )
            for t in range(starts[a], starts[a + 1]):
                greater[t] += above[t]
                if within[t] == above[t]:
                    continue
                for j in range(exact.size):
                    item = start + first + j
                    if rounded[0, j] != rounded_mark[t] or item == targets[t]:
                        continue
                    if exact[j] > mark[t]:
                        greater[t] += 1
                    elif exact[j] == mark[t]:
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


@jit
def count_columns_filtered(
    start: int,
    stop: int,
    longest: float,
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
) -> None:
    """The same counts by way of rough sums; `longest` is that of the columns, `weight` |x|."""
    rough = np.empty((1, stop - start), np.float32)
    low, high = np.empty(mark.size, np.float32), np.empty(mark.size, np.float32)
    above, within = np.empty(mark.size, np.int32), np.empty(mark.size, np.int32)
    ends = np.empty(1, np.int64)
    for a in range(users.size):
        user = users[a]
        history = slice(indptr[user], indptr[user + 1])
        sum_history_rough(indices[history], values[history], matrix, start, rough[0])
        hidden = seen[:0]
        if seen_indptr.size:
            hidden = seen[seen_indptr[user] : seen_indptr[user + 1]]
        hide(hidden, outside, start, rough[0])
        n = indptr[user + 1] - indptr[user]
        margin = DELTA * (n / 8 + 20) * weight[a] * longest
        margin += (4 * n + 8) * UNDERFLOW * max(1.0, weight[a]) * max(1.0, longest)
        for t in range(starts[a], starts[a + 1]):
            room = margin + abs(mark[t]) * ULPS if np.isfinite(mark[t]) else 0.0
            low[t], high[t] = np.float32(mark[t] - room), np.float32(mark[t] + room)
        mine = slice(starts[a], starts[a + 1])
        ends[0] = starts[a + 1] - starts[a]
        count_tile(rough, ends, low[mine], high[mine], above[mine], within[mine])
        for t in range(starts[a], starts[a + 1]):
            greater[t] += above[t]
            if within[t] == above[t]:
                continue
            for j in range(rough.size):
                item = start + j
                if not (rough[0, j] >= low[t]) or rough[0, j] > high[t] or item == targets[t]:
                    continue
                exact = exact_sum(indptr, indices, values, matrix, user, item)
                if exact > mark[t]:
                    greater[t] += 1
                elif exact == mark[t]:
                    equal[t] += 1
                    if random:
                        before[t] += stands_before(key, user, item, targets[t])
