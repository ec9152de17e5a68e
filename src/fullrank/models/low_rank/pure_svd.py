"""PureSVD: scores from a low-rank approximation of the interactions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullrank.models.low_rank.spectrum import SpectralModel


@dataclass(kw_only=True, eq=False)
class PureSVD(SpectralModel):
    """Score with the best low-rank approximation of the interactions.

    Every interaction counts 1. In addition to the sparse matrix, fitting holds about 16 bytes per
    factor and item (or user, if there are fewer users), or 32 bytes per pair of items if more than
    a tenth of all factors are requested. The result takes 4 bytes per item and factor, and a scorer
    4 more per user and factor.

    Parameters
    ----------
    n_factors : int
        The maximum number of factors, limited by the rank of the interactions.

    Attributes
    ----------
    item_factors_ : float32 array, shape (n_items, n_factors)
        V, the right singular vectors, each with its largest entry positive.
    gains_ : float64 array, shape (n_factors,)
        All 1.

    Notes
    -----
    UₖΣₖVₖᵀ is the matrix of rank k nearest to X in squared error; the users' factors
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
