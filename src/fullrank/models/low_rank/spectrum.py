"""The singular values of the interactions, and the models that only rescale them.

PureSVD, MF and LRR differ in one factor for each singular value: with X = UΣVᵀ they all score
X·V·diag(gain)·Vᵀ. One decomposition serves every regularisation and every number of factors
(Li, dissertation, Algorithm 2).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from fullrank._lib import checks
from fullrank.data.interactions import Interactions
from fullrank.errors import InputError
from fullrank.models.base import Saved, factor_bytes, history_for, learned, named_as, to_learn_from
from fullrank.models.item_item.gram import gram

if TYPE_CHECKING:
    from fullrank.scorers import FactorScorer

_SMALL = 500  # a decomposition of all is quick below
_SHARE = 10  # Lanczos' method where fewer than one factor in so many is wanted


@dataclass(frozen=True, kw_only=True, eq=False)
class Spectrum:
    """The largest singular values of the users × items matrix and their item vectors.

    Attributes
    ----------
    values : float64 array, shape (n_factors,)
        Descending, those that are 0 in double precision left out.
    vectors : float64 array, shape (n_items, n_factors)
        Orthonormal columns, in each the entry that is largest in size positive.
    """

    values: NDArray[np.float64]
    vectors: NDArray[np.float64]


def spectrum(interactions: Interactions, n_factors: int | None = None) -> Spectrum:
    """The first `n_factors` singular values and vectors, or all of them, in double precision.

    Few are found by Lanczos' method (ARPACK) on the sparse matrix, many through all
    eigenvectors of XᵀX or XXᵀ, the smaller: n³ operations and 32 n² bytes. Always the same
    for the same interactions.
    """
    matrix = to_learn_from(interactions).matrix(np.float64)
    if not interactions.n_interactions:
        raise InputError("`interactions` must not be empty: nothing can be learned from them.")
    by_users = interactions.n_users < interactions.n_items
    rows = matrix if by_users else matrix.T.tocsr()
    size = rows.shape[0]
    wanted = size if n_factors is None else min(n_factors, size)
    few = size > _SMALL and wanted * _SHARE < size
    squares, vectors = (_lanczos if few else _all)(rows, wanted)
    # the error of an eigenvalue is about ε times the largest
    real = squares > size * np.finfo(np.float64).eps * max(float(squares.max(initial=0.0)), 1.0)
    values, vectors = np.sqrt(squares[real]), vectors[:, real]
    if by_users:
        vectors = matrix.T @ vectors / values
    return Spectrum(values=values, vectors=_signed(vectors))


def _lanczos(rows: Any, wanted: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    from scipy.sparse.linalg import LinearOperator, eigsh

    columns = rows.T.tocsr()
    operator = LinearOperator(
        (rows.shape[0], rows.shape[0]), lambda v: rows @ (columns @ v), dtype=np.float64
    )
    start = np.random.default_rng(0).random(rows.shape[0])
    squares, vectors = eigsh(operator, k=wanted, which="LA", v0=start)
    order = np.argsort(-squares, kind="stable")
    return squares[order], vectors[:, order]


def _all(rows: Any, wanted: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    from scipy.linalg import eigh

    # LAPACK sees columns where we see rows: its upper triangle is our lower one
    square = gram(rows.T.tocsr(), lower=True).T
    squares, vectors = eigh(square, lower=False, overwrite_a=True, check_finite=False, driver="evd")
    return squares[::-1][:wanted], vectors[:, ::-1][:, :wanted]


def _signed(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each column or its negative: a decomposition leaves that to chance."""
    largest = np.argmax(np.abs(vectors), axis=0)
    return vectors * np.where(vectors[largest, np.arange(vectors.shape[1])] < 0, -1.0, 1.0)


@dataclass(kw_only=True, eq=False)
class SpectralModel(Saved):
    """What PureSVD, MF and LRR share: V, a gain for each of its columns, and the scorer."""

    n_factors: int = 64
    item_factors_: NDArray[np.float32] = field(
        init=False, repr=False, metadata=learned("items", "factors")
    )
    gains_: NDArray[np.float64] = field(
        init=False, repr=False, metadata=learned("factors", dtype=np.float64)
    )
    interactions_: Interactions = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.n_factors = checks.integer("n_factors", self.n_factors, low=1)

    def fit(self, interactions: Interactions) -> Self:
        """Decompose the interactions and rescale."""
        return self.fit_from(spectrum(interactions, self.n_factors), interactions)

    def fit_from(self, found: Spectrum, interactions: Interactions) -> Self:
        """Fit from an existing decomposition with at least as many factors."""
        values, vectors = found.values[: self.n_factors], found.vectors[:, : self.n_factors]
        self.gains_ = self._gains(values)
        self.item_factors_ = np.ascontiguousarray(vectors, np.float32)
        self.interactions_ = interactions
        return self

    def memory(self, interactions: Interactions) -> float:
        """Return about how many bytes `fit` needs in addition to the interactions."""
        return factor_bytes(self.n_factors, interactions)

    def scorer(self, history: Interactions | None = None) -> FactorScorer:
        """Return the scorer of histories × V × gains against V, for any users."""
        from fullrank.scorers import FactorScorer

        data = history_for(self, history)
        users = data.matrix(np.float64) @ self.item_factors_.astype(np.float64)
        with np.errstate(over="ignore"):  # gains of a damaged file; infinite factors are ranked
            factors = (users * self.gains_).astype(np.float32)
        scorer = FactorScorer(factors, self.item_factors_)
        return named_as(scorer, data)

    def _gains(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        raise NotImplementedError
