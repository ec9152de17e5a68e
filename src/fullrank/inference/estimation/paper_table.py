"""The table of estimates for a paper: a row for each model, and what its caption has to say."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from fullrank._lib.results.markup import MARK, Best, Sheet
from fullrank._lib.text import decimals
from fullrank.inference.estimation.remarks import described
from fullrank.metrics import parse

if TYPE_CHECKING:
    from fullrank.inference.estimation.result import Estimate

HIGHEST = "The highest value of each metric is in bold."
OF = {"population": "the population of users", "users": "these users"}
_BOUNDS = "Bounds: the smallest and largest values consistent with the sample."
_DOUBTED = "estimates at cut-offs that the sample does not resolve"
_AT_THE_TOP = "estimates that depend on ranks that the sample does not resolve"  # without a cut-off


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
    beside = _beside(ones)
    columns = [_column(models, metric, best, better or {}) for metric in first.values]
    cells = [[cell for column in columns for cell in column[row]] for row in range(len(ones))]
    if wide:
        head = ["model", *(name for metric in first.values for name in (metric, *beside))]
        rows = [[name, *row] for name, row in zip(models, cells, strict=True)]
    else:  # a row for each metric, and room for the naive value
        head = ["metric", "naive", "full catalogue", *beside]
        rows = [
            [metric, _naive(first, metric), *column[0]]
            for metric, column in zip(first.values, columns, strict=True)
        ]
    bold = HIGHEST if len(ones) > 1 and best is None else ""
    lines = [*_measured(models), _BOUNDS if "bounds" in beside else "", bold, _marks(ones)]
    return Sheet(" ".join(line for line in lines if line), head, rows)


def _measured(models: Mapping[str, Estimate]) -> list[str]:
    """What was ranked, how the values came about, and whom the intervals are for."""
    samples = described({name: one.sample for name, one in models.items()})
    # a paper has no use for the settings that each sample chose, such as "smoothed, λ = 5.6"
    methods = dict.fromkeys(one.method.partition(", ")[0] for one in models.values())
    if list(methods) == ["exact"]:
        lines = [f"Full-catalogue metrics: {'; '.join(samples)}."]
    else:
        lines = [f"Full-catalogue metrics estimated from {'; '.join(samples)}.",
                 f"Estimator: {'; '.join(methods)}."]  # fmt: skip
    seeded = [name for name, one in models.items() if one.seeds]
    if seeded:
        whose = "" if len(seeded) == len(models) else f" of {', '.join(seeded)}"
        lines.append(f"Values{whose} are averaged over seeds within users.")
    levels = _levels(models.values())
    if levels:
        people = dict.fromkeys(OF[one.interval_for] for one in models.values())
        at = f" at {' or '.join(levels)}, depending on the model" if len(levels) > 1 else ""
        lines.append(f"{_interval(levels)}: confidence interval for {' or '.join(people)}{at}.")
    return lines


def _marks(ones: Collection[Estimate]) -> str:
    """What the mark says here, in a sentence."""
    blind = [metric for one in ones for metric in one.values if one.diagnosis.marks(metric)]
    why = dict.fromkeys(
        reason
        for one in ones
        for metric in one.values
        for reason in one.diagnosis.warnings.get(metric, ())
    )
    doubted = _DOUBTED if all(parse(metric).k for metric in blind) else _AT_THE_TOP
    said = [doubted] if blind else []
    said += ["values with a warning"] if why else []
    warnings = [f" {reason[0].upper()}{reason[1:]}" for reason in why]
    marked = f"▲ marks {', and '.join(said)}".removesuffix(".")
    return f"{marked}.{''.join(warnings)}" if said else ""


def whose_intervals(ones: Collection[Estimate]) -> list[str]:
    """At which level the intervals are, and for whom: a line, or none without intervals."""
    levels, people = _levels(ones), dict.fromkeys(OF[one.interval_for] for one in ones)
    if not levels:
        return []
    return [f"Intervals: {' or '.join(levels)} CI for {' or '.join(people)}."]


def _levels(ones: Iterable[Estimate]) -> list[str]:
    levels = dict.fromkeys(one.confidence_level for one in ones)
    return [f"{100 * level:g} %" for level in levels if level is not None]


def _interval(levels: Sequence[str]) -> str:
    return f"{levels[0]} CI" if len(levels) == 1 else "CI"


def _beside(ones: Collection[Estimate]) -> list[str]:
    """The names of the columns that follow the value of a metric, where some model has them."""
    levels = _levels(ones)
    bounded = any(one.bounds is not None for one in ones)
    return ([_interval(levels)] if levels else []) + (["bounds"] if bounded else [])


def _column(
    models: Mapping[str, Estimate],
    metric: str,
    best: Mapping[str, str] | None,
    better: Mapping[str, Collection[str]],
) -> list[list[str]]:
    """The cells of a metric, model by model, with the same decimals for all of them."""
    digits = max(decimals(one[metric]) for one in models.values())
    shown = {name: f"{one[metric]:.{digits}f}" for name, one in models.items()}
    top = max(shown.values(), key=float)
    bold = [name for name, value in shown.items() if value == top and len(models) > 1]
    if best is not None:
        bold = [name for name in bold if name == best.get(metric)]
    levels, beside = _levels(models.values()), _beside(models.values())
    rows = []
    for name, one in models.items():
        mark = (MARK if name in better.get(metric, ()) else "") + (
            " ▲" if one.marked(metric) else ""
        )
        value = Best(shown[name] + mark) if name in bold else shown[name] + mark
        ends = [_ends(one, metric, digits)] if levels else []
        if "bounds" in beside:
            ends.append("–" if one.bounds is None else one.bounds.between(metric))
        rows.append([value, *ends])
    return rows


def _ends(one: Estimate, metric: str, digits: int) -> str:
    low, high = one.confidence_interval[metric]
    return f"[{low:.{digits}f}, {high:.{digits}f}]" if np.isfinite(low) else "–"


def _naive(one: Estimate, metric: str) -> str:
    value = one.naive_of(metric)
    return "–" if value is None else f"{value:.{decimals(one[metric])}f}"
