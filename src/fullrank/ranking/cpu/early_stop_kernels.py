"""Compiled counts for ranks up to K: what a block of scores adds, and which targets are out."""

from __future__ import annotations

import numpy as np

from fullrank._lib.jit import jit
from fullrank._lib.types import Array
from fullrank.ranking.cpu.exact_kernels import stands_before

MEAN, BEST, WORST, RANDOM = 0, 1, 2, 3


@jit
def is_beyond(
    policy: int, max_rank: int, offset: int, greater: int, equal: int, before: int
) -> bool:
    """Whether a target with these counts over non-targets has a rank above `max_rank`.

    The counts may be of some candidates only: with more of them the rank can but rise.
    """
    place = 1 + offset + greater
    if policy == WORST:
        place += equal
    elif policy == RANDOM:
        place += before
    elif policy == MEAN:
        return 2 * place + equal > 2 * max_rank
    return place > max_rank


@jit
def clean_lists(
    lists: Array,
    users: Array,
    starts: Array,
    targets: Array,
    place: Array,
    seen_indptr: Array,
    seen: Array,
    length: Array,
) -> None:
    """Keep of each user's own list what is to be scored: candidates, once each, and no target.

    Rows are changed in place: `length` items in front, filled up with a target of the user.
    """
    marked = np.full(place.size, -1, np.int64)
    for a in range(users.size):
        if seen_indptr.size:
            for p in range(seen_indptr[users[a]], seen_indptr[users[a] + 1]):
                marked[seen[p]] = a
        for t in range(starts[a], starts[a + 1]):
            marked[targets[t]] = a
        n = 0
        for j in range(lists.shape[1]):
            item = lists[a, j]
            if item < 0 or place[item] < 0 or marked[item] == a:
                continue
            marked[item] = a
            lists[a, n] = item
            n += 1
        length[a] = n
        for j in range(n, lists.shape[1]):
            lists[a, j] = targets[starts[a]]


@jit
def best_columns(scores: Array, highest: Array, out: Array) -> None:
    """Fill rows of `out` with the columns of the lowest scores, in their order in the row.

    highest[a] is the highest of these scores; of those equal to it the first are taken.
    """
    for a in range(scores.shape[0]):
        below = 0
        for j in range(scores.shape[1]):
            below += scores[a, j] < highest[a]
        left, n = out.shape[1] - below, 0
        for j in range(scores.shape[1]):
            s = scores[a, j]
            if s < highest[a] or (s == highest[a] and left > 0):
                left -= s == highest[a]
                out[a, n] = j
                n += 1


@jit
def add_own(
    scores: Array,
    lists: Array,
    length: Array,
    begin: int,
    active: Array,
    users: Array,
    starts: Array,
    targets: Array,
    mark: Array,
    random: bool,
    key: np.uint64,
    greater: Array,
    equal: Array,
    before: Array,
    scored: Array,
) -> tuple[int, int]:
    """Add columns begin, begin + 1, … of the lists: row a of `scores` is of users[active[a]].

    Returns (-1, -1), or the user and the item whose score is NaN.
    """
    for a in range(active.size):
        at = active[a]
        n = min(scores.shape[1], length[at] - begin)
        for j in range(n):
            if np.isnan(scores[a, j]):
                return users[at], lists[at, begin + j]
        for t in range(starts[at], starts[at + 1]):
            for j in range(n):
                greater[t] += scores[a, j] > mark[t]
                if scores[a, j] == mark[t]:
                    equal[t] += 1
                    if random:
                        item = lists[at, begin + j]
                        before[t] += stands_before(key, users[at], item, targets[t])
        scored[at] += max(n, 0)
    return -1, -1


@jit
def add_shared(
    scores: Array,
    items: Array,
    begin: int,
    place: Array,
    lists: Array,
    length: Array,
    active: Array,
    users: Array,
    starts: Array,
    targets: Array,
    mark: Array,
    seen_indptr: Array,
    seen: Array,
    random: bool,
    key: np.uint64,
    greater: Array,
    equal: Array,
    before: Array,
    scored: Array,
) -> tuple[int, int]:
    """Add a block of the shared order: row a of `scores` is of users[active[a]], against `items`.

    Items that do not count for a user (excluded, a target, or in the user's own list) are counted
    with the others and taken off again. `place` is each item's place in the order, of which the
    block begins at `begin`. Returns (-1, -1), or the user and the item whose score is NaN.
    """
    width = scores.shape[1]
    skipped = np.empty(width, np.int64)
    skip = np.zeros(width, np.bool_)
    for a in range(active.size):
        at = active[a]
        row = scores[a]
        n_skipped = 0
        if seen_indptr.size:
            for p in range(seen_indptr[users[at]], seen_indptr[users[at] + 1]):
                j = place[seen[p]] - begin
                if 0 <= j < width:
                    skipped[n_skipped] = j
                    n_skipped += 1
        for t in range(starts[at], starts[at + 1]):
            j = place[targets[t]] - begin
            if 0 <= j < width:
                skipped[n_skipped] = j
                n_skipped += 1
        for p in range(length[at]):
            j = place[lists[at, p]] - begin
            if 0 <= j < width:
                skipped[n_skipped] = j
                n_skipped += 1
        n_bad = 0
        for j in range(width):
            n_bad += row[j] != row[j]
        if n_bad or random:
            for s in range(n_skipped):
                skip[skipped[s]] = True
        if n_bad:
            for j in range(width):
                if np.isnan(row[j]) and not skip[j]:
                    return users[at], items[j]
        for t in range(starts[at], starts[at + 1]):
            m = mark[t]
            g = e = 0
            for j in range(width):
                g += row[j] > m
                e += row[j] == m
            for s in range(n_skipped):
                g -= row[skipped[s]] > m
                e -= row[skipped[s]] == m
            if random and e > 0:
                for j in range(width):
                    if row[j] == m and not skip[j]:
                        before[t] += stands_before(key, users[at], items[j], targets[t])
            greater[t] += g
            equal[t] += e
        if n_bad or random:
            for s in range(n_skipped):
                skip[skipped[s]] = False
        scored[at] += width - n_skipped
    return -1, -1


@jit
def hide_shared(
    need: Array,
    begin: int,
    place: Array,
    lists: Array,
    length: Array,
    active: Array,
    users: Array,
    starts: Array,
    targets: Array,
    seen_indptr: Array,
    seen: Array,
) -> None:
    """Clear what does not count in a block of the shared order, as `add_shared` has it."""
    width = need.shape[1]
    for a in range(active.size):
        at = active[a]
        if seen_indptr.size:
            for p in range(seen_indptr[users[at]], seen_indptr[users[at] + 1]):
                j = place[seen[p]] - begin
                if 0 <= j < width:
                    need[a, j] = False
        for t in range(starts[at], starts[at + 1]):
            j = place[targets[t]] - begin
            if 0 <= j < width:
                need[a, j] = False
        for p in range(length[at]):
            j = place[lists[at, p]] - begin
            if 0 <= j < width:
                need[a, j] = False


@jit
def add_before(
    tied: Array,
    items: Array,
    numbers: Array,
    users: Array,
    targets: Array,
    key: np.uint64,
    before: Array,
) -> None:
    """Add those of the tied items that the keyed words put above the targets numbers[tied]."""
    for p in range(tied.size):
        t = numbers[tied[p]]
        before[t] += stands_before(key, users[tied[p]], items[p], targets[t])


@jit
def still_in(
    active: Array,
    starts: Array,
    policy: int,
    max_rank: int,
    offset: Array,
    greater: Array,
    equal: Array,
    before: Array,
    out: Array,
) -> Array:
    """The users of `active` with a target that may be within `max_rank`; the others are `out`."""
    left = np.empty(active.size, np.int64)
    n = 0
    for at in active:
        stays = False
        for t in range(starts[at], starts[at + 1]):
            out[t] = is_beyond(policy, max_rank, offset[t], greater[t], equal[t], before[t])
            stays |= not out[t]
        if stays:
            left[n] = at
            n += 1
    return left[:n]
