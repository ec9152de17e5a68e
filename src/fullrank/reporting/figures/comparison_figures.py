"""Figures of the comparison: who leads, by how much, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fullrank._lib.text import enumerated
from fullrank.inference import Comparison
from fullrank.inference.comparison.numbers import decimals_of, shown_p
from fullrank.reporting.escaping import percent
from fullrank.reporting.figures.figure import N_COLOURS, Axis, Figure, Series, numbers


def first_of(comparison: Comparison, metric: str) -> int:
    """The model that the others are set against: the one with the highest value."""
    return comparison.models.index(comparison.leader(metric).highest)


def rivals_of(comparison: Comparison, metric: str, first: int) -> list[int]:
    """The models that one was compared with at a metric, best first: with a baseline not all."""
    tested = {
        frozenset((one.first, one.second)) for one in comparison.differences if one.metric == metric
    }
    column = comparison.estimate[:, comparison.metrics.index(metric)]
    return [
        int(i)
        for i in np.argsort(-column, kind="stable")
        if frozenset((comparison.models[first], comparison.models[i])) in tested
    ]


def comparison_figures(comparison: Comparison, names: Sequence[str]) -> list[Figure]:
    """The leads at the first metric, and the probabilities at all of them."""
    chances = _chances if len(names) <= N_COLOURS else _chances_of_many
    return [_leads(comparison, names), chances(comparison, names)]


def _leads(comparison: Comparison, names: Sequence[str]) -> Figure:
    metric, first = comparison.metrics[0], first_of(comparison, comparison.metrics[0])
    others = rivals_of(comparison, metric, first)[::-1]
    alone = len(others) == 1
    whom = names[others[0]] if alone else "each of the other models"
    if alone and len(names) > 2:
        whom = f"the baseline {whom}"
    series, rows = [], []
    level = f"{100 * comparison.confidence_level:g} %"
    for at, i in enumerate(others):  # drawn from below: the closest rival on top
        one = comparison.between(comparison.models[first], comparison.models[i], metric)
        low, high = one.confidence_interval
        digits = decimals_of(one.standard_error)
        ends = [f"{end:+.{digits}f}".replace("-", "−") for end in (one.estimate, low, high)]
        series.append(
            Series(
                name=f"lead over {names[i]}",
                kind="interval",
                x=numbers([one.estimate]),
                y=numbers([at]),
                low=numbers([low]),
                high=numbers([high]),
                colour=i,
                legend=names[i],
                beside=(f"{ends[0]} ({ends[1]} to {ends[2]})",),
            )
        )
        rows.append((names[i], *ends, shown_p(one.corrected_p, bare=True)))
    told = [f"{row[1]} over {row[0]} ({row[2]} to {row[3]})" for row in reversed(rows)]
    return Figure(
        name="differences",
        section="comparison",
        title=f"Lead of {names[first]} in {metric}",
        reading=f"{'Point' if alone else 'Points'}: how far {names[first]} is ahead of {whom}. "
        f"{f'Line: {level} CI' if alone else f'Lines: {level} CIs'}. A lead whose interval "
        f"includes zero could be due to chance.{_uncorrected(comparison)}",
        alternative=f"{'Point with its interval' if alone else 'Points with intervals'}: the lead "
        f"of {names[first]} in {metric} is {enumerated(told)}.",
        x=Axis(title=f"lead in {metric}", zero=True),
        y=Axis(title="", labels=tuple(f"over {names[i]}" for i in others)),
        beside=(f"lead ({level} CI)",),
        series=tuple(series),
        head=("over", "lead", "low", "high", "p, corrected" if comparison.corrects else "p"),
        rows=tuple(reversed(rows)),
    )


def _uncorrected(comparison: Comparison) -> str:
    """An interval without zero is no significant lead where many differences are tested."""
    if not comparison.corrects:
        return ""
    return (
        " The intervals are not corrected for multiple comparisons; the p values in the table are."
    )


def _chances(comparison: Comparison, names: Sequence[str]) -> Figure:
    metrics = comparison.metrics[::-1]  # drawn from below
    order = sorted(range(len(names)), key=lambda i: -comparison.estimate[i, 0])
    at = [comparison.metrics.index(metric) for metric in metrics]
    best = [
        f"{names[comparison.models.index(one.likeliest)]} by {metric} ({percent(one.probability)})"
        for metric in comparison.metrics
        for one in [comparison.leader(metric)]
    ]
    return Figure(
        name="winner",
        section="comparison",
        title="Probability of being the best",
        reading="The probabilities in a bar sum to 100 % and are for the population of users.",
        alternative=f"Stacked bars. Most likely the best: {'; '.join(best)}.",
        x=Axis(title="probability", low=0.0, high=1.005, percent=True),
        y=Axis(title="", labels=tuple(metrics)),
        series=tuple(
            Series(
                name=names[i],
                kind="bar",
                x=numbers(comparison.p_best[i, at].tolist()),
                y=numbers(range(len(metrics))),
                colour=i,
                legend=names[i],
            )
            for i in order
        ),
        head=("model", *comparison.metrics),
        rows=_shares(comparison, names, order),
    )


def _chances_of_many(comparison: Comparison, names: Sequence[str]) -> Figure:
    """A bar for each model at the first metric: more than there are colours for one bar."""
    metric, chance = comparison.metrics[0], comparison.p_best[:, 0]
    order = sorted(range(len(names)), key=lambda i: (chance[i], comparison.estimate[i, 0]))
    first = order[-1]
    return Figure(
        name="winner",
        section="comparison",
        title=f"Probability of being the best by {metric}",
        reading="The probabilities sum to 100 % and are for the population of users.",
        alternative=f"Bars. Most likely the best: {names[first]} "
        f"({percent(float(chance[first]))}).",
        x=Axis(title="probability", low=0.0, high=1.05 * float(chance[first]), percent=True),
        y=Axis(title="", labels=tuple(names[i] for i in order)),
        series=tuple(
            Series(
                name=names[i],
                kind="bar",
                x=tuple(float(chance[i]) if row == place else 0.0 for row in range(len(order))),
                y=numbers(range(len(order))),
                colour=i,
                legend=names[i],
            )
            for place, i in enumerate(order)
        ),
        head=("model", *comparison.metrics),
        rows=_shares(comparison, names, order[::-1]),
    )


def _shares(
    comparison: Comparison, names: Sequence[str], order: Sequence[int]
) -> tuple[tuple[str, ...], ...]:
    return tuple((names[i], *map(percent, comparison.p_best[i].tolist())) for i in order)
