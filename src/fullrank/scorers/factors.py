"""Factor models: a score is a dot product of two vectors, plus biases."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fullrank._lib import checks
from fullrank._lib.types import Array, Ints
from fullrank.errors import InputError
from fullrank.scorers.arguments import item_argument, user_argument
from fullrank.scorers.carried_ids import CarriesIds, ids_argument

SIMILARITIES = ("dot", "cosine")
_ROWS = 4096  # rows normalised together; each row's result depends on that row alone


class FactorScorer(CarriesIds):
    """Score with a factor model: user_factors · item_factors, plus biases.

    Parameters
    ----------
    user_factors : array (n_users, d), float16, float32 or float64
    item_factors : array (n_items, d)
    item_bias, user_bias : arrays (n_items,) and (n_users,), optional
    similarity : "dot" or "cosine"
        With "cosine" every vector is divided by its length, once, in float64, and rounded back
        to float32 (float64 inputs stay float64); a zero vector stays zero.
    user_ids, item_ids : arrays (n_users,) and (n_items,), optional
        The id of each row: whole numbers from 0, text or UUIDs, each once. With ids, rows may be in
        any order and include users and items that are not in the data. Without ids, the ids of the
        data must be 0 … n−1, which are then the rows.

    Notes
    -----
    Factors are kept as float32, or as float64 if either side is float64; float16 is converted to
    float32, which is exact. Contiguous arrays of these types, including memory maps, are used
    without a copy. The score is *defined* as the float64 sum, in index order, of the products, with
    the item's bias added next and the user's bias last. `scores` returns exactly that, so a score
    never depends on the block in which it is computed, and items with equal vectors have equal
    scores. Ranks ignore the user's bias, because it shifts all scores of a user equally.

    Examples
    --------
    >>> from fullrank.scorers import FactorScorer
    >>> scorer = FactorScorer([[1.0, 2.0]], [[0.5, 0.0], [0.0, 3.0]], item_bias=[1.0, 0.0])
    >>> scorer.scores([0])
    array([[1.5, 6. ]])
    """

    thread_safe = True

    ids_advice = "FactorScorer(…, {side}_ids=…)"

    def __init__(
        self,
        user_factors: ArrayLike,
        item_factors: ArrayLike,
        *,
        item_bias: ArrayLike | None = None,
        user_bias: ArrayLike | None = None,
        similarity: str = "dot",
        user_ids: ArrayLike | None = None,
        item_ids: ArrayLike | None = None,
    ) -> None:
        users = _matrix("user_factors", user_factors)
        items = _matrix("item_factors", item_factors)
        if users.shape[1] != items.shape[1]:
            raise InputError(
                "`user_factors` and `item_factors` must have the same number of columns, "
                f"not {users.shape[1]} and {items.shape[1]}."
            )
        self.similarity = checks.choice("similarity", similarity, SIMILARITIES)
        dtype = np.result_type(users.dtype, items.dtype, np.float32)
        if self.similarity == "cosine":
            _finite("user_factors", users)
            _finite("item_factors", items)
            users, items = _normalised(users, dtype), _normalised(items, dtype)
        self.user_factors: Array = np.ascontiguousarray(users, dtype)
        self.item_factors: Array = np.ascontiguousarray(items, dtype)
        self.item_bias = _bias("item_bias", item_bias, items.shape[0])
        self.user_bias = _bias("user_bias", user_bias, users.shape[0])
        self.user_ids = ids_argument("user_ids", user_ids, users.shape[0])
        self.item_ids = ids_argument("item_ids", item_ids, items.shape[0])

    @property
    def n_users(self) -> int:
        return int(self.user_factors.shape[0])

    @property
    def n_items(self) -> int:
        return int(self.item_factors.shape[0])

    def scores(self, user_rows: ArrayLike, item_rows: ArrayLike | None = None) -> Array:
        """Return scores of users for all items, the same items (1-D) or their own items (2-D)."""
        from fullrank.scorers import score_kernels as kernels

        users = user_argument(user_rows, self.n_users)
        items = item_argument(item_rows, self.n_items, users.size)
        factors = self.user_factors[users]
        bias = np.empty(0) if self.item_bias is None else self.item_bias
        if items is not None and items.ndim == 2:
            out = np.empty(items.shape)
            kernels.factor_gather(factors, self.item_factors, bias, items, out)
        else:
            chosen = self.item_factors if items is None else self.item_factors[items]
            if items is not None and bias.size:
                bias = bias[items]
            out = np.empty((users.size, chosen.shape[0]))
            kernels.factor_block(factors, chosen, bias, out)
        if self.user_bias is not None:
            out += self.user_bias[users, None]
        return out

    def factors(self) -> FactorScorer:
        """Return what certified ranking needs: the scorer itself."""
        return self

    def reordered(self, user_rows: Ints | None, item_rows: Ints | None) -> FactorScorer:
        """Return the scorer with these rows in this order; None leaves a side unchanged."""
        other = self.with_ids(None, None)
        if user_rows is not None:
            other.user_factors = self.user_factors[user_rows]
            other.user_bias = None if self.user_bias is None else self.user_bias[user_rows]
        if item_rows is not None:
            other.item_factors = self.item_factors[item_rows]
            other.item_bias = None if self.item_bias is None else self.item_bias[item_rows]
        return other

    def __repr__(self) -> str:
        return (
            f"FactorScorer({self.n_users} users × {self.n_items} items, "
            f"d={self.user_factors.shape[1]}, {self.user_factors.dtype}, {self.similarity}"
            f"{self._ids_shown()})"
        )


def _matrix(name: str, value: ArrayLike) -> Array:
    array = checks.as_array(name, checks.weight_of(value))
    if array.ndim != 2 or array.dtype.kind not in "iuf" or 0 in array.shape:
        raise InputError(
            f"`{name}` must be a two-dimensional array of numbers, one row for each "
            f"{name.split('_')[0]}, not {array.dtype} of shape {array.shape}."
        )
    if array.dtype.kind in "iu" or array.dtype.itemsize > 8:
        with np.errstate(over="ignore"):
            return array.astype(np.float64)
    return array


def _finite(name: str, vectors: Array) -> None:
    """An infinite entry leaves a vector without a direction."""
    for start in range(0, vectors.shape[0], _ROWS):
        bad = ~np.isfinite(vectors[start : start + _ROWS])
        if bad.any():
            row, column = (int(one) for one in np.argwhere(bad)[0])
            raise InputError(
                f'`{name}` must be finite for similarity="cosine"; {name}[{start + row}, {column}] '
                f"is {vectors[start + row, column]}."
            )


def _bias(name: str, value: ArrayLike | None, size: int) -> NDArray[np.float64] | None:
    if value is None:
        return None
    bias = np.ascontiguousarray(checks.vector(name, _flat(value), size=size), np.float64)
    checks.reject(name, bias, np.isnan(bias), "be free of NaN")
    return bias


def _flat(value: Any) -> Any:
    """A bias as a vector: embeddings hold theirs in a column."""
    value = checks.untorched("bias", checks.weight_of(value))
    column = getattr(value, "ndim", 1) == 2 and value.shape[1] == 1
    return value.reshape(-1) if column else value


def _normalised(vectors: Array, dtype: np.dtype[Any]) -> Array:
    """Rows divided by their lengths: squares summed in index order, all in float64.

    A power of two near the largest entry is taken out first, which is exact and keeps the
    squares from overflowing or vanishing.
    """
    out = np.empty(vectors.shape, dtype)
    for start in range(0, vectors.shape[0], _ROWS):
        rows = vectors[start : start + _ROWS].astype(np.float64)
        largest = np.abs(rows).max(axis=1)
        rows = np.ldexp(rows, -np.frexp(largest)[1][:, None])
        square = np.zeros(rows.shape[0])
        for k in range(rows.shape[1]):
            square += rows[:, k] ** 2
        out[start : start + _ROWS] = rows / np.sqrt(np.where(square > 0, square, 1.0))[:, None]
    return out
