"""EASE: a linear item–item model without a hidden layer, in closed form."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fullrank._lib import checks
from fullrank.data.interactions import Interactions
from fullrank.errors import InputError
from fullrank.models.base import ItemItemModel, learned, to_learn_from
from fullrank.models.item_item.gram import gram

_ROWS = 256  # rows of the weights made at a time


@dataclass(kw_only=True, eq=False)
class EASE(ItemItemModel):
    """Predict a user's items from the user's other items by ridge regression.

    Every interaction counts 1. Fitting computes XᵀX and the inverse of an n_items × n_items matrix,
    or one product of smaller matrices if there are few users. Peak memory is 8 bytes per pair of
    items (plus 8 per pair of user and item if there are few users) and 24 per interaction; the
    result takes 4 bytes per pair. 10,000 items take 0.8 GB, then 0.4 GB.

    Parameters
    ----------
    regularization : float
        λ > 0, the weight of the squared norm. Values in the hundreds are usual, and larger ones for
        more users.

    Attributes
    ----------
    weights_ : float32 array, shape (n_items, n_items)
        B: the contribution of the row's item to the score of the column's item.

    Notes
    -----
    B minimises ‖X − XB‖² + λ‖B‖² subject to diag(B) = 0. With P = (XᵀX + λI)⁻¹ the solution is
    B = I − P·diag(1/diag P), that is B_ij = −P_ij/P_jj off the diagonal. P is computed in
    float64 by Cholesky's factorisation, of XᵀX + λI in place or of the smaller XXᵀ + λI.

    References
    ----------
    H. Steck, "Embarrassingly shallow autoencoders for sparse data", WWW 2019.

    Examples
    --------
    >>> from fullrank.data import Interactions
    >>> data = Interactions.from_arrays([0, 0, 1, 1, 2], [0, 1, 0, 1, 2])
    >>> EASE(regularization=1.0).fit(data).weights_.round(3)
    array([[0.   , 0.667, 0.   ],
           [0.667, 0.   , 0.   ],
           [0.   , 0.   , 0.   ]], dtype=float32)
    """

    regularization: float = 500.0
    weights_: NDArray[np.float32] = field(
        init=False, repr=False, metadata=learned("items", "items")
    )
    interactions_: Interactions = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.regularization = checks.positive("regularization", self.regularization)

    def fit(self, interactions: Interactions) -> Self:
        """Solve for the weights."""
        _check_precision(self.regularization, to_learn_from(interactions))
        solve = _by_users if _users_are_few(interactions) else _by_items
        inverse = solve(interactions, self.regularization)
        self.weights_ = _weights(inverse, interactions.n_items)
        self.interactions_ = interactions
        return self


def _users_are_few(interactions: Interactions) -> bool:
    """Whether the matrix of users costs less than that of items.

    With r users to an item, r³/3 for its factor, r² for the solutions and r for their products,
    against 1/3 + 2/3 for factor and inverse of the matrix of items, which also needs no memory
    but its own.
    """
    ratio = interactions.n_users / interactions.n_items
    return ratio**3 / 3.0 + ratio**2 + ratio < 1.0


def _check_precision(regularization: float, interactions: Interactions) -> None:
    """Refuse a λ so small that rounding in float64 might show in float32 weights.

    The relative error of the inverse is about ε·‖XᵀX‖/λ, and the largest column sum of XᵀX is
    the largest sum, over an item's users, of how many items each has.
    """
    each = np.repeat(interactions.user_counts(), interactions.user_counts())
    norm = np.bincount(interactions.indices, weights=each).max(initial=0)
    least = float(np.finfo(np.float64).eps / np.finfo(np.float32).eps * norm)
    if regularization < least:
        raise InputError(
            f"`regularization` must be at least {least:.2g} for these interactions, "
            f"not {regularization:g}; with less, double precision may not suffice to compute the "
            "weights."
        )


def _by_items(interactions: Interactions, regularization: float) -> NDArray[np.float64]:
    """P row after row, of which the lower triangle is sure: the inverse as it is written."""
    n_items = interactions.n_items
    square = np.zeros(n_items**2)
    gram(interactions.matrix(), lower=True, out=square.reshape(n_items, n_items))
    square[:: n_items + 1] += regularization
    _invert(square.reshape(n_items, n_items))
    return square


def _by_users(interactions: Interactions, regularization: float) -> NDArray[np.float64]:
    """The same through the smaller matrix of users (Woodbury's identity).

    With LLᵀ = XXᵀ + λI and Y = L⁻¹X, P = (I − YᵀY)/λ: one product instead of an inverse.
    """
    from scipy.linalg import cholesky, solve_triangular

    matrix = interactions.matrix(np.float64)
    users = gram(matrix.T.tocsr(), lower=True).T  # LAPACK's upper triangle is our lower one
    users[np.diag_indices_from(users)] += regularization
    upper = cholesky(users, overwrite_a=True, check_finite=False)
    rows = solve_triangular(upper, matrix.toarray(order="F"), trans="T", overwrite_b=True)
    del users, upper
    square = np.zeros(interactions.n_items**2)
    _add_products(rows, square.reshape(interactions.n_items, -1), -1.0 / regularization)
    square[:: interactions.n_items + 1] += 1.0 / regularization
    return square


def _add_products(rows: NDArray[Any], square: NDArray[Any], scale: float) -> None:
    """Add scale · rowsᵀ·rows to the lower triangle, by blocks.

    OpenBLAS has a routine for this, syrk, which crashed on 17,000 columns with two threads.
    """
    for start in range(0, square.shape[0], 1024):
        stop = start + 1024
        block = rows[:, start:stop].T @ rows[:, :stop]
        block *= scale
        square[start:stop, :stop] += block


def _invert(square: NDArray[np.float64]) -> None:
    """Invert in place, reading and writing the lower triangle only."""
    from scipy.linalg.lapack import dpotrf, dpotri

    # LAPACK sees columns where we see rows: its upper triangle is our lower one
    # and _check_precision has made sure that neither step can fail
    factor, _ = dpotrf(square.T, lower=False, clean=False, overwrite_a=True)
    inverse, _ = dpotri(factor, lower=False, overwrite_c=True)
    if not np.shares_memory(inverse, square):
        square[:] = inverse.T


def _weights(inverse: NDArray[np.float64], n_items: int) -> NDArray[np.float32]:
    """−P_ij/P_jj off the diagonal, in the memory of P, of which half is given back.

    Row i of the float32 result ends before row i of P begins (i > 0), so ascending rows
    overwrite only what has been read.
    """
    square = inverse.reshape(n_items, n_items)
    narrow = inverse.view(np.float32)
    scale = -1.0 / np.diagonal(square)
    for start in range(0, n_items, _ROWS):
        stop = min(start + _ROWS, n_items)
        rows = square[start:stop].copy()
        rows[:, stop:] = square[stop:, start:stop].T
        corner = np.tril(rows[:, start:stop], -1)
        rows[:, start:stop] = corner + corner.T
        rows *= scale
        rows += 0.0  # no negative zeros
        narrow[start * n_items : stop * n_items] = rows.reshape(-1)
    del square, narrow  # nothing may look at the memory that goes
    inverse.resize((n_items * n_items + 1) // 2, refcheck=False)
    return inverse.view(np.float32)[: n_items * n_items].reshape(n_items, n_items)
