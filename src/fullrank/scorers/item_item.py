"""Item–item models: a score is a user's history times an item–item matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fullrank._lib import checks
from fullrank._lib.types import Array, Ints
from fullrank.errors import InputError
from fullrank.scorers.arguments import item_argument, user_argument
from fullrank.scorers.carried_ids import CarriesIds, agreed, ids_argument

_COPIED = 2  # entries of histories for each item from which on wanted columns are copied
_CELLS = 1 << 22  # copied at once


class ItemItemScorer(CarriesIds):
    """Score with an item–item model such as EASE, SLIM or itemKNN: history × matrix.

    Parameters
    ----------
    history : array, sparse matrix or tensor (n_users, n_items) of each user's interactions, or
        `Interactions` (every interaction then has weight 1).
    item_item : array, sparse matrix or tensor (n_items, n_items)
        The score of item i is the sum over the user's items h of history[u, h]·item_item[h, i].
    user_ids, item_ids : arrays (n_users,) and (n_items,), optional
        The id of each row, as in `FactorScorer`. Default: the ids of the history if it is
        `Interactions`.

    Notes
    -----
    Matrices of float32 and float64 are kept unchanged (dense ones without a copy if they are
    C-contiguous), and others are converted. The weights of the history are kept as float32 if that
    is exact. The score is *defined* as the float64 sum of the products in the order of h, and
    `scores` returns exactly that; entries that a sparse matrix does not store count as 0, so dense
    and sparse matrices give the same scores.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from fullrank.scorers import ItemItemScorer
    >>> scorer = ItemItemScorer(csr_array([[1, 0, 1]]), np.array([[0, 1, 2], [3, 0, 4], [5, 6, 0]]))
    >>> scorer.scores([0])
    array([[5., 7., 2.]])
    """

    thread_safe = True

    def __init__(
        self,
        history: Any,
        item_item: Any,
        *,
        user_ids: ArrayLike | None = None,
        item_ids: ArrayLike | None = None,
    ) -> None:
        known = history if _is_interactions(history) else None
        history = _csr("history", history)
        item_item = checks.sparse_array(item_item)
        sparse = hasattr(item_item, "tocsr")
        matrix = _csr("item_item", item_item) if sparse else checks.as_array("item_item", item_item)
        n_items = history.shape[1]
        if matrix.shape != (n_items, n_items) or matrix.dtype.kind not in "biuf":
            raise InputError(
                f"`item_item` must be a numeric matrix of shape ({n_items}, {n_items}), one row "
                f"and one column for each column of `history`, not {matrix.dtype} of shape "
                f"{matrix.shape}."
            )
        dtype = _dtype(matrix)
        self.history_indptr: Array = history.indptr.astype(np.int64)
        self.history_indices: Array = history.indices.astype(np.int32)
        self.history_values: Array = _narrowed(history.data)
        self.matrix: Any = matrix.astype(dtype) if sparse else np.ascontiguousarray(matrix, dtype)
        self.is_sparse = sparse
        self.n_users = int(history.shape[0])
        self.n_items = int(n_items)
        given = ids_argument("user_ids", user_ids, self.n_users)
        self.user_ids = agreed("user_ids", getattr(known, "user_ids", None), given, "`history`")
        given = ids_argument("item_ids", item_ids, self.n_items)
        self.item_ids = agreed("item_ids", getattr(known, "item_ids", None), given, "`history`")

    def scores(self, user_rows: ArrayLike, item_rows: ArrayLike | None = None) -> Array:
        """Return scores of users for all items, the same items (1-D) or their own items (2-D)."""
        from fullrank.scorers import score_kernels as kernels

        users = user_argument(user_rows, self.n_users)
        items = item_argument(item_rows, self.n_items, users.size)
        history = (self.history_indptr, self.history_indices, self.history_values)
        if items is not None and not self.is_sparse:
            sizes = self.history_indptr[users + 1] - self.history_indptr[users]
            if items.ndim == 1 and sizes.sum() > _COPIED * self.n_items:
                return self._of_columns(users, items)
            wanted = np.atleast_2d(items)
            out = np.empty((users.size, wanted.shape[1]))
            kernels.item_item_gather(*history, self.matrix, users, wanted, out)
            return out
        out = np.empty((users.size, self.n_items))
        if self.is_sparse:
            m = self.matrix
            kernels.item_item_sparse(*history, m.indptr, m.indices, m.data, users, out)
        else:
            kernels.item_item_dense(*history, self.matrix, users, out)
        if items is None:
            return out
        return out[:, items] if items.ndim == 1 else np.take_along_axis(out, items, axis=1)

    def _of_columns(self, users: Array, items: Array) -> Array:
        """The same numbers where so many histories are added up that copied columns pay."""
        from fullrank.scorers import score_kernels as kernels

        history = (self.history_indptr, self.history_indices, self.history_values)
        out = np.empty((users.size, items.size))
        step = max(1, _CELLS // self.n_items)
        for at in range(0, items.size, step):
            columns = kernels.copied_columns(self.matrix, items[at : at + step])
            part = np.empty((users.size, columns.shape[1]))
            kernels.item_item_dense(*history, columns, users, part)
            out[:, at : at + step] = part
        return out

    def item_item(self) -> ItemItemScorer:
        """Return what certified ranking needs: the scorer itself."""
        return self

    def reordered(self, user_rows: Ints | None, item_rows: Ints | None) -> ItemItemScorer:
        """Return the scorer with these rows in this order; None leaves a side unchanged.

        The items of the histories, and with them the rows of the matrix, keep their order, for a
        score is the sum in that order; the columns of the matrix are the items that are scored.
        """
        other = self.with_ids(None, None)
        if user_rows is not None:
            from scipy.sparse import csr_array

            history = csr_array(
                (self.history_values, self.history_indices, self.history_indptr),
                shape=(self.n_users, self.n_items),
            )[user_rows]
            other.history_indptr = history.indptr.astype(np.int64)
            other.history_indices = history.indices.astype(np.int32)
            other.history_values = history.data
            other.n_users = int(user_rows.size)
        if item_rows is not None:
            matrix = self.matrix[:, item_rows]
            if self.is_sparse:
                matrix.sort_indices()
            other.matrix = matrix if self.is_sparse else np.ascontiguousarray(matrix)
        return other

    def __repr__(self) -> str:
        kind = "sparse" if self.is_sparse else "dense"
        return (
            f"ItemItemScorer({self.n_users} users × {self.n_items} items, "
            f"{kind} {self.matrix.dtype}{self._ids_shown()})"
        )


def _is_interactions(value: Any) -> bool:
    return hasattr(value, "indptr") and hasattr(value, "matrix")


def _csr(name: str, value: Any) -> Any:
    """A CSR array with sorted indices and nothing stored twice."""
    from scipy import sparse

    if _is_interactions(value):
        return value.matrix(dtype=np.float32, binary=True)
    try:
        matrix = sparse.csr_array(checks.untorched(name, checks.sparse_array(value)))
    except (TypeError, ValueError):
        raise InputError(
            f"`{name}` must be a sparse matrix or an array, not {type(value).__name__}."
        ) from None
    if matrix.ndim != 2 or matrix.dtype.kind not in "biuf":
        raise InputError(
            f"`{name}` must be a two-dimensional matrix of numbers, not {matrix.dtype} of shape "
            f"{matrix.shape}."
        )
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return matrix


def _dtype(values: Array) -> type[np.float32] | type[np.float64]:
    """float32 if its numbers fit, by type (a matrix may be large): else float64."""
    small = values.dtype.itemsize <= (4 if values.dtype.kind == "f" else 2)
    return np.float32 if small else np.float64


def _narrowed(values: Array) -> Array:
    """Weights as float32 if none changes by it, as float64 otherwise."""
    narrow = values.astype(np.float32)
    return narrow if np.array_equal(narrow, values) else values.astype(np.float64)
