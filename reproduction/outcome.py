"""The outcome of a table or figure of a paper: the only definition of "reproduced".

A table is *reproduced* if nine of ten of its cells are within 15 % of the published ones, or within
two standard errors of the difference of the means where those are wider. It is *in order* if that
fails but nine of ten pairs of a row keep the published order, and *not reproduced* otherwise. A
figure has no cells: it illustrates a statement, which holds or does not. If the data of a paper are
not available, the statement may be tested *on other data*. Items that cannot be repeated, or that
hold no result (notation, sizes of data sets), have a reason. `reproduction_index` collects
all outcomes.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

from reproduction.papers import PAPERS

Cell = dict[str, Any]

TOLERANCE = 0.15  # of the published value
ENOUGH = 0.9  # of the cells, of the pairs, or of the cases of a claim
HALF = 0.5  # of the cases: the claim holds in part
ALIKE = 0.03  # published values that are closer than this have no order to keep
# every outcome, and its name on a page
STATES = {
    "reproduced": "reproduced",
    "in order": "in order, not in value",
    "not reproduced": "not reproduced",
    "on other data": "on other data",
    "not here": "not possible here",
    "nothing to reproduce": "nothing to reproduce",
}


def compare(
    item: str,
    cells: Sequence[Cell],
    *,
    within: float = TOLERANCE,
    differs: str = "",
    repeats: int | None = None,
) -> dict[str, Any]:
    """The outcome of a table, from its cells.

    A cell is {"row", "column", "published", "measured"} and, where there are any, "published_sd"
    and "measured_sd", of one repeat; "measured" is None where it is not available. With
    deviations, both values are means over `repeats` repeats, which is then required (1: a single
    draw, or the deviations are those of the means, as for a share of all repeats).
    """
    _checked(item)
    have = [cell for cell in cells if cell["measured"] is not None]
    if not have:
        raise ValueError(f"{item} has no measured cell: say why with missing()")
    near = sum(_near(cell, within, _repeats(item, cell, repeats)) for cell in have)
    spread = [cell for cell in have if cell.get("published_sd") is not None]
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
        "two_sd": sum(_in_spread(cell) for cell in spread) if spread else None,
        "absent": len(cells) - len(have),
        "pairs": len(kept),
        "order": None if order is None else round(order, 4),
        "median_percent": round(100 * statistics.median(apart), 2) if apart else None,
        "differs": differs,
    }


def shown(item: str, says: str, holds: bool, *, differs: str = "") -> dict[str, Any]:
    """The outcome of a figure: the statement it illustrates, and whether that holds here."""
    state = "reproduced" if holds else "not reproduced"
    return {"item": _checked(item), "state": state, "says": says, "differs": differs}


def elsewhere(
    item: str, says: str, holds: bool | None, *, data: str, differs: str = ""
) -> dict[str, Any]:
    """A table or figure whose own data are not here: its statement, tested on `data` instead."""
    _checked(item)
    for name, value in (("what it says", says), ("on which data", data)):
        if not value:
            raise ValueError(f"say {name}: {item}")
    return {
        "item": item,
        "state": "on other data",
        "says": says,
        "holds": holds,
        "data": data,
        "differs": differs,
    }


def holds_for(n: int, of: int) -> bool | None:
    """Whether a claim holds that is so in `n` cases `of` so many: None (in part) from a half."""
    if not 0 <= n <= of or of == 0:
        raise ValueError(f"cases are counted out of one or more; got {n} of {of}")
    return True if n >= ENOUGH * of else None if n >= HALF * of else False


def missing(item: str, why: str) -> dict[str, Any]:
    """A table or figure that cannot be repeated here."""
    return {"item": _checked(item), "state": "not here", "why": _reason(item, why)}


def nothing(item: str, why: str) -> dict[str, Any]:
    """A table or figure that holds no result: notation, statistics of data sets, a drawing."""
    return {"item": _checked(item), "state": "nothing to reproduce", "why": _reason(item, why)}


def _repeats(item: str, cell: Cell, repeats: int | None) -> int:
    """How many there are, where a cell has deviations to divide by them."""
    if cell.get("published_sd") is None and cell.get("measured_sd") is None:
        return 1
    if repeats is None or repeats < 1:
        raise ValueError(f"say over how many repeats {item} has its means; got {repeats}")
    return repeats


def _near(cell: Cell, within: float, repeats: int) -> bool:
    """Within a share of the published value, or two standard errors of a difference of means."""
    spread = math.hypot(cell.get("published_sd") or 0.0, cell.get("measured_sd") or 0.0)
    error = spread / math.sqrt(repeats)
    return _no_further(cell, max(within * abs(cell["published"]), 2 * error))


def _in_spread(cell: Cell) -> bool:
    """Within two published standard deviations, the spread of single repeats."""
    return _no_further(cell, 2 * cell["published_sd"])


def _no_further(cell: Cell, allowed: float) -> bool:
    distance = abs(cell["measured"] - cell["published"])
    return bool(distance <= allowed or math.isclose(distance, allowed))


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
