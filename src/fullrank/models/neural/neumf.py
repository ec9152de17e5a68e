"""NeuMF: the sum of a product of factors and a small network on user and item."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fullrank._lib import checks
from fullrank._lib.device import on_gpu
from fullrank.data.interactions import Interactions
from fullrank.models.base import learned, named_as, rows_of
from fullrank.models.neural.gradient_model import NeuralModel, torch_device
from fullrank.models.neural.learners import autoencoder, gather, layers
from fullrank.models.training.adam import to_array
from fullrank.models.training.batches import Pairs
from fullrank.models.training.negative_draws import Draws
from fullrank.models.training.torch_use import load_torch

if TYPE_CHECKING:
    from fullrank.models.neural.learners.pair_scorer import PairScorer
    from fullrank.scorers import FactorScorer, TorchScorer

Floats = NDArray[np.float32]
PARTS = ("fused", "gmf", "mlp")
_SMALL = 0.01  # the standard deviation of the first embeddings, as in the paper


@dataclass(kw_only=True, eq=False)
class NeuMF(NeuralModel):
    """Neural matrix factorisation: a weighted product of factors, a network, or both.

    Every interaction counts 1. An epoch costs about 6·(1 + n_negatives)·(n_factors + 2·hidden₀² +
    hidden₀·hidden₁ + …) operations for each interaction; memory while learning is 20 bytes for
    each of n_factors + hidden₀ numbers of each user and item, 28 with a validation part, and the
    layers of a batch. Only training users have scores.

    A network scores one pair at a time: ranking with it costs hidden₀·hidden₁ + … products
    for a user and an item, where factors alone cost n_factors.

    Parameters
    ----------
    parts : {"fused", "gmf", "mlp"}
        Both parts, the product alone, or the network alone.
    n_factors : int
        Width of the product.
    hidden : widths
        Widths of the network's layers. The first is also the width of the inputs for the user and
        the item.
    n_negatives : int
        Items drawn per interaction, uniformly from all items. Those that the user has do not count.
    epochs, learning_rate, min_learning_rate, patience, batch_size, weight_decay, metric, seed,
    device
        Settings of training; see `fit`. A batch consists of interactions; `weight_decay` is the λ
        of λ/2·‖·‖² over all parameters.

    Attributes
    ----------
    user_factors_, item_factors_ : float32 arrays, shapes (n_users, d) and (n_items, d)
        d is `n_factors`, or 0 without the product, whose weights the users' factors hold.
    user_inputs_, item_inputs_ : float32 arrays, shapes (n_users, w) and (n_items, w)
        The user's and the item's part of the first layer of the network, the bias with the user;
        w is the first of `hidden`, or 0 without the network.
    tower_ : float32 array
        The layers above the first, and the output: the weights (n_in, n_out) and the bias of each,
        one after the other.
    history_ : History
        Loss, validation metric and time of each epoch.

    Notes
    -----
    ŷ = g·(p_u ∘ q_i) + MLP([p′_u, q′_i]), where each layer of the network has a ReLU, and the loss
    of an interaction and its negatives is the mean of log(1 + e^∓ŷ) (He et al. 2017, equations 7
    and 12). The paper initialises the fused model with its two parts, trained separately; here all
    parts start from random numbers.

    References
    ----------
    X. He, L. Liao, H. Zhang, L. Nie, X. Hu, T.-S. Chua, "Neural collaborative filtering", WWW
    2017.

    Examples
    --------
    >>> from fullrank.data import simulate
    >>> data = simulate(n_users=200, n_items=50, mean_interactions=10)
    >>> NeuMF(epochs=2).fit(data).scorer()
    PairScorer(200 users × 50 items, 8 factors, layers 32, 16, 8, 1, with ids)
    >>> NeuMF(parts="gmf", epochs=2).fit(data).scorer()
    FactorScorer(200 users × 50 items, d=8, float32, dot, with ids)
    """

    parts: str = "fused"
    n_factors: int = 8
    hidden: Sequence[int] = (32, 16, 8)
    n_negatives: int = 4
    user_factors_: Floats = field(init=False, repr=False, metadata=learned("users", "factors"))
    item_factors_: Floats = field(init=False, repr=False, metadata=learned("items", "factors"))
    user_inputs_: Floats = field(init=False, repr=False, metadata=learned("users", "inputs"))
    item_inputs_: Floats = field(init=False, repr=False, metadata=learned("items", "inputs"))
    tower_: Floats = field(init=False, repr=False, metadata=learned("tower"))

    def __post_init__(self) -> None:
        super().__post_init__()
        self.parts = checks.choice("parts", self.parts, PARTS)
        self.n_factors = checks.integer("n_factors", self.n_factors, low=1)
        self.hidden = layers.checked_widths("hidden", self.hidden, empty=False)
        self.n_negatives = checks.integer("n_negatives", self.n_negatives, low=1)

    def scorer(self, users: Interactions | None = None) -> FactorScorer | PairScorer | TorchScorer:
        """Return the scorer of logits of the probability that a user has an item.

        A network is evaluated on the model's `device`: on a GPU it is a PyTorch module, which is
        ranked with ``rank(…, device="cuda")``.

        Parameters
        ----------
        users : Interactions, optional
            The users to score, matched by id. Default: all training users. Their items have no
            effect.
        """
        from fullrank.models.neural.learners.pair_module import pair_module
        from fullrank.models.neural.learners.pair_scorer import PairScorer
        from fullrank.scorers import FactorScorer, TorchScorer

        rows = rows_of(self, users)
        data = self.interactions_ if users is None else users
        layers.unpack("tower_", self.tower_, self._widths())  # a file may hold something else
        own, inputs = (
            array if rows is None else array[rows]
            for array in (self.user_factors_, self.user_inputs_)
        )
        if self.parts == "gmf":
            bias = np.full(own.shape[0], self.tower_[0], np.float64)
            return named_as(FactorScorer(own, self.item_factors_, user_bias=bias), data)
        arrays = (own, self.item_factors_, inputs, self.item_inputs_, self.tower_)
        if on_gpu(self.device):
            module = pair_module(*arrays, self._widths(), device=torch_device(self.device))
            n_users, n_items = own.shape[0], self.item_inputs_.shape[0]
            return named_as(TorchScorer(module, n_items=n_items, n_users=n_users), data)
        return named_as(PairScorer(*arrays, self._widths()), data)

    def _widths(self) -> list[int]:
        """Of the layers from the sum of the inputs to the score; without a network, its bias."""
        return [*((0,) if self.parts == "gmf" else self.hidden), 1]

    def _sizes(self, data: Interactions) -> tuple[int, float]:
        n_rows, pairs = data.n_users + data.n_items, min(self.batch_size, data.n_interactions)
        n_learned = layers.n_numbers(self._widths())
        width = 0
        if self.parts != "mlp":
            n_learned += self.n_factors * (n_rows + 1)
            width += self.n_factors
        if self.parts != "gmf":
            first = self.hidden[0]
            n_learned += first * (n_rows + 2 * first + 1)
            width += first + 2 * sum(self.hidden)
        return n_learned, 8.0 * pairs * (1 + self.n_negatives) * width + 32.0 * data.n_interactions

    def _learner(self, data: Interactions, device: Any) -> NeuMFLearner:
        return NeuMFLearner(self, data, device)

    def _source(self, data: Interactions, device: Any) -> Pairs:
        draws = Draws(data, device=device)
        return Pairs(
            data,
            batch_size=self.batch_size,
            device=device,
            draws=draws,
            n_negatives=self.n_negatives,
        )

    def _keep(self, learner: Any) -> None:
        t, n_users, n_items = learner.tensors, learner.data.n_users, learner.data.n_items
        self.user_factors_, self.item_factors_ = _nothing(n_users), _nothing(n_items)
        self.user_inputs_, self.item_inputs_ = _nothing(n_users), _nothing(n_items)
        if self.parts != "mlp":
            self.user_factors_ = to_array(t["user_factors"] * t["gains"][:, 0])
            self.item_factors_ = to_array(t["item_factors"])
        if self.parts != "gmf":
            users = t["user_embedding"] @ t["user_weights"] + t["input_bias"]
            self.user_inputs_ = to_array(users)
            self.item_inputs_ = to_array(t["item_embedding"] @ t["item_weights"])
        tower = autoencoder.layers_of(t, "tower")
        self.tower_ = layers.pack((to_array(weights), to_array(bias)) for weights, bias in tower)


class NeuMFLearner:
    """The tensors of the parts that there are, and their loss."""

    def __init__(self, model: NeuMF, data: Interactions, device: Any) -> None:
        torch = load_torch()
        self.model, self.data, sides = model, data, {"user": data.n_users, "item": data.n_items}
        start = autoencoder.Start(torch, model.initial_generator(), device)
        self.tensors: dict[str, Any] = {}
        if model.parts != "mlp":
            for side, size in sides.items():
                self.tensors[f"{side}_factors"] = start.normal(size, model.n_factors, _SMALL)
            self.tensors["gains"] = start.matrix(model.n_factors, 1)
        if model.parts != "gmf":
            for side, size in sides.items():
                self.tensors[f"{side}_embedding"] = start.normal(size, model.hidden[0], _SMALL)
                self.tensors[f"{side}_weights"] = start.matrix(model.hidden[0], model.hidden[0])
            self.tensors["input_bias"] = start.zeros(model.hidden[0])
        self.tensors |= start.layers("tower", model._widths())
        users, items = data.pairs()
        keys = users.astype(np.int64) * data.n_items + items  # ascending
        self._keys = torch.from_numpy(keys).to(device)

    def parameters(self) -> dict[str, Any]:
        return self.tensors

    def scores(self, users: Any, items: Any) -> Any:
        """Scores of users (n,), each for items of its own (n, k)."""
        t, total = self.tensors, 0.0
        if self.model.parts != "mlp":
            factors = _rows(t["user_factors"], users) * t["gains"][:, 0]
            total = (_rows(t["item_factors"], items) @ factors[:, :, None])[..., 0]
        if self.model.parts == "gmf":
            return total + t["tower.0.bias"]
        # [p′, q′]·W is p′·W_user + q′·W_item, and a user's part serves all of the user's items
        x = _rows(t["item_embedding"], items) @ t["item_weights"]
        own = _rows(t["user_embedding"], users) @ t["user_weights"] + t["input_bias"]
        x = x + own[:, None]
        for weights, bias in autoencoder.layers_of(t, "tower"):
            x = x.relu() @ weights + bias
        return total + x[..., 0]

    def loss(self, batch: Any, generator: Any) -> Any:
        torch = load_torch()
        softplus = torch.nn.functional.softplus
        scores = self.scores(batch.users, torch.cat([batch.items[:, None], batch.negatives], 1))
        lacked = ~self._has(torch, batch.users[:, None], batch.negatives)
        losses = softplus(-scores[:, 0]).sum() + (softplus(scores[:, 1:]) * lacked).sum()
        return losses / (scores.shape[0] + lacked.sum())

    def _has(self, torch: Any, users: Any, items: Any) -> Any:
        """Whether users have items."""
        wanted = users * self.data.n_items + items
        at = torch.searchsorted(self._keys, wanted).clamp(max=self._keys.shape[0] - 1)
        return self._keys[at] == wanted

    def scorer(self, history: Interactions | None = None) -> Any:
        now = copy.copy(self.model)
        now.interactions_ = self.data
        now._keep(self)
        return now.scorer(history)


def _rows(table: Any, index: Any) -> Any:
    """table[index], whose gradient does not depend on which of torch's threads adds first."""
    return gather.take(table, index.reshape(-1)).reshape(*index.shape, -1)


def _nothing(n_rows: int) -> Floats:
    """The part that a model does without."""
    return np.zeros((n_rows, 0), np.float32)
