"""XᵀX: how many users each pair of items has in common."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from fullrank._lib import threads

_BLOCK = 32  # columns to a task: popular ones cost far more than others


def gram(
    matrix: Any,
    dtype: DTypeLike = np.float64,
    *,
    lower: bool = False,
    out: NDArray[Any] | None = None,
    n_jobs: int | None = None,
) -> NDArray[Any]:
    """XᵀX of a sparse X of zeros and ones, shape (n_columns, n_columns).

    Takes Σ n² additions, n the entries of a row, and beside the result 24 bytes for each entry.
    A product of sparse matrices makes a sparse result first, and one of dense matrices is
    quicker only where a fifth of X is filled.

    Parameters
    ----------
    matrix : csr_array
        Every entry counts 1.
    dtype : data type
    lower : bool
        Leave zeros above the diagonal, for half the work.
    out : array, optional
        Zeros to count into, of any type.
    n_jobs : int or None
        Threads; None or -1 for all cores.
    """
    from scipy.sparse import csr_array

    from fullrank.models.item_item.gram_kernels import count_rows

    n_columns = matrix.shape[1]
    row_ends = matrix.indptr.astype(np.int64)
    # transposed with the places of the entries: the rows of each column, and where in the row
    # the column stands
    places = np.arange(matrix.indices.size, dtype=np.int64)
    turned = csr_array((places, matrix.indices, matrix.indptr), shape=matrix.shape).T.tocsr()
    ends = turned.data + 1 if lower else row_ends[1:][turned.indices]
    # unsigned, which spares every look-up the question whether an index counts from the end
    indptr, rows = turned.indptr.astype(np.uint64), turned.indices.astype(np.uint32)
    starts, columns = row_ends.view(np.uint64), matrix.indices.astype(np.uint32)
    counts = np.zeros((n_columns, n_columns), dtype) if out is None else out

    def work(start: int) -> None:
        stop = min(start + _BLOCK, n_columns)
        count_rows(start, stop, indptr, rows, starts, ends.view(np.uint64), columns, counts)

    threads.run(work, range(0, n_columns, _BLOCK), n_jobs=n_jobs)
    return counts
