"""Compiled kernels for rows of a table by their numbers, on the CPU."""

from __future__ import annotations

from typing import Any

import numpy as np

from fullrank._lib.jit import jit_any_order


@jit_any_order
def dots(users: Any, table: Any, items: Any, out: Any) -> None:
    """out[b, j] = users[b] · table[items[b, j]]."""
    for b in range(items.shape[0]):
        user = users[b]
        for j in range(items.shape[1]):
            row = table[items[b, j]]
            total = np.float32(0.0)
            for k in range(user.size):
                total += user[k] * row[k]
            out[b, j] = total


@jit_any_order
def dots_backward(
    users: Any, table: Any, items: Any, slopes: Any, by_user: Any, by_row: Any
) -> None:
    """Add the gradients of `dots`, whose own are `slopes`, to those of users and of the table."""
    for b in range(items.shape[0]):
        user, total = users[b], by_user[b]
        for j in range(items.shape[1]):
            slope, row, sums = slopes[b, j], table[items[b, j]], by_row[items[b, j]]
            for k in range(user.size):
                total[k] += slope * row[k]
            for k in range(user.size):
                sums[k] += slope * user[k]


@jit_any_order
def add_rows(index: Any, rows: Any, out: Any) -> None:
    """out[index[b]] += rows[b], one after the other."""
    for b in range(index.size):
        row, sums = rows[b], out[index[b]]
        for k in range(row.size):
            sums[k] += row[k]
