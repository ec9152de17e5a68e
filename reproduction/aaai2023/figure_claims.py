"""What the figures of 000 and 003 are there to show, tested on the measured curves."""

from __future__ import annotations

import statistics
from itertools import pairwise
from typing import Any

from reproduction.aaai2023.tables import Content
from reproduction.outcome import claim, elsewhere, holds_for, nothing, shown

SMALL, LARGE = 5, 45  # K at the two ends of the curve of Figure 1
SHALLOW = 10.0  # percent of the items: the least that 000 advises as the largest size


def blind(content: Content) -> list[dict[str, Any]]:
    """The two halves of Figure 1: most users are first among 100, and small K suffer."""
    first = [one["shares"][0] == max(one["shares"]) for one in content["blind_spot"]]
    shares = ", ".join(
        f"{one['shares'][0]:.0f} % on {one['data']}" for one in content["blind_spot"]
    )
    ends = {one["data"]: _ends(one, "fixed 100, MLE") for one in content["blind_spot"]}
    grows = [small > large for small, large in ends.values()]
    errors = ", ".join(
        f"{a:.0f} % and {b:.0f} % on {name} (the largest at K = {_worst(one)})"
        for one, (name, (a, b)) in zip(content["blind_spot"], ends.items(), strict=True)
    )
    return [
        claim(
            "000",
            "among 100 items, rank 1 is the commonest of the target",
            holds_for(sum(first), len(first)),
            f"EASE: {shares}",
        ),
        claim(
            "000",
            f"from 100 items, MLE errs more at small K (up to {SMALL}) than at large (above "
            f"{LARGE})",
            holds_for(sum(grows), len(grows)),
            f"mean errors of Recall: {errors}",
        ),
    ]


def _ends(one: dict[str, Any], curve: str) -> tuple[float, float]:
    """The mean error at the smallest and at the largest K."""
    values = one["recall_errors"][curve]
    small = [value for value in values[:SMALL] if value is not None]
    return statistics.fmean(small or [0.0]), statistics.fmean(values[LARGE:])


def _worst(one: dict[str, Any]) -> int:
    """The K of the largest error."""
    values = one["recall_errors"]["fixed 100, MLE"]
    return 1 + max(range(len(values)), key=lambda k: values[k] or 0.0)


def deep(content: Content) -> list[dict[str, Any]]:
    """Figure 2 and what it is taken to advise."""
    levels = {one["data"]: one["levels"] for one in content["depth"] if one["replacement"]}
    growth = {name: found for name, one in levels.items() if (found := _growth(one))}
    advised = {name: _advised(one) for name, one in levels.items()}
    faster = [below < 2 < beyond for below, beyond in growth.values()]
    little = [ratio >= 0.75 for ratio, _ in advised.values()]
    return [
        claim(
            "000",
            "the cost of a user who leaves rank 1 (C_j) grows faster than the size beyond 10 to "
            "15 % of the items, and slower below",
            holds_for(sum(faster), len(faster)) if faster else None,
            "; ".join(
                f"{name}: {_path(levels[name])}, {below:.2f} times for each doubling below "
                f"{SHALLOW:.0f} %, {beyond:.2f} times beyond"
                for name, (below, beyond) in growth.items()
            )
            or "too few levels",
        ),
        claim(
            "000",
            "a largest size of 10 to 15 % of the items is deep enough: beyond it the error of "
            "adaptive MLE falls by less than a quarter",
            holds_for(sum(little), len(little)),
            f"at the first size above {SHALLOW:.0f} %, "
            + "; ".join(f"{name}: {text}" for name, (_, text) in advised.items()),
        ),
    ]


def _growth(levels: list[dict[str, Any]]) -> tuple[float, float] | None:
    """By how much C_j grows for each doubling of the size, below and beyond SHALLOW percent."""
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


def _path(levels: list[dict[str, Any]]) -> str:
    return " → ".join(f"{one['cost']['mean']:,.0f}" for one in levels if one["cost"])


def _advised(levels: list[dict[str, Any]]) -> tuple[float, str]:
    """The error at the deepest level over that at the advised one, Recall and NDCG together."""
    at = next(one for one in levels if one["percent_of_items"] >= SHALLOW)
    errors = [statistics.fmean(one["errors"]["MLE"][:2]) for one in (at, levels[-1])]
    text = (
        f"{errors[0]:.2f} % at {at['percent_of_items']:.0f} % of the items "
        f"({at['average_size']:.0f} a user), {errors[1]:.2f} % at all of them "
        f"({levels[-1]['average_size']:.0f})"
    )
    return errors[1] / errors[0], text


def figures_and_notes(content: Content) -> list[dict[str, Any]]:
    """The figures, and the tables that hold no result."""
    said = content["claims"]
    first, grows, cost = (
        next(one for one in said if words in one["says"])
        for words in ("100 items, rank 1", "at small K", "C_j")
    )
    both = {
        "says": "rank 1 is the commonest among 100, and MLE errs more at small K than at large",
        "holds": first["holds"] if first["holds"] == grows["holds"] else None,
    }
    blind = list(dict.fromkeys(one["data"] for one in content["blind_spot"]))
    deep = list(dict.fromkeys(one["data"] for one in content["depth"]))
    shares = [one["shares"][0] for one in content["blind_spot"]]
    most = f"the text says that most are; here {min(shares):.0f} to {max(shares):.0f} %"
    return [
        nothing("000 Table 4", "notation"),
        nothing("000 Table 5", "statistics of the data sets"),
        _figure("000 Figure 1", both, "ml-20m", blind, most),
        _figure("000 Figure 2", cost, "yelp", deep),
        nothing("003 Table 1", "notation"),
        nothing("003 Table 2", "statistics of the data sets"),
        nothing("003 Figure 1", "a drawing of two matrices"),
        _figure("003 Figure 7", first, "ml-20m", blind, most),
        _figure("003 Figure 8", grows, "ml-20m", blind),
        _figure("003 Figure 9", cost, "yelp", deep),
    ]


def _figure(
    item: str, said: dict[str, Any], own: str, data: list[str], note: str = ""
) -> dict[str, Any]:
    """A figure is shown on its own data, and elsewhere only its statement is tested."""
    where, also = ", ".join(data), f"; {note}" if note else ""
    if own in data:
        return shown(item, said["says"], bool(said["holds"]), differs=f"EASE on {where}{also}")
    differs = f"the paper has EASE on {own}, which is not here{also}"
    return elsewhere(item, said["says"], said["holds"], data=where, differs=differs)
