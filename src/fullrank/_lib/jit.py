"""Compiled kernels: one decorator for all of them. Import it only where a kernel is used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba

Function = TypeVar("Function", bound=Callable[..., Any])


def jit(function: Function) -> Function:
    """Compile without the GIL and without reordering sums; cache if the disk allows it.

    Floating-point operations stay as written, because the order of a sum is part of the definition
    of a score. numba refuses to cache in a read-only installation; each process then compiles for
    itself.
    """
    return _compiled(function, fastmath=False)


def jit_any_order(function: Function) -> Function:
    """Compile like `jit`, but sums may be reordered and fused: for results with a bounded error."""
    return _compiled(function, fastmath={"reassoc", "contract"})


def jit_fused(function: Function) -> Function:
    """Compile like `jit`, but a·b + c may be rounded once: the result is equal if a·b is exact."""
    return _compiled(function, fastmath={"contract"})


def _compiled(function: Function, **options: Any) -> Function:
    try:
        compiled = numba.njit(function, nogil=True, cache=True, **options)
    except RuntimeError:
        compiled = numba.njit(function, nogil=True, **options)
    return compiled  # type: ignore[no-any-return]
