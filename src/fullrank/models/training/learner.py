"""The protocol of what the training loop trains."""

from __future__ import annotations

from typing import Any, Protocol

from fullrank.data.interactions import Interactions


class Learner(Protocol):
    """The parameters and the loss that the loop trains.

    Any class with these methods works; one around a `torch.nn.Module` returns its
    `named_parameters()`. Two members are optional. An attribute `capturable = True` states that
    `loss` does the same operations for every batch of the same size, without looking at values or
    at the step, so that a GPU may replay them as a graph. A method `value` computes the loss of
    pairs from some rows of the tensors "users" and "items", so that a CPU can skip the others
    (`row_steps`).
    """

    def parameters(self) -> dict[str, Any]:
        """Return the leaf tensors on the device: float32, with gradients, always the same ones."""
        ...

    def loss(self, batch: Any, generator: Any) -> Any:
        """Return the loss of a batch, a scalar tensor: the mean over its pairs or users.

        Every random number, including those of dropout, must come from `generator`, a
        `torch.Generator` on the device, as in ``torch.rand(shape, generator=generator,
        device=device)``. This makes seeds reproducible and lets a checkpoint resume bit for bit.
        """
        ...

    def scorer(self, history: Interactions | None = None) -> Any:
        """Return a scorer of the current tensors, for the training users or those of `history`."""
        ...
