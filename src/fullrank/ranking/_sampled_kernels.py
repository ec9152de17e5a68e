"""Compiled counts: how many of a user's drawn items stand above each of its targets.

All kernels share their arguments: `users` (rows of the block), `starts` and `targets` (CSR of the
item rows of the targets to count for), `drawn` (one row of items per user, -1 pads), `seen_indptr`
and `seen` (excluded items by user row: drawn, they stand below), `ties` (a code below) and `key`.
They write `above`, one count per target, and the targets' scores, and return (-1, -1) or the
user and the item whose score is NaN.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from fullrank._jit import jit
from fullrank.ranking._draw_kernels import contains, tie_word

Array = NDArray[Any]
Scalar = Any  # numba infers the numpy type

BEST, WORST, RANDOM = 0, 1, 2  # ties: the target stands above, below, or at a keyed place

# Elements gathered from a matrix row cost as much as this many streamed ones (measured).
GATHER_COST = 12


@jit
def _beats(
    score: Scalar,
    item: Scalar,
    mark: Scalar,
    target: Scalar,
    user: Scalar,
    ties: Scalar,
    key: Scalar,
) -> Scalar:
    """Whether an item stands above the target, given exact scores."""
    if score != mark:
        return score > mark
    if ties == RANDOM:
        a, b = tie_word(key, user, item), tie_word(key, user, target)
        return a > b or (a == b and item > target)
    return ties == WORST


@jit
def _is_seen(seen_indptr: Array, seen: Array, user: Scalar, item: Scalar) -> bool:
    if seen_indptr.size == 0:
        return False
    return contains(seen[seen_indptr[user] : seen_indptr[user + 1]], item)


@numba.njit(nogil=True, fastmath={"reassoc", "contract"})
def _rough(x: Array, y: Array) -> tuple[Scalar, Scalar]:
    """The product x · y in the arrays' own precision, and the sum of the sizes of its terms."""
    total = x[0] * y[0]
    size = abs(total)
    for k in range(1, x.size):
        term = x[k] * y[k]
        total += term
        size += abs(term)
    return total, size


@jit
def _exact(x: Array, y: Array, bias: Array, item: Scalar) -> Scalar:
    """The score as it is defined: float64, terms in index order, then the bias."""
    total: Scalar = 0.0
    for k in range(x.size):
        total += np.float64(x[k]) * np.float64(y[k])
    if bias.size:
        total += bias[item]
    return total


@jit
def factor_above(
    users: Array,
    starts: Array,
    targets: Array,
    drawn: Array,
    seen_indptr: Array,
    seen: Array,
    ties: Scalar,
    key: Scalar,
    user_factors: Array,
    item_factors: Array,
    bias: Array,
    slack: Scalar,
    tiny: Scalar,
    above: Array,
    marks: Array,
) -> tuple[Scalar, Scalar]:
    """Counts for a factor model: a rough product decides, the exact one where it cannot.

    Sums of d products in any order differ by less than slack·Σ|x_k y_k| + tiny (and by the
    rounding of the bias); a NaN or an infinity fails every comparison and goes to the exact sum.
    """
    for a in range(users.size):
        user = users[a]
        x = user_factors[user]
        for t in range(starts[a], starts[a + 1]):
            marks[t] = _exact(x, item_factors[targets[t]], bias, targets[t])
            if np.isnan(marks[t]):
                return user, targets[t]
        for j in range(drawn.shape[1]):
            item = np.int64(drawn[a, j])
            if item < 0:
                break
            y = item_factors[item]
            rough, size = _rough(x, y)
            score = np.float64(rough)
            error = slack * np.float64(size) + tiny
            if bias.size:
                score += bias[item]
                error += slack * abs(bias[item])
            known = False
            hidden = -1
            for t in range(starts[a], starts[a + 1]):
                mark = marks[t]
                if mark - score > error:
                    continue
                if not score - mark > error:
                    if not known:
                        score = _exact(x, y, bias, item)
                        error = 0.0
                        known = True
                        if np.isnan(score):
                            if _is_seen(seen_indptr, seen, user, item):
                                break
                            return user, item
                    if not _beats(score, item, mark, targets[t], user, ties, key):
                        continue
                if hidden < 0:
                    hidden = 1 if _is_seen(seen_indptr, seen, user, item) else 0
                if hidden == 1:
                    break
                above[t] += 1
    return -1, -1


@jit
def _count(
    a: Scalar,
    user: Scalar,
    scores: Array,
    starts: Array,
    targets: Array,
    drawn: Array,
    seen_indptr: Array,
    seen: Array,
    ties: Scalar,
    key: Scalar,
    above: Array,
    marks: Array,
) -> Scalar:
    """One user's counts from exact scores of its draws; the item whose score is NaN, or -1."""
    for j in range(drawn.shape[1]):
        item = np.int64(drawn[a, j])
        if item < 0:
            break
        score = np.float64(scores[j])
        if np.isnan(score) and not _is_seen(seen_indptr, seen, user, item):
            return item
        hidden = -1
        for t in range(starts[a], starts[a + 1]):
            if _beats(score, item, marks[t], targets[t], user, ties, key):
                if hidden < 0:
                    hidden = 1 if _is_seen(seen_indptr, seen, user, item) else 0
                if hidden == 1:
                    break
                above[t] += 1
    return -1


@jit
def scored_above(
    users: Array,
    starts: Array,
    targets: Array,
    drawn: Array,
    seen_indptr: Array,
    seen: Array,
    ties: Scalar,
    key: Scalar,
    scores: Array,
    above: Array,
    marks: Array,
) -> tuple[Scalar, Scalar]:
    """Counts from given scores of the draws and of the targets (`marks`)."""
    for a in range(users.size):
        item = _count(
            a,
            users[a],
            scores[a],
            starts,
            targets,
            drawn,
            seen_indptr,
            seen,
            ties,
            key,
            above,
            marks,
        )
        if item >= 0:
            return users[a], item
    return -1, -1


@jit
def _history_sums(
    indptr: Array,
    indices: Array,
    values: Array,
    matrix: Array,
    user: Scalar,
    wanted: Array,
    total: Array,
) -> None:
    """total[b] = Σ_h values[h]·matrix[h, wanted[b]], in the order of h."""
    total[: wanted.size] = 0.0
    for p in range(indptr[user], indptr[user + 1]):
        weight = np.float64(values[p])
        row = matrix[indices[p]]
        for b in range(wanted.size):
            total[b] += weight * np.float64(row[wanted[b]])


@jit
def item_item_above(
    users: Array,
    starts: Array,
    targets: Array,
    drawn: Array,
    seen_indptr: Array,
    seen: Array,
    ties: Scalar,
    key: Scalar,
    indptr: Array,
    indices: Array,
    values: Array,
    matrix: Array,
    above: Array,
    marks: Array,
) -> tuple[Scalar, Scalar]:
    """Counts for a dense item-item matrix: few items are gathered, many come from whole rows."""
    n_items = matrix.shape[1]
    row_total = np.empty(n_items)
    total = np.empty(drawn.shape[1])
    for a in range(users.size):
        user = users[a]
        mine = targets[starts[a] : starts[a + 1]]
        n = 0
        while n < drawn.shape[1] and drawn[a, n] >= 0:
            n += 1
        if (n + mine.size) * GATHER_COST < n_items:
            _history_sums(indptr, indices, values, matrix, user, mine, marks[starts[a] :])
            _history_sums(indptr, indices, values, matrix, user, drawn[a, :n], total)
        else:
            row_total[:] = 0.0
            for p in range(indptr[user], indptr[user + 1]):
                weight = np.float64(values[p])
                row = matrix[indices[p]]
                for i in range(n_items):
                    row_total[i] += weight * np.float64(row[i])
            for t in range(mine.size):
                marks[starts[a] + t] = row_total[mine[t]]
            for j in range(n):
                total[j] = row_total[drawn[a, j]]
        for t in range(mine.size):
            if np.isnan(marks[starts[a] + t]):
                return user, mine[t]
        item = _count(
            a, user, total, starts, targets, drawn, seen_indptr, seen, ties, key, above, marks
        )
        if item >= 0:
            return user, item
    return -1, -1


@jit
def sparse_item_item_above(
    users: Array,
    starts: Array,
    targets: Array,
    drawn: Array,
    seen_indptr: Array,
    seen: Array,
    ties: Scalar,
    key: Scalar,
    indptr: Array,
    indices: Array,
    values: Array,
    matrix_indptr: Array,
    matrix_indices: Array,
    matrix_values: Array,
    above: Array,
    marks: Array,
) -> tuple[Scalar, Scalar]:
    """Counts for a CSR item-item matrix: its stored entries are added up, the draws looked up."""
    row_total = np.zeros(matrix_indptr.size - 1)
    total = np.empty(drawn.shape[1])
    for a in range(users.size):
        user = users[a]
        for p in range(indptr[user], indptr[user + 1]):
            weight = np.float64(values[p])
            h = indices[p]
            for q in range(matrix_indptr[h], matrix_indptr[h + 1]):
                row_total[matrix_indices[q]] += weight * np.float64(matrix_values[q])
        for t in range(starts[a], starts[a + 1]):
            marks[t] = row_total[targets[t]]
        for j in range(drawn.shape[1]):
            if drawn[a, j] >= 0:
                total[j] = row_total[drawn[a, j]]
        for p in range(indptr[user], indptr[user + 1]):
            h = indices[p]
            for q in range(matrix_indptr[h], matrix_indptr[h + 1]):
                row_total[matrix_indices[q]] = 0.0
        for t in range(starts[a], starts[a + 1]):
            if np.isnan(marks[t]):
                return user, targets[t]
        item = _count(
            a, user, total, starts, targets, drawn, seen_indptr, seen, ties, key, above, marks
        )
        if item >= 0:
            return user, item
    return -1, -1
