"""Figures and table of the comparison: who leads, by how much, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence

from fullrank._lib.text import decimals
from fullrank.inference import Comparison
from fullrank.inference.comparison.numbers import decimals_of, shown_p
from fullrank.reporting.escaping import among, percent, short
from fullrank.reporting.figures.figure import Axis, Figure, Series, numbers


def first_of(comparison: Comparison, metric: str) -> int:
    """The model that the others are set against: the one with the highest value."""
    return comparison.models.index(comparison.leader(metric).highest)


def comparison_figures(comparison: Comparison, names: Sequence[str]) -> list[Figure]:
    """The leads at the first metric, and the probabilities at all of them."""
    return [_leads(comparison, names), _chances(comparison, names)]


def comparison_table(
    comparison: Comparison, names: Sequence[str], n_measured: int
) -> tuple[tuple[str, ...], list[tuple[str, list[tuple[str, ...]]]]]:
    """For each metric its models, best first: value, P(best), lead of the first and its p value.

    Where fewer users were compared than the `n_measured` of the other tables, the head says so.
    """
    level = f"{100 * comparison.confidence_level:g} % interval"
    p = "p" if comparison.correction is None else f"p, {comparison.correction.title()}"
    common = comparison.n_users[0] if comparison.paired else n_measured
    of = "" if common == n_measured else f" on the {common:,} common users"
    head = ("model", f"value{of} (SE: standard error)", "P(best)", "behind the first by", level, p)
    groups = []
    for column, metric in enumerate(comparison.metrics):
        first = first_of(comparison, metric)
        rows = []
        for i in sorted(
            range(len(names)),
            key=lambda i: (i != first, -comparison.estimate[i, column]),
        ):
            digits = decimals(comparison.estimate[i, column])
            value = f"{comparison.estimate[i, column]:.{digits}f}"
            error = f"{comparison.standard_error[i, column]:.{digits}f}"
            cells = [
                names[i],
                f"{value} (SE {error})",
                percent(float(comparison.p_best[i, column])),
            ]
            if i == first:
                rows.append((*cells, "–", "–", "–"))
                continue
            one = comparison.between(comparison.models[first], comparison.models[i], metric)
            low, high = one.confidence_interval
            ends = f"{low:.{digits}f} … {high:.{digits}f}".replace("-", "−")
            tested = shown_p(one.corrected_p, bare=True)
            rows.append((*cells, f"{one.estimate:.{digits}f}".replace("-", "−"), ends, tested))
        groups.append((metric, rows))
    return head, groups


def _leads(comparison: Comparison, names: Sequence[str]) -> Figure:
    metric, first = comparison.metrics[0], first_of(comparison, comparison.metrics[0])
    others = sorted((i for i in range(len(names)) if i != first),
                    key=lambda i: comparison.estimate[i, 0])  # fmt: skip
    series, rows = [], []
    for at, i in enumerate(others):  # drawn from below: the closest rival on top
        one = comparison.between(comparison.models[first], comparison.models[i], metric)
        low, high = one.confidence_interval
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
            )
        )
        digits = decimals_of(one.standard_error)
        ends = (f"{end:+.{digits}f}".replace("-", "−") for end in (one.estimate, low, high))
        rows.append((names[i], *ends, shown_p(one.corrected_p, bare=True)))
    told = [f"over {row[0]} {row[1]} ({row[2]} to {row[3]})" for row in reversed(rows)]
    level = f"{100 * comparison.confidence_level:g} %"
    return Figure(
        name="differences",
        section="comparison",
        title=f"Lead of {names[first]} in {metric}",
        reading=f"Points: by how much {names[first]} is ahead of each other model, with {level} "
        "intervals. One that crosses zero could be chance.",
        alternative=f"Points with intervals: the lead of {names[first]} in {metric} is "
        f"{among(told)}.",
        x=Axis(title="difference"),
        y=Axis(title="", labels=tuple(f"over {short(names[i], 16)}" for i in others)),
        series=tuple(series),
        head=("over", "lead", "low", "high", "p, corrected"),
        rows=tuple(reversed(rows)),
    )


def _chances(comparison: Comparison, names: Sequence[str]) -> Figure:
    metrics = comparison.metrics[::-1]  # drawn from below
    order = sorted(range(len(names)), key=lambda i: -comparison.estimate[i, 0])
    at = [comparison.metrics.index(metric) for metric in metrics]
    best = [
        f"{metric}: {names[comparison.models.index(one.likeliest)]} {percent(one.probability)}"
        for metric in comparison.metrics
        for one in [comparison.leader(metric)]
    ]
    return Figure(
        name="winner",
        section="comparison",
        title="Probability of being the best",
        reading="Each bar sums to 100 %. The probabilities are for the population of users.",
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
        rows=tuple((names[i], *(percent(p) for p in comparison.p_best[i].tolist())) for i in order),
    )
