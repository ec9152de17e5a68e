"""Compiled counts: how many of a user's drawn items rank above each of its targets.

All kernels share their arguments: `users` (rows of the block), `starts` and `targets` (CSR of the
item rows of the targets to count for), `drawn` (one row of items per user, -1 pads), `seen_indptr`
and `seen` (excluded items by user row: drawn, they rank below), `ties` (a code below) and `key`.
They write `above`, one count per target, and the targets' scores, and return (-1, -1) or the
user and the item whose score is NaN.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils, types
from numba.extending import intrinsic

from fullrank._lib.jit import jit
from fullrank._lib.types import Array
from fullrank.designs.draw_kernels import contains, tie_word
from fullrank.scorers.score_kernels import factor_score

Scalar = Any  # numba infers the numpy type

BEST, WORST, RANDOM = 0, 1, 2  # ties: the target stands above, below, or at a keyed place

AHEAD = 8  # rows of factors on their way while one is used (4 to 16 were alike)

# An element gathered from a cached row is taken to cost as much as this many of a whole row: an
# estimate, which decides speed only.
GATHER_COST = 4


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


def _make_prefetch(_typing: Any, array: Any, row: Any, byte: Any) -> Any:
    """Ask for the cache line at a byte of a row of a matrix: LLVM's prefetch, read, keep."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        matrix = context.make_array(signature.args[0])(context, builder, arguments[0])
        at, offset = (
            context.cast(builder, value, kind, types.intp)
            for value, kind in zip(arguments[1:], signature.args[1:], strict=True)
        )
        stride = builder.extract_value(matrix.strides, 0)
        start = builder.bitcast(matrix.data, ir.IntType(8).as_pointer())
        address = builder.gep(start, [builder.add(builder.mul(at, stride), offset)])
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [address.type, number, number, number])
        insert: Any = cgutils.get_or_insert_function
        function = insert(builder.module, kind, "llvm.prefetch.p0")
        builder.call(function, [address, number(0), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(array, row, byte), generate


_prefetch: Any = intrinsic(_make_prefetch)


@jit
def _is_seen(seen_indptr: Array, seen: Array, user: Scalar, item: Scalar) -> bool:
    if seen_indptr.size == 0:
        return False
    return contains(seen[seen_indptr[user] : seen_indptr[user + 1]], item)


@numba.njit(nogil=True, fastmath={"reassoc", "contract"})
def _rough(x: Array, y: Array) -> tuple[Scalar, Scalar]:
    """The product x · y in the arrays' own precision, and the sum of the sizes of its terms."""
    total = x.dtype.type(0)
    size = x.dtype.type(0)
    for k in range(x.size):
        term = x[k] * y[k]
        total += term
        size += abs(term)
    return total, size


@jit
def _settle(
    item: Scalar,
    score: Scalar,
    error: Scalar,
    user: Scalar,
    first: Scalar,
    last: Scalar,
    targets: Array,
    seen_indptr: Array,
    seen: Array,
    ties: Scalar,
    key: Scalar,
    user_factors: Array,
    item_factors: Array,
    bias: Array,
    above: Array,
    marks: Array,
) -> Scalar:
    """Count one item for targets first..last-1; whether its exact score is NaN.

    The exact sum is taken once, when the rough score is too near to a target's. A NaN or an
    infinity fails every comparison of rough scores and so goes to the exact sum.
    """
    known = False
    hidden = -1
    for t in range(first, last):
        mark = marks[t]
        if mark - score > error:
            continue
        if not score - mark > error:
            if not known:
                score = factor_score(user_factors[user], item_factors[item], bias, item)
                error = 0.0
                known = True
                if np.isnan(score):
                    return not _is_seen(seen_indptr, seen, user, item)
            if not _beats(score, item, mark, targets[t], user, ties, key):
                continue
        if hidden < 0:
            hidden = 1 if _is_seen(seen_indptr, seen, user, item) else 0
        if hidden == 1:
            break
        above[t] += 1
    return False


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
    rounding of the bias). The loop is kept free of calls and of branches that go either way: it
    waits for memory, and a wrong guess would empty the queue of loads.
    """
    n = drawn.shape[1]
    n_bytes = item_factors.shape[1] * item_factors.itemsize
    simple = seen_indptr.size == 0
    for a in range(users.size):
        user = users[a]
        x = user_factors[user]
        first, last = starts[a], starts[a + 1]
        for t in range(first, last):
            marks[t] = factor_score(x, item_factors[targets[t]], bias, targets[t])
            if np.isnan(marks[t]):
                return user, targets[t]
        for j in range(min(AHEAD, n)):
            for byte in range(0, n_bytes, 64):
                _prefetch(item_factors, max(drawn[a, j], 0), byte)
        one = last - first == 1
        count = 0
        for j in range(n):
            item = np.int64(drawn[a, j])
            if item < 0:
                break
            if j + AHEAD < n:
                for byte in range(0, n_bytes, 64):
                    _prefetch(item_factors, max(drawn[a, j + AHEAD], 0), byte)
            rough, size = _rough(x, item_factors[item])
            score = np.float64(rough)
            error = slack * np.float64(size) + tiny
            if bias.size:
                score += bias[item]
                error += slack * abs(bias[item])
            distance = score - marks[first]
            if one and abs(distance) > error:
                if simple:
                    count += distance > 0
                elif distance > 0 and not _is_seen(seen_indptr, seen, user, item):
                    count += 1
            elif _settle(
                item, score, error, user, first, last, targets, seen_indptr, seen, ties, key,
                user_factors, item_factors, bias, above, marks,
            ):  # fmt: skip
                return user, item
        above[first] += count
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
def _by_history(
    users: Array, indptr: Array, indices: Array, values: Array, n_items: Scalar
) -> tuple[Scalar, Scalar, Scalar]:
    """The block's histories by item: heads, who has the item (place in the block), its weights."""
    heads = np.zeros(n_items + 1, np.int64)
    for a in range(users.size):
        for p in range(indptr[users[a]], indptr[users[a] + 1]):
            heads[indices[p] + 1] += 1
    for h in range(n_items):
        heads[h + 1] += heads[h]
    at = heads[:-1].copy()
    who = np.empty(heads[-1], np.int32)
    weights = np.empty(heads[-1])
    for a in range(users.size):
        for p in range(indptr[users[a]], indptr[users[a] + 1]):
            q = at[indices[p]]
            who[q] = a
            weights[q] = values[p]
            at[indices[p]] = q + 1
    return heads, who, weights


@jit
def _add_row(row: Array, weight: Scalar, wanted: Array, total: Array) -> None:
    for b in range(wanted.size):
        total[b] += weight * np.float64(row[max(wanted[b], 0)])


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
    """Counts for a dense item-item matrix.

    With few draws the matrix is read row by row, and each row is added to the sums of all users
    of the block who have that item: rows come in rising order, so every sum has its terms in the
    order that defines it, and the row is in the cache. With many, each user's rows are added up
    whole.
    """
    n_items = matrix.shape[1]
    n = drawn.shape[1]
    gather = n * GATHER_COST < n_items
    total = np.zeros((users.size if gather else 1, n))
    row_total = np.empty(n_items)
    marks[:] = 0.0
    if gather:
        heads, who, weights = _by_history(users, indptr, indices, values, n_items)
        for h in range(n_items):
            row = matrix[h]
            for q in range(heads[h], heads[h + 1]):
                a = who[q]
                mine = slice(starts[a], starts[a + 1])
                _add_row(row, weights[q], targets[mine], marks[mine])
                _add_row(row, weights[q], drawn[a], total[a])
    for a in range(users.size):
        user = users[a]
        if not gather:
            row_total[:] = 0.0
            for p in range(indptr[user], indptr[user + 1]):
                weight = np.float64(values[p])
                row = matrix[indices[p]]
                for i in range(n_items):
                    row_total[i] += weight * np.float64(row[i])
            for t in range(starts[a], starts[a + 1]):
                marks[t] = row_total[targets[t]]
            for j in range(n):
                total[0, j] = row_total[max(drawn[a, j], 0)]
        for t in range(starts[a], starts[a + 1]):
            if np.isnan(marks[t]):
                return user, targets[t]
        item = _count(
            a, user, total[a if gather else 0], starts, targets, drawn, seen_indptr, seen, ties,
            key, above, marks,
        )  # fmt: skip
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
