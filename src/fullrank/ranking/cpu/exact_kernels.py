"""Compiled counts for exact ranks.

All kernels take a block of users with their targets: `users` (user rows), `starts` (the targets
of users[a] are those numbered starts[a]..starts[a + 1] - 1), `targets` (item rows), and write
`greater`, `equal` and, if `random`, `before` (see ties.py) for each target.
"""

from __future__ import annotations

import numpy as np

from fullrank._lib.jit import jit, jit_any_order
from fullrank._lib.types import Array
from fullrank.designs.draw_kernels import contains, tie_word
from fullrank.scorers.score_kernels import factor_score

SAFE = 1.0 + 2.0**-20  # covers the rounding of a length and of a product of two
ULPS = 2.0**-22
LEAST_SQUARE = 2.0**-1000  # for rows whose squares vanish in float64, though they are not zero


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
            for s in range(starts[a], starts[a + 1]):
                if s == t:
                    continue
                if mark[s] > mark[t]:
                    greater[t] += 1
                    offset[t] += 1
                elif mark[s] == mark[t]:
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
    """Euclidean lengths in float64: infinite or NaN if a row has such an entry, 0 if all are 0."""
    out = np.empty(rows.size)
    for a in range(rows.size):
        row = rows[a]
        square = 0.0
        for k in range(factors.shape[1]):
            square += np.float64(factors[row, k]) ** 2
        if square == 0.0:
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
    """out[t] is the score of items[t] for users[t], as it is defined."""
    for t in range(users.size):
        out[t] = factor_score(user_factors[users[t]], item_factors[items[t]], bias, items[t])


@jit
def bucket_seen(
    users: Array, seen_indptr: Array, seen: Array, place: Array, width: int, n_blocks: int
) -> tuple[Array, Array, Array]:
    """Excluded items by block: rows and columns of tile b are those from starts[b] on."""
    starts = np.zeros(n_blocks + 2, np.int64)
    if seen_indptr.size:
        for user in users:
            for p in range(seen_indptr[user], seen_indptr[user + 1]):
                starts[place[seen[p]] // width + 2] += 1
    for b in range(n_blocks):
        starts[b + 2] += starts[b + 1]
    rows = np.empty(starts[n_blocks + 1], np.int32)
    columns = np.empty(rows.size, np.int32)
    if seen_indptr.size:
        for a in range(users.size):
            for p in range(seen_indptr[users[a]], seen_indptr[users[a] + 1]):
                at = place[seen[p]]
                slot = starts[at // width + 1]  # moves on to where the next block starts
                rows[slot], columns[slot] = a, at % width
                starts[at // width + 1] += 1
    return starts, rows, columns


@jit
def hide(tile: Array, block: int, starts: Array, rows: Array, columns: Array) -> None:
    """Excluded items get a score that is below every target's and equal to none."""
    for p in range(starts[block], starts[block + 1]):
        if rows[p] < tile.shape[0]:
            tile[rows[p], columns[p]] = np.nan


@jit
def add_bias(tile: Array, bias: Array) -> None:
    """Add to each column the bias of its item."""
    for a in range(tile.shape[0]):
        for j in range(tile.shape[1]):
            tile[a, j] += bias[j]


@jit
def count_one(tile: Array, a: int, low: np.float32, high: np.float32) -> tuple[int, int]:
    """How many scores of row a are above `high` and at least `low`.

    Counts of 32 bits let as many lanes count as compare.
    """
    above = within = np.int32(0)
    for j in range(tile.shape[1]):
        above = np.int32(above + (tile[a, j] > high))
        within = np.int32(within + (tile[a, j] >= low))
    return int(above), int(within)


@jit
def count_tile(
    tile: Array, ends: Array, low: Array, high: Array, above: Array, within: Array
) -> None:
    """For each target how many scores are above `high` and at least `low`; none where they are NaN.

    The targets of row a end at ends[a]. Those of a user go through the row four at a time.
    """
    nothing, zero = np.float32(np.nan), np.int32(0)
    t = 0
    for a in range(tile.shape[0]):
        while t < ends[a]:
            n = min(4, ends[a] - t)
            if n < 3:
                above[t] = within[t] = zero
                if not np.isnan(low[t]):
                    above[t], within[t] = count_one(tile, a, low[t], high[t])
                t += 1
                continue
            l0, h0, a0, w0 = low[t], high[t], zero, zero
            l1, h1, a1, w1 = low[t + 1], high[t + 1], zero, zero
            l2, h2, a2, w2 = low[t + 2], high[t + 2], zero, zero
            l3, h3, a3, w3 = nothing, nothing, zero, zero
            if n > 3:
                l3, h3 = low[t + 3], high[t + 3]
            if not (np.isnan(l0) and np.isnan(l1) and np.isnan(l2) and np.isnan(l3)):
                for j in range(tile.shape[1]):
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
            if n > 3:
                above[t + 3], within[t + 3] = a3, w3
            t += n


@jit
def decide(
    tile: Array,
    a: int,
    low: np.float32,
    high: np.float32,
    block: Array,
    user: int,
    target: int,
    no_products: bool,
    item_length: Array,
    user_factors: Array,
    item_factors: Array,
    bias: Array,
    mark: float,
    random: bool,
    key: np.uint64,
    known: Array,
) -> tuple[int, int, int]:
    """Greater, equal and before among the scores from `low` to `high`, summed as defined.

    `known` keeps these sums for the user's other targets; NaN is not known yet.
    """
    greater = equal = before = 0
    for j in range(block.size):
        item = block[j]
        if not (tile[a, j] >= low) or tile[a, j] > high or item == target:
            continue
        if np.isnan(known[j]):
            if no_products or item_length[item] == 0.0:
                known[j] = bias[item] if bias.size else 0.0
            else:
                known[j] = factor_score(user_factors[user], item_factors[item], bias, item)
        exact = known[j]
        if exact > mark:
            greater += 1
        elif exact == mark:
            equal += 1
            if random:
                before += stands_before(key, user, item, target)
    return greater, equal, before


@jit
def count_equal(
    tile: Array,
    a: int,
    mark: np.float32,
    block: Array,
    user: int,
    target: int,
    random: bool,
    key: np.uint64,
) -> tuple[int, int]:
    """Equal and before among the float32 scores of row a as they are."""
    equal = before = 0
    for j in range(block.size):
        if tile[a, j] == mark and block[j] != target:
            equal += 1
            if random:
                before += stands_before(key, user, block[j], target)
    return equal, before


@jit
def set_bounds(
    mark: Array,
    scale: float,
    length: Array,
    longest: float,
    bias_size: float,
    bias_high: float,
    relative: float,
    absolute: float,
    low: Array,
    high: Array,
) -> None:
    """What the filter must exceed or fall below to decide; NaN where no item can reach the mark.

    The margin is wider than the error bound by what rounding to float32 can take away.
    """
    for t in range(mark.size):
        m = mark[t] * scale
        reach = length[t] * longest * SAFE
        margin = relative * (reach + bias_size) + absolute + abs(m) * ULPS
        if not np.isfinite(m):
            margin = 0.0
        if m > reach + bias_high + absolute:
            margin = np.nan
        low[t] = np.float32(m - margin)
        high[t] = np.float32(m + margin)


@jit
def count_chunk(
    rows: Array,
    length: Array,
    lowest: Array,
    ends: Array,
    targets: Array,
    target_length: Array,
    mark: Array,
    width: int,
    order: Array,
    place: Array,
    item_length: Array,
    longest: Array,
    bias32: Array,
    bias_size: Array,
    bias_high: Array,
    seen_indptr: Array,
    seen: Array,
    user_factors: Array,
    item_factors: Array,
    plain: Array,
    bias: Array,
    user_scale: float,
    item_scale: float,
    scale: float,
    relative: float,
    absolute: float,
    fast: bool,
    random: bool,
    key: np.uint64,
    greater: Array,
    equal: Array,
    before: Array,
) -> None:
    """All blocks of items for some users, sorted by lowest/length.

    The user rows, the lengths and the lowest scaled marks are those of the users; the targets of
    rows[a] end at ends[a]. `plain` is the item factors themselves where they can be multiplied as
    they are, else empty.
    """
    d = user_factors.shape[1]
    factors = np.empty((rows.size, d), np.float32)
    items = np.empty((width, d), np.float32)
    buffer = np.empty(rows.size * width, np.float32)
    known = np.empty(width)
    low, high = np.empty(mark.size, np.float32), np.empty(mark.size, np.float32)
    above, within = np.empty(mark.size, np.int32), np.empty(mark.size, np.int32)
    scaled_rows(user_factors, rows, user_scale, factors)
    hidden = bucket_seen(rows, seen_indptr, seen, place, width, longest.size)
    for t in range(mark.size):
        low[t] = high[t] = np.float32(mark[t] * scale)
    for b in range(longest.size):
        n = rows.size
        while n > 0 and lowest[n - 1] > (
            length[n - 1] * longest[b] * SAFE + bias_high[b] + absolute
        ):
            n -= 1
        if n == 0:
            continue
        block = order[b * width : (b + 1) * width]
        tile = buffer[: n * block.size].reshape(n, block.size)
        if plain.size:
            np.dot(factors[:n], plain[b * width : (b + 1) * width].T, tile)
        else:
            scaled_rows(item_factors, block, item_scale, items)
            np.dot(factors[:n], items[: block.size].T, tile)
        if bias32.size:
            add_bias(tile, bias32[b * width : (b + 1) * width])
        hide(tile, b, *hidden)
        if not fast:
            set_bounds(
                mark[: ends[n - 1]], scale, target_length, longest[b], bias_size[b], bias_high[b],
                relative, absolute, low, high,
            )  # fmt: skip
        count_tile(tile, ends, low, high, above, within)
        t = 0
        for a in range(n):
            fresh = True
            while t < ends[a]:
                if fast:
                    own = place[targets[t]] - b * width
                    if 0 <= own < block.size:
                        above[t] -= tile[a, own] > high[t]
                        within[t] -= tile[a, own] >= low[t]
                    if within[t] > above[t]:
                        e, f = count_equal(tile, a, low[t], block, rows[a], targets[t], random, key)
                        equal[t] += e
                        before[t] += f
                elif within[t] > above[t]:
                    if fresh:
                        known[:] = np.nan
                        fresh = False
                    g, e, f = decide(
                        tile, a, low[t], high[t], block, rows[a], targets[t],
                        target_length[t] == 0.0, item_length, user_factors, item_factors, bias,
                        mark[t], random, key, known,
                    )  # fmt: skip
                    greater[t] += g
                    equal[t] += e
                    before[t] += f
                greater[t] += above[t]
                t += 1
