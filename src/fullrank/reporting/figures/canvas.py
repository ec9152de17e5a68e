"""The pieces of a drawing in SVG: sizes, scales, colours, marks, and elements that are escaped."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from fullrank.reporting.figures.figure import EXACT, N_COLOURS, NAIVE, Numbers, Series, mark_of

# On paper and in files; the page's style has the same names, so that a dark scheme can differ.
PAPER = {
    "page": "#ffffff", "text": "#1c2126", "quiet": "#59626b", "faint": "#8b949c",
    "rule": "#e3e6e9", "shade": "#e9ebee", "naive": "#757575", "exact": "#000000",
    "m0": "#0072b2", "m1": "#c05500", "m2": "#008661", "m3": "#ad588b", "m4": "#996e00",
    "m5": "#5e4fa2", "m6": "#757500", "m7": "#00788a",
}  # fmt: skip
DASHES = {"dash": "7 4", "dashdot": "8 3 2 3", "dot": "2 3"}
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"


@dataclass(frozen=True, kw_only=True)
class Layout:
    """How large a drawing is; in a narrow one names of rows are above their intervals."""

    name: str
    width: float
    height: float
    size: float
    stacked: bool


WIDE = Layout(name="wide", width=780, height=360, size=13, stacked=False)
NARROW = Layout(name="narrow", width=360, height=300, size=12, stacked=True)
SMALL = Layout(name="small", width=380, height=250, size=12, stacked=True)


@dataclass(frozen=True, kw_only=True)
class Scale:
    """From numbers on an axis to pixels."""

    low: float
    high: float
    first: float
    last: float
    log: bool = False

    def __call__(self, value: float) -> float:
        """The pixel; outside of the axis at most as far away as the axis is long."""
        low, high, at = self.low, self.high, value
        if self.log:
            low, high, at = math.log(low), math.log(high), math.log(max(value, 1e-300))
        share = min(max((at - low) / (high - low), -1.0), 2.0)
        return self.first + share * (self.last - self.first)

    @property
    def said(self) -> str:
        """The scale for the script of the page: its ends, their pixels, and its kind."""
        ends = f"{self.low:.8g} {self.high:.8g} {self.first:.1f} {self.last:.1f}"
        return f"{ends} {'log' if self.log else 'even'}"


def element(tag: str, *inside: str, text: str | None = None, **attributes: Any) -> str:
    """An element; text and attributes are escaped, `inside` is made of elements."""
    said = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(_short(value), quote=True)}"'
        for name, value in attributes.items()
        if value is not None
    )
    body = "".join(inside) + ("" if text is None else escape(text, quote=False))
    return f"<{tag}{said}>{body}</{tag}>" if body else f"<{tag}{said}/>"


def group(*inside: str, **attributes: Any) -> str:
    """A group of elements."""
    return element("g", *inside, **attributes)


def words(x: float, y: float, text: str, colour: str = "text", **attributes: Any) -> str:
    """Text whose base line begins at a place."""
    filled: dict[str, Any] = {"fill": PAPER[colour], "class_": f"f-{colour}"}
    return element("text", text=text, x=x, y=y, **filled, **attributes)


def clear(x: float, y: float, text: str, colour: str = "text", **attributes: Any) -> str:
    """Text that what is below it does not run through."""
    around: dict[str, Any] = {"stroke": PAPER["page"], "stroke_width": 4, "paint_order": "stroke"}
    drawn: dict[str, Any] = {"fill": PAPER[colour], "class_": f"f-{colour} s-page"} | around
    return element("text", text=text, x=x, y=y, **drawn, **attributes)


def path(steps: str, colour: str, width: float = 2.0, **attributes: Any) -> str:
    """A line."""
    drawn: dict[str, Any] = {
        "stroke": PAPER[colour],
        "class_": f"s-{colour}",
        "stroke_width": width,
    }
    return element("path", d=steps, fill="none", **drawn, **attributes)


def shape(steps: str, colour: str, **attributes: Any) -> str:
    """A filled area."""
    return element("path", d=steps, fill=PAPER[colour], class_=f"f-{colour}", **attributes)


def colour_of(one: Series) -> str:
    """The name of its colour."""
    if isinstance(one.colour, str):
        return {NAIVE: "naive", EXACT: "exact"}[one.colour]
    return f"m{one.colour % N_COLOURS}"


def steps(points: Iterable[tuple[float, float]]) -> str:
    """A line through points."""
    return "".join(f"{'L' if at else 'M'}{x:.1f} {y:.1f}" for at, (x, y) in enumerate(points))


def runs(*columns: Numbers) -> list[list[tuple[float, ...]]]:
    """The rows without a gap, cut where a number is missing."""
    found: list[list[tuple[float, ...]]] = [[]]
    for row in zip(*columns, strict=True):
        kept = tuple(value for value in row if value is not None)
        if len(kept) == len(row):
            found[-1].append(kept)
        elif found[-1]:
            found.append([])
    return [one for one in found if one]


def mark(one: Series, x: float, y: float, radius: float = 4.5) -> str:
    """The mark of a model at a place."""
    outline = _MARKS[mark_of(one.colour)](radius)
    return shape(steps((x + dx, y + dy) for dx, dy in outline) + "Z", colour_of(one))


def text_width(text: str, size: float) -> float:
    """About how wide text is."""
    wide = sum(unicodedata.east_asian_width(one) in "WF" for one in text)
    return size * (0.57 * (len(text) - wide) + wide)


def cut(text: str, room: float, size: float) -> str:
    """The text, or its two ends where there is no room: names of models often begin alike."""
    if text_width(text, size) <= room:
        return text
    kept = len(text) - 1
    while kept > 2 and text_width(_ends(text, kept), size) > room:
        kept -= 1
    return _ends(text, kept)


def _ends(text: str, kept: int) -> str:
    """Of so many characters two in three from the beginning."""
    last = kept // 3
    return f"{text[: kept - last].rstrip()}…{text[len(text) - last :].lstrip()}"


def apart(places: Sequence[float], gap: float, first: float, last: float) -> list[float]:
    """The places moved as little as needed to be `gap` apart between first and last."""
    order = sorted(range(len(places)), key=places.__getitem__)
    blocks: list[list[float]] = []  # sum of what is left of each place, and how many move together
    for at, place in enumerate(order):
        blocks.append([places[place] - gap * at, 1])
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] > blocks[-1][0] / blocks[-1][1]:
            total, many = blocks.pop()
            blocks[-1][0] += total
            blocks[-1][1] += many
    level = [total / many for total, many in blocks for _ in range(int(many))]
    room = max(first, last - gap * (len(order) - 1))
    found = [0.0] * len(places)
    for at, place in enumerate(order):
        found[place] = min(max(level[at], first), room) + gap * at
    return found


def _short(value: object) -> str:
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)


def _ring(corners: int, turn: float, reach: Callable[[int], float]) -> Callable[[float], _Outline]:
    def outline(radius: float) -> _Outline:
        angles = [(2 * math.pi * (k / corners) + turn, reach(k)) for k in range(corners)]
        return [(radius * far * math.sin(a), -radius * far * math.cos(a)) for a, far in angles]

    return outline


_Outline = list[tuple[float, float]]
_PLUS = ((-1, -3), (1, -3), (1, -1), (3, -1), (3, 1), (1, 1), (1, 3), (-1, 3), (-1, 1), (-3, 1),
         (-3, -1), (-1, -1))  # fmt: skip


def _plus(turn: float) -> Callable[[float], _Outline]:
    def outline(radius: float) -> _Outline:
        unit, c, s = 0.4 * radius, math.cos(turn), math.sin(turn)
        return [(unit * (x * c - y * s), unit * (x * s + y * c)) for x, y in _PLUS]

    return outline


_MARKS = (
    _ring(16, 0.0, lambda _: 1.0),  # circle, square, diamond, triangles, plus, cross, star
    _ring(4, math.pi / 4, lambda _: 1.25),
    _ring(4, 0.0, lambda _: 1.3),
    _ring(3, 0.0, lambda _: 1.3),
    _ring(3, math.pi, lambda _: 1.3),
    _plus(0.0),
    _plus(math.pi / 4),
    _ring(10, 0.0, lambda k: 0.55 if k % 2 else 1.35),
)
