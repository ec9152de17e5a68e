"""Triton kernels for rows of a table by their numbers, on a GPU.

The gathered rows live in registers: nothing of shape (batch, negatives, factors) is ever stored.
The same code runs without a GPU in Triton's interpreter, which is how the tests run it.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"

from __future__ import annotations

from typing import Any

import triton
import triton.language as tl

_ELEMENTS = 4096  # of gathered rows that a program holds at once


@triton.jit
def _dots(users, table, items, out, n, d, BN: tl.constexpr, BD: tl.constexpr):
    """out[b, j] = users[b] · table[items[b, j]] for BN of the user's items."""
    b = tl.program_id(0).to(tl.int64)
    j = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BD)
    item = tl.load(items + b * n + j, mask=j < n, other=0)
    user = tl.load(users + b * d + k, mask=k < d, other=0.0)
    there = (j < n)[:, None] & (k < d)[None, :]
    rows = tl.load(table + item[:, None] * d + k[None, :], mask=there, other=0.0)
    tl.store(out + b * n + j, tl.sum(rows * user[None, :], axis=1), mask=j < n)


@triton.jit
def _dots_backward(
    users, table, items, slopes, by_user, by_row, n, d, BN: tl.constexpr, BD: tl.constexpr
):  # fmt: skip
    """The gradients of `_dots`: a user's sum is one program's, a row's is added to by many."""
    b = tl.program_id(0).to(tl.int64)
    k = tl.arange(0, BD)
    user = tl.load(users + b * d + k, mask=k < d, other=0.0)
    total = tl.zeros((BD,), tl.float32)
    for start in range(0, n, BN):
        j = start + tl.arange(0, BN)
        item = tl.load(items + b * n + j, mask=j < n, other=0)
        slope = tl.load(slopes + b * n + j, mask=j < n, other=0.0)
        there = (j < n)[:, None] & (k < d)[None, :]
        place = item[:, None] * d + k[None, :]
        rows = tl.load(table + place, mask=there, other=0.0)
        total += tl.sum(slope[:, None] * rows, axis=0)
        tl.atomic_add(by_row + place, slope[:, None] * user[None, :], mask=there, sem="relaxed")
    tl.store(by_user + b * d + k, total, mask=k < d)


def dots(users: Any, table: Any, items: Any, out: Any) -> None:
    """out[b, j] = users[b] · table[items[b, j]]; all contiguous."""
    n, d = items.shape[1], users.shape[1]
    block, width = _blocks(n, d)
    _dots[(items.shape[0], triton.cdiv(n, block))](
        users, table, items, out, n, d, BN=block, BD=width
    )


def dots_backward(
    users: Any, table: Any, items: Any, slopes: Any, by_user: Any, by_row: Any
) -> None:
    """The gradients of `dots`: written to `by_user`, added to `by_row`."""
    n, d = items.shape[1], users.shape[1]
    block, width = _blocks(n, d)
    _dots_backward[(items.shape[0],)](
        users, table, items, slopes, by_user, by_row, n, d, BN=block, BD=width
    )


def _blocks(n: int, d: int) -> tuple[int, int]:
    """Items and factors of a program, both powers of 2."""
    width = triton.next_power_of_2(d)
    return min(triton.next_power_of_2(n), max(1, _ELEMENTS // width)), width
