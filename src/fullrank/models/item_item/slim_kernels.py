"""Coordinate descent for the columns of SLIM, on the matrix of common users."""

from __future__ import annotations

import numpy as np

from fullrank._lib.jit import jit
from fullrank._lib.types import Array


@jit
def solve_columns(
    start: int,
    stop: int,
    gram: Array,
    l1: float,
    l2: float,
    tolerance: float,
    max_sweeps: int,
    out: Array,
    violation: Array,
) -> None:
    """Minimise ½‖x_j − Xw‖² + ½·l2·‖w‖² + l1·Σw over w ≥ 0, w_j = 0, into out[j − start].

    The slope of the first term is −c + Gw, G = XᵀX and c its column j. As neither G nor w has
    negative entries, it never falls below −c: items with c_i ≤ l1 stay at 0 and are left out
    from the start. `violation` gets the largest distance from the optimality conditions, in
    units of G_jj; `tolerance` is its limit.
    """
    n_items = gram.shape[0]
    slope = np.empty(n_items)  # c − Gw, for the candidates
    items = np.empty(n_items, np.int64)
    for j in range(start, stop):
        weight = out[j - start]
        size = 0
        for i in range(n_items):
            slope[i] = gram[j, i]
            if i != j and gram[j, i] > l1:
                items[size] = i
                size += 1
        limit = tolerance * gram[j, j]
        for sweep in range(max_sweeps):
            # every third sweep looks at all candidates, the others at those in use
            everything = sweep % 3 == 0
            worst = 0.0
            for s in range(size):
                i = items[s]
                if everything or weight[i] > 0:
                    step = _update(i, gram[i, i], l1, l2, weight, slope)
                    if step != 0.0:
                        worst = max(worst, abs(step) * (gram[i, i] + l2))
                        _move(step, gram[i], items, size, slope)
            # small steps come before small slopes, which are what counts
            if everything and worst <= limit:
                worst = _violation(items, size, l1, l2, weight, slope)
                if worst <= limit:
                    break
        violation[j] = _violation(items, size, l1, l2, weight, slope) / max(gram[j, j], 1.0)


@jit
def _update(i: int, curvature: float, l1: float, l2: float, weight: Array, slope: Array) -> float:
    """Set w_i to its best value, all others held; gives the step."""
    best = max(0.0, (slope[i] + curvature * weight[i] - l1) / (curvature + l2))
    step: float = best - weight[i]
    weight[i] = best
    return step


@jit
def _move(step: float, row: Array, items: Array, size: int, slope: Array) -> None:
    """Carry a step of one weight into the slopes of the candidates."""
    if 4 * size > row.size:  # one after the other is quicker than from here and there
        for i in range(row.size):
            slope[i] -= step * row[i]
    else:
        for s in range(size):
            slope[items[s]] -= step * row[items[s]]


@jit
def _violation(items: Array, size: int, l1: float, l2: float, weight: Array, slope: Array) -> float:
    """The slope c − Gw − l2·w − l1 must be 0 where w > 0 and not above 0 elsewhere."""
    worst = 0.0
    for s in range(size):
        i = items[s]
        excess = slope[i] - l2 * weight[i] - l1
        worst = max(worst, abs(excess) if weight[i] > 0 else excess)
    return worst
