"""Outcomes of the tables of Jin et al. 2021."""

from __future__ import annotations

from typing import Any

import numpy as np

from reproduction.aaai2021.published import NAMES, WINNERS_OF, label
from reproduction.aaai2021.tables import LIKE
from reproduction.outcome import compare, elsewhere, holds_for, missing
from reproduction.papers import SIZES

STANDS_IN = "7"  # the table about a yelp that cannot be had, and that of its winners


def estimates_outcome(table: dict[str, Any], repeats: int) -> dict[str, Any]:
    """Scaled figures against ours, of the rows whose model is like the paper's.

    The exact column, by which rows are chosen, is counted apart, and so are figures as published.
    """
    item, cells = f"004 Table {table['table']}", table["cells"]
    rows = {(cell["model"], cell["metric"]): cell["model_is_like"] for cell in cells}
    like, percent = sum(rows.values()), f"{100 * LIKE:.0f} %"
    if table["table"] == STANDS_IN:
        return _less_bias_elsewhere(item, table)
    if not like:
        return missing(item, f"no model has an exact value within {percent} of the paper's")
    scaled = compare(item, _compared(cells, "scaled"), within=LIKE, repeats=repeats)
    plain = compare(item, _compared(cells, "mean"), within=LIKE, repeats=repeats)
    tilted = [one for one in _compared(cells, "scaled") if one["column"] == "WMLE"]
    own = compare(item, tilted, within=LIKE, repeats=repeats)
    exact = f"{like} of {len(rows)} cells of the exact column within {percent}"
    counts = (
        f"estimates of these {like} rows: {scaled['within']} of {scaled['cells']} within when the "
        f"published are scaled by exact / published exact, {plain['within']} as published"
    )
    differs = (
        f"our models are other fits: {exact}; {counts}; {label('WMLE')} stands for WMLE "
        f"({own['within']} of {own['cells']} within)"
    )
    unscaled = {"within": plain["within"], "of": plain["cells"], "state": plain["state"]}
    return scaled | {"differs": differs, "exact": exact, "unscaled": unscaled}


def _compared(cells: list[dict[str, Any]], how: str) -> list[dict[str, Any]]:
    """Cells to compare: published means scaled to our exact values, or as they are."""
    found = []
    for cell in cells:
        factor = cell["exact"] / cell["published_exact"] if how == "scaled" else 1.0
        found.append(
            {
                "row": f"{cell['model']}, {cell['metric']}",
                "column": cell["estimator"],
                "published": factor * cell["published"]["mean"],
                "published_sd": factor * cell["published"]["sd"],
                "measured": cell["measured"]["mean"] if cell["model_is_like"] else None,
                "measured_sd": cell["measured"]["sd"],
            }
        )
    return found


def _less_bias_elsewhere(item: str, table: dict[str, Any]) -> dict[str, Any]:
    """What the paper says of its yelp, asked of ours."""
    names, biases = _biases(table)
    worst = np.max([biases[:, names.index(name)] for name in ("MLE", "MES")], axis=0)
    best = np.min([biases[:, names.index(name)] for name in ("BV 0.1", "BV 0.01")], axis=0)
    less = int((worst < best).sum())
    return elsewhere(
        item,
        "MLE and MES are more accurate in the mean than BV",
        holds_for(less, len(worst)),
        data=table["data"],
        differs=f"{_no_yelp()}; both less biased than either BV in {less} of {len(worst)} rows",
    )


def _biases(table: dict[str, Any]) -> tuple[list[str], np.ndarray]:
    """|mean - exact| / exact: rows of models and metrics, columns of estimators."""
    names = list(dict.fromkeys(cell["estimator"] for cell in table["cells"]))
    rows: dict[tuple[str, str], dict[str, float]] = {}
    for cell in table["cells"]:
        bias = abs(cell["measured"]["mean"] / cell["exact"] - 1)
        rows.setdefault((cell["model"], cell["metric"]), {})[cell["estimator"]] = bias
    return names, np.array([[row[name] for name in names] for row in rows.values()])


def _no_yelp() -> str:
    size = SIZES[NAMES[STANDS_IN]]
    return f"the paper's yelp ({size.users:,} users, {size.items:,} items) cannot be had"


def winners_outcome(table: dict[str, Any]) -> dict[str, Any]:
    item = f"004 Table {table['table']}"
    if table["table"] == WINNERS_OF[STANDS_IN]:
        there = min(min(counts.values()) for counts in table["published"].values())
        least = [
            min(table["right"][name][metric] for name in table["published"])
            for metric in table["best"]
        ]
        sure = sum(count >= there for count in least)
        return elsewhere(
            item,
            f"every estimator names the best model in {there} repeats of 100 or more",
            holds_for(sure, len(least)),
            data=table["data"],
            differs=f"{_no_yelp()}; by {sure} of {len(least)} metrics; our models lead by "
            f"{_leads(table)}",
        )
    cells = [
        {
            "row": metric,
            "column": estimator,
            "published": count,
            "published_sd": _binomial(count),
            "measured": table["right"][estimator][metric],
            "measured_sd": _binomial(table["right"][estimator][metric]),
        }
        for estimator, counts in table["published"].items()
        for metric, count in counts.items()
    ]
    return compare(
        item,
        cells,
        repeats=1,  # a count is one draw, with a standard deviation of its own
        differs=(
            "how often the best model is named depends on how far it leads, and our fits lead "
            f"by other margins ({_leads(table)} here); {label('WMLE')} stands for WMLE"
        ),
    )


def _leads(table: dict[str, Any]) -> str:
    return f"{min(table['lead'].values()):.1f} to {max(table['lead'].values()):.1f} %"


def _binomial(count: float) -> float:
    """The standard deviation of a number of successes in a hundred."""
    return float((count * (100 - count) / 100) ** 0.5)
