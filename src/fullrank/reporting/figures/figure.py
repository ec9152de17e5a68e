"""What a figure shows, in plain numbers: the page and matplotlib both draw from this."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from fullrank._lib import checks

Numbers = tuple[float | None, ...]

KINDS = ("line", "step", "points", "whisker", "interval", "bar")
N_COLOURS = 8
NAIVE, EXACT = "naive", "exact"  # colours that belong to no model


def numbers(values: Iterable[float | None]) -> Numbers:
    """Floats, with None for what is not a number."""
    return tuple(
        None if value is None or not math.isfinite(value) else float(value) for value in values
    )


def dash_of(colour: int | str) -> str:
    """Solid for the first models, dashed where their colours come again, dotted for exact ranks."""
    if isinstance(colour, str):
        return "dot"
    return "solid" if colour < N_COLOURS else "dash"


@dataclass(frozen=True, kw_only=True)
class Axis:
    """An axis: its title, its scale, where it ends, and names for 0, 1, 2 and so on."""

    title: str
    log: bool = False
    low: float | None = None
    high: float | None = None
    labels: tuple[str, ...] = ()
    percent: bool = False


@dataclass(frozen=True, kw_only=True)
class Series:
    """One thing drawn.

    Attributes
    ----------
    name : what it is, in full
    kind : "line" (a band from low to high goes with it), "step" (a histogram's outline), "points",
        "whisker" (upright, from low to high, a point at y), "interval" (lying, a point at x) or
        "bar" (lying, stacked in the order given)
    x, y, low, high : its numbers
    colour : the number of a model, "naive" or "exact"
    legend : the entry of the legend that shows and hides it
    dash : "solid", "dash" or "dot"
    hidden : whether the page shows it only when its entry of the legend is pressed
    """

    name: str
    kind: str
    x: Numbers
    y: Numbers
    low: Numbers = ()
    high: Numbers = ()
    colour: int | str = 0
    legend: str = ""
    dash: str = "solid"
    hidden: bool = False

    def __post_init__(self) -> None:
        checks.choice("kind", self.kind, KINDS)


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A figure: its series, its axes, and the same in words and as a table.

    Attributes
    ----------
    name : what `Report.plot` calls it
    section : the part of the page it stands in
    title, reading : what it shows, and how to read it
    alternative : what it shows, for who cannot see it
    x, y, series : what is drawn
    shade : first and last x of a shaded stretch, and what it is; or None
    head, rows : its numbers as a table
    """

    name: str
    section: str
    title: str
    reading: str
    alternative: str
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    shade: tuple[float, float, str] | None = None
    head: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and text."""
        return asdict(self)
