"""The parameter searches of MF and LRR: first a wide one, then the published grids.

One decomposition serves them all (Li, dissertation, Algorithm 2). The published grids are used for
their own data. For other data they are centred at the best λ of the wide search: the same multiples
of it, and ranks that are the same share of the catalogue.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fullrank.models import LRR, MF
from reproduction.linear_models.data import SOURCES, Problem
from reproduction.linear_models.fits import Tried, best_of, rounded, tried
from reproduction.linear_models.published import SEARCHES

# λ in units of the mean squared singular value (LRR), or of its root (MF)
WIDE = {"LRR": (2, 4, 8, 12, 16, 32, 64), "MF": (0, 0.5, 1, 1.5, 2, 2.5, 3, 4)}
SHARES = {"LRR": (0.05, 0.1, 0.3, 1.0), "MF": (0.0125, 0.025, 0.05, 0.1, 0.3)}


def searched(problem: Problem, model: str) -> tuple[list[Tried], dict[str, Any]]:
    """Everything that was tried, and the tables of it."""
    unit = problem.unit if model == "LRR" else problem.unit**0.5
    wide = [
        _one(problem, model, max(2, round(share * problem.n_items)), rounded(unit * multiple))
        for multiple in WIDE[model][:: 3 if problem.quick else 1]
        for share in SHARES[model]
    ]
    best = best_of(wide)
    every, tables = list(wide), {}
    for table, published in SEARCHES.items():
        if published["model"] == model and _fits(problem.name, published["data"]):
            grid = _grid(problem, published, best.settings["regularization"])
            rows = [
                [_one(problem, model, k, penalty) for penalty in grid["penalties"]]
                for k in grid["ranks"]
            ]
            every += [one for row in rows for one in row]
            tables[table] = grid | {"values": [[round(one.score, 5) for one in r] for r in rows]}
    tables["wide"] = _table(problem, wide, unit)
    return every, tables


def _fits(name: str, data: Any) -> bool:
    own = SOURCES[name].published
    return own in ("", "MSD") or own == data


def _grid(problem: Problem, published: dict[str, Any], best: float) -> dict[str, Any]:
    """The published grid, or the same around another best λ and in another catalogue."""
    if SOURCES[problem.name].published == published["data"]:
        return {"penalties": published["penalties"], "ranks": published["ranks"], "exact": True}
    # the catalogues are of 20,108 and 17,769 items
    size = 1.0 if published["data"] == "ML-20M" else 20_108 / 17_769
    theirs = published["penalties"][published_best(published)[1]]
    return {
        "penalties": [rounded(best * one / theirs) for one in published["penalties"]],
        "ranks": [min(problem.share(k * size), problem.n_items) for k in published["ranks"]],
        "exact": False,
    }


def published_best(published: dict[str, Any]) -> tuple[int, int]:
    """Row and column of the greatest value, of equals the first."""
    values = np.asarray(published["values"])
    row, column = np.unravel_index(values.argmax(), values.shape)
    return int(row), int(column)


def _one(problem: Problem, model: str, n_factors: int, penalty: float) -> Tried:
    def fit(n_factors: int, regularization: float) -> Any:
        # MF learns from the fold-in part of the held-out users too, as in the dissertation
        if model == "MF":
            made = MF(n_factors=n_factors, regularization=regularization)
            return made.fit_from(problem.known_spectrum, problem.known)
        made_too = LRR(n_factors=n_factors, regularization=regularization)
        return made_too.fit_from(problem.spectrum, problem.split.train)

    return tried(problem, model, {"n_factors": n_factors, "regularization": penalty}, fit)


def _table(problem: Problem, wide: list[Tried], unit: float) -> dict[str, Any]:
    penalties = sorted({one.settings["regularization"] for one in wide})
    ranks = sorted({one.settings["n_factors"] for one in wide})
    score = {(t.settings["n_factors"], t.settings["regularization"]): t.score for t in wide}
    return {
        "penalties": penalties,
        "ranks": ranks,
        "exact": False,
        "unit": round(unit, 3),
        "values": [[round(score[k, penalty], 5) for penalty in penalties] for k in ranks],
    }
