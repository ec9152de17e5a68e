"""Compiled kernels of Adam by rows: what a step needs is brought up to date, the rest waits."""

from __future__ import annotations

from typing import Any

import numpy as np

from fullrank._lib.jit import jit_any_order
from fullrank.models.training.adam import BETA1, BETA2, EPSILON


@jit_any_order
def number_rows(index: Any, marks: Any, rows: Any, local: Any) -> int:
    """Number the rows in `index` by their first occurrence; how many there are.

    `rows` gets them, `local` the number of each entry's row; `marks`, one for each row of the
    table, are −1 before and after.
    """
    count = 0
    for j in range(index.size):
        row = index[j]
        if marks[row] < 0:
            marks[row] = count
            rows[count] = row
            count += 1
        local[j] = marks[row]
    for j in range(count):
        marks[rows[j]] = -1
    return count


@jit_any_order
def catch_up(
    rows: Any, table: Any, first: Any, second: Any, last: Any, step: int, sums: Any, start: int,
    powers: Any, out: Any,
) -> None:  # fmt: skip
    """Do the steps last[row] + 1, …, step of rows whose gradient was 0 in all of them.

    In such steps the moments shrink by β₁ and β₂ each, so that what they add up to is s·m/(√v + e),
    s and s·e being in sums[last[row] − start]; e replaces an ε that is not the same in all of
    them, and their mean differs from each by less than ε. `powers` are those of β₁ and β₂,
    beyond which nothing is left of a first moment. `out`, if it has rows, gets what the table has
    then.

    The divisions are numpy's, which look for no zeros: only so are they done eight at a time.
    """
    for j in range(rows.size):
        i = rows[j]
        behind = step - last[i]
        x, m, v = table[i], first[i], second[i]
        if behind > 0:
            factor = np.float32(sums[last[i] - start, 0])
            little = np.float32(sums[last[i] - start, 1] / sums[last[i] - start, 0])
            if behind < powers.shape[0]:
                shrink, fade = powers[behind, 0], powers[behind, 1]
            else:
                shrink, fade = np.float32(0.0), np.float32(BETA2**behind)
            for k in range(x.size):
                x[k] -= np.divide(factor * m[k], np.sqrt(v[k]) + little)
                m[k] *= shrink
                v[k] *= fade
            last[i] = step
        if out.shape[0] > 0:
            copy = out[j]
            for k in range(x.size):
                copy[k] = x[k]


@jit_any_order
def advance(
    rows: Any, slopes: Any, table: Any, first: Any, second: Any, last: Any, step: int, rate: float
) -> None:
    """Adam's step number `step` of rows that are up to date, with their gradients."""
    size = np.float32(rate / (1 - BETA1**step))
    root = np.float32(1 / np.sqrt(1 - BETA2**step))
    little = np.float32(EPSILON)
    b1, b2 = np.float32(BETA1), np.float32(BETA2)
    c1, c2 = np.float32(1 - BETA1), np.float32(1 - BETA2)
    for j in range(rows.size):
        i = rows[j]
        x, m, v, g = table[i], first[i], second[i], slopes[j]
        for k in range(x.size):
            m[k] = b1 * m[k] + c1 * g[k]
            v[k] = b2 * v[k] + c2 * g[k] * g[k]
            x[k] -= np.divide(size * m[k], np.sqrt(v[k]) * root + little)
        last[i] = step
