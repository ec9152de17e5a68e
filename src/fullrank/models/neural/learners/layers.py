"""Dense layers as one vector, layer by layer: the weights row after row, then the bias.

A network has as many layers as its settings say; a file has a fixed list of arrays. So the layers
that lie between inputs and outputs are kept together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank._lib import checks
from fullrank.errors import InputError

Floats = NDArray[np.float32]
Layer = tuple[NDArray[Any], NDArray[Any]]


def pack(layers: Iterable[Layer]) -> Floats:
    """One vector of the layers, each a pair of weights (n_in, n_out) and a bias (n_out,)."""
    parts = [np.asarray(part, np.float32).reshape(-1) for layer in layers for part in layer]
    return np.concatenate([np.empty(0, np.float32), *parts])


def n_numbers(widths: Sequence[int]) -> int:
    """Weights and biases between these widths."""
    return sum((a + 1) * b for a, b in pairwise(widths))


def unpack(name: str, vector: Floats, widths: Sequence[int]) -> list[tuple[Floats, Floats]]:
    """The layers between these widths, as views of the vector that `name` holds.

    >>> [(w.shape, b.shape) for w, b in unpack("tower_", np.zeros(19, np.float32), [3, 4, 1])]
    Traceback (most recent call last):
    fullrank.errors.InputError: `tower_` must hold 21 numbers for layers of widths 3, 4, 1, not 19.
    """
    needed = n_numbers(widths)
    if vector.size != needed:
        shown = ", ".join(map(str, widths))
        raise InputError(
            f"`{name}` must hold {needed} numbers for layers of widths {shown}, not {vector.size}."
        )
    layers, at = [], 0
    for a, b in pairwise(widths):
        weights = vector[at : at + a * b].reshape(a, b)
        layers.append((weights, vector[at + a * b : at + (a + 1) * b]))
        at += (a + 1) * b
    return layers


def checked_widths(name: str, value: Any, *, empty: bool) -> tuple[int, ...]:
    """Widths of layers, from a list of them or a single one."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = (value,)
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise InputError(
            f"`{name}` must be a list of widths, such as (64, 32), not {checks.shown(value)}."
        )
    widths = tuple(checks.integer(f"{name}[{at}]", one, low=1) for at, one in enumerate(value))
    if not widths and not empty:
        raise InputError(f"`{name}` must have at least one width; it is empty.")
    return widths


def share(name: str, value: Any) -> float:
    """A probability of dropping out: at least 0 and below 1."""
    found = checks.real(name, value, low=0)
    if found >= 1:
        raise InputError(f"`{name}` must be below 1, not {found:g}.")
    return found
