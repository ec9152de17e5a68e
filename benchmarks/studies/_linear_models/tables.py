"""How each table and figure of the chapter came out, and each statement over all data sets."""

from __future__ import annotations

from typing import Any

import numpy as np
from _outcome import ENOUGH, claim, compare, missing, shown

from _linear_models.data import METRICS
from _linear_models.published import BASIC, COMPARED, SEARCHES
from _linear_models.search import published_best

STAND_IN = "ml-1m"


def tables_of(content: dict[str, Any]) -> dict[str, Any]:
    """How each table and figure of the chapter came out, and each statement over all data."""
    here = {name: one for name, one in content["data"].items() if "missing" not in one}
    stand_in = STAND_IN if STAND_IN in here else next(iter(here))
    own = {one["published_as"]: name for name, one in here.items() if one["published_as"]}

    def measured(data: str) -> str:
        return str(own.get(data, stand_in))

    tables = [
        _basic("003 Table 8", "ML-20M", here, measured("ML-20M")),
        _basic("003 Table 9", "Netflix", here, measured("Netflix")),
        _compared(here, {data: measured(data) for data in ("ML-20M", "Netflix")}),
        *(_search(table, here, measured(SEARCHES[table]["data"])) for table in SEARCHES),
    ]
    if "MSD" in own:
        tables.append(_table18(here[own["MSD"]]))
    else:
        tables.append(missing("003 Table 18", "the Million Song Data are not here"))
    first = here[measured("ML-20M")]
    differs = "" if "ML-20M" in own else f"{stand_in} in the place of ML-20M"
    spectra, checks = first["spectra"], {one["says"]: one for one in first["claims"]}
    tables += [
        shown(
            "003 Figure 11",
            "LRR takes most from the middle singular values, MF the same from all until none is "
            f"left: {spectra['mf_left']} remain, {spectra['lrr_left']} of LRR's",
            _middle(spectra) and spectra["mf_left"] < spectra["lrr_left"],
            differs=differs,
        ),
        shown(
            "003 Figure 12",
            "the learned λᵢ are above λ at first and below it later",
            next(one["holds"] for says, one in checks.items() if says.startswith("the λᵢ")),
            differs=differs,
        ),
    ]
    return {"stand_in": stand_in, "tables": tables, "claims": _across(here)}


def _middle(spectra: dict[str, Any]) -> bool:
    """Whether LRR's reduction is greatest inside, not at the first or last value it keeps."""
    kept = [at for at, rank in enumerate(spectra["rank"]) if rank <= spectra["lrr_left"]]
    taken = [spectra["values"][at] - spectra["LRR"][at] for at in kept]
    return 0 < int(np.argmax(taken)) < len(taken) - 1


def _across(here: dict[str, Any]) -> list[dict[str, Any]]:
    """True or False where a statement does or does not hold on all data sets, None otherwise."""
    words = {True: "holds", False: "does not", None: "not told apart"}
    found = []
    for checks in zip(*(one["claims"] for one in here.values()), strict=True):
        held = {one["holds"] for one in checks}
        told = "; ".join(
            f"{name} ({words[one['holds']]}): {one['found']}"
            for name, one in zip(here, checks, strict=True)
        )
        (verdict,) = held if len(held) == 1 else {None}
        found.append(claim("003", checks[0]["says"], verdict, told))
    return found


def _judged(item: str, cells: list[dict[str, Any]], same: bool, **more: Any) -> dict[str, Any]:
    """On other data values say nothing, and the order decides."""
    found = compare(item, cells, **more)
    if not same:
        kept = found["order"] is not None and found["order"] >= ENOUGH
        found["state"] = "in order" if kept else "not reproduced"
    return found


def _basic(item: str, data: str, here: dict[str, Any], name: str) -> dict[str, Any]:
    found = here[name]
    cells = [
        _cell(metric, model, values[at], found)
        for model, (_, values) in BASIC[data].items()
        for at, metric in enumerate(METRICS)
    ]
    differs = _differs(here, {data: name})
    return _judged(item, cells, not differs, differs=differs)


def _compared(here: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    cells = [
        _cell(metric, model, values[at], here[name]) | {"row": f"{data} {metric}"}
        for data, name in names.items()
        for model, values in COMPARED[data].items()
        for at, metric in enumerate(METRICS)
    ]
    differs = _differs(here, names)
    return _judged("003 Table 10", cells, not differs, differs=differs)


def _table18(found: dict[str, Any]) -> dict[str, Any]:
    cells = [
        _cell(metric, model, values[at], found)
        for model, values in COMPARED["MSD"].items()
        for at, metric in enumerate(METRICS)
    ]
    return compare("003 Table 18", cells)


def _cell(metric: str, model: str, published: float, found: dict[str, Any]) -> dict[str, Any]:
    measured = found["models"][model]["test"][metric]["mean"]
    return {"row": metric, "column": model, "published": published, "measured": measured}


def _search(table: str, here: dict[str, Any], name: str) -> dict[str, Any]:
    """Values on the same data; elsewhere shares of the best in the table."""
    published = SEARCHES[table]
    model, data = published["model"], published["data"]
    measured = here[name]["searches"][model].get(table)
    if measured is None:
        return missing(f"003 {table}", f"{data} is not here, and nothing that stands in for it")
    differs = _differs(here, {data: name})
    pairs = shares(published, measured) if differs else _values(published, measured)
    cells = [
        {"row": k, "column": penalty, "published": theirs, "measured": ours}
        for k, row in zip(published["ranks"], pairs, strict=True)
        for penalty, (theirs, ours) in zip(published["penalties"], row, strict=True)
    ]
    if not differs:
        return compare(f"003 {table}", cells)
    result = compare(
        f"003 {table}",
        cells,
        within=0.15 if model == "MF" else 0.05,
        differs=f"{differs}, as shares of the best, λ in units of the best",
    )
    if result["state"] == "reproduced":
        result["state"] = "in order"  # in shape, that is
    return result


def shares(published: dict[str, Any], measured: dict[str, Any]) -> list[list[tuple[float, float]]]:
    """Each cell as a share of the greatest of its table, published and measured."""
    row, column = published_best(published)
    top = published["values"][row][column]
    ours = max(max(one) for one in measured["values"])
    return [
        [(round(a / top, 4), round(b / ours, 4)) for a, b in zip(one, other, strict=True)]
        for one, other in zip(published["values"], measured["values"], strict=True)
    ]


def _values(published: dict[str, Any], measured: dict[str, Any]) -> list[list[tuple[float, float]]]:
    return [
        list(zip(one, other, strict=True))
        for one, other in zip(published["values"], measured["values"], strict=True)
    ]


def _differs(here: dict[str, Any], names: dict[str, str]) -> str:
    """What stands in for the data of a table; nothing if they are those."""
    other = {data: name for data, name in names.items() if here[name]["published_as"] != data}
    if not other:
        return ""
    standing = " and ".join(f"{name} in the place of {data}" for data, name in other.items())
    return f"{standing}, whose values it cannot have: the order is compared"
