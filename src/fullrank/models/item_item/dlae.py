"""DLAE: a linear autoencoder trained with dropout, in closed form."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from fullrank.data.interactions import Interactions
from fullrank.models.base import ItemItemModel, learned, to_learn_from
from fullrank.models.item_item import dropout as _dropout


@dataclass(kw_only=True, eq=False)
class DLAE(ItemItemModel):
    """Predict a user's items from a random subset of them, by regression in expectation.

    Every interaction counts 1. An item also predicts itself, because the diagonal is not
    constrained, so training items score high: exclude them from the ranking. Fitting needs XᵀX and
    the inverse of an n_items × n_items matrix: 12 bytes per pair of items, of which the result
    keeps 4.

    Parameters
    ----------
    dropout : float
        p in [0, 1), the share of the inputs that is dropped; 0.3 to 0.9 is usual.
    regularization : float
        λ ≥ 0, a penalty that is the same for all items; above 0 if `dropout` is 0.

    Attributes
    ----------
    weights_ : float32 array, shape (n_items, n_items)
        W: the contribution of the row's item to the score of the column's item.

    Notes
    -----
    W minimises ‖X − XW‖² + ‖Λ^½W‖², where Λ = p/(1 − p)·diag(XᵀX) + λI (Li, dissertation, equation
    60, with the factor ½ left out as in Steck's paper): W = (XᵀX + Λ)⁻¹XᵀX = I − (XᵀX + Λ)⁻¹Λ.

    References
    ----------
    H. Steck, "Autoencoders that don't overfit towards the identity", NeurIPS 2020.

    Examples
    --------
    >>> from fullrank.data import Interactions
    >>> data = Interactions.from_arrays([0, 0, 1, 1, 2], [0, 1, 0, 1, 2])
    >>> DLAE(dropout=0.5).fit(data).weights_.round(3)
    array([[0.333, 0.333, 0.   ],
           [0.333, 0.333, 0.   ],
           [0.   , 0.   , 0.5  ]], dtype=float32)
    """

    dropout: float = 0.5
    regularization: float = 0.0
    weights_: NDArray[np.float32] = field(
        init=False, repr=False, metadata=learned("items", "items")
    )
    interactions_: Interactions = field(init=False, repr=False)
    pair_bytes: ClassVar[float] = 12.0

    def __post_init__(self) -> None:
        settings = _dropout.check_settings(self.dropout, self.regularization)
        self.dropout, self.regularization = settings

    def fit(self, interactions: Interactions) -> Self:
        """Solve for the weights."""
        data = to_learn_from(interactions)
        diagonal = _dropout.penalties(data, self.dropout, self.regularization)
        self.weights_ = _weights(_dropout.inverse(data, diagonal), diagonal)
        # the diagonal of an item without users stands in for 0
        unused = np.flatnonzero(data.item_counts() == 0)
        self.weights_[unused, unused] = 0.0
        self.interactions_ = data
        return self


def _weights(inverse: NDArray[np.float64], diagonal: NDArray[np.float64]) -> NDArray[np.float32]:
    """I − PΛ from the lower triangle of P."""
    weights = np.empty((diagonal.size, diagonal.size), np.float32)
    for start, stop, rows in _dropout.whole_rows(inverse, diagonal.size):
        rows *= -diagonal
        rows[np.arange(stop - start), np.arange(start, stop)] += 1.0
        rows += 0.0  # no negative zeros
        weights[start:stop] = rows
    return weights
