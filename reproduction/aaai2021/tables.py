"""The tables of Jin et al. 2021 from the repeats: estimates at 10, and winners."""

from __future__ import annotations

from typing import Any

import numpy as np

from reproduction.aaai2021.published import ESTIMATORS, USERS, WINNERS_OF, estimates, winners
from reproduction.common.bank import MODELS, bank
from reproduction.common.exact import METRICS
from reproduction.common.repeats import BOUND_KS, Cell, Repeats, right

Found = dict[Cell, Repeats]

K = 10
SIZE = "fixed 100"  # 99 sampled items and the target, with replacement
WINNER_KS = (1, 5, 10, 20)
# our own columns: label, design, estimator
OURS = (
    ("naive", SIZE, "naive"),
    ("smoothed", SIZE, "smoothed"),
    ("smoothed, without replacement", "fixed 100 without", "smoothed"),
    ("MLE, adaptive from 100", "adaptive 100", "MLE"),
    ("MLE, adaptive from 25", "adaptive 25", "MLE"),
    ("smoothed, adaptive from 25", "adaptive 25", "smoothed"),
)
BOUNDED = (("bounds", SIZE), ("bounds, adaptive from 25", "adaptive 25"))
LIKE = 0.15  # how far the exact values of a model may be apart that is still the paper's
NOT_HELD = ("WMLE",)  # what was published is not what the printed equation gives
DIGITS = 6  # enough that a page rounds once


def models_of(found: Found, data: str) -> list[str]:
    """The models whose repeats are there; all five but in the quick form."""
    return [model for model in MODELS if Cell(data, model, SIZE) in found]


def _spread(values: np.ndarray) -> dict[str, float]:
    return {
        "mean": round(float(values.mean()), DIGITS),
        "sd": round(float(values.std(ddof=1)), DIGITS),
    }


def estimate_table(table: str, data: str, found: Found) -> dict[str, Any]:
    """Tables 2, 3, 6, 7: mean and spread of each estimator at 10, in thousandths."""
    published = estimates(table)
    known = bank(data)[MODELS[0]]
    n_users, n_items = int(known.ranks.size), known.n_items
    wider = (USERS[table] / n_users) ** 0.5  # a mean over fewer users spreads more
    cells = [
        _cell(model, metric, name, found[Cell(data, model, SIZE)], published[model, metric], wider)
        for model in models_of(found, data)
        for metric in METRICS
        for name in published[model, metric][1]
    ]
    return {
        "table": table,
        "data": data,
        "n_users": n_users,
        "n_items": n_items,
        "published_users": USERS[table],
        "cells": cells,
    }


def _cell(
    model: str,
    metric: str,
    name: str,
    repeats: Repeats,
    published: tuple[float, dict[str, tuple[float, float]]],
    wider: float,
) -> dict[str, Any]:
    exact = 1000 * float(repeats.exact[METRICS.index(metric), K - 1])
    mean, sd = published[1][name]
    scaled = mean * exact / published[0]
    measured = _spread(1000 * repeats.of(name, metric, K))
    ratio = measured["sd"] / (sd * wider)
    return {
        "model": model,
        "metric": metric,
        "estimator": name,
        "exact": round(exact, DIGITS),
        "published_exact": published[0],
        "model_is_like": bool(abs(exact / published[0] - 1) <= LIKE),
        "published": {"mean": mean, "sd": sd},
        "published_scaled": round(scaled, DIGITS),
        "measured": measured,
        "held_to": name not in NOT_HELD,
        "spread_ratio": round(ratio, 3),
        "spread_within_quarter": bool(abs(ratio - 1) <= 0.25),
    }


def own_table(table: str, data: str, found: Found) -> dict[str, Any]:
    """Our own estimators and designs for the same metrics, and the bounds."""
    rows = []
    for model in models_of(found, data):
        for at, metric in enumerate(METRICS):
            row: dict[str, Any] = {"model": model, "metric": metric}
            first = found[Cell(data, model, SIZE)]
            row["exact"] = round(1000 * float(first.exact[at, K - 1]), DIGITS)
            row["estimates"] = {
                label: _spread(1000 * found[Cell(data, model, design)].of(name, metric, K))
                for label, design, name in OURS
            }
            row["bounds"] = {
                label: _bounds(found[Cell(data, model, design)], at) for label, design in BOUNDED
            }
            rows.append(row)
    return {"table": table, "data": data, "rows": rows}


def _bounds(repeats: Repeats, at: int) -> dict[str, Any]:
    """Mean ends in thousandths, and in how many of the repeats they held the exact value."""
    ends = 1000 * repeats.bounds[:, at, BOUND_KS.index(K)]
    exact = 1000 * repeats.exact[at, K - 1]
    held = (ends[:, 0] <= exact + 1e-9) & (exact - 1e-9 <= ends[:, 1])
    return {
        "low": round(float(ends[:, 0].mean()), DIGITS),
        "high": round(float(ends[:, 1].mean()), DIGITS),
        "held": int(held.sum()),
        "of": len(ends),
    }


def winner_table(table: str, data: str, found: Found) -> dict[str, Any]:
    """Tables 4, 8, 9, 10: how many of a hundred repeats name the best model."""
    published = winners(WINNERS_OF[table])
    columns = [*((name, SIZE, name) for name in ESTIMATORS), *OURS]
    asked = [(metric, k) for k in WINNER_KS for metric in METRICS]
    names = [f"{metric}@{k}" for metric, k in asked]
    models = models_of(found, data)
    exact = np.array(
        [
            [found[Cell(data, m, SIZE)].exact[METRICS.index(metric), k - 1] for metric, k in asked]
            for m in models
        ]
    )
    order = np.sort(exact, axis=0)
    counted = {
        label: dict(zip(names, _right(data, design, name, asked, exact, found), strict=True))
        for label, design, name in columns
    }
    return {
        "table": WINNERS_OF[table],
        "data": data,
        "best": dict(zip(names, (models[i] for i in exact.argmax(axis=0)), strict=True)),
        "lead": dict(
            zip(names, np.round(100 * (order[-1] / order[-2] - 1), DIGITS).tolist(), strict=True)
        ),
        "published": published,
        "right": counted,
        "by_design": _by_design(data, asked, exact, found),
    }


def _right(
    data: str,
    design: str,
    name: str,
    asked: list[tuple[str, int]],
    exact: np.ndarray,
    found: Found,
) -> list[float]:
    """Percent of the repeats that name the best model; every model has draws of its own."""
    values = np.array(
        [
            [found[Cell(data, model, design)].of(name, metric, k) for metric, k in asked]
            for model in models_of(found, data)
        ]
    )  # models, metrics, repeats
    return [round(float(one), DIGITS) for one in right(np.swapaxes(values, 1, 2), exact)]


def _by_design(
    data: str, asked: list[tuple[str, int]], exact: np.ndarray, found: Found
) -> list[dict[str, Any]]:
    """For each design and estimator the mean percent over the metrics."""
    designs = dict.fromkeys(
        cell.design for cell in found if cell.data == data and cell.model == MODELS[0]
    )
    return [
        {
            "data": data,
            "design": design,
            "metrics": len(asked),
            "right": {
                name: round(float(np.mean(_right(data, design, name, asked, exact, found))), DIGITS)
                for name in found[Cell(data, MODELS[0], design)].estimators
            },
        }
        for design in designs
    ]
