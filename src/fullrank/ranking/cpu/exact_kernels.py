"""Compiled counts for exact ranks.

All kernels take a block of users with their targets: `users` (user rows), `starts` (the targets
of users[a] are those numbered starts[a]..starts[a + 1] - 1), `targets` (item rows), and write
`greater`, `equal` and, if `random`, `before` (see ties.py) for each target.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fullrank._lib.jit import jit, jit_any_order
from fullrank._lib.types import Array
from fullrank.designs.draw_kernels import contains, tie_word

SAFE = 1.0 + 2.0**-20  # covers the rounding of a length and of a product of two
ULPS = 2.0**-22
LEAST_SQUARE = 2.0**-1000  # for rows some of whose squares vanish in float64


@jit
def stands_before(key: np.uint64, user: int, item: int, target: int) -> bool:
    """Whether the keyed words put an item above a target of equal score."""
    a, b = tie_word(key, user, item), tie_word(key, user, target)
    return a > b or (a == b and item > target)


@jit
def count_targets(
    users: Array,
    starts: Array,
    targets: Array,
    mark: Array,
    random: bool,
    key: np.uint64,
    greater: Array,
    equal: Array,
    before: Array,
    offset: Array,
) -> None:
    """The same counts over the other targets of the user, and the targets' own order."""
    for a in range(users.size):
        for t in range(starts[a], starts[a + 1]):
            above = same = 0
            for s in range(starts[a], starts[a + 1]):
                above += mark[s] > mark[t]
                same += mark[s] == mark[t]
            greater[t] += above
            offset[t] += above
            if same < 2:  # the target itself
                continue
            for s in range(starts[a], starts[a + 1]):
                if s != t and mark[s] == mark[t]:
                    equal[t] += 1
                    first = targets[s] < targets[t]
                    if random:
                        first = stands_before(key, users[a], targets[s], targets[t])
                        before[t] += first
                    offset[t] += first


@jit
def count_scores(
    scores: Array,
    users: Array,
    starts: Array,
    targets: Array,
    items: Array,
    seen_indptr: Array,
    seen: Array,
    random: bool,
    key: np.uint64,
    greater: Array,
    equal: Array,
    before: Array,
    mark: Array,
) -> tuple[int, int]:
    """Counts from given scores: row a for users[a], a column for each of `items` (empty: all).

    Excluded items are counted with the others and taken off again. Returns (-1, -1), or the
    user and the item whose score is NaN.
    """
    width = scores.shape[1]
    for a in range(users.size):
        row = scores[a]
        hidden = seen[:0]
        if seen_indptr.size:
            hidden = seen[seen_indptr[users[a]] : seen_indptr[users[a] + 1]]
        n_bad = 0
        for j in range(width):
            n_bad += row[j] != row[j]
        if n_bad:
            for j in range(width):
                item = items[j] if items.size else j
                if np.isnan(row[j]) and not contains(hidden, item):
                    return users[a], item
        for t in range(starts[a], starts[a + 1]):
            m = row[column(items, targets[t])]
            g = 0
            e = -1  # the target itself
            for j in range(width):
                g += row[j] > m
                e += row[j] == m
            for h in hidden:
                s = row[column(items, h)]
                g -= s > m
                e -= s == m
            if random and e > 0:
                for j in range(width):
                    if row[j] == m:
                        item = items[j] if items.size else j
                        if item != targets[t] and not contains(hidden, item):
                            before[t] += stands_before(key, users[a], item, targets[t])
            greater[t] = g
            equal[t] = e
            mark[t] = m
    return -1, -1


@jit
def column(items: Array, item: int) -> int:
    """Where an item stands in the sorted catalogue `items` (empty: all items)."""
    if items.size == 0:
        return item
    return int(np.searchsorted(items, item))


@jit_any_order
def lengths(factors: Array, rows: Array) -> Array:
    """Euclidean lengths in float64: infinite or NaN if a row has such an entry, 0 if all are 0.

    No length is too short: the least one of a row that is not 0 is that of LEAST_SQUARE.
    """
    out = np.empty(rows.size)
    for a in range(rows.size):
        row = rows[a]
        square = 0.0
        for k in range(factors.shape[1]):
            square += np.float64(factors[row, k]) ** 2
        if square < LEAST_SQUARE:
            for k in range(factors.shape[1]):
                if factors[row, k] != 0:
                    square = LEAST_SQUARE
        out[a] = np.sqrt(square)
    return out


@jit
def scaled_rows(factors: Array, rows: Array, scale: float, out: Array) -> None:
    """Chosen rows times a power of two, as float32."""
    for a in range(rows.size):
        row = rows[a]
        for k in range(factors.shape[1]):
            out[a, k] = np.float32(factors[row, k] * scale)


@jit
def pair_scores(
    user_factors: Array, item_factors: Array, bias: Array, users: Array, items: Array, out: Array
) -> None:
    """out[t] is the score of items[t] for users[t], as it is defined.

    Four sums are under way together, because each has to wait for its last addition.
    """
    d, n = user_factors.shape[1], users.size
    for t in range(0, n, 4):
        t1, t2, t3 = min(t + 1, n - 1), min(t + 2, n - 1), min(t + 3, n - 1)
        u0, u1, u2, u3 = users[t], users[t1], users[t2], users[t3]
        v0, v1, v2, v3 = items[t], items[t1], items[t2], items[t3]
        s0 = s1 = s2 = s3 = 0.0
        for k in range(d):
            s0 += np.float64(user_factors[u0, k]) * np.float64(item_factors[v0, k])
            s1 += np.float64(user_factors[u1, k]) * np.float64(item_factors[v1, k])
            s2 += np.float64(user_factors[u2, k]) * np.float64(item_factors[v2, k])
            s3 += np.float64(user_factors[u3, k]) * np.float64(item_factors[v3, k])
        if bias.size:
            s0, s1, s2, s3 = s0 + bias[v0], s1 + bias[v1], s2 + bias[v2], s3 + bias[v3]
        out[t], out[t1], out[t2], out[t3] = s0, s1, s2, s3


@jit
def bucket_seen(
    users: Array, seen_indptr: Array, seen: Array, place: Array, width: int, first: int, last: int
) -> tuple[Array, Array, Array]:
    """Excluded items by block, from `first` to before `last`.

    The rows and columns of tile b are those from starts[b - first] on.
    """
    n_blocks, total = last - first, 0
    if seen_indptr.size:
        for user in users:
            total += seen_indptr[user + 1] - seen_indptr[user]
    who, where = np.empty(total, np.int32), np.empty(total, np.int32)
    low, span = first * width, n_blocks * width
    n = 0
    if seen_indptr.size:
        for a in range(users.size):
            for p in range(seen_indptr[users[a]], seen_indptr[users[a] + 1]):
                at = np.int64(place[seen[p]]) - low
                who[n], where[n] = a, at  # stays only if it is in these blocks
                n += int(0 <= at < span)
    starts = np.zeros(n_blocks + 2, np.int64)
    for i in range(n):
        starts[where[i] // width + 2] += 1
    for b in range(n_blocks):
        starts[b + 2] += starts[b + 1]
    rows, columns = np.empty(n, np.int32), np.empty(n, np.int32)
    for i in range(n):
        b = where[i] // width
        slot = starts[b + 1]  # moves on to where the next block starts
        rows[slot], columns[slot] = who[i], where[i] - b * width
        starts[b + 1] += 1
    return starts, rows, columns


@jit
def add_bias(tile: Array, bias: Array) -> None:
    """Add to each column the bias of its item."""
    for a in range(tile.shape[0]):
        for j in range(tile.shape[1]):
            tile[a, j] += bias[j]


@jit
def count_one(tile: Array, a: int, size: int, low: Any, high: Any) -> tuple[int, int]:
    """How many of the first scores of row a are above `high` and at least `low`.

    Counts of 32 bits let as many lanes count as compare. The tile is passed whole, here and below:
    a slice of it would be counted as one more reference, which costs more than the work.
    """
    above = within = np.int32(0)
    for j in range(size):
        above = np.int32(above + (tile[a, j] > high))
        within = np.int32(within + (tile[a, j] >= low))
    return int(above), int(within)


@jit
def count_four(
    tile: Array, a: int, size: int, t: int, n: int, low: Array, high: Array, above: Array,
    within: Array,
) -> None:  # fmt: skip
    """As `count_one` for the n = 3 or 4 targets from t on, in one pass over the row."""
    zero = np.int32(0)
    last = t + n - 1
    l0, h0, a0, w0 = low[t], high[t], zero, zero
    l1, h1, a1, w1 = low[t + 1], high[t + 1], zero, zero
    l2, h2, a2, w2 = low[t + 2], high[t + 2], zero, zero
    l3, h3, a3, w3 = low[last], high[last], zero, zero
    for j in range(size):
        score = tile[a, j]
        a0 = np.int32(a0 + (score > h0))
        w0 = np.int32(w0 + (score >= l0))
        a1 = np.int32(a1 + (score > h1))
        w1 = np.int32(w1 + (score >= l1))
        a2 = np.int32(a2 + (score > h2))
        w2 = np.int32(w2 + (score >= l2))
        a3 = np.int32(a3 + (score > h3))
        w3 = np.int32(w3 + (score >= l3))
    above[t], within[t] = a0, w0
    above[t + 1], within[t + 1] = a1, w1
    above[t + 2], within[t + 2] = a2, w2
    above[last], within[last] = a3, w3


@jit
def count_rows(
    tile: Array, n: int, size: int, first: Array, last: Array, low: Array, high: Array,
    above: Array, within: Array,
) -> None:  # fmt: skip
    """The counts of `count_one` for the targets first[a] to before last[a] of each of n rows.

    The targets of a row are sorted by rising score and go through it four at a time. Where no
    score is at least the `low` of one of them, none is for those behind it.
    """
    zero = np.int32(0)
    for a in range(n):
        t, some = first[a], True
        while t < last[a]:
            k = min(4, last[a] - t)
            if not some:
                k = 1
                above[t] = within[t] = zero
            elif k < 3:
                k = 1
                above[t], within[t] = count_one(tile, a, size, low[t], high[t])
            else:
                count_four(tile, a, size, t, k, low, high, above, within)
            t += k
            some = within[t - 1] > 0


@jit
def count_tile(
    tile: Array, ends: Array, low: Array, high: Array, above: Array, within: Array
) -> None:
    """For each target how many scores are above `high` and at least `low`; none where they are NaN.

    The targets of row a end at ends[a]. Those of a user go through the row four at a time.
    """
    t = 0
    for a in range(tile.shape[0]):
        while t < ends[a]:
            n = min(4, ends[a] - t)
            if n < 3:
                n = 1
                above[t] = within[t] = np.int32(0)
                if not np.isnan(low[t]):
                    above[t], within[t] = count_one(tile, a, tile.shape[1], low[t], high[t])
            else:
                some = False
                for s in range(t, t + n):
                    above[s] = within[s] = np.int32(0)
                    some |= not np.isnan(low[s])
                if some:
                    count_four(tile, a, tile.shape[1], t, n, low, high, above, within)
            t += n
