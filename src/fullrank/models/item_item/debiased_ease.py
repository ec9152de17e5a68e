"""Debiased EASE: EASE with a loss that assumes that some missing items are positives."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray

from fullrank._lib import checks
from fullrank.data.interactions import Interactions
from fullrank.errors import InputError
from fullrank.models.base import ItemItemModel, learned
from fullrank.models.item_item.ease import EASE


@dataclass(kw_only=True, eq=False)
class DebiasedEASE(ItemItemModel):
    """EASE with a loss that pulls scores less towards zero.

    It ranks like EASE with the regularisation λ/(1 − α), which is what the underlying theorem
    states. Time and memory are those of EASE.

    Parameters
    ----------
    regularization : float
        λ > 0, the weight of the squared norm.
    debiasing : float
        α in [0, 1), the share of the squared scores that the loss takes back; 0 gives EASE.

    Attributes
    ----------
    weights_ : float32 array, shape (n_items, n_items)
        W: the contribution of the row's item to the score of the column's item.

    Notes
    -----
    W minimises ‖X − XW‖² − α‖XW‖² + λ‖W‖² subject to diag(W) = 0. With P = (XᵀX + λ/(1 − α)·I)⁻¹
    the solution is W = (I − P·diag(1/diag P))/(1 − α) (Li, dissertation, equation 103), that is the
    one of EASE at λ/(1 − α), divided by 1 − α (Theorem 3). At α ≥ 1 the loss has no minimum.

    Examples
    --------
    >>> from fullrank.data import Interactions
    >>> data = Interactions.from_arrays([0, 0, 1, 1, 2], [0, 1, 0, 1, 2])
    >>> DebiasedEASE(regularization=0.5, debiasing=0.5).fit(data).weights_.round(3)
    array([[0.   , 1.333, 0.   ],
           [1.333, 0.   , 0.   ],
           [0.   , 0.   , 0.   ]], dtype=float32)
    """

    regularization: float = 500.0
    debiasing: float = 0.5
    weights_: NDArray[np.float32] = field(
        init=False, repr=False, metadata=learned("items", "items")
    )
    interactions_: Interactions = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.regularization = checks.positive("regularization", self.regularization)
        self.debiasing = checks.real("debiasing", self.debiasing, low=0)
        if self.debiasing >= 1:
            raise InputError(f"`debiasing` must be below 1, not {self.debiasing:g}.")

    def fit(self, interactions: Interactions) -> Self:
        """Solve for the weights."""
        rest = 1.0 - self.debiasing
        plain = EASE(regularization=self.regularization / rest).fit(interactions)
        self.weights_ = plain.weights_
        self.weights_ /= np.float32(rest)
        self.interactions_ = interactions
        return self
