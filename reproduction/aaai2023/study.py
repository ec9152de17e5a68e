"""Li et al. 2023 (AAAI): estimators with priors and adaptive sampling; errors, winners, depth.

Tables 1 to 11 and both figures, Tables 1 to 5 and Figures 7 to 9 of Li (dissertation), and our own
estimators and designs on the same data. Draws 100 samples of each design from the stored ranks
(study `ranks`). Repeats are cached, so that an interrupted run resumes.
"""

from __future__ import annotations

import argparse
from typing import Any

from reproduction.aaai2023.compared import advantage, wins
from reproduction.aaai2023.depth import DEEP, MODEL, depth
from reproduction.aaai2023.errors import CURVES, blind_spot, bounded, row, seconds, winners
from reproduction.aaai2023.figures import figures as figures
from reproduction.aaai2023.outcome import figures_and_notes
from reproduction.aaai2023.tables import tables
from reproduction.common.bank import banks
from reproduction.common.exact import METRICS
from reproduction.common.repeats import CACHE, DESIGNS, Cell, computed, every_cell, fill

REPEATS = 100

QUICK_MODELS = ("EASE", "itemKNN")
LEFT_OUT = ("fixed 1000", "fixed 100 without")  # of the quick form


def study(asked: argparse.Namespace) -> dict[str, Any]:
    designs = [one for one in DESIGNS if not (asked.quick and one in LEFT_OUT)]
    content: dict[str, Any] = {"data": {}, "metrics": list(METRICS), "designs": designs}
    content["repeats"] = asked.repeats
    content |= {part: [] for part in ("verdict", "bounds", "winners", "blind_spot", "depth")}
    spent = 0.0
    known_of = banks(asked.quick, QUICK_MODELS)
    every = every_cell(known_of, designs)
    fill(every, repeats=asked.repeats, cache=asked.cache, jobs=asked.jobs)
    for data, known in known_of.items():
        cells = [cell for cell in every if cell.data == data]
        found = computed(cells, repeats=asked.repeats, cache=asked.cache, jobs=asked.jobs)
        spent += sum(repeats.seconds for repeats in found.values())
        one = known[MODEL]
        content["data"][data] = {"n_users": int(one.ranks.size), "n_items": one.n_items}
        for cell, repeats in found.items():
            made = row(data, cell.model, cell.design, repeats)
            if cell.model == MODEL and not asked.quick:
                names = repeats.estimators
                made["seconds"] = seconds(data, one, cell.design, names, asked.cache)
            content["verdict"].append(made)
            content["bounds"].append(bounded(data, cell.model, cell.design, repeats))
        for design in designs:
            each = {model: found[Cell(data, model, design)] for model in known}
            content["winners"].append(winners(data, design, each))
        curves = {design: found[Cell(data, MODEL, design)] for design in CURVES}
        content["blind_spot"].append(blind_spot(data, MODEL, one, curves))
        if data in DEEP:
            settings = {"repeats": asked.repeats, "jobs": asked.jobs, "cache": asked.cache}
            content["depth"] += depth(data, MODEL, one, **settings)
        print(f"{data} done", flush=True)
    content["processor_seconds"] = round(spent)
    content["tables"] = [*tables(content), *figures_and_notes(content)]
    return content | {"priors": advantage(content), "wins": wins(content)}


def options(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(cache=CACHE)
