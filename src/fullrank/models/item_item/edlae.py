"""EDLAE: a linear autoencoder with dropout that may not use an item to predict itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray

from fullrank.data.interactions import Interactions
from fullrank.models.base import ItemItemModel, learned, to_learn_from
from fullrank.models.item_item import dropout as _dropout
from fullrank.models.item_item import ease


@dataclass(kw_only=True, eq=False)
class EDLAE(ItemItemModel):
    """EASE with a penalty that grows with an item's number of users, like dropout of inputs.

    Every interaction counts 1. Time and memory are those of EASE: 8 bytes per pair of items while
    fitting, and 4 for the result.

    Parameters
    ----------
    dropout : float
        p in [0, 1), the share of the inputs that is dropped; 0.3 to 0.9 is usual.
    regularization : float
        λ ≥ 0, a penalty that is the same for all items; above 0 if `dropout` is 0, which gives
        EASE.

    Attributes
    ----------
    weights_ : float32 array, shape (n_items, n_items)
        W: the contribution of the row's item to the score of the column's item.

    Notes
    -----
    W minimises ‖X − XW‖² + ‖Λ^½W‖² subject to diag(W) = 0, where Λ = p/(1 − p)·diag(XᵀX) + λI (Li,
    dissertation, equation 61, with the factor ½ left out as in Steck's paper). With P = (XᵀX + Λ)⁻¹
    the solution is W = I − P·diag(1/diag P).

    References
    ----------
    H. Steck, "Autoencoders that don't overfit towards the identity", NeurIPS 2020.

    Examples
    --------
    >>> from fullrank.data import Interactions
    >>> data = Interactions.from_arrays([0, 0, 1, 1, 2], [0, 1, 0, 1, 2])
    >>> EDLAE(dropout=0.5).fit(data).weights_.round(3)
    array([[0. , 0.5, 0. ],
           [0.5, 0. , 0. ],
           [0. , 0. , 0. ]], dtype=float32)
    """

    dropout: float = 0.5
    regularization: float = 0.0
    weights_: NDArray[np.float32] = field(
        init=False, repr=False, metadata=learned("items", "items")
    )
    interactions_: Interactions = field(init=False, repr=False)

    def __post_init__(self) -> None:
        settings = _dropout.check_settings(self.dropout, self.regularization)
        self.dropout, self.regularization = settings

    def fit(self, interactions: Interactions) -> Self:
        """Solve for the weights."""
        data = to_learn_from(interactions)
        diagonal = _dropout.penalties(data, self.dropout, self.regularization)
        self.weights_ = ease._weights(_dropout.inverse(data, diagonal), data.n_items)
        self.interactions_ = data
        return self
