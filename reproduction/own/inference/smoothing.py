"""Smoothed likelihood against EM stopped early, on the same samples.

Four data sets, three models, training items kept and excluded; adaptive samples (25 to N/8,
without replacement) and, for the choice that `method="auto"` makes, fixed ones. The average over
K = 1..50 of the relative error of Recall, NDCG and AP. FULLRANK_DATA names the folder of the data.
"""

from __future__ import annotations

import argparse
import importlib
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from fullrank.designs import Adaptive, Design, Uniform
from fullrank.estimators import mle, smoothed
from fullrank.samples import simulate
from reproduction.common.exact import METRICS, MODELS, SOURCES, Judge, exact_ranks
from reproduction.common.workers import in_processes
from reproduction.study import QUICK, spread

REPEATS = 20

DESIGNS: dict[str, Design] = {
    "adaptive": Adaptive(25),
    "fixed 100": Uniform(100, replacement=True),
    "fixed 500": Uniform(500, replacement=True),
}
SHARE, WORST = 0.75, 1.15  # the goals, for the adaptive design
FALLS = (0.3, 0.5, 0.7)  # how the price of bending falls with the log-rank
FALL_REPEATS = 6


@dataclass(frozen=True)
class Cell:
    """One data set, model and treatment of training items, under one design."""

    data: str
    model: str
    excluded: bool
    design: str
    repeats: int
    fall: float | None = None


def study(asked: argparse.Namespace) -> dict[str, Any]:
    names = [QUICK] if asked.quick else [name for name in SOURCES if name != QUICK]
    models = ["popularity"] if asked.quick else list(MODELS)
    designs = [name for name in DESIGNS if not (asked.quick and name == "fixed 500")]
    for name in names:
        for model in models:
            exact_ranks(name, model, False, asked.cache)  # once, before the processes start
    fewer = max(2, asked.repeats // 2)
    cells = [
        Cell(name, model, excluded, design, asked.repeats if design == "adaptive" else fewer)
        for design in designs
        for name in names
        for excluded in ((False,) if asked.quick else (False, True))
        for model in models
    ]
    falls = [
        Cell(name, models[0], False, "adaptive", min(FALL_REPEATS, asked.repeats), fall)
        for name in names
        for fall in FALLS
    ]
    found = in_processes(partial(measure, cache=asked.cache), cells + falls, asked.jobs)
    measured = found[: len(cells)]
    return {
        "goals": {"share_won": SHARE, "worst_ratio": WORST, "design": "adaptive"},
        "summary": [_summary(design, measured) for design in designs],
        "cells": measured,
        "fall": found[len(cells) :],
    }


def measure(cell: Cell, cache: Path) -> dict[str, Any]:
    """Errors of both estimators over the repeats of a cell."""
    if cell.fall is None:
        return _measure(cell, cache)
    # a constant of the estimator, not for users to set; the name in the package is the function
    with patch.object(
        importlib.import_module("fullrank.estimators.uniform.smoothed"), "_FALL", cell.fall
    ):
        return _measure(cell, cache)


def _measure(cell: Cell, cache: Path) -> dict[str, Any]:
    known = exact_ranks(cell.data, cell.model, cell.excluded, cache)
    judge = Judge(known)
    design = DESIGNS[cell.design]
    sizes, early, smooth, penalties = [], [], [], []
    for seed in range(cell.repeats):
        sample = simulate(known.ranks, n_items=known.n_items, design=design, rng=seed)
        fit = smoothed(sample, grid=judge.grid)
        sizes.append(sample.average_size)
        penalties.append(float(fit.method.split("=")[1]))
        early.append(judge.errors(mle(sample, grid=judge.grid).mass))
        smooth.append(judge.errors(fit.mass))
    result = {
        "data": cell.data,
        "model": cell.model,
        "items": "excluded" if cell.excluded else "kept",
        "design": cell.design,
        "repeats": cell.repeats,
        **({} if cell.fall is None else {"fall": cell.fall}),
        "n_users": int(known.ranks.size),
        "n_items": known.n_items,
        "cut_offs": judge.cut_offs,
        "average_size": round(float(np.mean(sizes)), 1),
        "penalty": float(np.median(penalties)),
        "errors": {
            m: _compared(np.array(early)[:, at], np.array(smooth)[:, at])
            for at, m in enumerate(METRICS)
        },
    }
    print(*cell.__dict__.values(), *(e["ratio"] for e in result["errors"].values()), flush=True)
    return result


def _compared(early: np.ndarray, smooth: np.ndarray) -> dict[str, Any]:
    ratio = smooth.mean() / early.mean()
    # of a ratio of means over pairs (the delta method)
    error = (smooth - ratio * early).std(ddof=1) / early.size**0.5 / early.mean()
    return {
        "mle": spread(early),
        "smoothed": spread(smooth),
        "ratio": round(float(ratio), 4),
        "ratio_standard_error": round(float(error), 4),
    }


def _summary(design: str, cells: list[dict[str, Any]]) -> dict[str, Any]:
    here = [
        (cell["errors"][m]["ratio"], cell, m)
        for cell in cells
        if cell["design"] == design
        for m in METRICS
    ]
    ratios = np.array([ratio for ratio, _, _ in here])
    worst, cell, metric = max(here, key=lambda one: one[0])
    return {
        "design": design,
        "cells": len(here),
        "share_won": round(float((ratios < 1.0).mean()), 4),
        "geometric_mean_ratio": round(float(np.exp(np.log(ratios).mean())), 4),
        "worse_by_more_than_15_percent": int((ratios > WORST).sum()),
        "worst_ratio": worst,
        "worst_ratio_standard_error": cell["errors"][metric]["ratio_standard_error"],
        "worst": f"{cell['data']}, {cell['model']}, {cell['items']}, {metric}",
        "by_metric": {m: round(float((ratios[at :: len(METRICS)] < 1.0).mean()), 4)
                      for at, m in enumerate(METRICS)},
    }  # fmt: skip
