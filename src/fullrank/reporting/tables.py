"""The tables of a report: the metrics of each model, and the comparison of the models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from fullrank._lib.text import decimals
from fullrank.inference.comparison.numbers import CORRECTIONS, shown_p
from fullrank.reporting.escaping import number, percent
from fullrank.reporting.figures.comparison_figures import first_of, rivals_of
from fullrank.reporting.parts import Rows, Table

if TYPE_CHECKING:
    from fullrank.reporting.result import Report


def metric_table(report: Report, named: Mapping[str, int]) -> Table:
    """Every model at each metric; the value of the one that may be named the best is bold."""
    head = tuple(report.columns())
    groups = tuple((metric, tuple(tuple(row) for row in rows)) for metric, rows in report.groups())
    column = head.index("full catalogue")
    records = report.records()
    return Table(
        name="metrics-table",
        caption="Metrics of each model",
        head=head,
        groups=groups,
        best=frozenset(
            (place, report.order.index(named[metric]), column)
            for place, metric in enumerate(report.metrics)
            if metric in named
        ),
        csv_head=tuple(records[0]),
        csv_rows=tuple(tuple(one.values()) for one in records),
    )


def comparison_table(report: Report, named: Mapping[str, int]) -> Table | None:
    """For each metric its models, best first: value, P(best), lead of the first and its p value.

    Where fewer users were compared than in the other tables, the head says so.
    """
    comparison = report.comparison
    if comparison is None:
        return None
    names = [model.name for model in report.models]
    measured = max(int(model.given.n_users or 0) for model in report.models)
    level = f"{100 * comparison.confidence_level:g} % CI of the lead"
    p = "p" if comparison.correction is None else f"p, {CORRECTIONS[comparison.correction]}"
    common = comparison.n_users[0] if comparison.paired else measured
    of = "" if common == measured else f" on the {common:,} common users"
    head = ("model", f"value{of}", "standard error", "P(best)", "behind the best by", level, p)
    groups: list[tuple[str, Rows]] = []
    best: set[tuple[int, int, int]] = set()
    plain: list[tuple[object, ...]] = []
    for column, metric in enumerate(comparison.metrics):
        first = first_of(comparison, metric)
        rivals = rivals_of(comparison, metric, first)
        rows: list[tuple[str, ...]] = []
        for i in sorted(
            range(len(names)),
            key=lambda i: (i != first, -comparison.estimate[i, column]),
        ):
            value, error = comparison.estimate[i, column], comparison.standard_error[i, column]
            chance, digits = float(comparison.p_best[i, column]), decimals(value)
            cells = (names[i], number(value, digits), number(error, digits), percent(chance))
            record = (metric, names[i], float(value), float(error), chance)
            if named.get(metric) == i:
                best.add((len(groups), len(rows), 1))
            if i not in rivals:  # the first itself, or one that it was not compared with
                rows.append((*cells, "–", "–", "–"))
                plain.append((*record, None, None, None, None))
                continue
            one = comparison.between(comparison.models[first], comparison.models[i], metric)
            low, high = one.confidence_interval
            behind = number(one.estimate, digits).replace("-", "−")
            ends = f"{number(low, digits)} … {number(high, digits)}".replace("-", "−")
            rows.append((*cells, behind, ends, shown_p(one.corrected_p, bare=True)))
            plain.append((*record, one.estimate, low, high, one.corrected_p))
        groups.append((metric, tuple(rows)))
    return Table(
        name="comparison-table",
        caption="Comparison of the models by each metric",
        head=head,
        groups=tuple(groups),
        best=frozenset(best),
        csv_head=("metric", "model", "value", "standard_error", "p_best", "behind_the_first",
                  "low", "high", "p_corrected"),
        csv_rows=tuple(plain),
    )  # fmt: skip
