"""A hundred candidates: errors, intervals and the order of models on the tuning part of the bank.

`hundred_sealed` is the same on the sealed data sets. Means are over data sets, each counting once,
with their standard error over data sets.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from reproduction.common.kept import keep_json
from reproduction.common.workers import in_processes
from reproduction.own.bank import files, intervals_of
from reproduction.own.bank.data_sets import TUNING

REPEATS = 20
PROTOCOLS = files.PROTOCOLS
FAR = 500  # ranks that rank 1 of a sample covers
SURER = ("adaptive", "exact")  # whose P(best) is looked at as well
FINER = ("fixed 500", "fixed 1000", "adaptive")
TENTHS, LEAST = 10, 200


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--before", type=Path, help="widths that --widths-only kept")
    parser.add_argument("--widths-only", type=Path, help="keep the widths of intervals and stop")


def study(asked: argparse.Namespace) -> dict[str, Any]:
    return measured(asked, ("ml-latest-small",) if asked.quick else TUNING, sealed=False)


def measured(asked: argparse.Namespace, names: Iterable[str], *, sealed: bool) -> dict[str, Any]:
    """Every table of the study for some data sets."""
    names = tuple(names)
    cells = [(name, protocol) for name in names for protocol in PROTOCOLS]
    run = partial(_run, sealed=sealed)
    if asked.widths_only is not None:
        tasks: list[Any] = [("intervals", *cell, "fixed 100", asked.repeats) for cell in cells]
        found = in_processes(run, tasks, asked.jobs)
        keep_json({"cells": [{k: one[k] for k in _KEPT} for one in found]}, asked.widths_only)
        return {"widths": str(asked.widths_only.name)}
    far = [(cell, d) for cell in cells for d in ("fixed 20", "fixed 10") if _far(cell, d, sealed)]
    few = max(2, asked.repeats // 10)
    tasks = [("errors", *cell, "fixed 100", asked.repeats, True) for cell in cells]
    tasks += [("errors", *cell, d, max(2, asked.repeats // 4), True) for cell, d in far]
    finer = [] if asked.quick else [(cell, d) for d in FINER for cell in cells]
    tasks += [("errors", *cell, design, few, False) for cell, design in finer]
    tasks += [("intervals", *cell, "fixed 100", 2 * asked.repeats) for cell in cells]
    surer = [] if asked.quick else [(cell, d) for d in SURER for cell in cells]
    tasks += [("intervals", *cell, d, asked.repeats // 2) for cell, d in surer]
    parts = in_processes(run, tasks, asked.jobs)
    ends = np.cumsum([len(cells), len(far), len(finer), len(cells), len(surer)])
    near, beyond, fine, held, sure = (
        parts[a:b] for a, b in zip([0, *ends[:-1]], ends, strict=True)
    )
    before = {}
    if asked.before is not None:
        kept = json.loads(asked.before.read_text(encoding="utf-8"))["cells"]
        before = {(one["data"], one["protocol"]): one for one in kept}
    return {
        "sealed": sealed,
        "data_sets": list(names),
        "errors": [_error_table(near, p) for p in PROTOCOLS],
        "beyond_500": [_error_table(beyond, p) for p in PROTOCOLS],
        "finer": [
            {"design": design} | _error_table([one for one in fine if one["design"] == design], p)
            for design in FINER
            for p in PROTOCOLS
        ],
        "intervals": _interval_table(held, before),
        "best": [_best_table(near, p) for p in PROTOCOLS],
        "adaptive_intervals": _interval_table([o for o in sure if o["design"] == "adaptive"], {})
        if sure
        else {},
        "probability": {
            design: _probabilities([pair for one in some for pair in one["said"]])
            for design, some in {
                "fixed 100": held,
                **{d: [one for one in sure if one["design"] == d] for d in SURER if sure},
            }.items()
        },
        "cells": [_without(one, "said") for one in [*near, *beyond, *fine, *held, *sure]],
    }


_KEPT = ("data", "protocol", "coverage", "width", "inside_20_to_80", "warned")


def _run(task: tuple[Any, ...], *, sealed: bool) -> dict[str, Any]:
    kind, name, protocol, design, repeats, *full = task
    if kind == "errors":
        from reproduction.own.bank import errors  # needs names that earlier versions do not have

        return errors.measure(name, protocol, design, repeats, sealed=sealed, full=full[0])
    return intervals_of.measure(name, protocol, design, repeats, sealed=sealed)


def _far(cell: tuple[str, str], design: str, sealed: bool) -> bool:
    n_items = files.read(cell[0], open_seal=sealed).n_items
    return n_items > FAR * int(design.split()[1])


def _error_table(cells: list[dict[str, Any]], protocol: str) -> dict[str, Any]:
    """The mean error of each method over data sets, and each data set, the worst first."""
    some = [one for one in cells if one["protocol"] == protocol]
    if not some:
        return {"protocol": protocol, "data_sets": 0}
    methods = some[0]["error"]
    watched = [one["watched"] for one in some if one["watched"]]
    table: dict[str, Any] = {
        "protocol": protocol,
        "data_sets": len({one["data"] for one in some}),
        "mean": {m: _mean_and_error([one["error"][m] for one in some]) for m in methods},
        "worst_first": [
            {key: one[key] for key in ("data", "design", "n_items", "users", "error")}
            for one in sorted(some, key=lambda one: -one["error"]["auto"])
        ],
    }
    if watched:
        total = sum(one["metrics"] for one in watched)
        table["shares"] = {
            key: round(sum(one[key] for one in watched) / total, 4)
            for key in ("warned", "off", "off_unwarned")
        }
    return table


def _mean_and_error(values: list[float]) -> list[float | None]:
    error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else None
    return [round(float(np.mean(values)), 2), None if error is None else round(float(error), 2)]


def _interval_table(cells: list[dict[str, Any]], before: dict[Any, Any]) -> dict[str, Any]:
    rows = []
    for one in sorted(cells, key=lambda one: one["coverage"]):
        old = before.get((one["data"], one["protocol"]))
        row = {key: one[key] for key in (*_KEPT, "unwarned_coverage", "repeats")}
        if old is not None:
            row |= {"coverage_before": old["coverage"], "width_before": old["width"]}
        rows.append(row)
    groups = {"all": rows} | {p: [r for r in rows if r["protocol"] == p] for p in PROTOCOLS}
    return {"mean": {name: _interval_means(some) for name, some in groups.items()}, "cells": rows}


def _interval_means(rows: list[dict[str, Any]]) -> dict[str, Any]:
    found = {key: round(float(np.mean([r[key] for r in rows])), 4) for key in _KEPT[2:]}
    told = [r["unwarned_coverage"] for r in rows if r["unwarned_coverage"] is not None]
    found["unwarned_below_80"] = sum(one < 0.8 for one in told)
    if all("width_before" in r for r in rows):
        old = float(np.mean([r["width_before"] for r in rows]))
        found["width_over_before"] = round(found["width"] / old, 4)
        found["coverage_before"] = round(float(np.mean([r["coverage_before"] for r in rows])), 4)
    return found


def _best_table(cells: list[dict[str, Any]], protocol: str) -> dict[str, Any]:
    some = [one for one in cells if one["protocol"] == protocol]
    methods = some[0]["order"]
    return {
        "protocol": protocol,
        "mean": {
            m: {k: round(float(np.mean([one["order"][m][k] for one in some])), 4)
                for k in ("best", "pairs")}
            for m in methods
        },
    }  # fmt: skip


def _probabilities(said: list[tuple[float, bool]]) -> dict[str, Any]:
    """What was said and what was right, over all and in each tenth with enough cases."""
    chance, right = (np.array(column, float) for column in zip(*said, strict=True))
    tenth = np.minimum((chance * TENTHS).astype(int), TENTHS - 1)
    return {
        "said": round(float(chance.mean()), 4),
        "right": round(float(right.mean()), 4),
        "tenths": [
            {"from": t / TENTHS, "cases": int((tenth == t).sum()),
             "said": round(float(chance[tenth == t].mean()), 4),
             "right": round(float(right[tenth == t].mean()), 4)}
            for t in range(TENTHS) if (tenth == t).sum() >= LEAST
        ],
    }  # fmt: skip


def _without(cell: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in cell.items() if name != key}
