"""Shares of interactions: how many, and in which order they are held out."""

from __future__ import annotations

from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from fullrank._lib import checks
from fullrank.data.interactions import Interactions
from fullrank.errors import InputError

Keys = NDArray[np.float64] | NDArray[np.int64]
Mask = NDArray[np.bool_]


@overload
def n_of(share: float, count: int) -> int: ...
@overload
def n_of(share: float, count: NDArray[np.int64]) -> NDArray[np.int64]: ...
def n_of(share: float, count: Any) -> Any:
    """The share of a count, rounded down; 0.2 of 15 is 3, whatever binary fractions make of it."""
    number = np.floor(share * np.asarray(count) + 1e-9).astype(np.int64)
    return number if isinstance(count, np.ndarray) else int(number)


def keys(interactions: Interactions, by: str, generator: np.random.Generator) -> Keys:
    """A number for each interaction; those with the greatest are held out first."""
    if by == "random":
        return generator.random(interactions.n_interactions)
    if interactions.timestamps is None:
        raise InputError(f"`by` must be 'random' for interactions without timestamps, not {by!r}.")
    return interactions.timestamps


def from_the_end(interactions: Interactions, key: Keys) -> NDArray[np.int64]:
    """How many of the user's interactions come after each; of equal keys, the greatest item row."""
    users = interactions.pairs()[0]
    order = _order(users, key)
    place = np.empty(users.size, np.int64)
    place[order] = interactions.indptr[1:][users] - 1 - np.arange(users.size)
    return place


def _order(users: NDArray[np.int32], key: Keys) -> NDArray[np.intp]:
    """Positions by user and key, in one sort of one number where the keys fit into 32 bits."""
    if key.dtype.kind == "f":  # random, from 0 to 1: 32 of its bits are enough
        low = (key * 2.0**32).astype(np.int64)
    else:
        smallest = int(key.min()) if key.size else 0
        if key.size and int(key.max()) - smallest >= 2**32:
            return np.lexsort((key, users))
        low = key.astype(np.int64) - smallest
    return np.argsort((users.astype(np.int64) << 32) + low, kind="stable")


def settings_of(*, rng: checks.RandomState, **settings: Any) -> dict[str, Any]:
    """What made a split, with the seed where it was given as a number."""
    seed = int(rng) if isinstance(rng, int | np.integer) else None
    return {**settings, "rng": seed}
