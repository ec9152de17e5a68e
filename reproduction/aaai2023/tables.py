"""The published tables beside the measured rows, cell by cell."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from reproduction.aaai2023 import published as printed
from reproduction.common.exact import METRICS
from reproduction.outcome import compare, missing

Pair = tuple[float, float]
Key = tuple[str, str, str]  # data, model, design
Content = dict[str, Any]

# the data sets compared with a published one, the first that is here; yelp-diffnet is other data
STANDS = {
    "pinterest-20": ("pinterest-20", "pinterest-20-part"),
    "yelp": ("yelp",),
    "ml-20m": ("ml-20m",),
}
ADAPTIVE = "adaptive 100"


def rows_of(content: Content) -> dict[Key, dict[str, Any]]:
    """The measured rows by data set, model and design."""
    return {(one["data"], one["model"], one["design"]): one for one in content["verdict"]}


def standing(content: Content, published: str) -> str | None:
    """The data set of this run that is compared with a published one."""
    return next((name for name in STANDS[published] if name in content["data"]), None)


def scale(content: Content, published: str) -> float:
    """The factor by which missing users increase errors: √(users there / users here)."""
    name = standing(content, published)
    if name is None or name == published:
        return 1.0
    return math.sqrt(printed.USERS[published] / content["data"][name]["n_users"])


def estimator(column: str) -> str:
    """Our name of a published column."""
    if column in printed.FOUR:
        return f"{column}, averaged"
    return {"BV": "BV 0.01", "adaptive MLE": "MLE"}.get(column, column)


def pair(row: Mapping[str, Any], name: str, metric: str) -> Pair:
    at = METRICS.index(metric)
    return row["errors"][name][at], row["spread"][name][at]


def tables(content: Content) -> list[dict[str, Any]]:
    """An outcome for every published table of errors and of winners."""
    found = []
    for table in printed.ERRORS:
        for item, shown in table.items.items():
            cells = [cell for name in shown for cell in _cells(content, table, name)]
            found.append(_outcome(content, item, cells, shown))
    for item, (shown, asked, columns) in _WINNERS.items():
        cells = [cell for name in shown for cell in _right(content, name, asked, columns)]
        found.append(_outcome(content, item, cells, shown, scaled=False))
    return found


_AT_10_20 = tuple(f"{metric}@{k}" for k in (10, 20) for metric in METRICS)
_WINNERS = {
    "000 Table 3": (printed.DATA[:1], _AT_10_20, printed.WINNING[3:]),
    "000 Table 8": (printed.DATA, _AT_10_20, printed.WINNING[3:]),
    "003 Table 5": (printed.DATA, tuple(printed.WINNERS["yelp"]), printed.WINNING),
}


def _outcome(
    content: Content,
    item: str,
    cells: list[dict[str, Any]],
    shown: Iterable[str],
    *,
    scaled: bool = True,
) -> dict[str, Any]:
    absent = [name for name in shown if standing(content, name) is None]
    if all(cell["measured"] is None for cell in cells):
        return missing(item, f"{_listed(absent)} not here")
    says = []
    for name in shown:
        here, factor = standing(content, name), scale(content, name)
        if here is not None and here != name:
            grown = f"; errors held to the published times {factor:.2f}" if scaled else ""
            users = content["data"][here]["n_users"]
            says.append(f"{users:,} of the {printed.USERS[name]:,} users of {name}{grown}")
    says.append("models trained here")
    if absent:
        says.append(f"{_listed(absent)} not here")
    # a count of winners is one draw, an error the mean over the repeats
    repeats = content["repeats"] if scaled else 1
    return compare(item, cells, differs="; ".join(says), repeats=repeats)


def _listed(names: list[str]) -> str:
    return " and ".join(names) + (" are" if len(names) > 1 else " is")


def _cells(content: Content, table: printed.Table, name: str) -> Iterator[dict[str, Any]]:
    rows, here, factor = rows_of(content), standing(content, name), scale(content, name)
    for model, columns in table.cells[name].items():
        for column, (mean, sd) in columns.items():
            adaptive = column in ("adaptive MLE", "size")
            design = ADAPTIVE if adaptive else f"fixed {table.size(name)}"
            one = rows.get((here or "", model, design))
            cell: dict[str, Any] = {"row": f"{name} {model}", "column": column}
            if column == "size":  # a row of its own: sizes and errors have no order
                cell |= {"row": f"{name} size", "column": model}
                cell |= {"published": mean, "published_sd": sd}
                cell |= {"measured": one and one["size"], "measured_sd": one and one["size_spread"]}
            else:
                cell |= {"published": factor * mean, "published_sd": factor * sd}
                found = one and pair(one, estimator(column), table.metric)
                cell |= {"measured": found and found[0], "measured_sd": found and found[1]}
            yield cell


def _right(
    content: Content, name: str, asked: Iterable[str], columns: Iterable[str]
) -> Iterator[dict[str, Any]]:
    """Counts of 100; their spread is that of a share."""
    here = standing(content, name)
    right = {one["design"]: one["by_metric"] for one in content["winners"] if one["data"] == here}
    for metric in asked:
        for column in columns:
            design = ADAPTIVE if column == "adaptive MLE" else f"fixed {printed.FIXED[name]}"
            count = printed.WINNERS[name][metric][column]
            found = right[design][metric][estimator(column)] if here else None
            yield {
                "row": f"{name} {metric}",
                "column": column,
                "published": count,
                "published_sd": _binomial(count),
                "measured": found,
                "measured_sd": None if found is None else _binomial(found),
            }


def _binomial(count: float) -> float:
    return math.sqrt(count * (100 - count) / 100)
