"""Shared parts of the autoencoders: the first layer, corrupted inputs, initial weights."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.data.interactions import Interactions

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
_CELLS = 1 << 22  # numbers of a layer held at once


def first_layer(
    history: Interactions, weights: Floats, *, unit: bool
) -> Iterator[tuple[slice, Doubles]]:
    """Histories × weights in double precision, by blocks of users; with `unit`, of length 1.

    In double precision what a user gets, once rounded to single, does not depend on the others of
    the block. A user without items gets zeros.
    """
    matrix, wide = history.matrix(np.float64), weights.astype(np.float64)
    counts = np.maximum(history.user_counts(), 1)
    step = max(1, _CELLS // weights.shape[1])
    for start in range(0, history.n_users, step):
        block = slice(start, min(start + step, history.n_users))
        sums = np.asarray(matrix[block] @ wide)
        yield block, sums / np.sqrt(counts[block, None]) if unit else sums


def corrupted(torch: Any, inputs: Any, dropout: float, generator: Any) -> Any:
    """Each entry dropped with probability p, what is left divided by 1 − p: the mean is kept."""
    if dropout == 0:
        return inputs
    draws = torch.rand(inputs.shape, generator=generator, device=inputs.device)
    return inputs * (draws >= dropout) / (1 - dropout)


class Start:
    """First values of tensors, drawn on the CPU: a seed means the same on every device."""

    def __init__(self, torch: Any, generator: Any, device: Any) -> None:
        self._torch, self._generator, self._device = torch, generator, device

    def matrix(self, n_in: int, n_out: int) -> Any:
        """Uniform in ±√(6 / (n_in + n_out)), after Glorot and Bengio (2010)."""
        draws = self._torch.rand((n_in, n_out), generator=self._generator)
        return self._leaf((2 * draws - 1) * (6 / (n_in + n_out)) ** 0.5)

    def normal(self, n_rows: int, n_columns: int, deviation: float) -> Any:
        draws = self._torch.randn((n_rows, n_columns), generator=self._generator)
        return self._leaf(draws * deviation)

    def zeros(self, *shape: int) -> Any:
        return self._leaf(self._torch.zeros(shape))

    def layers(self, name: str, widths: list[int]) -> dict[str, Any]:
        """Weights and biases between these widths, as `layers_of` finds them again."""
        found = {}
        for at, (n_in, n_out) in enumerate(pairwise(widths)):
            found[f"{name}.{at}.weights"] = self.matrix(n_in, n_out)
            found[f"{name}.{at}.bias"] = self.zeros(n_out)
        return found

    def _leaf(self, values: Any) -> Any:
        return values.to(self._device).requires_grad_()


def layers_of(tensors: Mapping[str, Any], name: str) -> list[tuple[Any, Any]]:
    """The layers of that name, in order: pairs of weights and bias."""
    n_layers = sum(key.startswith(f"{name}.") for key in tensors) // 2
    return [
        (tensors[f"{name}.{at}.weights"], tensors[f"{name}.{at}.bias"]) for at in range(n_layers)
    ]
