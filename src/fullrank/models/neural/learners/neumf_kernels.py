"""Scores of pairs by a small network: items side by side in vectors, no pair's layers kept.

Every score is the same sequence of float32 operations in any block, so results do not depend on
blocks and threads, and items with equal vectors tie.
"""

from __future__ import annotations

import numpy as np

from fullrank._lib.jit import jit
from fullrank._lib.types import Array

_WIDE = 256  # items side by side: a layer of them stays in the first cache


@jit
def score_pairs(
    users: Array,
    items: Array,
    user_factors: Array,
    item_factors: Array,
    user_inputs: Array,
    item_inputs: Array,
    tower: Array,
    widths: Array,
    out: Array,
) -> None:
    """Fill `out` with u·q + tower(relu(a + c)) for each user and item.

    Items' arrays are factors × items and inputs × items. `items` has a row for each user, or is
    empty: then all are scored. The tower's layers lie one after the other, each the weights
    (n_in × n_out) and the bias, the last of one output; inputs of each are cut off at 0.
    """
    given = items.shape[0] > 0
    widest = max(widths.max(), user_factors.shape[1])
    here, there = np.empty((widest, _WIDE), np.float32), np.empty((widest, _WIDE), np.float32)
    product = np.empty(_WIDE, np.float32)
    together = max(1, _WIDE // max(1, out.shape[1]))  # users of few items stand side by side
    for first in range(0, users.size, together):
        last = min(first + together, users.size)
        for start in range(0, out.shape[1], _WIDE):
            n = min(_WIDE, out.shape[1] - start)
            product[:] = np.float32(0.0)
            if together == 1:
                _gather(item_factors, items, first, start, n, given, here)
                _add(user_factors[users[first]], here, product, n)
                _gather(item_inputs, items, first, start, n, given, here)
                for k in range(user_inputs.shape[1]):
                    here[k] += user_inputs[users[first], k]
            else:
                for row in range(first, last):
                    part = here[:, (row - first) * n :]
                    _gather(item_factors, items, row, start, n, given, part)
                    _add(user_factors[users[row]], part, product[(row - first) * n :], n)
                    _gather(item_inputs, items, row, start, n, given, part)
                    _shift(user_inputs[users[row]], part, n)
            wide, at = (last - first) * n, 0
            for layer in range(widths.size - 1):
                n_in, n_out = widths[layer], widths[layer + 1]
                weights = tower[at : at + n_in * n_out].reshape(n_in, n_out)
                bias = tower[at + n_in * n_out : at + (n_in + 1) * n_out]
                _cut(here, n_in, wide)
                _layer(weights, bias, here, there, wide)
                at += (n_in + 1) * n_out
                here, there = there, here
            for row in range(first, last):
                at = (row - first) * n
                for i in range(n):
                    out[row, start + i] = product[at + i] + here[0, at + i]


@jit
def _gather(
    columns: Array, items: Array, row: int, start: int, n: int, given: bool, out: Array
) -> None:
    for k in range(columns.shape[0]):
        if given:
            for i in range(n):
                out[k, i] = columns[k, items[row, start + i]]
        else:
            for i in range(n):
                out[k, i] = columns[k, start + i]


@jit
def _shift(by: Array, x: Array, n: int) -> None:
    for k in range(by.size):
        w = by[k]
        for i in range(n):
            x[k, i] += w


@jit
def _cut(x: Array, n_rows: int, n: int) -> None:
    for k in range(n_rows):
        for i in range(n):
            x[k, i] = max(x[k, i], np.float32(0.0))


@jit
def _layer(weights: Array, bias: Array, x: Array, out: Array, n: int) -> None:
    """Rows of `out` are bias + Σ_k weights[k]·x[k], k ascending.

    Four outputs and two inputs at a time: what is loaded is used more than once.
    """
    n_in, n_out = weights.shape
    for j in range(n_out):
        out[j, :n] = bias[j]
    blocked = n_out - n_out % 4
    for j in range(0, blocked, 4):
        for k in range(0, n_in - 1, 2):
            a0, b0 = weights[k, j], weights[k + 1, j]
            a1, b1 = weights[k, j + 1], weights[k + 1, j + 1]
            a2, b2 = weights[k, j + 2], weights[k + 1, j + 2]
            a3, b3 = weights[k, j + 3], weights[k + 1, j + 3]
            for i in range(n):
                p, q = x[k, i], x[k + 1, i]
                out[j, i] = (out[j, i] + a0 * p) + b0 * q
                out[j + 1, i] = (out[j + 1, i] + a1 * p) + b1 * q
                out[j + 2, i] = (out[j + 2, i] + a2 * p) + b2 * q
                out[j + 3, i] = (out[j + 3, i] + a3 * p) + b3 * q
        if n_in % 2:
            for each in range(j, j + 4):
                _add(weights[n_in - 1 :, each], x[n_in - 1 :], out[each], n)
    for j in range(blocked, n_out):
        _add(weights[:, j], x, out[j], n)


@jit
def _add(weights: Array, x: Array, out: Array, n: int) -> None:
    """Add Σ_k weights[k]·x[k] to the first n of `out`, k ascending."""
    for k in range(weights.size):
        w = weights[k]
        for i in range(n):
            out[i] += w * x[k, i]
