"""The outcomes of the tables and figures in chapter 3 of Li (dissertation).

The cells of a table are compared if its data are available. If not, the statement that the table
supports is tested on other data.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from reproduction.linear_models.data import METRICS
from reproduction.linear_models.gaps import CLOSED, LEARNED, REGRESSION
from reproduction.linear_models.grids import FLAT, at_twice, falling, lost
from reproduction.linear_models.published import BASIC, COMPARED, SEARCHES
from reproduction.linear_models.search import published_best
from reproduction.outcome import (
    ALIKE,
    TOLERANCE,
    compare,
    elsewhere,
    holds_for,
    missing,
    shown,
)

STAND_IN = "ml-1m"
Found = dict[str, Any]


def tables_of(content: Found) -> Found:
    """The outcome of each table and figure, and the data that replace those of the chapter."""
    here = {name: one for name, one in content["data"].items() if "missing" not in one}
    stand_in = STAND_IN if STAND_IN in here else next(iter(here))
    own = {one["published_as"]: one for one in here.values() if one["published_as"]}
    other = here[stand_in] | {"name": stand_in}
    tables = [
        _basic("003 Table 8", "ML-20M", own, other),
        _basic("003 Table 9", "Netflix", own, other),
        _table10(own, other),
        *(_search(table, own, other) for table in SEARCHES),
        _table18(own),
        _figure11(own, other),
        _figure12(own, other),
    ]
    return {"stand_in": stand_in, "tables": tables}


def all_of(held: Iterable[bool | None]) -> bool | None:
    """A statement of several parts: False if one is, True if all are."""
    parts = set(held)
    return False if False in parts else None if None in parts else True


def _basic(item: str, data: str, own: Found, other: Found) -> Found:
    if data in own:
        cells = [
            _cell(metric, model, values[at], own[data])
            for model, (_, values) in BASIC[data].items()
            for at, metric in enumerate(METRICS)
        ]
        return compare(item, cells)
    checks = [_check(other, says) for says in (REGRESSION, CLOSED)]
    return elsewhere(
        item,
        " and ".join(one["says"] for one in checks),
        all_of(one["holds"] for one in checks),
        data=other["name"],
        differs=f"{_absent(data)}; {'; '.join(one['found'] for one in checks)}",
    )


def _table10(own: Found, other: Found) -> Found:
    sets = ("ML-20M", "Netflix")
    if any(data in own for data in sets):
        cells = [
            _cell(metric, model, values[at], own.get(data)) | {"row": f"{data} {metric}"}
            for data in sets
            for model, values in COMPARED[data].items()
            for at, metric in enumerate(METRICS)
        ]
        gone = "; ".join(_absent(data) for data in sets if data not in own)
        return compare("003 Table 10", cells, differs=gone)
    pairs = {data: other["pairs"][f"Table 10, {data}"] for data in sets}
    same, of = (sum(one[key] for one in pairs.values()) for key in ("same", "pairs"))
    told = " and ".join(
        f"{one['same']} of {one['pairs']} pairs of {data}" for data, one in pairs.items()
    )
    return elsewhere(
        "003 Table 10",
        f"of models that are published more than {100 * ALIKE:g} % apart, the better one is better",
        holds_for(same, of),
        data=other["name"],
        differs=f"ML-20M and Netflix are not here; {told}",
    )


def _table18(own: Found) -> Found:
    if "MSD" not in own:
        return missing("003 Table 18", "the Million Song Data are not here")
    cells = [
        _cell(metric, model, values[at], own["MSD"])
        for model, values in COMPARED["MSD"].items()
        for at, metric in enumerate(METRICS)
    ]
    return compare("003 Table 18", cells)


def _cell(metric: str, model: str, published: float, found: Found | None) -> Found:
    measured = None if found is None else found["models"][model]["test"][metric]["mean"]
    return {"row": metric, "column": model, "published": published, "measured": measured}


def _search(table: str, own: Found, other: Found) -> Found:
    published = SEARCHES[table]
    model, data = published["model"], published["data"]
    item = f"003 {table}"
    if data in own:
        measured = own[data]["searches"][model][table]
        cells = [
            {"row": k, "column": penalty, "published": theirs, "measured": ours}
            for k, row, found in zip(
                published["ranks"], published["values"], measured["values"], strict=True
            )
            for penalty, theirs, ours in zip(published["penalties"], row, found, strict=True)
        ]
        return compare(item, cells)
    measured = other["searches"][model].get(table)
    if measured is None:
        return missing(item, f"{_absent(data)}, and nothing that stands in for it")
    judged = _mf_search if model == "MF" else _lrr_search
    says, holds, told = judged(measured, published)
    near, of = _near(published, measured)
    differs = (
        f"{_absent(data)}; {told}; as shares of the best of its table {near} of {of} cells are "
        f"within {100 * TOLERANCE:g} % of the published"
    )
    return elsewhere(item, says, holds, data=other["name"], differs=differs)


def _near(published: Found, measured: Found) -> tuple[int, int]:
    both = [pair for row in shares(published, measured) for pair in row]
    return sum(abs(ours - theirs) <= TOLERANCE * theirs for theirs, ours in both), len(both)


def _mf_search(grid: Found, published: Found) -> tuple[str, bool | None, str]:
    n, of = falling(grid)
    twice = at_twice(grid, published)
    says = (
        "without regularisation MF falls with every step of the rank, and with twice the best λ "
        "the rank makes no difference"
    )
    told = (
        f"it falls with {n} of {of} steps; with twice the best λ NDCG@100 is {min(twice):.4f} to "
        f"{max(twice):.4f}"
    )
    return says, all_of((holds_for(n, of), max(twice) - min(twice) < 1e-9)), told


def _lrr_search(grid: Found, published: Found) -> tuple[str, bool | None, str]:
    ours, theirs = lost(grid, published), lost(published, published)
    says = f"with λ from three quarters of the best on LRR loses at most {FLAT:g} %"
    return says, ours <= FLAT, f"at most {ours:.1f} % are lost (published {theirs:.1f} %)"


def shares(published: Found, measured: Found) -> list[list[tuple[float, float]]]:
    """Each cell as a share of the greatest of its table, published and measured."""
    row, column = published_best(published)
    top = published["values"][row][column]
    ours = max(max(one) for one in measured["values"])
    return [
        [(round(a / top, 4), round(b / ours, 4)) for a, b in zip(one, other, strict=True)]
        for one, other in zip(published["values"], measured["values"], strict=True)
    ]


def _figure11(own: Found, other: Found) -> Found:
    spectra = own.get("ML-20M", other)["spectra"]
    says = "LRR takes most from the middle singular values, MF the same from all until none is left"
    holds = _middle(spectra) and spectra["mf_left"] < spectra["lrr_left"]
    told = f"{spectra['mf_left']} of MF's remain, {spectra['lrr_left']} of LRR's"
    return _figure("003 Figure 11", says, holds, told, own, other)


def _figure12(own: Found, other: Found) -> Found:
    check = _check(own.get("ML-20M", other), LEARNED)
    return _figure("003 Figure 12", check["says"], check["holds"], check["found"], own, other)


def _figure(item: str, says: str, holds: bool, told: str, own: Found, other: Found) -> Found:
    if "ML-20M" in own:
        return shown(item, says, holds, differs=told)
    differs = f"{_absent('ML-20M')}; {told}"
    return elsewhere(item, says, holds, data=other["name"], differs=differs)


def _middle(spectra: Found) -> bool:
    """Whether LRR's reduction is greatest inside, not at the first or last value it keeps."""
    kept = [at for at, rank in enumerate(spectra["rank"]) if rank <= spectra["lrr_left"]]
    taken = [spectra["values"][at] - spectra["LRR"][at] for at in kept]
    return 0 < int(np.argmax(taken)) < len(taken) - 1


def _check(found: Found, says: str) -> Found:
    (one,) = [one for one in found["claims"] if one["says"] == says]
    return one


def _absent(data: str) -> str:
    return f"{data} is not here"
