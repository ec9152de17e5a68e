"""What the page says of each point of a figure, when it is pointed at."""

from __future__ import annotations

import math

from fullrank._lib.text import decimals
from fullrank.reporting.escaping import outward, percent
from fullrank.reporting.figures.figure import Figure, Series

Tip = tuple[float, float, str]


def tips(figure: Figure) -> list[list[Tip]]:
    """For each series its points in the units of the axes, with a text; the first line names it."""
    starts: dict[float, float] = {}
    found = []
    for one in figure.series:
        y = one.y
        x = one.x
        if one.kind == "bar":  # each begins where the one before it ends
            middles = []
            for place, share in zip(one.y, one.x, strict=True):
                start = starts.get(place or 0.0, 0.0)
                middles.append(start + (share or 0.0) / 2)
                starts[place or 0.0] = start + (share or 0.0)
            x = tuple(middles)
        points = zip(x, y, _told(one, figure), strict=True)
        found.append(
            [
                (_brief(a), _brief(b), text)
                for a, b, text in points
                if a is not None and b is not None and text
            ]
        )
    return found


def _brief(value: float) -> float:
    return float(f"{value:.5g}")


def _told(one: Series, figure: Figure) -> list[str]:
    """A text for each point: numbers, and words of this project."""
    if one.kind == "bar":
        return [percent(x) if x else "" for x in one.x]
    if one.kind == "interval":
        shown = _signed if figure.x.zero else _plain
        return [
            shown(x) + ("" if low is None or high is None else f" ({shown(low)} to {shown(high)})")
            for x, low, high in zip(one.x, one.low, one.high, strict=True)
        ]
    if one.kind == "stroke":
        return [_plain(x) for x in one.x]
    if one.kind == "step":
        return [*_steps(one), ""][: len(one.x)]
    if figure.name == "efficiency":
        pairs = zip(one.x, one.y, strict=True)
        return [
            f"{100 * (x or 0.0):.1f} % of the items: {y or 0.0:,.0f} per settled target"
            for x, y in pairs
        ]
    return [
        f"K = {x or 0.0:,.0f}: {_plain(y)}{tail}"
        for x, y, tail in zip(one.x, one.y, _tails(one), strict=True)
    ]


def _steps(one: Series) -> list[str]:
    starts = [1.0 if x is None else x for x in one.x]
    told = []
    for place, share in enumerate(one.y[:-1]):
        low, high = starts[place], starts[place + 1]
        last = high if place == len(one.y) - 2 else high - 1
        span = f"ranks {low:,.0f}–{last:,.0f}" if last > low else f"rank {low:,.0f}"
        width = math.log2((last + 1.0) / low)  # 1 but for the last bin, whose height is a density
        told.append(f"{span}: {100 * (share or 0.0) * width:.1f} %")
    return told


def _tails(one: Series) -> list[str]:
    if not one.low:
        return [""] * len(one.x)
    label, shown = ("bounds", _bounds) if one.kind == "whisker" else ("interval", _ends)
    return [
        "" if low is None or high is None else f"\n{label} {' to '.join(shown(low, high))}"
        for low, high in zip(one.low, one.high, strict=True)
    ]


def _bounds(low: float, high: float) -> tuple[str, str]:
    return outward(low, high, 4)


def _ends(low: float, high: float) -> tuple[str, str]:
    return _plain(low), _plain(high)


def _plain(value: float | None) -> str:
    return "–" if value is None else f"{value:.{decimals(value)}f}"


def _signed(value: float | None) -> str:
    return "–" if value is None else f"{value:+.{decimals(value)}f}".replace("-", "−")
