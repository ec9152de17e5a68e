"""Adam on tensors by name, with a state that can be saved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.models.training.torch_use import load_torch

Arrays = dict[str, NDArray[Any]]
BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8
_MOMENTS = ("exp_avg", "exp_avg_sq")  # as torch calls them


class Adam:
    """Adam (Kingma and Ba, 2015) with its usual moments, β = (0.9, 0.999) and ε = 1e-8.

    The step is torch's fused one: one pass over each tensor and its moments.

    Parameters
    ----------
    parameters : tensors by name
    weight_decay : λ of λ/2·‖·‖², whose gradient is added in every step
    capturable : bool
        The rate lies on the device, for a step that is part of a CUDA graph.
    """

    def __init__(
        self, parameters: Mapping[str, Any], *, weight_decay: float, capturable: bool = False
    ) -> None:
        torch = load_torch()
        self.parameters, self.capturable = dict(parameters), capturable
        self.weight_decay = weight_decay
        tensors = list(self.parameters.values())
        rate = torch.zeros((), device=tensors[0].device) if capturable else 0.0
        self._torch = torch
        self._adam = torch.optim.Adam(
            tensors,
            lr=rate,
            betas=(BETA1, BETA2),
            eps=EPSILON,
            weight_decay=weight_decay,
            fused=True,
            capturable=capturable,
        )
        for tensor in tensors:  # a graph needs them before its first step, a checkpoint at any time
            self._adam.state[tensor] = {
                "step": torch.zeros((), device=tensor.device),
                **{name: torch.zeros_like(tensor, requires_grad=False) for name in _MOMENTS},
            }

    def set_rate(self, rate: float) -> None:
        for group in self._adam.param_groups:
            if isinstance(group["lr"], float):
                group["lr"] = rate
            else:
                group["lr"].fill_(rate)

    def step(self, loss: Any) -> None:
        """Follow the gradient of a scalar tensor."""
        self._adam.zero_grad(set_to_none=True)
        loss.backward()
        self._adam.step()

    def moments(self, name: str) -> tuple[Any, Any]:
        """The two moments of a tensor, as they are kept."""
        state = self._adam.state[self.parameters[name]]
        return state[_MOMENTS[0]], state[_MOMENTS[1]]

    def set_step(self, step: int) -> None:
        """Count steps that were taken elsewhere."""
        for tensor in self.parameters.values():
            self._adam.state[tensor]["step"].fill_(step)

    def arrays(self) -> Arrays:
        """The tensors and their moments as arrays."""
        found = {}
        for name, tensor in self.parameters.items():
            found[f"parameter.{name}"] = to_array(tensor)
            state = self._adam.state[tensor]
            found |= {f"{key}.{name}": to_array(state[key]) for key in (*_MOMENTS, "step")}
        return found

    def set_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """The inverse of :meth:`arrays`; a KeyError or ValueError if they do not fit."""
        for name, tensor in self.parameters.items():
            state = self._adam.state[tensor]
            self._set(tensor, arrays[f"parameter.{name}"])
            for key in (*_MOMENTS, "step"):
                self._set(state[key], arrays[f"{key}.{name}"])

    def copies(self) -> dict[str, Any]:
        """The tensors as they are now, kept on the device."""
        return {name: tensor.detach().clone() for name, tensor in self.parameters.items()}

    def restore(self, copies: Mapping[str, Any]) -> None:
        """Set the tensors from copies."""
        with self._torch.no_grad():
            for name, copy in copies.items():
                self.parameters[name].copy_(copy)

    def _set(self, tensor: Any, array: NDArray[Any]) -> None:
        if array.shape != tuple(tensor.shape) or array.dtype != np.float32:
            raise ValueError(
                f"it has {array.dtype} of shape {array.shape}, not float32 of {tuple(tensor.shape)}"
            )
        with self._torch.no_grad():
            tensor.copy_(self._torch.from_numpy(array))


def to_array(tensor: Any) -> NDArray[Any]:
    """A tensor as an array of its own, on the host."""
    return np.array(tensor.detach().cpu().numpy())
