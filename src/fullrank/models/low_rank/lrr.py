"""LRR: low-rank regression of the interactions on themselves, in closed form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullrank._lib import checks
from fullrank.errors import InputError
from fullrank.models.low_rank.spectrum import SpectralModel


@dataclass(kw_only=True, eq=False)
class LRR(SpectralModel):
    """Predict a user's items from the user's items by ridge regression of low rank.

    Every interaction counts 1. An item also predicts itself, because the diagonal is not
    constrained, so training items score high: exclude them from the ranking. Time and memory are
    those of :class:`PureSVD`; hundreds to thousands of factors are usual, which take all
    eigenvectors.

    Parameters
    ----------
    n_factors : int
        The maximum number of factors, limited by the rank of the interactions.
    regularization : float or sequence of float
        λ ≥ 0, hundreds to tens of thousands; or one λ for each of the `n_factors`.

    Attributes
    ----------
    item_factors_ : float32 array, shape (n_items, n_factors)
        V, the right singular vectors, each with its largest entry positive.
    gains_ : float64 array, shape (n_factors,)
        σ²/(σ² + λ).

    Notes
    -----
    ‖X − XW‖² + λ‖W‖² is minimal among W of rank k for W = Vₖ·diag(σ²/(σ² + λ))·Vₖᵀ (Li,
    dissertation, equation 70). With its own λᵢ for each singular vector, ‖W‖² becomes ‖Λ^½VᵀW‖²
    (equation 69).

    Examples
    --------
    >>> from fullrank.data import Interactions
    >>> data = Interactions.from_arrays([0, 0, 1, 1, 2], [0, 1, 0, 1, 2])
    >>> LRR(n_factors=2, regularization=1.0).fit(data).scorer().scores([0, 2]).round(3)
    array([[0.8, 0.8, 0. ],
           [0. , 0. , 0.5]])
    """

    regularization: float | Sequence[float] = 1000.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if checks.as_array("regularization", self.regularization).ndim == 0:
            self.regularization = checks.real("regularization", self.regularization, low=0)
        else:
            each = checks.reals("regularization", self.regularization, low=0)
            if each.size != self.n_factors:
                raise InputError(
                    f"`regularization` must be one number or one for each of {self.n_factors} "
                    f"factors, not {each.size} numbers."
                )
            self.regularization = each.tolist()

    def _gains(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        penalty = np.asarray(self.regularization, np.float64)
        if penalty.ndim:
            penalty = penalty[: values.size]
        return np.asarray(values**2 / (values**2 + penalty))
