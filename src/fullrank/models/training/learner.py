"""What the training loop trains."""

from __future__ import annotations

from typing import Any, Protocol

from fullrank.data.interactions import Interactions


class Learner(Protocol):
    """What the loop trains.

    A plain class will do; one around a `torch.nn.Module` returns its `named_parameters()`. Two
    things are optional. An attribute `capturable = True` says that `loss` does the same operations
    for every batch of the same size, without looking at values or at the step, so that a GPU may
    replay them as a graph. A method `value` says that the loss of pairs can do with some rows of
    the tensors "users" and "items", so that a CPU may leave the others alone (`row_steps`).
    """

    def parameters(self) -> dict[str, Any]:
        """Leaf tensors on the device, float32, that require gradients; the same ones each time."""
        ...

    def loss(self, batch: Any, generator: Any) -> Any:
        """The loss of a batch, a scalar tensor: the mean over its pairs or users.

        Every random number, dropout's too, comes from `generator`, a `torch.Generator` on the
        device, as in ``torch.rand(shape, generator=generator, device=device)``: that is what makes
        a seed mean something, and a checkpoint resume bit for bit.
        """
        ...

    def scorer(self, history: Interactions | None = None) -> Any:
        """A scorer of the tensors as they are, of the users learned from or of `history`'s."""
        ...
