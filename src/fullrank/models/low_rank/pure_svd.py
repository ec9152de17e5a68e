"""PureSVD: the interactions at a low rank, scored as they come out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullrank.models.low_rank.spectrum import SpectralModel


@dataclass(kw_only=True, eq=False)
class PureSVD(SpectralModel):
    """Score by the best approximation of the interactions that has few factors.

    Every interaction counts 1. Fitting holds about 16 bytes for each item (or user, where they
    are fewer) and factor beside the sparse matrix, or 32 bytes for each pair of items where
    more than one factor in ten is wanted; the result takes 4 bytes per item and factor. A scorer
    adds 4 per user and factor.

    Parameters
    ----------
    n_factors : int
        At most; there are no more than the rank of the interactions.

    Attributes
    ----------
    item_factors_ : float32 array, shape (n_items, n_factors)
        V, the right singular vectors, each with its largest entry positive.
    gains_ : float64 array, shape (n_factors,)
        1 throughout.

    Notes
    -----
    UₖΣₖVₖᵀ is nearest to X in squared error among the matrices of rank k; the users' factors
    are UₖΣₖ = X·Vₖ, so new users need no training (Li, dissertation, equation 65).

    References
    ----------
    P. Cremonesi, Y. Koren and R. Turrin, "Performance of recommender algorithms on top-N
    recommendation tasks", RecSys 2010.

    Examples
    --------
    >>> from fullrank.data import Interactions
    >>> data = Interactions.from_arrays([0, 0, 1, 1, 2], [0, 1, 0, 1, 2])
    >>> PureSVD(n_factors=1).fit(data).scorer().scores([0, 1, 2]).round(3)
    array([[1., 1., 0.],
           [1., 1., 0.],
           [0., 0., 0.]])
    """

    def _gains(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.ones_like(values)
