"""The statements of the parameter searches in Tables 14–17, in numbers."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from reproduction.linear_models.search import published_best

FLAT = 2.0  # percent of the best that a flat search may lose …
FLAT_FROM = 0.75  # … with λ from so many times the best on: the published grids go to 1.5 of it

Grid = dict[str, Any]


def lost(grid: Grid, published: Grid) -> float:
    """The largest loss from FLAT_FROM on, in percent of the best value of the grid."""
    kept = [
        at
        for at, penalty in enumerate(published["penalties"])
        if penalty >= FLAT_FROM * _best(published)
    ]
    top = max(map(max, grid["values"]))
    return float(100 * (1 - min(row[at] for row in grid["values"] for at in kept) / top))


def falling(grid: Grid) -> tuple[int, int]:
    """Steps of the rank, from the lowest on, with which a model without regularisation falls."""
    first = [row[0] for row in grid["values"]]
    steps = list(pairwise(first))
    return sum(after < before for before, after in steps), len(steps)


def at_twice(grid: Grid, published: Grid) -> list[float]:
    """NDCG@100 at each rank, with twice the best λ."""
    column = published["penalties"].index(2 * _best(published))
    return [row[column] for row in grid["values"]]


def _best(published: Grid) -> float:
    return float(published["penalties"][published_best(published)[1]])
