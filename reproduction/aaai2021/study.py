"""Jin et al. 2021 (AAAI): six estimators from 100 sampled items, winners and rank distributions.

Tables 2, 3, 4, 6 to 10 and Figures 1 to 3, and our own estimators and designs on the same data;
also Li (dissertation), Figure 6, which is Figure 1 on other data. Everything is computed from the
cached repeats of `common.repeats`; the exact ranks are stored in the repository.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from reproduction.aaai2021.curves import curves, figure_outcomes
from reproduction.aaai2021.curves import figures as drawn
from reproduction.aaai2021.outcomes import estimates_outcome, winners_outcome
from reproduction.aaai2021.published import DATA
from reproduction.aaai2021.tables import estimate_table, own_table, winner_table
from reproduction.common.bank import MODELS, QUICK_DATA
from reproduction.common.repeats import CACHE, Cell, Repeats, computed
from reproduction.outcome import nothing

REPEATS = 100

QUICK_MODELS = ("EASE", "NeuMF")
DESIGNS = ("fixed 100", "fixed 100 without", "adaptive 100", "adaptive 25")
LARGER = Cell("citeulike-a", "NeuMF", "fixed 500")  # of Figure 3


def study(asked: argparse.Namespace) -> dict[str, Any]:
    data = {"2": QUICK_DATA} if asked.quick else DATA
    larger = Cell(QUICK_DATA, "NeuMF", "fixed 500") if asked.quick else LARGER
    models = QUICK_MODELS if asked.quick else MODELS
    cells = [Cell(name, m, design) for name in data.values() for m in models for design in DESIGNS]
    found = computed([*cells, larger], repeats=asked.repeats, cache=asked.cache, jobs=asked.jobs)
    estimates = [estimate_table(number, name, found) for number, name in data.items()]
    winners = [winner_table(number, name, found) for number, name in data.items()]
    drawn = curves(found, data["2"], larger, data.get("6"))
    content: dict[str, Any] = {
        "repeats": asked.repeats,
        "models": list(models),
        "seconds_of_repeats": round(sum(one.seconds for one in found.values()), 1),
        "sizes": _sizes(found),
        "estimates": estimates,
        "ours_beside": [own_table(number, name, found) for number, name in data.items()],
        "winner_tables": winners,
        "winners": [row for one in winners for row in one.pop("by_design")],
        "curves": drawn,
    }
    tables = [
        nothing("004 Table 1", "notation"),
        nothing("004 Table 5", "statistics of the data sets"),
        *(estimates_outcome(one, asked.repeats) for one in estimates),
        *(winners_outcome(one) for one in winners),
    ]
    tables.sort(key=lambda one: int(one["item"].split()[-1]))
    content["tables"] = [*tables, *figure_outcomes(drawn)]
    return content


def _sizes(found: dict[Cell, Repeats]) -> list[dict[str, Any]]:
    """The average sample size of each data set and design, over models and repeats."""
    sizes: dict[tuple[str, str], list[float]] = {}
    for cell, one in found.items():
        sizes.setdefault((cell.data, cell.design), []).append(float(one.sizes.mean()))
    return [
        {"data": data, "design": design, "size": round(float(np.mean(values)), 4)}
        for (data, design), values in sizes.items()
    ]


def options(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(cache=CACHE)


def figures(content: dict[str, Any], folder: Path) -> None:
    drawn(content["curves"], folder)
