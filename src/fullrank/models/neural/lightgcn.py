"""LightGCN: vectors of users and items, averaged with those of their neighbours."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fullrank._lib import checks
from fullrank.data.interactions import Interactions
from fullrank.models.base import fitted, learned, named_as, rows_of
from fullrank.models.neural.gradient_model import NeuralModel
from fullrank.models.neural.learners.graph import Graph, adjacency
from fullrank.models.training.batches import Pairs
from fullrank.models.training.negative_draws import Draws
from fullrank.models.training.torch_use import load_torch

if TYPE_CHECKING:
    from fullrank.scorers import FactorScorer


@dataclass(kw_only=True, eq=False)
class LightGCN(NeuralModel):
    """A graph model: vectors are averaged with those of their neighbours over several layers.

    The graph has users and items as nodes and interactions as edges. It is trained by BPR, with
    negatives drawn from all items. A step propagates all vectors and costs about
    8·n_layers·n_factors operations per interaction, whatever the size of the batch, so large
    batches are faster. Memory: about 56 bytes per factor of each user and item (64 with a
    validation part), 64 per interaction, and 64 per item drawn for a batch.

    Parameters
    ----------
    n_factors : int
    n_layers : int
        The largest distance of neighbours that count; 0 is plain matrix factorisation.
    n_negatives : int
        Items drawn per pair.
    regularization : float
        λ ≥ 0 of λ/2·(‖w‖² + ‖h⁺‖² + mean ‖h⁻‖²), the mean over the batch's pairs, of the vectors
        before propagation.
    initial_scale : float
        The standard deviation of the initial values.
    epochs, learning_rate, min_learning_rate, patience, batch_size, weight_decay, metric, seed,
    device
        Settings of training, as in :class:`EmbeddingMF`.

    Attributes
    ----------
    user_factors_ : float32 array, shape (n_users, n_factors)
        After propagation, as used for scores.
    item_factors_ : float32 array, shape (n_items, n_factors)
    history_ : History
        Loss, validation metric, learning rate and seconds of each epoch.

    Notes
    -----
    With A the adjacency matrix of the graph and D its degrees, E_(k+1) = D^-½·A·D^-½·E_k, and the
    vectors used are the mean of E_0, …, E_K. The operator is symmetric, so gradients are propagated
    in the same way.

    References
    ----------
    X. He et al., "LightGCN: simplifying and powering graph convolution network for
    recommendation", SIGIR 2020.

    Examples
    --------
    >>> from fullrank.data import simulate
    >>> split = simulate(n_users=300, n_items=80, mean_interactions=12).split(rng=0)
    >>> model = LightGCN(n_factors=16, learning_rate=0.01, epochs=5)
    >>> history = model.fit(split.train, valid=split.test).history_
    >>> bool(history.best_metric > history.metric[0])
    True
    """

    # layers come and go, however many: three at a time, either way, and slopes for each use
    _bytes_learned: ClassVar[float] = 56.0

    n_factors: int = 64
    n_layers: int = 3
    n_negatives: int = 1
    regularization: float = 0.0001
    initial_scale: float = 0.1
    batch_size: int = 2048
    user_factors_: NDArray[np.float32] = field(
        init=False, repr=False, metadata=learned("users", "factors")
    )
    item_factors_: NDArray[np.float32] = field(
        init=False, repr=False, metadata=learned("items", "factors")
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        self.n_factors = checks.integer("n_factors", self.n_factors, low=1)
        self.n_layers = checks.integer("n_layers", self.n_layers, low=0)
        self.n_negatives = checks.integer("n_negatives", self.n_negatives, low=1)
        self.regularization = checks.real("regularization", self.regularization, low=0)
        self.initial_scale = checks.positive("initial_scale", self.initial_scale)

    def scorer(self, users: Interactions | None = None) -> FactorScorer:
        """Return the scorer of dot products of the propagated vectors.

        Parameters
        ----------
        users : Interactions, optional
            The users to score, matched by id. Default: all training users. Their items have no
            effect, and users outside the training data have no vectors.
        """
        from fullrank.scorers import FactorScorer

        fitted(self)
        rows = rows_of(self, users)
        own = self.user_factors_ if rows is None else self.user_factors_[rows]
        scorer = FactorScorer(own, self.item_factors_)
        return named_as(scorer, self.interactions_ if users is None else users)

    def _sizes(self, data: Interactions) -> tuple[int, float]:
        n_learned = self.n_factors * (data.n_users + data.n_items)
        pairs = min(self.batch_size, data.n_interactions)
        drawn = pairs * (64.0 * (1 + self.n_negatives) + 8.0 * self.n_factors)
        return n_learned, 64.0 * data.n_interactions + drawn

    def _source(self, data: Interactions, device: Any) -> Pairs:
        return Pairs(
            data,
            batch_size=self.batch_size,
            device=device,
            draws=Draws(data, device=device),
            n_negatives=self.n_negatives,
        )

    def _learner(self, data: Interactions, device: Any) -> Graph:
        torch = load_torch()
        nodes = torch.randn(
            data.n_users + data.n_items, self.n_factors, generator=self.initial_generator()
        )
        return Graph(
            (nodes * self.initial_scale).to(device).requires_grad_(),
            adjacency(data, device),
            n_users=data.n_users,
            n_layers=self.n_layers,
            regularization=self.regularization,
        )

    def _keep(self, learner: Graph) -> None:
        self.user_factors_, self.item_factors_ = learner.mixed()
