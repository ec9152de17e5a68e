"""Where an axis ends and which of its values are written beside it."""

from __future__ import annotations

import math
from collections.abc import Iterable

from fullrank.reporting.figures.figure import Axis, Figure, Numbers


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
