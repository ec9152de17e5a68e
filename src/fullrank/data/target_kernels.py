"""Compiled look-ups in lists of excluded items."""

from __future__ import annotations

import numpy as np

from fullrank._lib.jit import jit
from fullrank._lib.types import Array


@jit
def is_sorted(indptr: Array, indices: Array) -> bool:
    """Whether every row's indices rise, without repeats."""
    for row in range(indptr.size - 1):
        for p in range(indptr[row] + 1, indptr[row + 1]):
            if indices[p] <= indices[p - 1]:
                return False
    return True


@jit
def without(
    indptr: Array, indices: Array, user_rows: Array, item_rows: Array, outside: Array
) -> tuple[Array, Array]:
    """The rows less given (user, item) pairs and less the items marked in `outside`.

    The pairs come sorted by user; users beyond the last row get empty rows.
    """
    n_rows = indptr.size - 1
    top = n_rows
    if user_rows.size:
        top = max(top, user_rows[-1] + 1)
    new_indptr = np.zeros(top + 1, np.int64)
    kept = np.empty(indices.size, np.int32)
    n = 0
    t = 0
    for row in range(top):
        first = t
        while t < user_rows.size and user_rows[t] == row:
            t += 1
        if row < n_rows:
            for p in range(indptr[row], indptr[row + 1]):
                item = indices[p]
                keep = not (outside.size and outside[item])
                if keep:
                    for s in range(first, t):
                        if item_rows[s] == item:
                            keep = False
                            break
                if keep:
                    kept[n] = item
                    n += 1
        new_indptr[row + 1] = n
    return new_indptr, kept[:n]
