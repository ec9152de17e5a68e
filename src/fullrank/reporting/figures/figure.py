"""What a figure shows in plain numbers, and where its axes end; the page and matplotlib draw it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

from fullrank._lib import checks

Numbers = tuple[float | None, ...]

KINDS = ("line", "step", "points", "whisker", "interval", "stroke", "bar")
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
    return ("solid", "dash", "dashdot")[colour // N_COLOURS % 3]


def mark_of(colour: int | str) -> int:
    """The number of a model's mark: no two of the first 64 share both colour and mark."""
    if isinstance(colour, str):
        return 0
    return (colour + colour // N_COLOURS) % N_COLOURS


@dataclass(frozen=True, kw_only=True)
class Axis:
    """An axis: its title, its scale, where it ends, and names for 0, 1, 2 and so on.

    With `zero`, a line marks zero, which is always in view.
    """

    title: str
    log: bool = False
    low: float | None = None
    high: float | None = None
    labels: tuple[str, ...] = ()
    percent: bool = False
    zero: bool = False


@dataclass(frozen=True, kw_only=True)
class Series:
    """One thing drawn.

    Attributes
    ----------
    name : what it is, in full
    kind : "line" (a band from low to high goes with it), "step" (a histogram's outline), "points",
        "whisker" (upright, from low to high, a point at y), "interval" (lying, a point at x),
        "stroke" (upright, across a row) or "bar" (lying, stacked in the order given)
    x, y, low, high : its numbers
    colour : the number of a model, "naive" or "exact"
    legend : the entry of the legend that shows and hides it
    dash : "solid", "dash", "dashdot" or "dot"
    hidden : whether the page shows it only when its entry of the legend is pressed
    band : whether the band of a line is drawn; the page shows others when their entry is pointed at
    beside : text beside an interval, a cell for each column of `Figure.beside`
    strong : whether its row is emphasised
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
    band: bool = True
    beside: tuple[str, ...] = ()
    strong: bool = False

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
    live : what the page's buttons do; not on paper, where there are none
    alternative : what it shows, for who cannot see it
    x, y, series : what is drawn
    shade : first and last x of a shaded stretch, and what it is; or None
    beside : heads of the text beside intervals
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
    beside: tuple[str, ...] = ()
    head: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    live: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and text."""
        return asdict(self)


def ends(axis: Axis, values: Iterable[Numbers]) -> tuple[float, float]:
    """First and last value: as the axis says, or with a little room around the data."""
    seen = [value for series in values for value in series if value is not None]
    low, high = axis.low, axis.high
    if axis.zero:
        seen.append(0.0)
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


def even_ticks(low: float, high: float, percent: bool = False) -> tuple[list[float], list[str]]:
    """Four to nine round numbers, with the digits that they need."""
    power = math.floor(math.log10((high - low) / 4))
    step = max(f * 10.0**power for f in (1, 2, 5) if f * 10.0**power <= (high - low) / 4)
    ticks = [i * step for i in range(math.ceil(low / step - 1e-9), int(high / step + 1e-9) + 1)]
    shown = 100 * step if percent else step
    digits = max(0, -math.floor(math.log10(shown) + 1e-9))
    texts = [f"{100 * tick if percent else tick:,.{digits}f}" for tick in ticks]
    clean = [text.lstrip("-") if not text.strip("-0.") else text for text in texts]
    return ticks, [text.replace("-", "−") + (" %" if percent else "") for text in clean]


def without_gaps(figure: Figure) -> Figure:
    """The figure, its table without columns in which nothing is known."""
    known = [
        at
        for at in range(len(figure.head))
        if at == 0 or any(row[at] != "–" for row in figure.rows)
    ]
    return replace(
        figure,
        head=tuple(figure.head[at] for at in known),
        rows=tuple(tuple(row[at] for at in known) for row in figure.rows),
    )


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
