"""MultiVAE and MultiDAE: autoencoders that complete a history through a narrow network.

x → layers → z → layers → h, and item i has the score h·wᵢ + bᵢ. The softmax of the scores is the
probability that an item of the history is i, and training maximises the likelihood of the history.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fullrank._lib import checks
from fullrank.data.interactions import Interactions
from fullrank.models.base import history_for, learned, named_as
from fullrank.models.neural.gradient_model import NeuralModel
from fullrank.models.neural.learners import autoencoder, layers
from fullrank.models.neural.learners.multinomial import MultinomialLearner, divergence
from fullrank.models.training.adam import to_array
from fullrank.models.training.batches import Histories
from fullrank.models.training.torch_use import load_torch

if TYPE_CHECKING:
    from fullrank.scorers import FactorScorer

Floats = NDArray[np.float32]


@dataclass(kw_only=True, eq=False)
class MultiDAE(NeuralModel):
    """A denoising autoencoder that reconstructs histories from incomplete ones.

    Every interaction counts 1. An epoch costs about 12 operations per weight and user; the first
    and the last layer have n_items × width weights each. Memory while learning: 20 bytes per weight
    (28 with a validation part), and 24 per item and user of a batch. Scores of new users follow
    from their items: `scorer(history)` needs no training.

    Parameters
    ----------
    n_factors : int
        The width of z, the narrowest layer.
    hidden : widths
        Widths of the layers between history and z; the layers from z to the items are the same in
        reverse order. Default: none (history → z → items).
    dropout : float
        The probability with which an item is left out of the history that goes in, ≥ 0 and < 1.
    epochs, learning_rate, min_learning_rate, patience, batch_size, weight_decay, metric, seed,
    device
        How it is trained: see `fit`. A batch is of users; `weight_decay` is the λ of λ/2·‖·‖² over
        all weights and biases.

    Attributes
    ----------
    input_weights_, input_bias_ : float32 arrays, shapes (n_items, width) and (width,)
        The first layer.
    encoder_, decoder_ : float32 arrays
        The layers from there to z, and from z to the last hidden layer: the weights (n_in, n_out)
        and the bias of each, one after the other. Empty without `hidden`.
    item_factors_, item_bias_ : float32 arrays, shapes (n_items, width) and (n_items,)
        The last layer.
    history_ : History
        Loss, validation metric and time of each epoch.

    Notes
    -----
    With x the history divided by its length √n_u, z = tanh(… tanh(x̃W + b) …) and π the softmax of
    the scores, the loss of a user is −Σ_{i in history} log π_i (Liang et al. 2018,
    section 2.2). Layers are tanh but for the last.

    References
    ----------
    D. Liang, R. G. Krishnan, M. D. Hoffman, T. Jebara, "Variational autoencoders for collaborative
    filtering", WWW 2018.

    Examples
    --------
    >>> from fullrank.data import simulate
    >>> data = simulate(n_users=200, n_items=50, mean_interactions=10)
    >>> model = MultiDAE(n_factors=8, epochs=3, learning_rate=0.01).fit(data)
    >>> bool(model.history_.loss[-1] < model.history_.loss[0])
    True
    >>> model.scorer()
    FactorScorer(200 users × 50 items, d=8, float32, dot, with ids)
    """

    n_factors: int = 200
    hidden: Sequence[int] = ()
    dropout: float = 0.5
    epochs: int = 50
    batch_size: int = 500
    input_weights_: Floats = field(init=False, repr=False, metadata=learned("items", "inputs"))
    input_bias_: Floats = field(init=False, repr=False, metadata=learned("inputs"))
    encoder_: Floats = field(init=False, repr=False, metadata=learned("encoder"))
    decoder_: Floats = field(init=False, repr=False, metadata=learned("decoder"))
    item_factors_: Floats = field(init=False, repr=False, metadata=learned("items", "outputs"))
    item_bias_: Floats = field(init=False, repr=False, metadata=learned("items"))

    def __post_init__(self) -> None:
        super().__post_init__()
        self.n_factors = checks.integer("n_factors", self.n_factors, low=1)
        self.hidden = layers.checked_widths("hidden", self.hidden, empty=True)
        self.dropout = layers.share("dropout", self.dropout)

    def fold_in(self, history: Interactions | None = None) -> Floats:
        """Return the last hidden layer for histories of training users or others: the user factors.

        There is no dropout and no sampling.

        Parameters
        ----------
        history : Interactions, optional
            Interactions of any users, over the items that the model was fitted on.

        Returns
        -------
        float32 array, shape (history.n_users, width)
        """
        data = history_for(self, history)
        encoder = layers.unpack("encoder_", self.encoder_, self._encoder_widths())
        decoder = layers.unpack("decoder_", self.decoder_, self._decoder_widths())
        out = np.empty((data.n_users, self._decoder_widths()[-1]), np.float32)
        for users, sums in autoencoder.first_layer(data, self.input_weights_, unit=True):
            x = sums + self.input_bias_
            for weights, bias in encoder:
                x = np.tanh(x) @ weights.astype(np.float64) + bias
            x = self._middle(x)
            for weights, bias in decoder:
                x = np.tanh(x @ weights.astype(np.float64) + bias)
            out[users] = x
        return out

    def scorer(self, history: Interactions | None = None) -> FactorScorer:
        """Return the scorer: last hidden layer · item_factors_ + bias, for any users."""
        from fullrank.scorers import FactorScorer

        scorer = FactorScorer(self.fold_in(history), self.item_factors_, item_bias=self.item_bias_)
        return named_as(scorer, self.interactions_ if history is None else history)

    # ---- where the two differ ----

    def _top(self) -> int:
        """The numbers that the encoder gives for a user."""
        return self.n_factors

    def _middle(self, top: NDArray[Any]) -> NDArray[Any]:
        """What z is of the encoder's numbers, once trained."""
        return np.asarray(np.tanh(top))

    def _latent(self, top: Any, strength: float, generator: Any) -> tuple[Any, Any]:
        """In training: what z is, and what it costs."""
        return top.tanh(), 0.0

    def _strength(self, step: int, steps_per_epoch: int) -> float:
        """The weight of that cost after so many steps."""
        return 0.0

    # ---- shapes, and training ----

    def _encoder_widths(self) -> list[int]:
        return [*self.hidden, self._top()]

    def _decoder_widths(self) -> list[int]:
        return [self.n_factors, *reversed(self.hidden)]

    def _sizes(self, data: Interactions) -> tuple[int, float]:
        encoder, decoder = self._encoder_widths(), self._decoder_widths()
        n_learned = data.n_items * (encoder[0] + decoder[-1] + 1) + encoder[0]
        n_learned += layers.n_numbers(encoder) + layers.n_numbers(decoder)
        return n_learned, 24.0 * data.n_items * min(self.batch_size, data.n_users)

    def _learner(self, data: Interactions, device: Any) -> MultinomialLearner:
        return MultinomialLearner(self, data, device)

    def _source(self, data: Interactions, device: Any) -> Histories:
        return Histories(data, batch_size=self.batch_size, device=device)

    def _keep(self, learner: Any) -> None:
        for name in ("input_weights", "input_bias", "item_factors", "item_bias"):
            setattr(self, f"{name}_", to_array(learner.tensors[name]))
        for name in ("encoder", "decoder"):
            coder = autoencoder.layers_of(learner.tensors, name)
            packed = layers.pack((to_array(weights), to_array(bias)) for weights, bias in coder)
            setattr(self, f"{name}_", packed)


@dataclass(kw_only=True, eq=False)
class MultiVAE(MultiDAE):
    """A variational autoencoder: a history is encoded as a distribution instead of a point.

    It is like :class:`MultiDAE`, but in training z is drawn from a normal distribution whose mean
    and variance follow from the history. Scores use the mean.

    Parameters
    ----------
    n_factors, hidden, dropout
        As in :class:`MultiDAE`, but with a hidden layer by default.
    beta : float
        ≥ 0: the weight of the KL divergence of that distribution from the standard normal. 1 gives
        the bound of the likelihood; smaller values give better ranks, and 0.2 is usual.
    annealing : float
        The number of epochs over which the weight rises from 0 to `beta`; with 0 it is `beta` at
        once.
    epochs, learning_rate, min_learning_rate, patience, batch_size, weight_decay, metric, seed,
    device
        How it is trained: see `fit`. A batch is of users; `weight_decay` is the λ of λ/2·‖·‖² over
        all weights and biases.

    Attributes
    ----------
    input_weights_, input_bias_, encoder_, decoder_, item_factors_, item_bias_, history_
        As in :class:`MultiDAE`; the encoder gives the means and then the logarithms of the
        variances, 2·n_factors numbers.

    Notes
    -----
    The loss of a user is −Σ_{i in history} log π_i + β·KL(N(μ, σ²) ‖ N(0, 1)), where
    KL = ½Σ(σ² + μ² − 1 − log σ²) (Liang et al. 2018, equations 5 and 6). β rises linearly with
    the steps, which the paper calls annealing.

    References
    ----------
    D. Liang, R. G. Krishnan, M. D. Hoffman, T. Jebara, "Variational autoencoders for collaborative
    filtering", WWW 2018.

    Examples
    --------
    >>> from fullrank.data import simulate
    >>> data = simulate(n_users=200, n_items=50, mean_interactions=10)
    >>> model = MultiVAE(n_factors=8, hidden=(16,), epochs=3, learning_rate=0.01).fit(data)
    >>> model.scorer()
    FactorScorer(200 users × 50 items, d=16, float32, dot, with ids)
    """

    hidden: Sequence[int] = (600,)
    beta: float = 0.2
    annealing: float = 20.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.beta = checks.real("beta", self.beta, low=0)
        self.annealing = checks.real("annealing", self.annealing, low=0)

    def _top(self) -> int:
        return 2 * self.n_factors

    def _middle(self, top: NDArray[Any]) -> NDArray[Any]:
        return top[:, : self.n_factors]

    def _latent(self, top: Any, strength: float, generator: Any) -> tuple[Any, Any]:
        mean, log_variance = top[:, : self.n_factors], top[:, self.n_factors :]
        noise = load_torch().randn(mean.shape, generator=generator, device=mean.device)
        z = mean + noise * (log_variance / 2).exp()
        return z, strength * divergence(mean, log_variance).mean()

    def _strength(self, step: int, steps_per_epoch: int) -> float:
        rise = self.annealing * steps_per_epoch
        return self.beta * min(1.0, step / rise) if rise else self.beta
