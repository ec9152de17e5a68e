"""The sums that define the scores of fullrank's scorers: float64, terms in index order.

A product of two float32 numbers is exact in float64, so for float32 inputs only the additions
round; for float64 inputs every product rounds once before it is added. Each kernel makes the same
sequence of roundings for a pair of user and item whatever else is in the block, so a score depends
only on its own inputs.
"""

from __future__ import annotations

import numpy as np

from fullrank._lib.jit import jit
from fullrank._lib.types import Array

TILE = 256  # items whose sums are carried together: 2 kB of float64, well inside L1


@jit
def factor_score(x: Array, y: Array, bias: Array, item: int) -> float:
    """Return the score by its definition: float64, terms in index order, then the bias."""
    total = 0.0
    for k in range(x.size):
        total += np.float64(x[k]) * np.float64(y[k])
    if bias.size:
        total += bias[item]
    return total


@jit
def factor_block(users: Array, items: Array, bias: Array, out: Array) -> None:
    """out[a, b] = sum over k of users[a, k]·items[b, k], then + bias[b] (empty: no bias)."""
    n_users, d = users.shape
    n_items = items.shape[0]
    columns = np.empty((d, TILE))
    total = np.empty(TILE)
    for start in range(0, n_items, TILE):
        width = min(TILE, n_items - start)
        for b in range(width):
            for k in range(d):
                columns[k, b] = items[start + b, k]
        for a in range(n_users):
            total[:width] = 0.0
            for k in range(d):
                weight = np.float64(users[a, k])
                column = columns[k]
                for b in range(width):
                    total[b] += weight * column[b]
            if bias.size:
                for b in range(width):
                    total[b] += bias[start + b]
            out[a, start : start + width] = total[:width]


@jit
def factor_gather(users: Array, items: Array, bias: Array, item_rows: Array, out: Array) -> None:
    """out[a, b] is the score of item_rows[a, b] for users[a]."""
    n_users, d = users.shape
    n = item_rows.shape[1]
    for a in range(n_users):
        for b in range(n):
            row = item_rows[a, b]
            total = 0.0
            for k in range(d):
                total += np.float64(users[a, k]) * np.float64(items[row, k])
            if bias.size:
                total += bias[row]
            out[a, b] = total


@jit
def item_item_dense(
    indptr: Array, indices: Array, values: Array, matrix: Array, user_rows: Array, out: Array
) -> None:
    """out[a, i] = sum over the history h of user_rows[a], in order, of values[h]·matrix[h, i]."""
    n_items = matrix.shape[1]
    for a in range(user_rows.size):
        total = out[a]
        total[:] = 0.0
        for p in range(indptr[user_rows[a]], indptr[user_rows[a] + 1]):
            weight = np.float64(values[p])
            row = matrix[indices[p]]
            for i in range(n_items):
                total[i] += weight * np.float64(row[i])


@jit
def copied_columns(matrix: Array, items: Array) -> Array:
    """Some columns of a matrix, one beside the other."""
    out = np.empty((matrix.shape[0], items.size), matrix.dtype)
    for h in range(matrix.shape[0]):
        row, into = matrix[h], out[h]
        for b in range(items.size):
            into[b] = row[items[b]]
    return out


@jit
def item_item_gather(
    indptr: Array,
    indices: Array,
    values: Array,
    matrix: Array,
    user_rows: Array,
    item_rows: Array,
    out: Array,
) -> None:
    """As item_item_dense, for the items item_rows[a] only (one row of them: for every user)."""
    shared = item_rows.shape[0] == 1
    for a in range(user_rows.size):
        wanted = item_rows[0] if shared else item_rows[a]
        total = out[a]
        total[:] = 0.0
        for p in range(indptr[user_rows[a]], indptr[user_rows[a] + 1]):
            weight = np.float64(values[p])
            row = matrix[indices[p]]
            for b in range(wanted.size):
                total[b] += weight * np.float64(row[wanted[b]])


@jit
def item_item_sparse(
    indptr: Array,
    indices: Array,
    values: Array,
    matrix_indptr: Array,
    matrix_indices: Array,
    matrix_values: Array,
    user_rows: Array,
    out: Array,
) -> None:
    """As item_item_dense for a CSR matrix: terms that are not stored add nothing to a sum."""
    for a in range(user_rows.size):
        total = out[a]
        total[:] = 0.0
        for p in range(indptr[user_rows[a]], indptr[user_rows[a] + 1]):
            weight = np.float64(values[p])
            h = indices[p]
            for q in range(matrix_indptr[h], matrix_indptr[h + 1]):
                total[matrix_indices[q]] += weight * np.float64(matrix_values[q])
