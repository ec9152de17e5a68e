"""The table of estimates for a paper: a row for each model, and what its caption has to say."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from fullrank._lib.results.markup import MARK, Best, Sheet
from fullrank._lib.text import decimals
from fullrank.inference.estimation.remarks import described

if TYPE_CHECKING:
    from fullrank.inference.estimation.result import Estimate

HIGHEST = "The highest value of each metric is in bold."
OF = {"population": "the population of users", "users": "these users"}
_DOUBTED = "▲ marks estimates that depend on more than the sample shows."


def sheet(
    models: Mapping[str, Estimate],
    *,
    by_model: bool = False,
    best: Mapping[str, str] | None = None,
    better: Mapping[str, Collection[str]] | None = None,
) -> Sheet:
    """Models by rows; for each metric the value, its interval and, where there are any, bounds.

    One model has a row for each metric, unless it is to be a row by itself (`by_model`).

    `best` names the model to print in bold for each metric, if any; without it that is the highest.
    `better` names the models to mark as significantly better.
    """
    ones = list(models.values())
    first = ones[0]
    wide = by_model or len(ones) > 1
    columns = [_column(models, metric, best, better or {}) for metric in first.values]
    cells = [[cell for column in columns for cell in column[row]] for row in range(len(ones))]
    if wide:
        head = ["model", *(name for metric in first.values for name in (metric, *_beside(first)))]
        rows = [[name, *row] for name, row in zip(models, cells, strict=True)]
    else:  # a row for each metric, and room for the naive value
        head = ["metric", "naive", "full catalogue", *_beside(first)]
        rows = [
            [metric, _naive(first, metric), *column[0]]
            for metric, column in zip(first.values, columns, strict=True)
        ]
    doubted = any(one.marked(metric) for one in ones for metric in one.values)
    bold = HIGHEST if len(ones) > 1 and best is None else ""
    lines = [*_measured(models), bold, _DOUBTED if doubted else ""]
    return Sheet(" ".join(line for line in lines if line), head, rows)


def _measured(models: Mapping[str, Estimate]) -> list[str]:
    """What was ranked, how the values came about, and whom the intervals are for."""
    first = next(iter(models.values()))
    samples = described({name: one.sample for name, one in models.items()})
    methods = dict.fromkeys(one.method for one in models.values())
    if list(methods) == ["exact"]:
        lines = [f"Full-catalogue metrics: {'; '.join(samples)}."]
    else:
        lines = [f"Full-catalogue metrics estimated from {'; '.join(samples)}.",
                 f"Estimator: {'; '.join(methods)}."]  # fmt: skip
    if first.confidence_level is not None:
        level = f"{100 * first.confidence_level:g} %"
        lines.append(f"{level} CI: confidence interval for {OF[first.interval_for]}.")
    return lines


def _beside(one: Estimate) -> list[str]:
    """The names of the columns that follow the value of a metric."""
    level = [] if one.confidence_level is None else [f"{100 * one.confidence_level:g} % CI"]
    return level + (["bounds"] if one.bounds is not None else [])


def _column(
    models: Mapping[str, Estimate],
    metric: str,
    best: Mapping[str, str] | None,
    better: Mapping[str, Collection[str]],
) -> list[list[str]]:
    """The cells of a metric, model by model, with the same decimals for all of them."""
    digits = max(decimals(one[metric]) for one in models.values())
    shown = {name: f"{one[metric]:.{digits}f}" for name, one in models.items()}
    if best is not None:
        bold: Sequence[str] = [best[metric]] if metric in best else []
    else:
        top = max(shown.values(), key=float)
        bold = [name for name, value in shown.items() if value == top and len(models) > 1]
    rows = []
    for name, one in models.items():
        mark = (MARK if name in better.get(metric, ()) else "") + (
            " ▲" if one.marked(metric) else ""
        )
        value = Best(shown[name] + mark) if name in bold else shown[name] + mark
        rows.append([value, *_ends(one, metric, digits)])
    return rows


def _ends(one: Estimate, metric: str, digits: int) -> list[str]:
    cells = []
    if one.confidence_level is not None:
        low, high = one.confidence_interval[metric]
        cells.append(f"[{low:.{digits}f}, {high:.{digits}f}]" if np.isfinite(low) else "–")
    if one.bounds is not None:
        cells.append(one.bounds.between(metric))
    return cells


def _naive(one: Estimate, metric: str) -> str:
    value = one.naive_of(metric)
    return "–" if value is None else f"{value:.{decimals(one[metric])}f}"
