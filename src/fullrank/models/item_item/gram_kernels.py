"""Common rows of pairs of columns."""

from __future__ import annotations

from fullrank._lib.jit import jit
from fullrank._lib.types import Array


@jit
def count_rows(
    start: int,
    stop: int,
    indptr: Array,
    rows: Array,
    starts: Array,
    ends: Array,
    columns: Array,
    out: Array,
) -> None:
    """For columns i in start..stop−1, add to out[i] the columns of each row that has i.

    The rows of column i are rows[indptr[i]:indptr[i + 1]], and of the a-th of all these
    entries the columns starts[rows[a]]..ends[a]−1 are counted.
    """
    for i in range(start, stop):
        total = out[i]
        for a in range(indptr[i], indptr[i + 1]):
            for b in range(starts[rows[a]], ends[a]):
                total[columns[b]] += 1
