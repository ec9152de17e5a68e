"""Alternating least squares on a users × items matrix in which every entry counts.

The loss, of scores ŷ = w·h (Li, dissertation, equation 99, and its debiased form below Theorem 2),
is

    Σ_observed (q·ŷ² − 2c·ŷ + c) + α·Σ_all ŷ² + Σ_u λ_u‖w_u‖² + Σ_i λ_i‖h_i‖²

with q = c = 1 for iALS. For fixed items each user is a system of its own, (q·HᵤᵀHᵤ + α·HᵀH + λ_u)
w = c·Hᵤᵀ1. Turned into the basis of the eigenvectors of HᵀH, which changes no score, all of it
but the user's own items is diagonal: a step of conjugate gradients costs two products for each of
them and nothing for all others, and preconditioned by that diagonal one to three steps from the
last epoch's vectors do as well as an exact solution.

The start is the d-dimensional subspace of two power iterations from random vectors, balanced
between users and items, which is closer than random vectors are after several epochs.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from fullrank._lib import memory
from fullrank._lib.threads import Crew
from fullrank._lib.types import Floats
from fullrank.data.interactions import Interactions

Factors = NDArray[np.float32]

_ROWS = 4096  # rows multiplied together
_BLOCKS = 64  # tasks to a pass; the same however many threads there are
_TO_THE_END = 50  # steps at most where a solution is wanted; far fewer are needed
# A penalty from here on is infinite, and another weight no larger: the squares of its residuals are
# beyond float32.
_INFINITE = np.float32(1e18)


@dataclass(frozen=True, kw_only=True)
class Loss:
    """The weights q, c and α above."""

    observed: float = 1.0
    pull: float = 1.0
    unobserved: float


@dataclass(frozen=True, kw_only=True)
class Rows:
    """One side of the interactions: compressed rows, and what each row's norm costs."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    penalty: Factors

    def blocks(self) -> list[tuple[int, int]]:
        """Row ranges of about equal work, an empty row counting as half an interaction."""
        work = self.indptr + np.arange(self.indptr.size) / 2
        cuts = np.searchsorted(work, np.linspace(0, work[-1], _BLOCKS + 1)[1:-1])
        ends = np.unique(np.concatenate([[0], cuts, [self.indptr.size - 1]])).tolist()
        return list(pairwise(ends))


def sides(data: Interactions, user_penalty: Floats, item_penalty: Floats) -> tuple[Rows, Rows]:
    """Users' rows and items' rows."""
    columns = data.matrix(np.float32).T.tocsr()
    users = Rows(indptr=data.indptr, indices=data.indices, penalty=weights(user_penalty))
    items = Rows(
        indptr=columns.indptr.astype(np.int64),
        indices=columns.indices.astype(np.int32),
        penalty=weights(item_penalty),
    )
    return users, items


def weights(values: Floats) -> Factors:
    """Penalties, or other weights, in float32."""
    return np.minimum(values, _INFINITE).astype(np.float32)


def alternate(
    users: Rows,
    items: Rows,
    item_factors: Factors,
    loss: Loss,
    *,
    epochs: int,
    steps: int,
    crew: Crew,
) -> Factors:
    """Item factors after `epochs`, each of which improves all users and then all items."""
    h = item_factors.copy()
    w = np.zeros((users.indptr.size - 1, h.shape[1]), np.float32)
    for epoch in range(epochs):
        # the first users start from nothing, so they are given the steps of two epochs
        improve(users, w, h, loss, steps=2 * steps if epoch == 0 else steps, crew=crew)
        improve(items, h, w, loss, steps=steps, crew=crew)
    return h


def solve(users: Rows, item_factors: Factors, loss: Loss, *, crew: Crew) -> Factors:
    """The users' factors that are best for these items' factors."""
    h = item_factors.copy()
    w = np.zeros((users.indptr.size - 1, h.shape[1]), np.float32)
    basis = improve(users, w, h, loss, steps=_TO_THE_END, crew=crew)
    _turn(w, np.ascontiguousarray(basis.T), crew)
    return w


def improve(
    rows: Rows, x: Factors, other: Factors, loss: Loss, *, steps: int, crew: Crew
) -> Factors:
    """Conjugate gradient steps on all rows of `x`, in a basis that both are turned to; returned."""
    from fullrank.models.low_rank import ials_kernels as kernels

    values, basis = _eigen(products(other, crew))
    for factors in (x, other):
        _turn(factors, basis, crew)
    diagonal = weights(loss.unobserved * np.maximum(values, 0.0))

    def work(block: tuple[int, int]) -> None:
        kernels.solve_rows(
            *block,
            rows.indptr,
            rows.indices,
            other,
            diagonal,
            rows.penalty,
            np.float32(loss.observed),
            np.float32(loss.pull),
            steps,
            x,
        )

    crew(work, rows.blocks())
    x[rows.penalty == _INFINITE] = 0.0
    return basis


def start(users: Rows, items: Rows, n_factors: int, seed: int, crew: Crew) -> Factors:
    """Item factors H with singular values √σ of about the largest σ of the interactions."""
    generator = np.random.default_rng(seed)
    n_users, n_items = users.indptr.size - 1, items.indptr.size - 1
    n_bytes = 4 * n_factors * (3 * n_users + 3 * n_items + 8 * n_factors)
    memory.ask("n_factors", n_bytes, f"{n_factors:,} factors of {n_users + n_items:,} rows")
    h = generator.standard_normal((n_items, n_factors), dtype=np.float32)
    w = np.empty((n_users, n_factors), np.float32)
    for _ in range(2):
        _multiply(users, h, w, crew)
        _scale(w, -0.5, crew)  # orthonormal columns
        _multiply(items, w, h, crew)
    _scale(h, -0.25, crew)
    return h


def objective(
    data: Interactions, w: Factors, h: Factors, users: Rows, items: Rows, loss: Loss
) -> float:
    """The loss above, in double precision."""
    from fullrank.models.low_rank import ials_kernels as kernels

    sums = np.empty((data.n_users, 2))
    kernels.observed_sums(data.indptr, data.indices, w, h, sums)
    observed = loss.observed * sums[:, 1] - 2 * loss.pull * sums[:, 0]
    wide_w, wide_h = w.astype(np.float64), h.astype(np.float64)
    every = float(np.sum((wide_w.T @ wide_w) * (wide_h.T @ wide_h)))
    norms = float(users.penalty @ (wide_w**2).sum(1) + items.penalty @ (wide_h**2).sum(1))
    return float(observed.sum()) + loss.pull * data.n_interactions + loss.unobserved * every + norms


# ---- products of tall matrices, by blocks of rows ----


def products(factors: Factors, crew: Crew) -> Floats:
    """factorsᵀ·factors: float32 products of blocks, summed in float64 in their order."""
    starts = range(0, factors.shape[0], _ROWS)
    parts = np.empty((len(starts), factors.shape[1], factors.shape[1]))

    def work(at: int) -> None:
        block = factors[at : at + _ROWS]
        parts[at // _ROWS] = block.T @ block

    crew(work, starts)
    return np.asarray(parts.sum(axis=0))


def _turn(factors: Factors, basis: Factors, crew: Crew) -> None:
    """Multiply by a small square matrix from the right, in place."""

    def work(at: int) -> None:
        factors[at : at + _ROWS] = factors[at : at + _ROWS] @ basis

    crew(work, range(0, factors.shape[0], _ROWS))


def _scale(factors: Factors, power: float, crew: Crew) -> None:
    """Multiply by (factorsᵀ·factors)^power, in place; directions that are lost stay small."""
    values, basis = _eigen(products(factors, crew))
    floor = 1e-7 * max(float(values.max()), 1e-30)
    gain = np.maximum(values, floor) ** power
    _turn(factors, (basis * gain).astype(np.float32), crew)


def _eigen(square: Floats) -> tuple[Floats, Factors]:
    """Eigenvalues in double precision, and eigenvectors."""
    from scipy.linalg import eigh

    values, vectors = eigh(square, check_finite=False)
    return values, vectors.astype(np.float32)


def _multiply(rows: Rows, other: Factors, out: Factors, crew: Crew) -> None:
    from fullrank.models.low_rank import ials_kernels as kernels

    def work(block: tuple[int, int]) -> None:
        kernels.sum_rows(*block, rows.indptr, rows.indices, other, out)

    crew(work, rows.blocks())
