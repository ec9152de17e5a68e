"""MF: matrix factorisation with a penalty on the norms of both factors, in closed form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullrank._lib import checks
from fullrank.models.low_rank.spectrum import SpectralModel


@dataclass(kw_only=True, eq=False)
class MF(SpectralModel):
    """Approximate the interactions by products of factors with small norms.

    Every interaction counts 1 and every other pair 0, all with the same weight. Time and memory
    are those of :class:`PureSVD`.

    Parameters
    ----------
    n_factors : int
        The maximum number of factors; those with a singular value below `regularization` get gain
        0.
    regularization : float
        λ ≥ 0, which is subtracted from every singular value. Useful values are below the smallest
        singular value that is kept: tens rather than thousands.

    Attributes
    ----------
    item_factors_ : float32 array, shape (n_items, n_factors)
        V, the right singular vectors, each with its largest entry positive.
    gains_ : float64 array, shape (n_factors,)
        max(0, 1 − λ/σ).

    Notes
    -----
    ‖X − PQᵀ‖² + λ(‖P‖² + ‖Q‖²) is minimal for PQᵀ = Uₖ·diag(max(0, σ − λ))·Vₖᵀ, that is for X·W
    with W = Vₖ·diag(max(0, 1 − λ/σ))·Vₖᵀ (Li, dissertation, equations 72–74; there σ > λ is
    assumed).

    Examples
    --------
    >>> from fullrank.data import Interactions
    >>> data = Interactions.from_arrays([0, 0, 1, 1, 2], [0, 1, 0, 1, 2])
    >>> MF(n_factors=2, regularization=0.5).fit(data).scorer().scores([0, 2]).round(3)
    array([[0.75, 0.75, 0.  ],
           [0.  , 0.  , 0.5 ]])
    """

    regularization: float = 10.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.regularization = checks.real("regularization", self.regularization, low=0)

    def _gains(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.maximum(0.0, 1.0 - self.regularization / values)
