"""One figure for each metric: the value of every model with its interval, the highest on top."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fullrank._lib.text import decimals, enumerated
from fullrank.inference import Comparison
from fullrank.metrics import spelled
from fullrank.reporting.escaping import interval, number, percent
from fullrank.reporting.figures.figure import EXACT, Axis, Figure, Series, numbers, without_gaps
from fullrank.reporting.measurement import Measurement


def metric_figures(
    models: Sequence[Measurement],
    metrics: Sequence[str],
    named: Mapping[str, int],
    comparison: Comparison | None,
    level: float,
) -> list[Figure]:
    """A figure for each metric; `named` has the row of the model that may be called the best."""
    return [
        _figure(models, metric, place, named.get(metric), comparison, level)
        for place, metric in enumerate(metrics)
    ]


def _figure(
    models: Sequence[Measurement],
    metric: str,
    place: int,
    best: int | None,
    comparison: Comparison | None,
    level: float,
) -> Figure:
    values = [model.values[metric] for model in models]
    order = sorted(range(len(models)), key=lambda i: values[i].estimate)  # drawn from below
    chances = _chances(comparison, metric)
    digits = [decimals(one.estimate) for one in values]  # as in every table
    series, known = [], []
    for at, i in enumerate(order):
        one = values[i]
        ends = interval(one.low, one.high, digits[i])
        told = number(one.estimate, digits[i]) + ("" if ends == "–" else f" ({ends})")
        told += " ▲" if one.marked else ""
        series.append(
            Series(
                name=models[i].name,
                kind="interval",
                x=numbers([one.estimate]),
                y=(float(at),),
                low=numbers([one.low]),
                high=numbers([one.high]),
                colour=i,
                legend=models[i].name,
                beside=(told, *([percent(chances[i])] if chances else [])),
                strong=i == best,
            )
        )
        if models[i].sampled and one.exact is not None:
            known.append((at, one.exact))
    ci = f"{100 * level:g} % CI" if any(one.low != (None,) for one in series) else ""
    alone, exact = len(models) == 1, ""
    if known:
        exact = " Vertical strokes: exact values, which are known here."
    if len(known) == 1:
        exact = " Vertical stroke: the exact value, which is known here."
    told_in_words = [f"{models[i].name} {series[at].beside[0]}" for at, i in enumerate(order)]
    lines, with_ci = (f" Lines: {ci}s.", f" with {ci}s") if ci else ("", "")
    if ci and alone:
        lines, with_ci = f" Line: {ci}.", f" with {ci}"
    kinds = dict.fromkeys("estimate" if one.sampled else "exact value" for one in models)
    points = "Point" if alone else "Points"
    shown = f"the {next(iter(kinds))}" if alone else " and ".join(f"{one}s" for one in kinds)
    little = _marked(models, metric, "interval" if ci else "value")
    found = Figure(
        name="metrics" if place == 0 else f"metrics-{place + 1}",
        section="answer" if place == 0 else "metrics",
        title=f"{metric} on the full catalogue",
        reading=f"{points}: {shown}.{lines}{exact}{little}",
        alternative=f"{points}{with_ci} of {metric}: {enumerated(told_in_words[::-1])}.",
        x=Axis(title=metric),
        y=Axis(title="", labels=tuple(models[i].name for i in order)),
        series=(
            *series,
            *(
                [
                    Series(
                        name="exact",
                        kind="stroke",
                        x=numbers(value for _, value in known),
                        y=numbers(at for at, _ in known),
                        colour=EXACT,
                        legend="exact value",
                    )
                ]
                if known
                else []
            ),
        ),
        beside=(f"{metric} ({ci})" if ci else metric, *(["P(best)"] if chances else [])),
        head=("model", metric, "low", "high", *(["P(best)"] if chances else []), "exact"),
        rows=tuple(
            (
                models[i].name,
                *(
                    number(v, digits[i])
                    for v in (values[i].estimate, values[i].low, values[i].high)
                ),
                *([percent(chances[i])] if chances else []),
                number(values[i].exact, digits[i]),
            )
            for i in reversed(order)
        ),
    )
    return without_gaps(found)


def _marked(models: Sequence[Measurement], metric: str, unsure: str) -> str:
    """What ▲ says of the values that have it; nothing where none has."""
    marked = [model for model in models if model.values[metric].marked]
    little = [
        model.estimate is not None and model.estimate.diagnosis.marks(metric) for model in marked
    ]
    said = ["the sample says little about the estimate"] if any(little) else []
    said += [f"the {unsure} may be unreliable"] if not all(little) else []
    return f" ▲: {' or '.join(said)} (see the table of metrics)." if said else ""


def _chances(comparison: Comparison | None, metric: str) -> list[float]:
    """The probability of each model to be the best; none where it was not compared."""
    if comparison is None:
        return []
    name = spelled(metric, comparison.metrics)
    if name is None:
        return []
    column: list[float] = comparison.p_best[:, comparison.metrics.index(name)].tolist()
    return column
