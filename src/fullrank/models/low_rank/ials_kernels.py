"""Compiled parts of iALS: one row of factors at a time, without the GIL.

Sums may be reordered by the compiler but not by threads: a row depends only on its own interactions
and the factors of the other side.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fullrank._lib.jit import jit, jit_any_order
from fullrank._lib.types import Array


@jit_any_order
def add_products(
    rows: Array, other: Array, vector: Array, offset: Any, scale: Any, out: Array
) -> None:
    """Add Σ (offset + scale·(h·vector))·h over the named rows h of `other`, four at a time."""
    d = other.shape[1]
    zero = np.float32(0.0)
    whole = rows.size - rows.size % 4
    for j in range(0, whole, 4):
        a, b = other[rows[j]], other[rows[j + 1]]
        c, e = other[rows[j + 2]], other[rows[j + 3]]
        dot_a, dot_b, dot_c, dot_e = zero, zero, zero, zero
        for k in range(d):
            dot_a += a[k] * vector[k]
            dot_b += b[k] * vector[k]
            dot_c += c[k] * vector[k]
            dot_e += e[k] * vector[k]
        dot_a, dot_b = offset + scale * dot_a, offset + scale * dot_b
        dot_c, dot_e = offset + scale * dot_c, offset + scale * dot_e
        for k in range(d):
            out[k] += dot_a * a[k] + dot_b * b[k] + dot_c * c[k] + dot_e * e[k]
    for j in range(whole, rows.size):
        h = other[rows[j]]
        dot = zero
        for k in range(d):
            dot += h[k] * vector[k]
        dot = offset + scale * dot
        for k in range(d):
            out[k] += dot * h[k]


@jit_any_order
def solve_rows(
    start: int,
    stop: int,
    indptr: Array,
    indices: Array,
    other: Array,
    diagonal: Array,
    penalty: Array,
    observed: Any,
    pull: Any,
    steps: int,
    x: Array,
) -> None:
    """Improve rows start..stop of `x`, in place, by conjugate gradients.

    Row u solves (observed·HᵤᵀHᵤ + M)·x = pull·Hᵤᵀ1, where Hᵤ are the rows of `other` that it
    interacts with and M = diag(diagonal + penalty[u]) is also the preconditioner. A row
    without interactions becomes 0.
    """
    d = other.shape[1]
    zero, one = np.float32(0.0), np.float32(1.0)
    r, p, ap = np.empty(d, np.float32), np.empty(d, np.float32), np.empty(d, np.float32)
    m, inverse = np.empty(d, np.float32), np.empty(d, np.float32)
    for u in range(start, stop):
        own = indices[indptr[u] : indptr[u + 1]]
        y = x[u]
        if own.size == 0:
            y[:] = zero
            continue
        for k in range(d):
            m[k] = diagonal[k] + penalty[u]
            inverse[k] = one / m[k]
            r[k] = -m[k] * y[k]
        add_products(own, other, y, pull, -observed, r)
        rz = zero
        for k in range(d):
            p[k] = r[k] * inverse[k]
            rz += r[k] * p[k]
        enough = np.float32(1e-11) * rz
        for step in range(steps):
            for k in range(d):
                ap[k] = m[k] * p[k]
            add_products(own, other, p, zero, observed, ap)
            curvature = zero
            for k in range(d):
                curvature += p[k] * ap[k]
            if not curvature > zero:  # nothing left, or so little that it vanishes in float32
                break
            size = rz / curvature
            before = rz
            rz = zero
            for k in range(d):
                y[k] += size * p[k]
                r[k] -= size * ap[k]
                rz += r[k] * r[k] * inverse[k]
            if rz <= enough or step + 1 == steps:
                break
            turn = rz / before
            for k in range(d):
                p[k] = r[k] * inverse[k] + turn * p[k]


@jit_any_order
def sum_rows(
    start: int, stop: int, indptr: Array, indices: Array, other: Array, out: Array
) -> None:
    """Rows start..stop of the sparse matrix of ones times `other`."""
    d = other.shape[1]
    for u in range(start, stop):
        out[u, :] = np.float32(0.0)
        for j in range(indptr[u], indptr[u + 1]):
            h = other[indices[j]]
            for k in range(d):
                out[u, k] += h[k]


@jit
def observed_sums(indptr: Array, indices: Array, users: Array, items: Array, out: Array) -> None:
    """For each user the sums of the scores and of their squares, over the user's items."""
    for u in range(indptr.size - 1):
        first = 0.0
        second = 0.0
        for j in range(indptr[u], indptr[u + 1]):
            dot = 0.0
            for k in range(users.shape[1]):
                dot += np.float64(users[u, k]) * np.float64(items[indices[j], k])
            first += dot
            second += dot * dot
        out[u, 0] = first
        out[u, 1] = second
