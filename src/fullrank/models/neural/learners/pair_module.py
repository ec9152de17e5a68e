"""NeuMF's network as a PyTorch module, to be asked on a GPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.models.neural.learners import layers
from fullrank.models.training.torch_use import load_torch

Floats = NDArray[np.float32]


def pair_module(
    user_factors: Floats,
    item_factors: Floats,
    user_inputs: Floats,
    item_inputs: Floats,
    tower: Floats,
    widths: Sequence[int],
    *,
    device: Any,
) -> Any:
    """A module that gives what `PairScorer` gives, but for rounding, for pairs of rows."""
    torch = load_torch()

    class PairNetwork(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.users = _kept(torch, [user_factors, user_inputs], device)
            self.items = _kept(torch, [item_factors, item_inputs], device)
            pairs = layers.unpack("tower_", tower, widths)
            self.layers = _kept(torch, [part for pair in pairs for part in pair], device)

        def forward(self, users: Any, items: Any) -> Any:
            product = (self.users[0][users] * self.items[0][items]).sum(1)
            x = self.users[1][users] + self.items[1][items]
            for at in range(0, len(self.layers), 2):
                x = x.relu() @ self.layers[at] + self.layers[at + 1]
            return product + x[:, 0]

    return PairNetwork()


def _kept(torch: Any, arrays: Sequence[Floats], device: Any) -> Any:
    tensors = [torch.from_numpy(np.array(array)).to(device) for array in arrays]
    return torch.nn.ParameterList(
        [torch.nn.Parameter(tensor, requires_grad=False) for tensor in tensors]
    )
