"""Outcomes of the figures of Li et al. 2023 and Li (dissertation), and tables without results."""

from __future__ import annotations

import statistics
from itertools import pairwise
from typing import Any

from reproduction.aaai2023.tables import Content
from reproduction.outcome import elsewhere, holds_for, nothing, shown

SMALL, LARGE = 5, 45  # K at the two ends of the curve of Figure 1
SHALLOW = 10.0  # percent of the items: the least largest size that Li et al. 2023 recommend
_FIRST = "among 100 items, rank 1 is the commonest of the target"
_GROWS = f"from 100 items, MLE errs more at small K (up to {SMALL}) than at large (above {LARGE})"
_BOTH = "rank 1 is the commonest among 100, and MLE errs more at small K than at large"
_COST = (
    "the cost of a user who leaves rank 1 (C_j) grows faster than the size beyond 10 to 15 % of "
    "the items, and slower below"
)


def figures_and_notes(content: Content) -> list[dict[str, Any]]:
    """The figures, and the tables that hold no result."""
    spots = content["blind_spot"]
    first = _share([one["shares"][0] == max(one["shares"]) for one in spots])
    grows = _share([small > large for small, large in map(_ends, spots)])
    cost = _cost_grows(content)
    blind = list(dict.fromkeys(one["data"] for one in spots))
    deep = list(dict.fromkeys(one["data"] for one in content["depth"]))
    shares = [one["shares"][0] for one in spots]
    most = f"the text says that most are; here {min(shares):.0f} to {max(shares):.0f} %"
    return [
        nothing("000 Table 4", "notation"),
        nothing("000 Table 5", "statistics of the data sets"),
        _figure("000 Figure 1", _BOTH, first if first == grows else None, "ml-20m", blind, most),
        _figure("000 Figure 2", _COST, cost, "yelp", deep),
        nothing("003 Table 1", "notation"),
        nothing("003 Table 2", "statistics of the data sets"),
        nothing("003 Figure 1", "a drawing of two matrices"),
        _figure("003 Figure 7", _FIRST, first, "ml-20m", blind, most),
        _figure("003 Figure 8", _GROWS, grows, "ml-20m", blind),
        _figure("003 Figure 9", _COST, cost, "yelp", deep),
    ]


def _share(cases: list[bool]) -> bool | None:
    return holds_for(sum(cases), len(cases))


def _ends(one: dict[str, Any]) -> tuple[float, float]:
    """The mean error of MLE from 100 items at the smallest and at the largest K."""
    values = one["recall_errors"]["fixed 100, MLE"]
    small = [value for value in values[:SMALL] if value is not None]
    return statistics.fmean(small or [0.0]), statistics.fmean(values[LARGE:])


def _cost_grows(content: Content) -> bool | None:
    """Whether C_j grows slower than the size up to SHALLOW percent, and faster beyond."""
    levels = [one["levels"] for one in content["depth"] if one["replacement"]]
    growth = [found for one in levels if (found := _growth(one))]
    return _share([below < 2 < beyond for below, beyond in growth]) if growth else None


def _growth(levels: list[dict[str, Any]]) -> tuple[float, float] | None:
    """The factor by which C_j grows when the size doubles, below and beyond SHALLOW percent."""
    below, beyond = [], []
    for one, other in pairwise(levels):
        if one["cost"] and other["cost"]:
            cost = other["cost"]["mean"] / one["cost"]["mean"]
            growth = 2 * cost / (other["size"] / one["size"])
            if one["percent_of_items"] >= SHALLOW:
                beyond.append(growth)
            elif other["percent_of_items"] <= SHALLOW:
                below.append(growth)
    return (statistics.fmean(below), statistics.fmean(beyond)) if below and beyond else None


def _figure(
    item: str, says: str, holds: bool | None, own: str, data: list[str], note: str = ""
) -> dict[str, Any]:
    """A figure is reproduced on its own data; on other data only its statement is tested."""
    where, also = ", ".join(data), f"; {note}" if note else ""
    if own in data:
        return shown(item, says, bool(holds), differs=f"EASE on {where}{also}")
    differs = f"the paper has EASE on {own}, which is not here{also}"
    return elsewhere(item, says, holds, data=where, differs=differs)
