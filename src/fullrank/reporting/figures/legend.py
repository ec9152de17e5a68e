"""The entries of a figure's legend: which series each shows and hides, and how it is drawn."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fullrank.reporting.figures.canvas import DASHES, PAPER, colour_of, element, mark, path
from fullrank.reporting.figures.figure import Figure, Series


@dataclass(frozen=True, kw_only=True)
class Entry:
    """An entry: its label, a series that looks as it does (None: the shade), whether it is on.

    `marked` says that a line has marks, by which models are told apart.
    """

    label: str
    series: Series | None
    shown: bool
    marked: bool = False


def entries(figure: Figure) -> list[Entry]:
    """The entries, in the order of the series; none where the rows have the names already."""
    return [one for one in _entries(figure).values() if not _named_by_row(one, figure)]


def key(one: Series) -> tuple[str, bool]:
    """What the series of an entry have in common: a model may have the name of another entry."""
    return one.legend, isinstance(one.colour, int)


def _entries(figure: Figure) -> dict[tuple[str, bool], Entry]:
    found: dict[tuple[str, bool], Entry] = {}
    if figure.shade is not None:
        label = figure.shade[2]
        found[label, False] = Entry(label=label, series=None, shown=True)
    for one in figure.series:
        entry = Entry(label=one.legend, series=one, shown=not one.hidden, marked=told_apart(figure))
        found.setdefault(key(one), entry)
    return found


def told_apart(figure: Figure) -> bool:
    """Whether there are several models, whose lines need marks."""
    return len({one.colour for one in figure.series if isinstance(one.colour, int)}) > 1


def places(figure: Figure) -> dict[tuple[str, bool], int]:
    """The key of each series to the place of its entry; -1 where it has none."""
    shown = [name for name, one in _entries(figure).items() if not _named_by_row(one, figure)]
    return {key(one): -1 for one in figure.series} | {name: at for at, name in enumerate(shown)}


def swatch(entry: Entry) -> str:
    """The entry's mark, 32 by 12 pixels."""
    one = entry.series
    if one is None:
        return _patch("shade")
    colour = colour_of(one)
    if one.kind == "bar":
        return _patch(colour)
    if one.kind in ("points", "stroke"):
        return path("M9 6H23" if one.kind == "points" else "M16 0V12", colour, 2.5)
    drawn = mark(replace(one, low=()), 16.0, 6.0, 4.5) if isinstance(one.colour, int) else ""
    if one.kind in ("line", "step"):
        line = path("M0 6H32", colour, 2.5, stroke_dasharray=DASHES.get(one.dash))
        return line + (drawn if one.kind == "line" and entry.marked else "")
    return drawn


def _named_by_row(entry: Entry, figure: Figure) -> bool:
    one = entry.series
    if one is None or not isinstance(one.colour, int):
        return False
    return one.kind == "interval" or entry.label in figure.y.labels


def _patch(colour: str) -> str:
    return element("rect", x=6, y=1, width=20, height=10, fill=PAPER[colour], class_=f"f-{colour}")
