"""The loop of exact ranks of factor models: blocks of items against a chunk of users.

A user leaves as soon as nothing that is still to come can matter: no later item is long enough to
reach the lowest target that is still wanted, or every target is known to rank beyond `max_rank`.
Those that remain move up, so that the rows of a tile are always in one piece.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fullrank._lib.jit import jit, jit_any_order
from fullrank._lib.types import Array
from fullrank.ranking.cpu.exact_kernels import (
    SAFE,
    bucket_seen,
    count_rows,
    stands_before,
)
from fullrank.ranking.cpu.factors.factor_filters import (
    fill,
    hidden_value,
    margins,
    new_tile,
    rows_for,
    set_limits,
)
from fullrank.scorers.score_kernels import factor_score

_SEGMENT = 64
_OF_BIAS = 2.0**-30  # covers the rounding of a score whose bias is large
_TINY = 2.0**-240


class Blocks(NamedTuple):
    """The catalogue in blocks of `width` items.

    `order` is the item rows as they are visited, and `place` each row's position there; lengths and
    biases are scaled. For each block the `longest` item, the largest finite |bias| and the largest
    bias; `later` and `later_high` are the largest of a block and of all behind it. `absolute` is
    what underflow can add to a score.
    """

    width: int
    order: Array
    place: Array
    item_length: Array
    longest: Array
    bias_size: Array
    bias_high: Array
    later: Array
    later_size: Array
    later_high: Array
    absolute: float


class Wanted(NamedTuple):
    """Targets by user: those of users[g] are starts[g]..starts[g + 1] - 1.

    `lowest` is the scaled score of the lowest target of each user that is still wanted, infinite
    for users that have left. A target is out once 2·greater + for_equal·equal + for_before·before
    exceeds its `room`.
    """

    users: Array
    starts: Array
    targets: Array
    mark: Array
    length: Array
    lowest: Array
    room: Array
    for_equal: int
    for_before: int
    random: bool
    key: Any


class Found(NamedTuple):
    """What is counted for each target, and for each user how many candidates were scored."""

    greater: Array
    equal: Array
    before: Array
    out: Array
    scored: Array


@jit
def reach(length: Any, longest: float, size: float, high: float, absolute: float) -> Any:
    """No item as long as this, with such biases, has a higher score for such a user."""
    return length * longest * SAFE + high + size * _OF_BIAS + absolute


@jit_any_order
def quick_score(users: Array, user: int, items: Array, item: int) -> float:
    """The product of two rows in float64, added in any order."""
    total = 0.0
    for k in range(users.shape[1]):
        total += np.float64(users[user, k]) * np.float64(items[item, k])
    return total


@jit
def decide_rows(
    tile: Array,
    n: int,
    block: Array,
    first: Array,
    last: Array,
    low: Array,
    high: Array,
    above: Array,
    within: Array,
    users: Array,
    length: Array,
    item: Array,
    mark: Array,
    scale: float,
    item_length: Array,
    user_factors: Array,
    item_factors: Array,
    bias: Array,
    random: bool,
    key: Any,
    known: Array,
    known_for: Array,
    greater: Array,
    equal: Array,
    before: Array,
) -> None:
    """Count what is above each target, and decide what lies between its limits.

    `quick_score` decides unless it is closer than the rounding of two sums; then the score is
    summed as it is defined. `known` keeps it for the user's other targets, where `known_for` is
    the row. This is one function without calls that take slices, because each would count
    references that threads share.
    """
    rounding = (2 * user_factors.shape[1] + 8) * 2.0**-52
    known_for[:] = -1
    hits = np.empty(_SEGMENT + 1, np.int64)
    for a in range(n):
        user = users[a]
        for t in range(first[a], last[a]):
            greater[t] += above[t]
            left = within[t] - above[t]
            for start in range(0, block.size, _SEGMENT):
                if left == 0:
                    break
                size = min(_SEGMENT, block.size - start)
                inside = np.int32(0)
                for i in range(size):
                    score = tile[a, np.uintp(start) + np.uintp(i)]  # no index from the end
                    inside = np.int32(inside + ((score >= low[t]) & (score <= high[t])))
                left -= inside
                if inside == 0:
                    continue
                n_hits = 0
                for i in range(size):  # without a branch to guess wrong
                    j = np.uintp(start) + np.uintp(i)
                    hits[np.uintp(n_hits)] = j
                    n_hits += int((tile[a, j] >= low[t]) & (tile[a, j] <= high[t]))
                for i in range(n_hits):
                    j = np.uintp(hits[i])
                    other = block[j]
                    if other == item[t]:
                        continue
                    own = bias[other] if bias.size else 0.0
                    nothing = length[a] == 0.0 or item_length[other] == 0.0
                    if known_for[j] != a:
                        known_for[j] = a
                        known[j] = own
                        if not nothing:
                            known[j] += quick_score(user_factors, user, item_factors, other)
                    exact = known[j]
                    slack = rounding * (length[a] * item_length[other] + abs(own) * scale) + _TINY
                    if not nothing and not abs(exact - mark[t]) * scale > slack:
                        exact = factor_score(user_factors[user], item_factors[other], bias, other)
                    if exact > mark[t]:
                        greater[t] += 1
                    elif exact == mark[t]:
                        equal[t] += 1
                        if random:
                            before[t] += stands_before(key, user, other, item[t])


@jit
def count_as_they_are(
    tile: Array,
    n: int,
    block: Array,
    start: int,
    first: Array,
    last: Array,
    low: Array,
    above: Array,
    within: Array,
    users: Array,
    item: Array,
    place: Array,
    random: bool,
    key: Any,
    greater: Array,
    equal: Array,
    before: Array,
) -> None:
    """As `decide_rows`, with the numbers of the tile for scores."""
    for a in range(n):
        for t in range(first[a], last[a]):
            column = place[t] - start
            if 0 <= column < block.size:
                above[t] -= tile[a, column] > low[t]
                within[t] -= tile[a, column] >= low[t]
            greater[t] += above[t]
            if within[t] == above[t]:
                continue
            for j in range(block.size):
                if tile[a, j] == low[t] and block[j] != item[t]:
                    equal[t] += 1
                    if random:
                        before[t] += stands_before(key, users[a], block[j], item[t])


@jit
def sort_by_mark(targets: Array, first: int, end: int, mark: Array) -> None:
    """Sort the few targets of a user by rising score."""
    for i in range(first + 1, end):
        moved = targets[i]
        j = i - 1
        while j >= first and mark[targets[j]] > mark[moved]:
            targets[j + 1] = targets[j]
            j -= 1
        targets[j + 1] = moved


@jit
def count_chunk(
    here: Array,
    first_block: int,
    last_block: int,
    wanted: Wanted,
    blocks: Blocks,
    items: Any,
    fast: bool,
    scale: float,
    seen_indptr: Array,
    seen: Array,
    user_factors: Array,
    item_factors: Array,
    bias: Array,
    found: Found,
) -> None:
    """Some blocks of items for the users `here`, which are sorted by lowest/length."""
    # members of a tuple are fetched once: fetching them counts references, which threads share
    n, width, absolute = here.size, blocks.width, blocks.absolute
    order, place, item_length = blocks.order, blocks.place, blocks.item_length
    longest, bias_size, bias_high = blocks.longest, blocks.bias_size, blocks.bias_high
    later, later_size, later_high = blocks.later, blocks.later_size, blocks.later_high
    mark, starts, all_targets = wanted.mark, wanted.starts, wanted.targets
    for_equal, for_before = wanted.for_equal, wanted.for_before
    random, key = wanted.random, wanted.key
    users = wanted.users[here]
    length, lowest = wanted.length[here], wanted.lowest[here]
    rows, alpha, loss = rows_for(items, user_factors, users, length)
    tile = new_tile(items, n, width)
    nothing = hidden_value(items)
    who, position = np.arange(n), np.arange(n)
    begin, end = np.empty(n, np.int64), np.empty(n, np.int64)
    total = 0
    for a in range(n):
        begin[a] = total
        total += starts[here[a] + 1] - starts[here[a]]
        end[a] = total
    own, own_place = np.empty(total, np.int64), np.empty(total, np.int64)
    own_item = np.empty(total, np.int64)
    for a in range(n):
        for i in range(end[a] - begin[a]):
            own[begin[a] + i] = starts[here[a]] + i
        sort_by_mark(own, begin[a], end[a], mark)
    for i in range(total):
        own_item[i] = all_targets[own[i]]
        own_place[i] = place[own_item[i]]
    own_mark = mark[own]
    goal = own_mark * scale
    greater, equal, before = found.greater[own], found.equal[own], found.before[own]
    out, room = found.out[own], wanted.room[own]
    open_ = begin.copy()  # the lowest target that is not out
    low, high = np.empty(total, tile.dtype), np.empty(total, tile.dtype)
    above, within = np.empty(total, np.int32), np.empty(total, np.int32)
    known, known_for = np.empty(width), np.empty(width, np.int32)
    first, last = np.empty(n, np.int64), np.empty(n, np.int64)
    hidden_starts, hidden_rows, hidden_columns = bucket_seen(
        users, seen_indptr, seen, place, width, first_block, last_block
    )
    hidden, scored = np.zeros(n, np.int64), np.zeros(n, np.int64)
    for a in range(n):
        while open_[a] < end[a] and out[open_[a]]:
            open_[a] += 1

    for b in range(first_block, last_block):
        kept = 0
        for a in range(n):
            if lowest[a] > reach(
                length[a], later[b], later_size[b], later_high[b],
                absolute,
            ):  # fmt: skip
                position[who[a]] = -1
                wanted.lowest[here[who[a]]] = np.inf
                continue
            if kept < a:
                rows[kept] = rows[a]
                users[kept], length[kept], lowest[kept] = users[a], length[a], lowest[a]
                alpha[kept], loss[kept], who[kept] = alpha[a], loss[a], who[a]
                begin[kept], end[kept], open_[kept] = begin[a], end[a], open_[a]
                position[who[a]] = kept
            kept += 1
        n = m = kept
        while m > 0 and lowest[m - 1] > reach(
            length[m - 1], longest[b], bias_size[b], bias_high[b],
            absolute,
        ):  # fmt: skip
            m -= 1
        if n == 0:
            break
        if m == 0:
            continue
        block = order[b * width : (b + 1) * width]
        filled = fill(items, rows, m, block, b, width, tile)
        factor, fixed, by_loss, by_length, slope = margins(items, b, longest[b], bias_size[b])
        hidden[:m] = 0
        for p in range(hidden_starts[b - first_block], hidden_starts[b - first_block + 1]):
            at = position[hidden_rows[p]]
            if 0 <= at < m:
                filled[at, hidden_columns[p]] = nothing
                hidden[at] += 1
        for a in range(m):
            farthest = reach(length[a], longest[b], bias_size[b], bias_high[b], absolute)
            first[a], last[a] = open_[a], end[a]
            while last[a] > first[a] and goal[last[a] - 1] > farthest:
                last[a] -= 1
            if first[a] == last[a]:
                continue
            scored[who[a]] += block.size - hidden[a]
            for t in range(begin[a], end[a]):
                scored[who[a]] -= b * width <= own_place[t] < b * width + block.size
            margin = fixed + by_loss * loss[a] + by_length * length[a]
            set_limits(goal, first[a], last[a], alpha[a] * factor, margin, slope, low, high)
        count_rows(filled, m, block.size, first, last, low, high, above, within)
        if fast:
            count_as_they_are(
                filled, m, block, b * width, first, last, low, above, within, users, own_item,
                own_place, random, key, greater, equal, before,
            )  # fmt: skip
        else:
            decide_rows(
                filled, m, block, first, last, low, high, above, within, users, length, own_item,
                own_mark, scale, item_length, user_factors, item_factors, bias, random, key, known,
                known_for, greater, equal, before,
            )  # fmt: skip
        for a in range(m):
            for t in range(first[a], last[a]):
                counted = 2 * greater[t] + for_equal * equal[t] + for_before * before[t]
                out[t] |= counted > room[t]
            while open_[a] < end[a] and out[open_[a]]:
                open_[a] += 1
            lowest[a] = goal[open_[a]] if open_[a] < end[a] else np.inf
    for a in range(n):
        wanted.lowest[here[who[a]]] = lowest[a]
    found.scored[here] += scored
    for i in range(total):
        g = own[i]
        found.greater[g], found.equal[g], found.before[g] = greater[i], equal[i], before[i]
        found.out[g] = out[i]
