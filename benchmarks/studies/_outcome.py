"""How a table or figure of a paper came out: the one place where "reproduced" is defined.

A table is *reproduced* when nine of ten of its cells lie within 15 % of the published ones, or
within two published standard deviations where those are wider; *in order* when that fails and nine
of ten pairs of a row still stand in the published order; *not reproduced* otherwise. A figure has
no cells: what it is there to show is a statement, which holds or does not. What cannot be repeated
here, and what holds no result (notation, statistics of data sets), says why. `reproduction_index`
reads all of them.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

from fullrank.evaluation.studies import PAPERS

Cell = dict[str, Any]

TOLERANCE = 0.15  # of the published value
ENOUGH = 0.9  # of the cells, or of the pairs
ALIKE = 0.03  # published values that are closer than this have no order to keep
STATES = ("reproduced", "in order", "not reproduced", "not here", "nothing to reproduce")


def compare(
    item: str, cells: Sequence[Cell], *, within: float = TOLERANCE, differs: str = ""
) -> dict[str, Any]:
    """How a table came out, from its cells.

    A cell is {"row", "column", "published", "measured"} and, where there are any, "published_sd"
    and "measured_sd"; "measured" is None where it could not be had here.
    """
    _checked(item)
    have = [cell for cell in cells if cell["measured"] is not None]
    if not have:
        raise ValueError(f"{item} has no measured cell: say why with missing()")
    near = sum(_near(cell, within) for cell in have)
    kept = [_kept(one, other) for one, other in _pairs(have)]
    order = sum(kept) / len(kept) if kept else None
    if near >= ENOUGH * len(have):
        state = "reproduced"
    else:
        state = "in order" if order is not None and order >= ENOUGH else "not reproduced"
    apart = [abs(cell["measured"] / cell["published"] - 1) for cell in have if cell["published"]]
    return {
        "item": item,
        "state": state,
        "cells": len(have),
        "within": near,
        "tolerance": within,
        "absent": len(cells) - len(have),
        "pairs": len(kept),
        "order": None if order is None else round(order, 4),
        "median_percent": round(100 * statistics.median(apart), 2) if apart else None,
        "differs": differs,
    }


def shown(item: str, says: str, holds: bool, *, differs: str = "") -> dict[str, Any]:
    """How a figure came out: what it is there to show, and whether that is so here."""
    state = "reproduced" if holds else "not reproduced"
    return {"item": _checked(item), "state": state, "says": says, "differs": differs}


def missing(item: str, why: str) -> dict[str, Any]:
    """A table or figure that cannot be repeated here."""
    return {"item": _checked(item), "state": "not here", "why": _reason(item, why)}


def nothing(item: str, why: str) -> dict[str, Any]:
    """A table or figure that holds no result: notation, statistics of data sets, a drawing."""
    return {"item": _checked(item), "state": "nothing to reproduce", "why": _reason(item, why)}


def claim(paper: str, says: str, holds: bool | None, found: str) -> dict[str, Any]:
    """A statement of a paper, whether it holds here (None: in part), and the figures for it."""
    _checked(f"{paper} ")
    if not found:
        raise ValueError(f"say what was found about: {says}")
    return {"paper": paper, "says": says, "holds": holds, "found": found}


def _near(cell: Cell, within: float) -> bool:
    allowed = max(within * abs(cell["published"]), 2 * (cell.get("published_sd") or 0.0))
    distance = abs(cell["measured"] - cell["published"])
    return distance <= allowed or math.isclose(distance, allowed)


def _pairs(cells: Sequence[Cell]) -> Iterator[tuple[Cell, Cell]]:
    """Two cells of one row whose published values differ."""
    rows: dict[Any, list[Cell]] = {}
    for cell in cells:
        rows.setdefault(cell["row"], []).append(cell)
    for row in rows.values():
        for one, other in combinations(row, 2):
            a, b = one["published"], other["published"]
            if abs(a - b) > ALIKE * max(abs(a), abs(b)):
                yield one, other


def _kept(one: Cell, other: Cell) -> bool:
    """Whether the order is the published one; equal values have lost it."""
    published = one["published"] - other["published"]
    return bool(published * (one["measured"] - other["measured"]) > 0)


def _checked(item: str) -> str:
    paper, _, rest = item.partition(" ")
    if paper not in PAPERS or (rest and not rest.startswith(("Table ", "Figure "))):
        raise ValueError(f"an item is like '004 Table 2'; got {item!r}")
    return item


def _reason(item: str, why: str) -> str:
    if not why:
        raise ValueError(f"say why {item} is not here")
    return why
