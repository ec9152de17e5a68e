"""Compiled counts for exact ranks.

All kernels take a block of users with their targets: `users` (user rows), `starts` (the targets
of users[a] are those numbered starts[a]..starts[a + 1] - 1), `targets` (item rows), and write
`greater`, `equal` and, if `random`, `before` (see ties.py) for each target.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank._jit import jit
from fullrank.ranking._draw_kernels import contains, tie_word

Array = NDArray[Any]

SAFE = 1.0 + 2.0**-20  # covers the rounding of a length and of a product of two
ULPS = 2.0**-22


@jit
def stands_before(key: int, user: int, item: int, target: int) -> bool:
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
    key: int,
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
                    first = s < t
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
    key: int,
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
    return np.searchsorted(items, item)


@jit
def lengths(factors: Array, rows: Array) -> Array:
    """Euclidean lengths in float64: infinite or NaN if a row has such an entry, 0 if all are 0."""
    d = factors.shape[1]
    out = np.empty(rows.size)
    for a in range(rows.size):
        row = factors[rows[a]]
        s0 = s1 = s2 = s3 = 0.0  # four sums at a time: the order does not matter here
        for k in range(0, d - 3, 4):
            s0 += np.float64(row[k]) ** 2
            s1 += np.float64(row[k + 1]) ** 2
            s2 += np.float64(row[k + 2]) ** 2
            s3 += np.float64(row[k + 3]) ** 2
        for k in range(d - d % 4, d):
            s0 += np.float64(row[k]) ** 2
        square = (s0 + s1) + (s2 + s3)
        if square == 0.0 and row.any():
            square = 2.0**-1000  # squares of float64 entries can vanish; this is above them
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
def exact_score(x: Array, y: Array, bias: Array, item: int) -> float:
    """The score as it is defined: float64, terms in index order, then the bias."""
    total = 0.0
    for k in range(x.size):
        total += np.float64(x[k]) * np.float64(y[k])
    if bias.size:
        total += bias[item]
    return total


@jit
def pair_scores(
    user_factors: Array, item_factors: Array, bias: Array, users: Array, items: Array, out: Array
) -> None:
    for t in range(users.size):
        out[t] = exact_score(user_factors[users[t]], item_factors[items[t]], bias, items[t])


@jit
def bucket_seen(
    users: Array, seen_indptr: Array, seen: Array, place: Array, width: int, n_blocks: int
) -> tuple[Array, Array, Array]:
    """Excluded items by block: rows and columns of tile b are those from starts[b] on."""
    starts = np.zeros(n_blocks + 1, np.int64)
    if seen_indptr.size == 0:
        return starts, np.empty(0, np.int32), np.empty(0, np.int32)
    for user in users:
        for p in range(seen_indptr[user], seen_indptr[user + 1]):
            starts[place[seen[p]] // width + 1] += 1
    starts = np.cumsum(starts)
    at = starts.copy()
    rows = np.empty(starts[n_blocks], np.int32)
    columns = np.empty(starts[n_blocks], np.int32)
    for a in range(users.size):
        for p in range(seen_indptr[users[a]], seen_indptr[users[a] + 1]):
            block, offset = divmod(np.int64(place[seen[p]]), width)
            rows[at[block]] = a
            columns[at[block]] = offset
            at[block] += 1
    return starts, rows, columns


@jit
def hide(tile: Array, block: int, starts: Array, rows: Array, columns: Array) -> None:
    """Excluded items get a score that is below every target's and equal to none."""
    for p in range(starts[block], starts[block + 1]):
        if rows[p] < tile.shape[0]:
            tile[rows[p], columns[p]] = np.nan


@jit
def count_between(
    tile: Array, a: int, bias: Array, low: np.float32, high: np.float32
) -> tuple[int, int]:
    """How many entries of row a (plus bias) are above `high`, and how many at least `low`.

    Counts of 32 bits let as many lanes count as compare.
    """
    above = within = np.int32(0)
    if bias.size:
        for j in range(tile.shape[1]):
            score = tile[a, j] + bias[j]
            above = np.int32(above + (score > high))
            within = np.int32(within + (score >= low))
    else:
        for j in range(tile.shape[1]):
            above = np.int32(above + (tile[a, j] > high))
            within = np.int32(within + (tile[a, j] >= low))
    return np.int64(above), np.int64(within)


@jit
def recount(
    tile: Array,
    a: int,
    t: int,
    low: np.float32,
    high: np.float32,
    rows: Array,
    bias32: Array,
    user: int,
    targets: Array,
    no_products: bool,
    item_length: Array,
    user_factors: Array,
    item_factors: Array,
    bias: Array,
    random: bool,
    key: int,
    mark: Array,
    greater: Array,
    equal: Array,
    before: Array,
) -> None:
    """Decide what the filter could not: sum the scores between `low` and `high` as defined."""
    for j in range(rows.size):
        score = tile[a, j]
        if bias32.size:
            score += bias32[j]
        item = rows[j]
        if not (score >= low) or score > high or item == targets[t]:
            continue
        if no_products or item_length[item] == 0.0:
            exact = bias[item] if bias.size else 0.0
        else:
            exact = exact_score(user_factors[user], item_factors[item], bias, item)
        if exact > mark[t]:
            greater[t] += 1
        elif exact == mark[t]:
            equal[t] += 1
            if random:
                before[t] += stands_before(key, user, item, targets[t])


@jit
def count_tile(
    tile: Array,
    groups: Array,
    rows: Array,
    bias32: Array,
    longest: float,
    bias_size: float,
    bias_high: float,
    users: Array,
    starts: Array,
    targets: Array,
    length: Array,
    item_length: Array,
    user_factors: Array,
    item_factors: Array,
    bias: Array,
    scale: float,
    relative: float,
    absolute: float,
    random: bool,
    key: int,
    mark: Array,
    greater: Array,
    equal: Array,
    before: Array,
) -> None:
    """Certified counts of one tile: row a for users[groups[a]], column j for item rows[j]."""
    for a in range(tile.shape[0]):
        g = groups[a]
        reach = length[g] * longest * SAFE
        error = relative * (reach + bias_size) + absolute
        for t in range(starts[g], starts[g + 1]):
            m = mark[t] * scale
            if m > reach + bias_high + absolute:
                continue
            # wider than the bound by what rounding the thresholds to float32 can take away
            margin = error + abs(m) * ULPS if np.isfinite(m) else 0.0
            high = np.float32(m + margin)
            low = np.float32(m - margin)
            above, within = count_between(tile, a, bias32, low, high)
            greater[t] += above
            if within > above:
                recount(
                    tile, a, t, low, high, rows, bias32, users[g], targets, length[g] == 0.0,
                    item_length, user_factors, item_factors, bias, random, key, mark, greater,
                    equal, before,
                )  # fmt: skip


@jit
def count_tile_fast(
    tile: Array,
    groups: Array,
    rows: Array,
    bias32: Array,
    first: int,
    users: Array,
    starts: Array,
    targets: Array,
    place: Array,
    scale: float,
    random: bool,
    key: int,
    mark: Array,
    greater: Array,
    equal: Array,
    before: Array,
) -> None:
    """Counts of one tile as its float32 scores have it; its columns are places first, …"""
    for a in range(tile.shape[0]):
        user = users[groups[a]]
        for t in range(starts[groups[a]], starts[groups[a] + 1]):
            m = np.float32(mark[t] * scale)
            above, within = count_between(tile, a, bias32, m, m)
            own = place[targets[t]] - first
            if 0 <= own < rows.size:
                score = tile[a, own]
                if bias32.size:
                    score += bias32[own]
                above -= score > m
                within -= score >= m
            greater[t] += above
            equal[t] += within - above
            if random and within > above:
                for j in range(rows.size):
                    score = tile[a, j]
                    if bias32.size:
                        score += bias32[j]
                    if score == m and rows[j] != targets[t]:
                        before[t] += stands_before(key, user, rows[j], targets[t])


@jit
def count_chunk(
    groups: Array,
    width: int,
    order: Array,
    place: Array,
    item_length: Array,
    longest: Array,
    bias32: Array,
    bias_size: Array,
    bias_high: Array,
    users: Array,
    starts: Array,
    targets: Array,
    length: Array,
    lowest: Array,
    seen_indptr: Array,
    seen: Array,
    user_factors: Array,
    item_factors: Array,
    bias: Array,
    user_scale: float,
    item_scale: float,
    scale: float,
    relative: float,
    absolute: float,
    fast: bool,
    random: bool,
    key: int,
    mark: Array,
    greater: Array,
    equal: Array,
    before: Array,
) -> None:
    """All blocks of items for the users of some groups, sorted by lowest/length."""
    n_groups, d = groups.size, user_factors.shape[1]
    factors = np.empty((n_groups, d), np.float32)
    items = np.empty((width, d), np.float32)
    buffer = np.empty(n_groups * width, np.float32)
    scaled_rows(user_factors, users[groups], user_scale, factors)
    hidden = bucket_seen(users[groups], seen_indptr, seen, place, width, longest.size)
    for b in range(longest.size):
        n = n_groups
        while n > 0 and lowest[groups[n - 1]] > (
            length[groups[n - 1]] * longest[b] * SAFE + bias_high[b] + absolute
        ):
            n -= 1
        if n == 0:
            continue
        rows = order[b * width : (b + 1) * width]
        block_bias = bias32[b * width : (b + 1) * width]
        tile = buffer[: n * rows.size].reshape(n, rows.size)
        scaled_rows(item_factors, rows, item_scale, items)
        np.dot(factors[:n], items[: rows.size].T, tile)
        hide(tile, b, *hidden)
        if fast:
            count_tile_fast(
                tile, groups, rows, block_bias, b * width, users, starts, targets, place, scale,
                random, key, mark, greater, equal, before,
            )  # fmt: skip
        else:
            count_tile(
                tile, groups, rows, block_bias, longest[b], bias_size[b], bias_high[b], users,
                starts, targets, length, item_length, user_factors, item_factors, bias, scale,
                relative, absolute, random, key, mark, greater, equal, before,
            )  # fmt: skip
