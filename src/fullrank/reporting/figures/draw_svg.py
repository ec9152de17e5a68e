"""A figure as SVG, drawn once, so that it needs no script to be seen, printed or saved.

Colours are attributes for paper; classes of the same names let the page's style replace them. What
has ``display="none"`` is there for the page's script: hidden series, and the title and the legend,
which the page shows as text of its own and a saved figure needs inside.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fullrank.reporting.escaping import percent
from fullrank.reporting.figures.canvas import (
    DASHES,
    FONT,
    PAPER,
    Layout,
    Scale,
    apart,
    clear,
    colour_of,
    cut,
    element,
    group,
    mark,
    path,
    runs,
    shape,
    steps,
    text_width,
    words,
)
from fullrank.reporting.figures.figure import (
    Axis,
    Figure,
    Series,
    all_x,
    all_y,
    ends,
    even_ticks,
    log_ticks,
)
from fullrank.reporting.figures.legend import entries, key, places, swatch, told_apart

_NAMED = 16  # lines with their names at their ends, at most
_BAR = 20.0  # pixels of a bar
_NAME = 230.0  # pixels for the name of a row, at most
_BOLD = 1.1  # how much wider bold text is
_FAR = 1.3  # lines have points up to this many times the end of an axis
_TOLD = 34.0  # pixels from which on a share is written into its bar


@dataclass(frozen=True, kw_only=True)
class _Frame:
    """Where the axes are, in pixels, and their scales."""

    layout: Layout
    height: float
    x: Scale
    y: Scale
    columns: tuple[float, ...] = ()  # where the text beside intervals ends


def draw(figure: Figure, layout: Layout) -> str:
    """The figure as an SVG element of that layout."""
    frame = _rows_frame(figure, layout) if figure.y.labels else _frame(figure, layout)
    below, key = _key(figure, frame)
    title = words(8, -14, cut(figure.title, layout.width - 16, 15), font_size=15, font_weight=650)
    clip = f"clip-{figure.name}-{layout.name}"
    box = (frame.x.first, frame.y.last, frame.x.last - frame.x.first)
    high = frame.y.first - frame.y.last + 12
    room = element("rect", x=box[0] - 6, y=box[1] - 6, width=box[2] + 12, height=high)
    end = element("rect", x=box[0] - 6, y=box[1] - 6, width=box[2] + 6, height=high)
    return element(
        "svg",
        element(
            "defs", element("clipPath", room, id=clip), element("clipPath", end, id=f"{clip}-end")
        ),
        group(title, class_="head", display="none"),
        _axes(figure, frame),
        *_series(figure, frame, clip),
        group(*key, class_="key", display="none"),
        xmlns="http://www.w3.org/2000/svg",
        class_=f"drawing {layout.name}",
        viewBox=f"0 0 {layout.width:g} {frame.height:g}",
        font_family=FONT,
        font_size=layout.size,
        role="img",
        aria_label=figure.alternative,
        data_x=frame.x.said,
        data_y=frame.y.said,
        data_saved=f"0 -36 {layout.width:g} {frame.height + 36 + below:g}",
    )


def _frame(figure: Figure, layout: Layout) -> _Frame:
    """Axes whose lines may have names at their ends."""
    right = 14.0
    if _named_at_end(figure, layout):
        names = [one.legend for one in _ending(figure)]
        right = 22 + min(150.0, max(text_width(name, layout.size) for name in names))
    low, high = ends(figure.y, all_y(figure))
    _, texts = _ticks(figure.y, low, high)
    left = 14 + max((text_width(text, layout.size) for text in texts), default=20.0)
    return _Frame(
        layout=layout,
        height=layout.height,
        x=_scale(figure.x, ends(figure.x, all_x(figure)), left, layout.width - right),
        y=_scale(figure.y, (low, high), layout.height - 46, 28),
    )


def _rows_frame(figure: Figure, layout: Layout) -> _Frame:
    """A row for each name: beside it, or above it where there is no room."""
    n, size = len(figure.y.labels), layout.size
    bars = figure.series[0].kind == "bar"
    columns: list[float] = []
    right = layout.width - 14.0
    if not layout.stacked:
        for place in reversed(range(len(figure.beside))):
            cells = [
                figure.beside[place],
                *(one.beside[place] for one in figure.series if one.beside),
            ]
            columns.insert(0, right)
            right -= 22 + max(text_width(cell, size) for cell in cells)
    strong = _strong(figure)
    named = max(
        text_width(one, size) * (_BOLD if place in strong else 1.0)
        for place, one in enumerate(figure.y.labels)
    )
    left = 10.0 if layout.stacked else 22 + min(_NAME, named)
    row = (52.0 if bars else 42.0) if layout.stacked else (34.0 if bars else 27.0)
    down = 12.0 if layout.stacked else 0.0
    top = 30.0 if figure.beside and not layout.stacked else 8.0
    bottom = top + row * n
    low, high = ends(figure.x, all_x(figure))
    return _Frame(
        layout=layout,
        height=bottom + 44,
        x=_scale(figure.x, (low, high), left, right),
        y=Scale(low=-0.5, high=n - 0.5, first=bottom + down, last=top + down),
        columns=tuple(columns),
    )


def _scale(axis: Axis, reach: tuple[float, float], first: float, last: float) -> Scale:
    return Scale(low=reach[0], high=reach[1], first=first, last=last, log=axis.log)


def _ticks(axis: Axis, low: float, high: float) -> tuple[list[float], list[str]]:
    return (log_ticks if axis.log else even_ticks)(low, high, axis.percent)


def _axes(figure: Figure, frame: _Frame) -> str:
    x, y, size = frame.x, frame.y, frame.layout.size
    down = 12.0 if figure.y.labels and frame.layout.stacked else 0.0
    top, bottom = y.last - down, y.first - down
    spans, parts = _spans(figure, frame, top, bottom), []

    def upright(at: float, colour: str) -> str:
        return path("".join(f"M{at:.1f} {a:.1f}V{b:.1f}" for a, b in spans), colour, 1.0)

    if figure.shade is not None:
        low, high, _ = figure.shade
        parts.append(_box(x(low), top, x(high) - x(low), bottom - top, "shade", data_legend=0))
    last = -1e9
    for at, text in zip(*_ticks(figure.x, x.low, x.high), strict=True):
        place, half = x(at), text_width(text, size) / 2
        parts.append(upright(place, "rule"))
        if place - half > last:  # where there is room for it
            edge = frame.layout.width - 2
            over = place + 1.2 * half > edge  # where a wider font would be cut off
            anchor = "end" if over else "middle"
            middle = edge if over else max(half + 1, place)
            parts.append(words(middle, bottom + 17, text, "quiet", text_anchor=anchor))
            last = place + half + 6
    if figure.x.zero and x.low <= 0.0 <= x.high:
        parts.append(upright(x(0.0), "text"))
    parts.append(path(f"M{x.first:.1f} {bottom:.1f}H{x.last:.1f}", "faint", 1.0))
    middle = (x.first + x.last) / 2
    parts.append(words(middle, bottom + 37, figure.x.title, "text", text_anchor="middle"))
    if figure.y.labels:
        return group(*parts, *_names(figure, frame, top))
    for at, text in zip(*_ticks(figure.y, y.low, y.high), strict=True):
        parts.append(path(f"M{x.first:.1f} {y(at):.1f}H{x.last:.1f}", "rule", 1.0))
        parts.append(words(x.first - 7, y(at) + 4, text, "quiet", text_anchor="end"))
    parts.append(words(4, 14, figure.y.title, "text"))
    return group(*parts)


def _spans(figure: Figure, frame: _Frame, top: float, bottom: float) -> list[tuple[float, float]]:
    """Where upright lines run: from end to end, but not through names above their rows."""
    if not (figure.y.labels and frame.layout.stacked):
        return [(top, bottom)]
    half = 14.0 if figure.series[0].kind == "bar" else 9.0
    middles = [frame.y(place) for place in range(len(figure.y.labels))]
    return [(at - half, at + half if place else bottom) for place, at in enumerate(middles)]


def _strong(figure: Figure) -> set[float | None]:
    """The rows that are emphasised."""
    return {one.y[0] for one in figure.series if one.strong}


def _names(figure: Figure, frame: _Frame, top: float) -> list[str]:
    """The names of the rows, and the text beside their intervals."""
    size, parts = frame.layout.size, []
    strong = _strong(figure)
    for end, head in zip(frame.columns, figure.beside, strict=False):
        parts.append(words(end, top - 11, head, "quiet", text_anchor="end"))
    told = {one.y[0]: one.beside for one in figure.series if one.beside}
    marked = {at for cells in told.values() for at, one in enumerate(cells) if one.endswith(" ▲")}
    for place, name in enumerate(figure.y.labels):
        weight, wider = (650, _BOLD) if place in strong else (None, 1.0)
        middle, cells = frame.y(place) + 4.5, told.get(float(place), ())
        if frame.layout.stacked:
            above = middle - (24 if figure.series[0].kind == "bar" else 18)
            beside = cells[0] if cells else ""
            room = (frame.layout.width - 30 - text_width(beside, size)) / wider
            end = frame.layout.width - 14
            parts.append(clear(10, above, cut(name, room, size), font_weight=weight))
            parts.append(clear(end, above, beside, "quiet", text_anchor="end"))
            continue
        label = cut(name, _NAME / wider, size)
        parts.append(
            words(frame.x.first - 12, middle, label, text_anchor="end", font_weight=weight)
        )
        for at, (edge, cell) in enumerate(zip(frame.columns, cells, strict=False)):
            bare = at in marked and not cell.endswith(" ▲")  # of numbers that have the mark
            end = edge - (text_width(" ▲", size) if bare else 0.0)
            parts.append(words(end, middle, cell, font_weight=weight, text_anchor="end"))
    return parts


def _series(figure: Figure, frame: _Frame, clip: str) -> list[str]:
    """Each series with its name, in the order in which they are drawn."""
    where, drawn = places(figure), []
    starts = [0.0] * max(1, len(figure.y.labels))
    marked = told_apart(figure)
    for one in figure.series:  # below all lines
        if one.kind == "line" and one.low:
            hidden = "none" if one.hidden else None
            bands = _bands(one, frame, f"{clip}-end")
            drawn.append(group(*bands, data_legend=where[key(one)], display=hidden))
    for one in figure.series:
        if one.kind == "bar":
            inside = _bars(one, frame, starts, figure.y.labels)
        elif one.kind == "line":
            inside = _line(one, frame, marked, f"{clip}-end")
        else:
            inside = _DRAW[one.kind](one, frame, marked)
        drawn.append(
            group(
                *inside,
                data_legend=where[key(one)],
                display="none" if one.hidden else None,
                clip_path=f"url(#{clip})",
            )
        )
    if _named_at_end(figure, frame.layout):
        drawn += _end_names(figure, frame, where)
    return drawn


def _bands(one: Series, frame: _Frame, clip: str) -> list[str]:
    parts = []
    for run in runs(one.x, one.low, one.high):
        kept = [row for row in run if row[0] <= _FAR * frame.x.high]
        up = [(frame.x(x), frame.y(high)) for x, _, high in kept]
        down = [(frame.x(x), frame.y(low)) for x, low, _ in reversed(kept)]
        if kept:
            drawn = f"{steps([*up, *down])}Z"
            parts.append(
                group(
                    shape(drawn, colour_of(one), fill_opacity=0.16, clip_path=f"url(#{clip})"),
                    class_="band",
                    display=None if one.band else "none",
                )
            )
    return parts


def _line(one: Series, frame: _Frame, marked: bool, clip: str) -> list[str]:
    """A line that ends with the axis, and marks, which may stand out a little."""
    colour, parts = colour_of(one), []
    for run in runs(one.x, one.y):
        points = [(frame.x(x), frame.y(y)) for x, y in run if x <= _FAR * frame.x.high]
        dashes = DASHES.get(one.dash)
        parts.append(
            path(steps(points), colour, stroke_dasharray=dashes, clip_path=f"url(#{clip})")
        )
        within = [point for point in points if point[0] <= frame.x.last + 0.5]
        few = len(within) <= 12
        if isinstance(one.colour, int) and (marked or few):
            every = 1 if few else len(within) // 4
            parts += [mark(one, *point) for point in within[one.colour % every :: every]]
    return parts


def _step(one: Series, frame: _Frame, _: bool) -> list[str]:
    parts = []
    for run in runs(one.x, one.y):
        (x, y), *rest = run
        drawn = f"M{frame.x(x):.1f} {frame.y(y):.1f}" + "".join(
            f"H{frame.x(x):.1f}V{frame.y(y):.1f}" for x, y in rest
        )
        parts.append(path(drawn, colour_of(one), 2.0, stroke_dasharray=DASHES.get(one.dash)))
    return parts


def _points(one: Series, frame: _Frame, _: bool) -> list[str]:
    drawn = [f"M{frame.x(x) - 5:.1f} {frame.y(y):.1f}h10"
             for run in runs(one.x, one.y) for x, y in run]  # fmt: skip
    return [path("".join(drawn), colour_of(one), 2.0)] if drawn else []


def _stroke(one: Series, frame: _Frame, _: bool) -> list[str]:
    drawn = [f"M{frame.x(x):.1f} {frame.y(y) - 8:.1f}v16"
             for run in runs(one.x, one.y) for x, y in run]  # fmt: skip
    return [path("".join(drawn), colour_of(one), 2.0)] if drawn else []


def _whisker(one: Series, frame: _Frame, _: bool) -> list[str]:
    drawn, marks = [], []
    for run in runs(one.x, one.y, one.low, one.high):
        for x, y, low, high in run:
            at, first, last = frame.x(x), frame.y(low), frame.y(high)
            drawn.append(f"M{at:.1f} {first:.1f}V{last:.1f}")
            drawn += [f"M{at - 3:.1f} {end:.1f}h6" for end in (first, last)]
            marks.append(mark(one, at, frame.y(y), 4.0))
    return [path("".join(drawn), colour_of(one), 1.75), *marks]


def _interval(one: Series, frame: _Frame, _: bool) -> list[str]:
    parts = []
    for run in runs(one.y, one.low, one.high):
        for y, low, high in run:
            at, first, last = frame.y(y), frame.x(low), frame.x(high)
            caps = "".join(f"M{end:.1f} {at - 4:.1f}v8" for end in (first, last))
            drawn = f"M{first:.1f} {at:.1f}H{last:.1f}{caps}"
            parts.append(path(drawn, colour_of(one), 2.5 if one.strong else 1.75))
    parts += [mark(one, frame.x(x), frame.y(y), 5.5 if one.strong else 4.5)
              for run in runs(one.x, one.y) for x, y in run]  # fmt: skip
    return parts


_DRAW = {"step": _step, "points": _points, "whisker": _whisker,
         "interval": _interval, "stroke": _stroke}  # fmt: skip


def _bars(one: Series, frame: _Frame, starts: list[float], labels: Sequence[str]) -> list[str]:
    """Stacked from the left; `starts` says where each row has come to.

    A bar that is alone in a row of its name may have its share beside it.
    """
    parts = []
    for share, place in zip(one.x, one.y, strict=True):
        row, wide = int(place or 0), share or 0.0
        left, right = frame.x(starts[row]), frame.x(starts[row] + wide)
        middle, starts[row] = frame.y(row), starts[row] + wide
        if right - left < _TOLD and labels[row] == one.legend:
            parts.append(words(right + 6, middle + 4.5, percent(wide), "quiet", font_size=12))
        if right - left < 0.2:
            continue
        parts.append(_box(left, middle - _BAR / 2, right - left, _BAR, colour_of(one)))
        if left > frame.x.first:  # a gap between it and the one before
            parts.append(path(f"M{left:.1f} {middle - _BAR / 2:.1f}v{_BAR:g}", "page", 1.0))
        if right - left >= _TOLD:
            parts.append(words((left + right) / 2, middle + 4.5, percent(wide), "page",
                               text_anchor="middle", font_size=12))  # fmt: skip
    return parts


def _box(x: float, y: float, width: float, height: float, colour: str, **more: Any) -> str:
    return element("rect", x=x, y=y, width=width, height=height, fill=PAPER[colour],
                   class_=f"f-{colour}", **more)  # fmt: skip


def _ending(figure: Figure) -> list[Series]:
    return [one for one in figure.series if one.kind == "line" and isinstance(one.colour, int)]


def _named_at_end(figure: Figure, layout: Layout) -> bool:
    return not layout.stacked and 2 <= len(_ending(figure)) <= _NAMED


def _end_names(figure: Figure, frame: _Frame, where: dict[tuple[str, bool], int]) -> list[str]:
    """The name of each line at its end, moved up or down where they would overlap."""
    lines, ended = [], []
    for one in _ending(figure):
        points = [(frame.x(x), frame.y(y)) for run in runs(one.x, one.y) for x, y in run]
        seen = [point for point in points if point[0] <= frame.x.last]
        if seen:
            lines.append(one)
            ended.append(_leaving(seen[-1], points[len(seen) :], frame.x.last))
    size = frame.layout.size
    moved = apart([y for _, y in ended], size + 1, frame.y.last + 4, frame.y.first)
    left = frame.x.last + 14
    room = frame.layout.width - left - 2
    return [
        group(
            path(f"M{x:.1f} {y:.1f}L{left - 3:.1f} {at:.1f}", colour_of(one), 1.0, opacity=0.5),
            words(left, at + 4, cut(one.legend, room, size), colour_of(one)),
            data_legend=where[key(one)],
            display="none" if one.hidden else None,
        )
        for one, (x, y), at in zip(lines, ended, moved, strict=True)
    ]


def _leaving(
    inside: tuple[float, float], outside: Sequence[tuple[float, float]], edge: float
) -> tuple[float, float]:
    """Where a line leaves the axes, between its last point inside and its first outside."""
    if not outside:
        return inside
    share = (edge - inside[0]) / (outside[0][0] - inside[0])
    return edge, inside[1] + share * (outside[0][1] - inside[1])


def _key(figure: Figure, frame: _Frame) -> tuple[float, Sequence[str]]:
    """The legend of a saved figure: its height and its entries."""
    found, size = entries(figure), frame.layout.size
    x, y, parts = 10.0, frame.height + 14, []
    for place, entry in enumerate(found):
        label = cut(entry.label, frame.layout.width - 68, size)
        wide = 54 + text_width(label, size)
        if x > 10.0 and x + wide > frame.layout.width:
            x, y = 10.0, y + 20
        parts.append(
            group(
                group(swatch(entry), transform=f"translate({x:.1f} {y - 10:.1f})"),
                words(x + 38, y, label),
                data_legend=place,
                display=None if entry.shown else "none",
            )
        )
        x += wide
    return (y + 14 - frame.height if found else 0.0), parts
