"""Compiled counts for sparse item–item models; see exact_sparse.py."""

from __future__ import annotations

import numpy as np

from fullrank._lib.jit import jit
from fullrank._lib.types import Array
from fullrank.ranking.cpu.exact_kernels import stands_before
from fullrank.ranking.cpu.tie_kernels import count_before

REACHED, EXCLUDED, OUTSIDE = 1, 2, 4  # an item's state is the sum of what holds for it
MUCH = 0.5  # products for each item


@jit
def count_reached(
    users: Array,
    starts: Array,
    targets: Array,
    indptr: Array,
    indices: Array,
    values: Array,
    matrix_indptr: Array,
    matrix_indices: Array,
    matrix_values: Array,
    size: int,
    items: Array,
    seen_indptr: Array,
    seen: Array,
    random: bool,
    key: np.uint64,
    total: Array,
    state: Array,
    reached: Array,
    scores: Array,
    greater: Array,
    equal: Array,
    before: Array,
    mark: Array,
) -> tuple[int, int]:
    """Counts over the whole catalogue of `size` items; see exact_kernels.py for the arguments.

    For every item `total` holds 0 and `state` whether it is outside of the catalogue, and they do
    so again afterwards; `scores` has room for every item, `reached` for one more. Returns (-1, -1),
    or the user and the first item whose score is NaN.
    """
    for a in range(users.size):
        user = users[a]
        n = add_history(
            indptr, indices, values, matrix_indptr, matrix_indices, matrix_values, user, total,
            state, reached,
        )  # fmt: skip
        hidden = seen[:0]
        if seen_indptr.size:
            hidden = seen[seen_indptr[user] : seen_indptr[user + 1]]
        for h in hidden:
            state[h] |= EXCLUDED
        n_scores = n_bad = 0
        for r in range(n):
            score = total[reached[r]]
            scores[n_scores] = score
            is_candidate = state[reached[r]] == REACHED
            n_scores += is_candidate
            n_bad += is_candidate & (score != score)
        if n_bad:
            return user, first_nan(reached[:n], total, state)
        rest = size - hidden.size - n_scores
        mine = slice(starts[a], starts[a + 1])
        for t in range(starts[a], starts[a + 1]):
            m = total[targets[t]]
            g, e = count_values(scores[:n_scores], m)
            greater[t] = g + rest * (m < 0.0)
            equal[t] = e + rest * (m == 0.0) - 1  # without the target
            mark[t] = m
        if random:
            place_ties(
                key, user, targets[mine], mark[mine], equal[mine], rest, size, items, hidden,
                reached[:n], total, state, before[mine],
            )  # fmt: skip
        for h in hidden:
            state[h] = 0
        if n == total.size:
            total[:] = 0.0
            for item in range(n):
                state[item] &= OUTSIDE
        else:
            for r in range(n):
                total[reached[r]] = 0.0
                state[reached[r]] &= OUTSIDE
    return -1, -1


@jit
def add_history(
    indptr: Array,
    indices: Array,
    values: Array,
    matrix_indptr: Array,
    matrix_indices: Array,
    matrix_values: Array,
    user: int,
    total: Array,
    state: Array,
    reached: Array,
) -> int:
    """Add up one user's scores as they are defined, and list the items; gives how many.

    Where there is much to add up all items are listed: it is quicker than to find out which.
    """
    n = 0
    for p in range(indptr[user], indptr[user + 1]):
        n += matrix_indptr[indices[p] + 1] - matrix_indptr[indices[p]]
    if n > MUCH * total.size:
        for p in range(indptr[user], indptr[user + 1]):
            weight = np.float64(values[p])
            h = indices[p]
            for q in range(matrix_indptr[h], matrix_indptr[h + 1]):
                total[matrix_indices[q]] += weight * np.float64(matrix_values[q])
        for item in range(total.size):
            reached[item] = item
            state[item] |= REACHED
        return total.size
    n = 0
    for p in range(indptr[user], indptr[user + 1]):
        weight = np.float64(values[p])
        h = indices[p]
        for q in range(matrix_indptr[h], matrix_indptr[h + 1]):
            item = matrix_indices[q]
            reached[n] = item
            n += state[item] & REACHED == 0
            state[item] |= REACHED
            total[item] += weight * np.float64(matrix_values[q])
    return n


@jit
def first_nan(reached: Array, total: Array, state: Array) -> int:
    """The lowest row of a candidate whose score is NaN."""
    first = total.size
    for item in reached:
        if state[item] == REACHED and np.isnan(total[item]):
            first = min(first, item)
    return first


@jit
def count_values(scores: Array, mark: float) -> tuple[int, int]:
    """How many scores are greater than the mark, and how many are equal to it."""
    greater = equal = 0
    for j in range(scores.size):
        greater += scores[j] > mark
        equal += scores[j] == mark
    return greater, equal


@jit
def place_ties(
    key: np.uint64,
    user: int,
    targets: Array,
    mark: Array,
    equal: Array,
    rest: int,
    size: int,
    items: Array,
    hidden: Array,
    reached: Array,
    total: Array,
    state: Array,
    before: Array,
) -> None:
    """before[t]: the items equal to targets[t] that the keyed words place above it.

    The `rest`, which was not reached, ties with every target of score 0. It is the catalogue
    without what was reached or is excluded: both are counted, and one is taken from the other.
    """
    at_zero = np.empty(targets.size, np.int64)
    n_zero = 0
    for t in range(targets.size):
        if mark[t] == 0.0 and rest > 0:
            at_zero[n_zero] = t
            n_zero += 1
        itself = state[targets[t]] == REACHED
        if equal[t] + 1 - rest * (mark[t] == 0.0) > itself:  # some of those that were reached
            for item in reached:
                is_candidate = state[item] == REACHED
                if is_candidate and total[item] == mark[t] and item != targets[t]:
                    before[t] += stands_before(key, user, item, targets[t])
    if n_zero == 0:
        return
    others, n = np.empty(reached.size + hidden.size, np.int32), 0
    for item in reached:
        others[n] = item
        n += state[item] & OUTSIDE == 0
    for item in hidden:
        others[n] = item
        n += state[item] == EXCLUDED
    zero = targets[at_zero[:n_zero]]
    of_all, of_others = np.empty(n_zero, np.int64), np.empty(n_zero, np.int64)
    count_before(key, user, 0 if items.size else size, items, zero, of_all)
    count_before(key, user, 0, others[:n], zero, of_others)
    for k in range(n_zero):
        before[at_zero[k]] += of_all[k] - of_others[k]
