"""CDAE: an autoencoder of histories with a separate vector for each user."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fullrank._lib import checks
from fullrank.data.interactions import Interactions
from fullrank.models.base import learned, named_as, rows_of
from fullrank.models.neural.gradient_model import NeuralModel
from fullrank.models.neural.learners import autoencoder, layers
from fullrank.models.training.adam import to_array
from fullrank.models.training.batches import Histories
from fullrank.models.training.torch_use import load_torch

if TYPE_CHECKING:
    from fullrank.scorers import FactorScorer

Floats = NDArray[np.float32]
LOSSES = ("logistic", "square")


@dataclass(kw_only=True, eq=False)
class CDAE(NeuralModel):
    """Predict a history from a part of it and from a vector of the user.

    Every interaction counts 1. An epoch costs about 12·n_factors operations per user and item.
    Memory while learning: 20 bytes per factor of each user and twice that for each item (28 with a
    validation part), and 48 bytes per item and user of a batch. Only training users have scores.

    Parameters
    ----------
    n_factors : int
        The width of the one hidden layer.
    dropout : float
        The probability with which an item is dropped from the input history, ≥ 0 and < 1.
    loss : {"logistic", "square"}
        Of a score: log(1 + e^∓ŷ), with the sign of whether the user has the item, or (y − ŷ)².
    n_negatives : int
        The average number of sampled negatives per item of the user; each is sampled independently.
        With 0 all other items are negatives.
    epochs, learning_rate, min_learning_rate, patience, batch_size, weight_decay, metric, seed,
    device
        Settings of training; see `fit`. A batch consists of users; `weight_decay` is the λ of
        λ/2·‖·‖² over all weights and biases. With a small learning rate, scores stay close to
        popularity for dozens of epochs before they become personal.

    Attributes
    ----------
    input_weights_ : float32 array, shape (n_items, n_factors)
    user_weights_ : float32 array, shape (n_users, n_factors)
        The user's contribution to the hidden layer.
    hidden_bias_ : float32 array, shape (n_factors,)
    item_factors_, item_bias_ : float32 arrays, shapes (n_items, n_factors) and (n_items,)
        The last layer.
    history_ : History
        Loss, validation metric and time of each epoch.

    Notes
    -----
    h_u = σ(Σ_{i in history} x̃_i·w_i + v_u + b) and ŷ_ui = h_u·w′_i + b′_i (Wu et al. 2016,
    equations 9 and 10, with σ as the first function and none as the second, which would not change
    ranks). The loss of a user is the sum over the items of the history and the drawn ones.

    References
    ----------
    Y. Wu, C. DuBois, A. X. Zheng, M. Ester, "Collaborative denoising auto-encoders for top-N
    recommender systems", WSDM 2016.

    Examples
    --------
    >>> from fullrank.data import simulate
    >>> data = simulate(n_users=200, n_items=50, mean_interactions=10)
    >>> model = CDAE(n_factors=8, epochs=3, learning_rate=0.01).fit(data)
    >>> bool(model.history_.loss[-1] < model.history_.loss[0])
    True
    """

    n_factors: int = 50
    dropout: float = 0.5
    loss: str = "logistic"
    n_negatives: int = 5
    epochs: int = 50
    learning_rate: float = 0.02
    batch_size: int = 500
    input_weights_: Floats = field(init=False, repr=False, metadata=learned("items", "factors"))
    user_weights_: Floats = field(init=False, repr=False, metadata=learned("users", "factors"))
    hidden_bias_: Floats = field(init=False, repr=False, metadata=learned("factors"))
    item_factors_: Floats = field(init=False, repr=False, metadata=learned("items", "factors"))
    item_bias_: Floats = field(init=False, repr=False, metadata=learned("items"))

    def __post_init__(self) -> None:
        super().__post_init__()
        self.n_factors = checks.integer("n_factors", self.n_factors, low=1)
        self.dropout = layers.share("dropout", self.dropout)
        self.loss = checks.choice("loss", self.loss, LOSSES)
        self.n_negatives = checks.integer("n_negatives", self.n_negatives, low=0)

    def scorer(self, users: Interactions | None = None) -> FactorScorer:
        """Hidden layer · item_factors_ + bias.

        Parameters
        ----------
        users : Interactions, optional
            The users to score, matched by id to the training users, and the items that they are
            scored from. Default: the training interactions.
        """
        from scipy.special import expit

        from fullrank.scorers import FactorScorer

        rows = rows_of(self, users, by_items=True)
        data = self.interactions_ if users is None else users
        own = self.user_weights_ if rows is None else self.user_weights_[rows]
        hidden = np.empty(own.shape, np.float32)
        for block, sums in autoencoder.first_layer(data, self.input_weights_, unit=False):
            hidden[block] = expit(sums + own[block] + self.hidden_bias_)
        scorer = FactorScorer(hidden, self.item_factors_, item_bias=self.item_bias_)
        return named_as(scorer, data)

    def _sizes(self, data: Interactions) -> tuple[int, float]:
        n_learned = (data.n_users + 2 * data.n_items + 1) * self.n_factors + data.n_items
        return n_learned, 48.0 * data.n_items * min(self.batch_size, data.n_users)

    def _learner(self, data: Interactions, device: Any) -> CDAELearner:
        return CDAELearner(self, data, device)

    def _source(self, data: Interactions, device: Any) -> Histories:
        return Histories(data, batch_size=self.batch_size, device=device)

    def _keep(self, learner: Any) -> None:
        for name, tensor in learner.tensors.items():
            setattr(self, f"{name}_", to_array(tensor))


class CDAELearner:
    """The tensors and their loss."""

    def __init__(self, model: CDAE, data: Interactions, device: Any) -> None:
        self.model, self.data = model, data
        width = model.n_factors
        start = autoencoder.Start(load_torch(), model.initial_generator(), device)
        self.tensors = {
            "input_weights": start.matrix(data.n_items, width),
            "user_weights": start.matrix(data.n_users, width),
            "hidden_bias": start.zeros(width),
            "item_factors": start.matrix(data.n_items, width),
            "item_bias": start.zeros(data.n_items),
        }

    def parameters(self) -> dict[str, Any]:
        return self.tensors

    def scores(self, inputs: Any, users: Any) -> Any:
        """Scores of users with these inputs, shape (n, n_items), for all items."""
        t = self.tensors
        hidden = inputs @ t["input_weights"] + t["user_weights"][users] + t["hidden_bias"]
        return hidden.sigmoid() @ t["item_factors"].T + t["item_bias"]

    def loss(self, batch: Any, generator: Any) -> Any:
        torch, model, table = load_torch(), self.model, batch.dense()
        inputs = autoencoder.corrupted(torch, table, model.dropout, generator)
        scores = self.scores(inputs, batch.users)
        if model.loss == "square":
            each = (table - scores).square()
        else:
            each = torch.nn.functional.softplus((1 - 2 * table) * scores)
        if model.n_negatives:
            each = each * self._counted(torch, table, generator)
        return each.sum() / table.shape[0]

    def _counted(self, torch: Any, table: Any, generator: Any) -> Any:
        """Which outputs count: a user's own items, and others each with the same chance."""
        counts = table.sum(1)
        lacking = (table.shape[1] - counts).clamp(min=1)
        chance = self.model.n_negatives * counts / lacking
        draws = torch.rand(table.shape, generator=generator, device=table.device)
        return (table > 0) | (draws < chance[:, None])

    def scorer(self, history: Interactions | None = None) -> FactorScorer:
        now = copy.copy(self.model)
        now.interactions_ = self.data
        now._keep(self)
        return now.scorer(history)
