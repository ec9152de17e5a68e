"""Shared parts of DLAE and EDLAE: the penalty equivalent to dropout of inputs, and an inverse.

A linear autoencoder trained on inputs of which each is dropped with probability p (and the rest
scaled by 1/(1 − p)) minimises in expectation ‖X − XW‖² + ‖Λ^½W‖² with Λ = p/(1 − p)·diag(XᵀX)
(Steck 2020; Li, dissertation, equations 60 and 61).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fullrank._lib import checks
from fullrank._lib.types import Floats
from fullrank.data.interactions import Interactions
from fullrank.errors import InputError
from fullrank.models.item_item import ease
from fullrank.models.item_item.gram import gram

_ROWS = 256  # rows made whole at a time


def check_settings(dropout: float, regularization: float) -> tuple[float, float]:
    """The dropout p in [0, 1) and λ ≥ 0, not both 0."""
    dropout = checks.real("dropout", dropout, low=0)
    if dropout >= 1:
        raise InputError(f"`dropout` must be below 1, not {dropout:g}.")
    regularization = checks.real("regularization", regularization, low=0)
    if dropout == 0 and regularization == 0:
        raise InputError("`dropout` or `regularization` must be above 0; both are 0.")
    return dropout, regularization


def penalties(data: Interactions, dropout: float, regularization: float) -> Floats:
    """The diagonal of Λ, an item without users counting as if it had one: its weights are 0.

    With so little that rounding in float64 might show in float32 weights, an error: XᵀX, its
    rows and columns divided by the roots of the rows' sums s, has norm 1 at most, and so the
    inverse a relative error of about ε·max(s/Λ).
    """
    counts = np.maximum(data.item_counts(), 1)
    diagonal = dropout / (1.0 - dropout) * counts + regularization
    each = np.repeat(data.user_counts(), data.user_counts()).astype(np.float64)
    sums = np.maximum(np.bincount(data.indices, weights=each, minlength=data.n_items), 1.0)
    least = float(np.finfo(np.float64).eps / np.finfo(np.float32).eps)
    if float((diagonal / sums).min(initial=np.inf)) < least:
        raise InputError(
            f"`dropout` must be larger than {dropout:g} for these interactions, or "
            f"`regularization` larger than {regularization:g}; otherwise double precision may "
            "not suffice to compute the weights."
        )
    return np.asarray(diagonal, np.float64)


def inverse(data: Interactions, diagonal: Floats) -> Floats:
    """(XᵀX + Λ)⁻¹ row after row, of which the lower triangle is sure."""
    n_items = data.n_items
    square = np.zeros(n_items**2)
    gram(data.matrix(), lower=True, out=square.reshape(n_items, n_items))
    square[:: n_items + 1] += diagonal
    ease._invert(square.reshape(n_items, n_items))
    return square


def whole_rows(lower: Floats, n_items: int) -> Iterator[tuple[int, int, Floats]]:
    """Rows start..stop of a symmetric matrix of which only the lower triangle is sure."""
    square = lower.reshape(n_items, n_items)
    for start in range(0, n_items, _ROWS):
        stop = min(start + _ROWS, n_items)
        rows = square[start:stop].copy()
        rows[:, stop:] = square[stop:, start:stop].T
        corner = rows[:, start:stop]
        rows[:, start:stop] = np.tril(corner) + np.tril(corner, -1).T
        yield start, stop, rows
