"""Means over resampled users, and over users whose two models are swapped at random.

Both go by blocks of bounded memory and take users whose row is all 0 together: with top-K metrics
these are most.
"""

from __future__ import annotations

import numpy as np

from fullrank._lib import memory
from fullrank._lib.types import Floats

_CELLS = 2_000_000  # users times replicates held at a time: 16 MB an array


def bootstrap_means(
    values: Floats, weight: Floats, n_resamples: int, rng: np.random.Generator
) -> Floats:
    """Weighted means of the columns over users resampled with replacement.

    Parameters
    ----------
    values : (n_users, n_columns)
    weight : (n_users,)

    Returns
    -------
    (n_resamples, n_columns)
    """
    n = weight.size
    _ask(n_resamples, values.shape[1])
    equal = bool((weight == weight[0]).all())
    # of users with nothing to add only the number drawn matters, and only if weights are equal
    counted = np.flatnonzero((values != 0.0).any(axis=1)) if equal else np.arange(n)
    columns = values[counted]
    out = np.zeros((n_resamples, values.shape[1]))
    step = max(1, _CELLS // max(1, counted.size))
    for start in range(0, n_resamples if counted.size else 0, step):
        number = min(step, n_resamples - start)
        drawn = rng.binomial(n, counted.size / n, number)
        cell = rng.integers(counted.size, size=int(drawn.sum()))
        cell += np.repeat(np.arange(number) * counted.size, drawn)
        times = np.bincount(cell, minlength=number * counted.size).reshape(number, -1)
        if equal:
            out[start : start + number] = times @ columns / n
        else:
            weights = times * weight
            out[start : start + number] = weights @ columns / weights.sum(axis=1, keepdims=True)
    return out


def _ask(n_resamples: int, n_columns: int) -> None:
    what = f"{n_resamples:,} resamples of {n_columns} differences"
    memory.ask("n_resamples", 24 * n_resamples * n_columns, what)


def flipped_means(
    differences: Floats, weight: Floats, n_resamples: int, rng: np.random.Generator
) -> Floats:
    """Weighted means of the columns when each user's differences keep or turn their sign.

    Returns
    -------
    (n_resamples, n_columns)
    """
    _ask(n_resamples, differences.shape[1])
    counted = np.flatnonzero((differences != 0.0).any(axis=1))
    columns = differences[counted] * (weight[counted] / weight.sum())[:, None]
    total = columns.sum(axis=0)
    out = np.zeros((n_resamples, differences.shape[1]))
    n_bytes = -(-counted.size // 8)
    step = max(1, _CELLS // max(1, counted.size))
    for start in range(0, n_resamples if counted.size else 0, step):
        number = min(step, n_resamples - start)
        random = rng.integers(256, size=(number, n_bytes), dtype=np.uint8)
        kept = np.unpackbits(random, axis=1, count=counted.size).astype(np.float64)
        out[start : start + number] = 2.0 * (kept @ columns) - total
    return out
