"""How tables, names and figures of the verdict are written."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from reproduction.study import table as markdown


def table(head: list[str], rows: Iterable[Iterable[Any]], *, right: int | None = None) -> str:
    """A Markdown table whose cells may hold a bar, as in |a - b|.

    Columns from `right` on hold numbers, and stand to the right.
    """
    cells = ([str(cell).replace("|", "\\|") for cell in row] for row in rows)
    lines = markdown(head, cells).split("\n")
    if right is not None:
        lines[1] = f"|{' --- |' * right}{' ---: |' * (len(head) - right)}"
    return "\n".join(lines)


def label(name: str) -> str:
    """WMLE is not the estimator that the paper prints under that name."""
    return "WMLE (tilted, ours)" if name == "WMLE" else name


def names(found: Iterable[str]) -> str:
    """One, two and three."""
    *before, last = [*found] or [""]
    return f"{', '.join(before)} and {last}" if before else last


def amount(error: float) -> str:
    return f"{error:.1f}" if error < 100 else f"{error:,.0f}"
