"""What a figure shows in plain numbers, and where its axes end; plotly and matplotlib draw it."""

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


def ends(axis: Axis, values: Iterable[Numbers]) -> tuple[float, float]:
    """First and last value: as the axis says, or with a little room around the data."""
    seen = [value for series in values for value in series if value is not None]
    low, high = axis.low, axis.high
    if axis.log:
        seen = [value for value in seen if value > 0.0] or [1.0]
        low = min(seen) / 1.25 if low is None else low
        high = max(seen) * 1.25 if high is None else high
        return low, max(high, 1.01 * low)
    room = 0.05 * (max(seen, default=1.0) - min(seen, default=0.0) or 1.0)
    low = min(seen, default=0.0) - room if low is None else low
    high = max(seen, default=1.0) + room if high is None else high
    return low, high if high > low else low + 1.0


def log_ticks(low: float, high: float, percent: bool = False) -> tuple[list[float], list[str]]:
    """Powers of ten, every second or third of very many; 1, 2 and 5 on a short axis."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    short = math.log10(high / low) < 2.1
    every = 1 + (last - first) // 7
    steps = (1, 2, 5) if short else (1,)
    ticks = [
        factor * 10.0**power
        for power in range(first, last + 1)
        if short or power % every == 0
        for factor in steps
    ]
    kept = [tick for tick in ticks if low * 0.999 <= tick <= high * 1.001]
    return kept, [f"{100 * tick:g} %" if percent else tick_text(tick) for tick in kept]


def tick_text(value: float) -> str:
    """A number as an axis shows it: 0.01, 1,000, 100k, 10M."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= max(size, 1e5):
            return f"{value / size:g}{unit}"
    return f"{value:,.0f}" if value >= 1.0 else f"{value:g}"


def all_x(figure: Figure) -> list[Numbers]:
    """Everything drawn along x."""
    lying = [
        side for one in figure.series if one.kind == "interval" for side in (one.low, one.high)
    ]
    return [*(one.x for one in figure.series), *lying]


def all_y(figure: Figure) -> list[Numbers]:
    """Everything drawn along y."""
    upright = [
        side for one in figure.series if one.kind != "interval" for side in (one.low, one.high)
    ]
    return [*(one.y for one in figure.series), *upright]
