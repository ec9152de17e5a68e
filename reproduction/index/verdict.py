"""Which estimator is best for which design, and at which cost, over all data sets and models.

A row is one data set, model and design: {"data", "model", "design", "size", "errors": {estimator:
[recall, ndcg, ap]}} and, where it was timed, "seconds": {estimator: of one estimate}. Errors are
the papers': percent, mean over K = 1..50. They are averaged over cells (a row and a metric) twice:
the geometric mean, in which a hard data set does not outvote the others, puts estimators in order;
the arithmetic one, which an unlucky user pays, must agree, or the two that they name are level.

A user has one sample. Priors averaged over the repeats (", averaged") are therefore set apart, and
so are bounds, whose middle is measured at fewer cut-offs.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import Any

Row = dict[str, Any]

METRICS = ("recall", "ndcg", "ap")
AVERAGED = ", averaged"
APART = ("bounds",)
LEVEL = 0.05  # errors that are closer than this, in both means, make a tie
_LEAST = 1e-3  # errors are kept to three digits; one of zero has no logarithm


Choice = Callable[[str, str], str]


def verdict(
    rows: Sequence[Row], winners: Sequence[Row], choice: Choice | None = None
) -> dict[str, Any]:
    """Estimators and designs compared.

    `choice(data, design)` names the estimator that the library takes if it is not told which.

    Designs are compared on the pairs of data set and model that have all of them; one that fewer
    than half of the pairs have would leave too little to compare, and stands by data set alone.
    """
    pairs = {_pair(row) for row in rows}
    having = {one: set[tuple[str, str]]() for one in dict.fromkeys(row["design"] for row in rows)}
    for row in rows:
        having[row["design"]].add(_pair(row))
    designs = [one for one, mine in having.items() if 2 * len(mine) >= len(pairs)]
    whole = set.intersection(*(having[one] for one in designs)) if designs else set()
    shared = [row for row in rows if _pair(row) in whole]
    if not shared:
        raise ValueError("no data set and model has every design")
    each = [_design(name, [row for row in shared if row["design"] == name]) for name in designs]
    each.sort(key=lambda one: (one["size"], one["estimators"][0]["error"]))
    _mark_front(each)
    return {
        "data": list(dict.fromkeys(row["data"] for row in rows)),
        "models": list(dict.fromkeys(row["model"] for row in rows)),
        "pairs": len(pairs),
        "pairs_with_every_design": len(whole),
        "apart": [one for one in having if one not in designs],
        "designs": each,
        "by_data": _by_data(rows, list(having)),
        "by_itself": [] if choice is None else [_by_itself(one, shared, choice) for one in designs],
        "priors": [one for name in designs for one in _priors(name, shared)],
        "winners": _winners(winners, [one["design"] for one in each]),
    }


def _design(name: str, rows: list[Row]) -> dict[str, Any]:
    """Of one design: cost, and error of each estimator, the best first."""
    names = [one for one in rows[0]["errors"] if all(one in row["errors"] for row in rows)]
    ranked = [one for one in names if _from_one_sample(one)]
    won = dict.fromkeys(ranked, 0)
    for row in rows:
        for at in range(len(METRICS)):
            won[min(ranked, key=lambda one: row["errors"][one][at])] += 1
    found = [
        {
            "estimator": one,
            "error": _geometric(x for row in rows for x in row["errors"][one]),
            "arithmetic": _arithmetic(x for row in rows for x in row["errors"][one]),
            "by_metric": [_geometric(row["errors"][one][at] for row in rows) for at in range(3)],
            "won": won.get(one, 0),
            "seconds": _seconds(one, rows),
            "apart": one not in ranked,
        }
        for one in names
    ]
    found.sort(key=lambda one: (one["apart"], one["error"]))
    sizes = {
        data: round(statistics.fmean(row["size"] for row in rows if row["data"] == data), 1)
        for data in dict.fromkeys(row["data"] for row in rows)
    }
    return {
        "design": name,
        "size": round(statistics.fmean(row["size"] for row in rows), 1),
        "sizes": sizes,
        "cells": len(METRICS) * len(rows),
        "first": first(found),
        "estimators": found,
    }


def first(found: Sequence[dict[str, Any]]) -> list[str]:
    """The estimator of the least error, or all that are level with it; the best first.

    Level are those within LEVEL of the least error by both means, and the two that the two means
    name where they name different ones.
    """
    ranked = [one for one in found if not one["apart"]]
    least = {mean: min(one[mean] for one in ranked) for mean in ("error", "arithmetic")}
    return [
        one["estimator"]
        for one in sorted(ranked, key=lambda one: float(one["error"]))
        if any(one[mean] == value for mean, value in least.items())
        or all(one[mean] <= (1 + LEVEL) * value for mean, value in least.items())
    ]


def _mark_front(designs: list[dict[str, Any]]) -> None:
    """A design stands at the front if none that costs no more has a smaller least error."""
    best = math.inf
    for one in designs:
        error = one["estimators"][0]["error"]
        one["front"] = error < best
        best = min(best, error)


def _by_data(rows: Sequence[Row], designs: Sequence[str]) -> list[dict[str, Any]]:
    """For each data set and design: who is first over its models, and every error."""
    found = []
    for data in dict.fromkeys(row["data"] for row in rows):
        for design in designs:
            mine = [row for row in rows if (row["data"], row["design"]) == (data, design)]
            if mine:
                one = _design(design, mine)
                found.append(
                    {
                        "data": data,
                        "design": design,
                        "size": one["size"],
                        "first": one["first"],
                        "errors": {
                            e["estimator"]: [e["error"], e["arithmetic"]]
                            for e in one["estimators"]
                            if not e["apart"]
                        },
                    }
                )
    return found


def _by_itself(design: str, rows: Sequence[Row], choice: Choice) -> dict[str, Any]:
    """What the library takes by itself on each data set, and the error of that."""
    mine = [row for row in rows if row["design"] == design]
    taken = {row["data"]: choice(row["data"], design) for row in mine}
    errors = [error for row in mine for error in row["errors"][taken[row["data"]]]]
    return {
        "design": design,
        "taken": taken,
        "error": round(_geometric(errors), 3),
        "arithmetic": round(_arithmetic(errors), 3),
    }


def _priors(design: str, rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Error of BV_* and MN_* over that of the estimator their prior is from, by kind of prior."""
    mine = [row for row in rows if row["design"] == design]
    found = []
    for name in mine[0]["errors"]:
        base = name.partition("_")[2]
        if (
            "_" not in name
            or name.endswith(AVERAGED)
            or f"{name}{AVERAGED}" not in mine[0]["errors"]
        ):
            continue
        found.append(
            {
                "design": design,
                "estimator": name,
                "base": base,
                "single": _ratio(mine, name, base),
                "averaged": _ratio(mine, f"{name}{AVERAGED}", base),
            }
        )
    return found


def _winners(rows: Sequence[Row], designs: Sequence[str]) -> list[dict[str, Any]]:
    """How often each estimator names the best model, mean over the data sets of a design."""
    found = []
    for design in dict.fromkeys([*designs, *(row["design"] for row in rows)]):
        mine = [row for row in rows if row["design"] == design]
        if not mine:
            continue
        names = [one for one in mine[0]["right"] if all(one in row["right"] for row in mine)]
        right = {
            one: round(statistics.fmean(row["right"][one] for row in mine), 1) for one in names
        }
        found.append({"design": design, "data": [row["data"] for row in mine], "right": right})
    return found


def _pair(row: Row) -> tuple[str, str]:
    return row["data"], row["model"]


def _from_one_sample(name: str) -> bool:
    return not name.endswith(AVERAGED) and name not in APART


def _seconds(name: str, rows: Iterable[Row]) -> float | None:
    timed = [row["seconds"][name] for row in rows if name in row.get("seconds", {})]
    return float(f"{statistics.median(timed):.2g}") if timed else None


def _ratio(rows: Iterable[Row], name: str, base: str) -> float:
    """Geometric mean of error over error."""
    pairs = [zip(row["errors"][name], row["errors"][base], strict=True) for row in rows]
    logs = [math.log(max(a, _LEAST) / max(b, _LEAST)) for pair in pairs for a, b in pair]
    return round(math.exp(statistics.fmean(logs)), 3)


def _geometric(errors: Iterable[float]) -> float:
    return round(math.exp(statistics.fmean(math.log(max(one, _LEAST)) for one in errors)), 3)


def _arithmetic(errors: Iterable[float]) -> float:
    return round(statistics.fmean(errors), 3)
