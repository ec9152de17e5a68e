"""The outcomes of the tables and figures in chapter 4 of Li (dissertation)."""

from __future__ import annotations

from typing import Any

import numpy as np

from reproduction.gowalla_losses.published import DATA, SETTINGS, TABLE_12, TABLE_13, Row
from reproduction.gowalla_losses.settings import METRICS
from reproduction.gowalla_losses.shapes import shapes
from reproduction.outcome import compare, missing, nothing, shown

LEAST = 0.97  # of a published figure
HERE = "Gowalla"
_DATA = "Gowalla alone: Yelp2018 and Amazon-Books are not here"
_ROUNDS = (
    "settings chosen on a tenth of the training pairs, but losses that fell short of the published "
    "test figures were given more candidates"
)
_UNLIKE = {
    "n_negatives": "{own:,} negatives shared by a batch (there {theirs:,} for each pair)",
    "batch_size": "batches of {own:,} ({theirs:,})",
    "learning_rate": "a rate of {own:g} at the start ({theirs:g})",
}


def tables(content: dict[str, Any]) -> list[dict[str, Any]]:
    found = means(content)
    others = "of the other models iALS alone was trained again"
    return [
        nothing("003 Table 11", "it counts users, items and interactions of the data sets"),
        _compared("003 Table 12", TABLE_12, found, f"{_DATA}; {_ROUNDS}"),
        _compared(
            "003 Table 13", TABLE_13, found | content["others"], f"{_DATA}; {others}; {_ROUNDS}"
        ),
        _settings(
            content, found, "003 Table 19", "mine-plus, as published", "weight and temperature"
        ),
        _settings(
            content, found, "003 Table 20", "debiased-ccl, as published", "weight and margin"
        ),
        _figure(content, "003 Figure 13", ("negatives", "mse", "positives")),
        _figure(content, "003 Figure 14", ("weight", "temperature")),
    ]


def means(content: dict[str, Any]) -> dict[str, dict[str, float]]:
    """The mean over seeds of each metric, of every case that was trained on all of the data."""
    return {
        name: {metric: float(np.mean(one["test"][metric])) for metric in METRICS}
        for name, one in content["cases"].items()
        if one["seeds"]
    }


def cells(rows: dict[str, Row], found: dict[str, Any]) -> list[dict[str, Any]]:
    """Every printed cell; of data sets and models that are not here "measured" is None."""
    columns = [(data, metric) for data in DATA for metric in METRICS]
    return [
        {
            "row": f"{data} {metric}",
            "column": name,
            "published": value,
            "measured": found[name][metric] if data == HERE and name in found else None,
        }
        for name, row in rows.items()
        for (data, metric), value in zip(columns, row, strict=True)
        if value is not None
    ]


def _compared(
    item: str, rows: dict[str, Row], found: dict[str, Any], differs: str
) -> dict[str, Any]:
    made = cells(rows, found)
    if all(cell["measured"] is None for cell in made):
        return missing(item, "nothing was trained on all of the data in this run")
    return compare(item, made, differs=differs)


def _settings(
    content: dict[str, Any], found: dict[str, Any], item: str, name: str, taken: str
) -> dict[str, Any]:
    """Published settings are reproduced if they reach the published metrics."""
    if name not in found:
        return missing(item, "its settings were not trained on all of the data in this run")
    published = content["cases"][name]["published"]
    shares = {metric: found[name][metric] / published[metric] for metric in METRICS}
    says = (
        f"its {taken} give at least {100 * LEAST:g} % of the published Recall@20 and NDCG@20 on "
        "Gowalla"
    )
    told = " and ".join(f"{100 * share:.0f} %" for share in shares.values())
    differs = f"{told} here, with {unlike(content['cases'][name]['settings'])}"
    return shown(item, says, min(shares.values()) >= LEAST, differs=differs)


def unlike(settings: dict[str, Any]) -> str:
    """The published settings that are not used here."""
    told = [
        _UNLIKE[key].format(own=settings[key], theirs=theirs)
        for key, theirs in SETTINGS.items()
        if settings[key] != theirs
    ]
    return ", ".join(told) or "all of its settings"


def _figure(content: dict[str, Any], item: str, panels: tuple[str, ...]) -> dict[str, Any]:
    made = shapes(content)
    if not all(name in made for name in panels):
        return missing(item, "not all of its points were trained in this run")
    words = {True: "so", None: "in part", False: "not so"}
    parts = [made[name] for name in panels]
    says = "; ".join(statement for statement, _, _ in parts)
    differs = "; ".join(f"{words[holds]}: {values}" for _, holds, values in parts)
    return shown(item, says, all(holds is True for _, holds, _ in parts), differs=differs)
