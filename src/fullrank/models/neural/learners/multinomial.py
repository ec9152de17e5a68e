"""The tensors of MultiDAE and MultiVAE, and their loss."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from fullrank.data.interactions import Interactions
from fullrank.models.neural.learners import autoencoder
from fullrank.models.training.torch_use import load_torch

if TYPE_CHECKING:
    from fullrank.models.neural.multi_vae import MultiDAE
    from fullrank.scorers import FactorScorer


class MultinomialLearner:
    """The tensors of either, and their loss."""

    def __init__(self, model: MultiDAE, data: Interactions, device: Any) -> None:
        self.model, self.data = model, data
        encoder, decoder = model._encoder_widths(), model._decoder_widths()
        start = autoencoder.Start(load_torch(), model.initial_generator(), device)
        self.tensors = {
            "input_weights": start.matrix(data.n_items, encoder[0]),
            "input_bias": start.zeros(encoder[0]),
            **start.layers("encoder", encoder),
            **start.layers("decoder", decoder),
            "item_factors": start.matrix(data.n_items, decoder[-1]),
            "item_bias": start.zeros(data.n_items),
        }
        n_users = int(np.count_nonzero(data.user_counts()))
        self.steps_per_epoch = -(-n_users // model.batch_size)

    def parameters(self) -> dict[str, Any]:
        return self.tensors

    def encoded(self, inputs: Any) -> Any:
        x = inputs @ self.tensors["input_weights"] + self.tensors["input_bias"]
        for weights, bias in autoencoder.layers_of(self.tensors, "encoder"):
            x = x.tanh() @ weights + bias
        return x

    def decoded(self, z: Any) -> Any:
        for weights, bias in autoencoder.layers_of(self.tensors, "decoder"):
            z = (z @ weights + bias).tanh()
        return z @ self.tensors["item_factors"].T + self.tensors["item_bias"]

    def loss(self, batch: Any, generator: Any) -> Any:
        model, table = self.model, batch.dense()
        counts = table.sum(1)
        inputs = autoencoder.corrupted(
            load_torch(), table / counts.sqrt()[:, None], model.dropout, generator
        )
        strength = model._strength(batch.step, self.steps_per_epoch)
        z, penalty = model._latent(self.encoded(inputs), strength, generator)
        scores = self.decoded(z)
        # −Σ log softmax over the items of each history
        surprise = (counts * scores.logsumexp(1)).sum() - scores[batch.rows, batch.items].sum()
        return surprise / counts.shape[0] + penalty

    def scorer(self, history: Interactions | None = None) -> FactorScorer:
        now = copy.copy(self.model)
        now.interactions_ = self.data
        now._keep(self)
        return now.scorer(history)


def divergence(mean: Any, log_variance: Any) -> Any:
    """KL of N(mean, variance) from N(0, 1), summed over the factors of each row."""
    return 0.5 * (log_variance.exp() + mean.square() - 1 - log_variance).sum(1)
