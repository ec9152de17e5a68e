"""Compiled look-ups in lists of excluded items."""

from __future__ import annotations

import numpy as np

from fullrank._lib.jit import jit
from fullrank._lib.types import Array


@jit
def is_sorted(indptr: Array, indices: Array) -> bool:
    """Whether every row's indices rise, without repeats."""
    start, stop = indptr[0], indptr[indptr.size - 1]
    falls = 0  # anywhere, in a loop that is vectorised, less those from one row to the next
    for p in range(start + 1, stop):
        falls += indices[p] <= indices[p - 1]
    for row in range(indptr.size - 1):
        p = indptr[row]
        if start < p < indptr[row + 1]:
            falls -= indices[p] <= indices[p - 1]
    return bool(falls == 0)


@jit
def holds_any(indptr: Array, indices: Array, user_rows: Array, item_rows: Array) -> bool:
    """Whether any of the (user, item) pairs is in its user's row, which rises."""
    for s in range(user_rows.size):
        row = user_rows[s]
        if row >= indptr.size - 1:
            continue
        low, stop = indptr[row], indptr[row + 1]
        high = stop
        while low < high:
            middle = (low + high) >> 1
            if indices[middle] < item_rows[s]:
                low = middle + 1
            else:
                high = middle
        if low < stop and indices[low] == item_rows[s]:
            return True
    return False


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
