"""Compiled counts where every user has the same scores; see exact_item_scores.py."""

from __future__ import annotations

import numpy as np

from fullrank._lib.jit import jit
from fullrank._lib.types import Array
from fullrank.designs.draw_kernels import contains
from fullrank.ranking.cpu.exact_kernels import stands_before
from fullrank.ranking.cpu.tie_kernels import count_before


@jit
def count_users(
    users: Array,
    starts: Array,
    targets: Array,
    marks: Array,
    kinds: Array,
    values: Array,
    kind_starts: Array,
    items: Array,
    seen_indptr: Array,
    seen: Array,
    random: bool,
    key: np.uint64,
    greater: Array,
    equal: Array,
    before: Array,
) -> None:
    """Counts for targets whose scores are `marks`, of the kinds `kinds` (exact_item_scores.py)."""
    n_items = kind_starts[kind_starts.size - 1]
    for a in range(users.size):
        hidden = seen[:0]
        if seen_indptr.size:
            hidden = seen[seen_indptr[users[a]] : seen_indptr[users[a] + 1]]
        for t in range(starts[a], starts[a + 1]):
            mark = marks[t]
            first, last = kind_starts[kinds[t]], kind_starts[kinds[t] + 1]
            g = n_items - last
            e = last - first - 1  # without the target
            for h in hidden:
                g -= values[h] > mark
                e -= values[h] == mark
            greater[t] = g
            equal[t] = e
            if random and e > 0:
                own = slice(t, t + 1)
                count_before(key, users[a], 0, items[first:last], targets[own], before[own])
                for h in hidden:
                    if values[h] == mark:
                        before[t] -= stands_before(key, users[a], h, targets[t])


@jit
def first_candidate(items: Array, users: Array, seen_indptr: Array, seen: Array) -> tuple[int, int]:
    """The first user, and the first of these items, that is not excluded; (-1, -1) for none."""
    for user in users:
        hidden = seen[:0]
        if seen_indptr.size:
            hidden = seen[seen_indptr[user] : seen_indptr[user + 1]]
        for item in items:
            if not contains(hidden, item):
                return user, item
    return -1, -1
