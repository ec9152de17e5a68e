"""Draws of items on the device: uniformly, or by a power of their popularity."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank._lib import checks
from fullrank.data.interactions import Interactions
from fullrank.models.training.torch_use import load_torch

NEGATIVES = ("uniform", "popularity")


class Draws:
    """Items drawn independently, with replacement, from all items.

    Parameters
    ----------
    data : Interactions
    device : torch.device
    kind : {"uniform", "popularity"}
        "popularity" draws an item with a probability proportional to its number of interactions
        to the `power`; items without any are never drawn, unless the power is 0.
    power : float

    Attributes
    ----------
    log_probability : float32 tensor, shape (n_items,)
        Log-probability of each item in one draw; −∞ if it is never drawn.
    """

    def __init__(
        self, data: Interactions, *, device: Any, kind: str = "uniform", power: float = 1.0
    ) -> None:
        torch = load_torch()
        checks.choice("negatives", kind, NEGATIVES)
        self._torch, self._device, self.n_items = torch, device, data.n_items
        self._keep: Any = None
        weights = np.ones(data.n_items)
        if kind == "popularity":
            counts = data.item_counts()
            weights = (counts / max(1, counts.max())) ** power  # high powers stay finite
            keep, other = alias_table(weights)
            self._keep = torch.from_numpy(keep).to(device)
            self._other = torch.from_numpy(other).to(device)
        with np.errstate(divide="ignore"):
            logs = np.log(weights / weights.sum()).astype(np.float32)
        self.log_probability = torch.from_numpy(logs).to(device)

    def __call__(self, shape: tuple[int, ...], generator: Any) -> Any:
        """An int64 tensor of item rows."""
        torch = self._torch
        items = torch.randint(self.n_items, shape, generator=generator, device=self._device)
        if self._keep is None:
            return items
        share = torch.rand(shape, generator=generator, device=self._device)
        return torch.where(share < self._keep[items], items, self._other[items])


def alias_table(weights: NDArray[np.float64]) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Walker's tables (Vose's way): take item i with probability keep[i], else other[i].

    With i uniform, every item comes out in proportion to its weight, at the cost of two lookups
    a draw whatever the number of items.

    >>> keep, other = alias_table(np.array([1.0, 3.0]))
    >>> keep.tolist(), other.tolist()
    ([0.5, 1.0], [1, 1])
    """
    share = weights * (weights.size / weights.sum())
    keep, other = np.ones(weights.size), np.arange(weights.size)
    small = np.flatnonzero(share < 1.0).tolist()
    large = np.flatnonzero(share >= 1.0).tolist()
    left = share.tolist()
    while small and large:
        i, j = small.pop(), large[-1]
        keep[i], other[i] = left[i], j
        left[j] -= 1.0 - left[i]
        if left[j] < 1.0:
            small.append(large.pop())
    # what remains is 1 but for rounding; where all the weight is elsewhere it is 0
    for i in small:
        if weights[i] == 0.0:
            keep[i], other[i] = 0.0, int(np.argmax(weights))
    return keep.astype(np.float32), other
