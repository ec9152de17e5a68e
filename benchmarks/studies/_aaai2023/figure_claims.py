"""What the figures of 000 and 003 are there to show, tested on the measured curves."""

from __future__ import annotations

import statistics
from itertools import pairwise
from typing import Any

from _outcome import claim, nothing, shown

from _aaai2023.tables import BESIDE, Content

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
            all(first),
            f"EASE: {shares}",
        ),
        claim(
            "000",
            f"from 100 items, MLE errs more at small K (up to {SMALL}) than at large (above "
            f"{LARGE})",
            all(grows),
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
    return [
        claim(
            "000",
            "the cost of a user who leaves rank 1 (C_j) grows faster than the size beyond 10 to "
            "15 % of the items, and slower below",
            all(below < 2 < beyond for below, beyond in growth.values()) if growth else None,
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
            all(ratio >= 0.75 for ratio, _ in advised.values()),
            "; ".join(f"{name}: {text}" for name, (_, text) in advised.items()),
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
    found = {one["says"]: one["holds"] for one in content["claims"]}
    blind = [one for one in content["claims"] if "100 items, rank 1" in one["says"]]
    blind += [one for one in content["claims"] if "at small K" in one["says"]]
    data = ", ".join(one["data"] for one in content["blind_spot"])
    other = f"EASE on {data} instead of ml-20m"
    deep = next(one for one in content["claims"] if "C_j" in one["says"])
    where = ", ".join(sorted({one["data"] for one in content["depth"]}))
    depth_differs = f"EASE on {where} instead of {next(iter(BESIDE))}"
    both = "rank 1 is the commonest among 100, and MLE errs more at small K than at large"
    holds = all(found[one["says"]] for one in blind)
    return [
        nothing("000 Table 4", "notation"),
        nothing("000 Table 5", "statistics of the data sets"),
        shown("000 Figure 1", both, holds, differs=other),
        shown("000 Figure 2", deep["says"], bool(deep["holds"]), differs=depth_differs),
        nothing("003 Table 1", "notation"),
        nothing("003 Table 2", "statistics of the data sets"),
        nothing("003 Figure 1", "a drawing of two matrices"),
        shown("003 Figure 7", blind[0]["says"], bool(blind[0]["holds"]), differs=other),
        shown("003 Figure 8", blind[1]["says"], bool(blind[1]["holds"]), differs=other),
        shown("003 Figure 9", deep["says"], bool(deep["holds"]), differs=depth_differs),
    ]
