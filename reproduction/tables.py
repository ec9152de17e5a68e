"""Markdown tables and numbers for the pages, from stored results.

A result is named by its study (`stored`) and a part of it by a path such as ``"estimated/rows"``,
whose steps are keys or positions in a list. Cells are written by format strings of Python with the
fields of a record, for example ``"{recall[mean]:.1f} ± {recall[sd]:.1f}"``; a field that is None
is shown as a dash.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from string import Formatter
from typing import Any

from reproduction.common.kept import stored
from reproduction.outcome import STATES
from reproduction.papers import PAPERS, item_name
from reproduction.registry import STUDIES

Columns = Mapping[str, str] | Sequence[str]
DASH = "–"
_NUMERIC = re.compile(r"[-+−<>≤≥~±(]*\d|–$|$")
_COUNTED = {
    "reproduced": "are reproduced",
    "in order": "keep their order but not their values",
    "not reproduced": "are not reproduced",
    "on other data": "are tested on other data only",
    "not here": "cannot be reproduced here",
    "nothing to reproduce": "have nothing to reproduce",
}


def at(name: str, path: str = "") -> Any:
    """A part of a stored result."""
    part = _walked(stored(name), path.split("/")) if path else stored(name)
    if part is None:
        raise KeyError(f"{name}.json has nothing at {path}")
    return part


def number(name: str, path: str, spec: str = "") -> str:
    """One number of a stored result."""
    return format(at(name, path), spec)


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A Markdown table; columns of numbers are aligned right."""
    body = [[str(cell) for cell in row] for row in rows]
    rule = [
        "---:" if at and all(map(_NUMERIC.match, column)) else "---"
        for at, column in enumerate(zip(*body, strict=True))
    ] or ["---"] * len(head)
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, rule, *body))


def selected(name: str, path: str = "", where: Mapping[str, Any] | None = None) -> list[Any]:
    """The records at a path that have the given values; a list means any of its values.

    A mapping counts as records whose own names are in the field ``key``.
    """
    part = at(name, path)
    if isinstance(part, Mapping):
        part = [{"key": key} | _record(value) for key, value in part.items()]
    found = []
    for one in part:
        record = _record(one)
        kept = {key: _field(record, key) for key in where or ()}
        if all(
            kept[key] in (v if isinstance(v, list) else [v]) for key, v in (where or {}).items()
        ):
            found.append(record)
    return found


def column(name: str, path: str, field: str, where: Mapping[str, Any] | None = None) -> list[Any]:
    """One field of the records at a path, for use with the filters min, max and sum."""
    return [_field(record, field) for record in selected(name, path, where)]


def records(
    name: str, path: str, columns: Columns, *, where: Mapping[str, Any] | None = None
) -> str:
    """A table with a row for each record; `columns` are fields, or headings with formats."""
    shown = columns if isinstance(columns, Mapping) else {one: one for one in columns}
    rows = [[_text(cell, one) for cell in shown.values()] for one in selected(name, path, where)]
    _filled(name, path, list(shown), rows)
    return table(list(shown), rows)


def pivot(
    name: str,
    path: str,
    *,
    rows: str | Columns,
    columns: str,
    cell: str,
    where: Mapping[str, Any] | None = None,
    corner: str = "",
    order: Sequence[str] | None = None,
) -> str:
    """A table with a row and a column for each value of two fields.

    `rows` may be headings with formats, for several leading columns. `order` selects the columns.
    """
    leading = {corner: rows} if isinstance(rows, str) else rows
    if not isinstance(leading, Mapping):
        leading = {one: one for one in leading}
    found: dict[tuple[str, ...], dict[str, str]] = {}
    for one in selected(name, path, where):
        key = tuple(_text(part, one) for part in leading.values())
        found.setdefault(key, {})[_text(columns, one)] = _text(cell, one)
    heads = list(order or dict.fromkeys(head for row in found.values() for head in row))
    body = [[*key, *(row.get(head, DASH) for head in heads)] for key, row in found.items()]
    _filled(name, path, [*leading, *heads], body)
    return table([*leading, *heads], body)


def published(
    name: str,
    path: str,
    *,
    spec: str = ".3f",
    rows: str = "row",
    columns: str = "column",
    where: Mapping[str, Any] | None = None,
    corner: str = "",
    order: Sequence[str] | None = None,
) -> str:
    """Measured values beside the published ones, which are in brackets.

    The cells have `row`, `column`, `published` and `measured`, and may have `published_sd` and
    `measured_sd`.
    """
    ours, theirs = f"{{measured:{spec}}}", f"{{published:{spec}}}"
    if any(one is not None for one in column(name, path, "measured_sd", where)):
        ours += f" ± {{measured_sd:{spec}}}"
    if any(one is not None for one in column(name, path, "published_sd", where)):
        theirs += f" ± {{published_sd:{spec}}}"
    cell = f"{ours} ({theirs})"
    return pivot(
        name, path, rows=rows, columns=columns, cell=cell, where=where, corner=corner, order=order
    )


def outcomes(name: str) -> str:
    """The outcome of each table and figure that a study repeats."""
    rows = [
        [item_name(one["item"]), STATES[one["state"]], _evidence(one)]
        for one in stored(name)["tables"]
    ]
    return table(["item", "outcome", "evidence"], rows)


def items(paper: str) -> str:
    """Every table and figure of a paper, given by its number or name, and its outcome."""
    rows = []
    for one in stored("reproduction_index")["items"]:
        number, _, item = one["item"].partition(" ")
        if paper not in (number, PAPERS[number].name):
            continue
        state = STATES[one["state"]] + (", in part" if one["in_part"] else "")
        names = dict.fromkeys(said["study"] for said in one["outcomes"] if said["study"])
        links = ", ".join(f"[{name}]({name}.md)" for name in names)
        evidence = dict.fromkeys(_counted(said) or said.get("says", "") for said in one["outcomes"])
        rows.append([item, one["shows"], state, links, "<br>".join(evidence)])
    return table(["item", "content", "outcome", "study", "evidence"], rows)


def counts() -> str:
    """The number of items by paper and outcome."""
    found = stored("reproduction_index")["items"]
    seen = [state for state in STATES if any(one["state"] == state for one in found)]
    rows = []
    for number, paper in PAPERS.items():
        count = Counter(one["state"] for one in found if one["item"].startswith(number))
        rows.append([paper.name, *(count[state] for state in seen), count.total()])
    whole = Counter(one["state"] for one in found)
    rows.append(["all", *(whole[state] for state in seen), whole.total()])
    return table(["paper", *(STATES[state] for state in seen), "all"], rows)


def states() -> str:
    """The number of items by outcome, in a sentence without its full stop."""
    found = stored("reproduction_index")["items"]
    count = Counter(one["state"] for one in found)
    part = sum(one["in_part"] for one in found if one["state"] == "reproduced")
    parts = [f"{count[state]} {words}" for state, words in _COUNTED.items() if count[state]]
    parts[0] += f" ({part} of them in part)"
    return f"Of {len(found)} tables and figures, {', '.join(parts[:-1])} and {parts[-1]}"


def studies_of_papers() -> str:
    """The studies that repeat a paper."""
    rows = [
        [f"[{one.name}](reproduction/{one.name}.md)", PAPERS[one.paper].name, one.about]
        for one in STUDIES.values()
        if one.paper
    ]
    return table(["study", "paper", "content"], rows)


def run_of(name: str) -> str:
    """Seeds, machine, time and memory of the stored run, and the command that repeats it."""
    run = stored(name)
    return (
        f"*Seeds {run['seeds']}. {run['machine']}, Python {run['python']}, "
        f"{run['seconds']:,.0f} s, at most {run['peak_megabytes']:,} MB. "
        f"Repeat with* `python -m reproduction run {name}`*.*"
    )


def _counted(one: Mapping[str, Any]) -> str:
    """The counts behind an outcome, or the reason why there is none."""
    parts = []
    if "cells" in one:
        parts.append(f"{one['within']} of {one['cells']} cells within the limits")
        if one["order"] is not None:
            parts.append(f"{one['order']:.0%} of pairs in order")
        if one["absent"]:
            parts.append(f"{one['absent']} cells not available")
    if one.get("data"):
        holds = {True: "holds", None: "holds in part", False: "does not hold"}[one["holds"]]
        parts.append(f"{holds} on {one['data']}")
    return "; ".join(parts) or str(one.get("why", ""))


def _evidence(one: Mapping[str, Any]) -> str:
    """The counts, the statement that was tested, and what differs from the paper."""
    counted = _counted(one)
    return "; ".join(str(x) for x in (counted, one.get("says"), one.get("differs")) if x)


def _record(value: Any) -> dict[Any, Any]:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, list):
        return {str(at): one for at, one in enumerate(value)}
    return {"value": value}


def _walked(found: Any, steps: Iterable[str]) -> Any:
    """The part at these keys or positions; None where there is none."""
    for step in steps:
        if isinstance(found, list):
            found = found[int(step)]
        else:
            found = found.get(step) if isinstance(found, Mapping) else None
    return found


def _field(record: Mapping[Any, Any], path: str) -> Any:
    """A field, or one inside it: ``"recall/mean"``."""
    return record[path] if path in record else _walked(record, path.split("/"))


class _Dashed(Formatter):
    """Format strings in which None, whatever its format, is a dash, and settings are listed."""

    def get_field(self, field_name: str, args: Any, kwargs: Any) -> Any:
        first, *inner = (one.removesuffix("]") for one in field_name.split("["))
        return _walked(kwargs, [first, *inner]), first

    def format_field(self, value: Any, format_spec: str) -> str:
        if isinstance(value, Mapping):
            value = [f"{key} {self.format_field(one, 'g' * isinstance(one, float))}"
                     for key, one in value.items()]  # fmt: skip
        if isinstance(value, list):
            return ", ".join(map(str, value)) or DASH
        return DASH if value is None else str(super().format_field(value, format_spec))


def _text(shown: str, record: Mapping[Any, Any]) -> str:
    if "{" not in shown:
        shown = f"{{{shown}}}"
    text = _Dashed().vformat(shown, (), record).replace(f" ± {DASH}", "")
    return DASH if set(text) <= set(f"{DASH} ±()/%") else text


def _filled(name: str, path: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Refuse an empty table or column: the page names something that is not in the result."""
    empty = [c for at, c in enumerate(columns) if all(row[at] == DASH for row in rows)]
    if empty:
        raise KeyError(f"{name}.json has nothing at {path} for {', '.join(empty)}")
