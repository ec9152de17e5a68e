"""Low-rank EDLAE: an autoencoder with a narrow hidden layer and a zero diagonal, by ADMM."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from fullrank._lib import checks
from fullrank._lib.types import Floats
from fullrank.data.interactions import Interactions
from fullrank.models.base import Saved, fitted, history_for, learned, to_learn_from
from fullrank.models.item_item import dropout as _dropout

if TYPE_CHECKING:
    from fullrank.scorers import ItemItemScorer


@dataclass(kw_only=True, eq=False)
class LowRankEDLAE(Saved):
    """EDLAE whose weights are a product of two narrow matrices with the diagonal set to 0.

    Every interaction counts 1. Fitting inverts an n_items × n_items matrix once (at most 12 bytes
    per pair of items, then 4) and multiplies it by an n_items × n_factors matrix in every epoch.
    The learned matrices take 8 bytes per item and factor; a scorer computes the weights, 4 bytes
    per pair of items.

    Parameters
    ----------
    n_factors : int
        At most the number of items. Hundreds to thousands are usual.
    dropout : float
        p in [0, 1), the share of the inputs that is dropped.
    regularization : float
        λ ≥ 0, a penalty that is the same for all items; above 0 if `dropout` is 0.
    coupling : float
        ω > 0, how strongly ADMM constrains the diagonal; it affects convergence more than the
        result.
    epochs : int
    seed : int
        Random seed of the initial values.

    Attributes
    ----------
    encoder_, decoder_ : float32 arrays, shape (n_items, n_factors)
        U and V: the weights are UVᵀ with zeros on the diagonal.

    Notes
    -----
    With W = UVᵀ − diag(UVᵀ), ‖X − XW‖² + ‖Λ^½W‖² is made small, Λ = p/(1 − p)·diag(XᵀX) + λI (Li,
    dissertation, equation 108). The updates are those of appendix A.4.2, equation 111, at β =
    diag(UVᵀ) and the multipliers γ. As printed, they converge to a stationary point of the loss
    with Λ + Ω in place of Λ, because the term that constrains the diagonal, with weight Ω = Λ + ωI,
    applies to all of UVᵀ. Here they use Λ and Ω that sum to the requested Λ, and converge to a
    stationary point of the requested loss, which has several.

    References
    ----------
    H. Steck, "Autoencoders that don't overfit towards the identity", NeurIPS 2020.

    Examples
    --------
    >>> from fullrank.data import simulate
    >>> data = simulate(n_users=200, n_items=40, mean_interactions=10)
    >>> model = LowRankEDLAE(n_factors=5).fit(data)
    >>> model.encoder_.shape, float(abs(model.weights().diagonal()).max())
    ((40, 5), 0.0)
    """

    n_factors: int = 200
    dropout: float = 0.5
    regularization: float = 0.0
    coupling: float = 100.0
    epochs: int = 50
    seed: int = 0
    encoder_: NDArray[np.float32] = field(
        init=False, repr=False, metadata=learned("items", "factors")
    )
    decoder_: NDArray[np.float32] = field(
        init=False, repr=False, metadata=learned("items", "factors")
    )
    interactions_: Interactions = field(init=False, repr=False)
    pair_bytes: ClassVar[float] = 12.0

    def __post_init__(self) -> None:
        self.n_factors = checks.integer("n_factors", self.n_factors, low=1)
        settings = _dropout.check_settings(self.dropout, self.regularization)
        self.dropout, self.regularization = settings
        self.coupling = checks.positive("coupling", self.coupling)
        self.epochs = checks.integer("epochs", self.epochs, low=1)
        self.seed = checks.integer("seed", self.seed, low=0)

    def fit(self, interactions: Interactions) -> Self:
        """Fit by alternating between encoder, decoder and diagonal."""
        data = to_learn_from(interactions)
        diagonal = _dropout.penalties(data, self.dropout, self.regularization)
        encoder, decoder = _admm(self, data, diagonal)
        self.encoder_ = encoder.astype(np.float32)
        self.decoder_ = decoder.astype(np.float32)
        self.interactions_ = data
        return self

    def weights(self) -> NDArray[np.float32]:
        """Return UVᵀ with zeros on the diagonal, shape (n_items, n_items)."""
        fitted(self)
        weights = self.encoder_ @ self.decoder_.T
        np.fill_diagonal(weights, 0.0)
        return weights

    def scorer(self, history: Interactions | None = None) -> ItemItemScorer:
        """Return the scorer of histories × weights, for the training users or other users."""
        from fullrank.scorers import ItemItemScorer

        return ItemItemScorer(history_for(self, history), self.weights())


def _admm(model: LowRankEDLAE, data: Interactions, penalty: Floats) -> tuple[Floats, Floats]:
    """U and V of equation 111, its Λ and Ω being (Λ − ω)/2 and (Λ + ω)/2 of the Λ asked for."""
    inverse = _symmetric(_dropout.inverse(data, penalty), data.n_items)
    matrix = data.matrix(np.float64)
    columns = matrix.T.tocsr()
    counts = data.item_counts().astype(np.float64)
    omega = (penalty + model.coupling) / 2
    generator = np.random.default_rng(model.seed)
    v = generator.standard_normal((data.n_items, min(model.n_factors, data.n_items)))
    beta, gamma = np.zeros(data.n_items), np.zeros(data.n_items)
    for _ in range(model.epochs):
        left, right = 1.0 + beta, omega * (beta - gamma)
        # (XᵀX + Λ)⁻¹(XᵀX·D₁ + D₂)V with XᵀX = (XᵀX + Λ) − Λ: one product with the inverse
        part = ((right - penalty * left)[:, None] * v).astype(np.float32)
        u = _divided(left[:, None] * v + inverse @ part, v.T @ v)
        gram_u = columns @ (matrix @ u)
        v = _divided(
            left[:, None] * gram_u + right[:, None] * u, u.T @ (gram_u + penalty[:, None] * u)
        )
        copied = np.einsum("ik,ik->i", u, v)
        predicted = np.einsum("ik,ik->i", gram_u, v)
        beta = (predicted - counts + omega * (copied + gamma)) / (counts + model.coupling)
        gamma += copied - beta
    return u, v


def _divided(tall: Any, square: Any) -> Floats:
    """A tall matrix times the inverse, or pseudo-inverse, of a symmetric square one."""
    from scipy.linalg import pinvh

    return np.asarray(tall @ pinvh(square, check_finite=False), np.float64)


def _symmetric(lower: Floats, n_items: int) -> NDArray[np.float32]:
    whole = np.empty((n_items, n_items), np.float32)
    for start, stop, rows in _dropout.whole_rows(lower, n_items):
        whole[start:stop] = rows
    return whole
