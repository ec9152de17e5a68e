"""A figure drawn with matplotlib."""

from __future__ import annotations

from typing import Any

import numpy as np

from fullrank._lib import extras
from fullrank.reporting.escaping import short
from fullrank.reporting.figures.figure import (
    EXACT,
    NAIVE,
    Axis,
    Figure,
    Numbers,
    Series,
    all_x,
    all_y,
    ends,
    log_ticks,
    mark_of,
)

# Okabe and Ito's colours that stand out on white, the palest darkened, and two more
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#C0629A", "#A87900", "#5E4FA2", "#7A7A00", "#00788A")
MARKERS = ("o", "s", "D", "^", "v", "P", "X", "*")
_OWN = {NAIVE: "#767676", EXACT: "#000000"}
_DASHES = {"solid": "-", "dash": "--", "dashdot": "-.", "dot": ":"}


def draw(figure: Figure, ax: Any = None) -> Any:
    """Draw a figure on axes, new ones if none are given. Returns them."""
    plt = extras.load("matplotlib.pyplot", extra="plot", purpose="Drawing")
    names = len(figure.y.labels)
    if ax is None:
        size = (7.2, 1.6 + 0.5 * names if names else 4.2)
        ax = plt.subplots(figsize=size, layout="constrained")[1]
    if figure.shade is not None:
        low, high, stretch = figure.shade
        ax.axvspan(low, high, color="#767676", alpha=0.12, linewidth=0, label=stretch)
    named: set[str] = set()
    left = np.zeros(names)
    for one in figure.series:
        if one.hidden:
            continue
        label = None if one.legend in named else _plain(short(one.legend))
        named.add(one.legend)
        if one.kind == "bar":
            ax.barh(_floats(one.y), _floats(one.x), 0.6, left=left, color=_colour(one), label=label)
            left = left + _floats(one.x)
        else:
            _DRAW[one.kind](ax, one, label)
    _axis(ax.xaxis, ax.set_xscale, ax.set_xlim, figure.x, ends(figure.x, all_x(figure)))
    _axis(ax.yaxis, ax.set_yscale, ax.set_ylim, figure.y, ends(figure.y, all_y(figure)))
    if names:
        ax.set_ylim(-0.6, names - 0.4)
    if figure.x.zero:
        ax.axvline(0.0, color="#767676", linewidth=0.8)
    ax.set_title(_plain(figure.title), loc="left")
    ax.grid(alpha=0.25)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    if figure.series[0].kind == "bar" and figure.series[0].legend in figure.y.labels:
        pass  # the rows have the names already
    elif figure.series[0].kind == "bar":  # there is no room beside bars that fill the axes
        ax.legend(frameon=False, fontsize="small", ncols=3, loc="upper left",
                  bbox_to_anchor=(0.0, -0.32))  # fmt: skip
    elif not names:
        ax.legend(frameon=False, fontsize="small")
    elif figure.series[-1].kind == "stroke":  # the rows have the names of the others
        ax.legend(handles=[ax.lines[-2]], frameon=False, fontsize="small")
    return ax


def _line(ax: Any, one: Series, label: str | None) -> None:
    x = _floats(one.x)
    if one.low and one.band:
        ax.fill_between(x, _floats(one.low), _floats(one.high), color=_colour(one), alpha=0.15,
                        linewidth=0)  # fmt: skip
    ax.plot(x, _floats(one.y), _DASHES[one.dash], color=_colour(one), label=label)


def _step(ax: Any, one: Series, label: str | None) -> None:
    ax.step(_floats(one.x), _floats(one.y), _DASHES[one.dash], where="post", color=_colour(one),
            label=label)  # fmt: skip


def _points(ax: Any, one: Series, label: str | None) -> None:
    ax.plot(_floats(one.x), _floats(one.y), "_", color=_colour(one), markersize=9,
            markeredgewidth=2, label=label)  # fmt: skip


def _stroke(ax: Any, one: Series, label: str | None) -> None:
    ax.plot(_floats(one.x), _floats(one.y), "|", color=_colour(one), markersize=12,
            markeredgewidth=2, label=label)  # fmt: skip


def _whisker(ax: Any, one: Series, label: str | None) -> None:
    x, y, low, high = map(_floats, (one.x, one.y, one.low, one.high))
    ax.vlines(x, low, high, color=_colour(one), linewidth=1.5)
    ax.plot(np.concatenate([x, x]), np.concatenate([low, high]), "_", color=_colour(one))
    ax.plot(x, y, _marker(one), color=_colour(one), markersize=5, label=label)


def _interval(ax: Any, one: Series, label: str | None) -> None:
    x, y, low, high = map(_floats, (one.x, one.y, one.low, one.high))
    ax.hlines(y, low, high, color=_colour(one), linewidth=2)
    ax.plot(x, y, _marker(one), color=_colour(one), markersize=7, label=label)


_DRAW = {"line": _line, "step": _step, "points": _points, "whisker": _whisker,
         "interval": _interval, "stroke": _stroke}  # fmt: skip


def _axis(side: Any, scale: Any, limits: Any, axis: Axis, reach: tuple[float, float]) -> None:
    side.set_label_text(_plain(axis.title))
    if axis.labels:
        side.set_ticks(range(len(axis.labels)), [_plain(short(label)) for label in axis.labels])
        return
    if axis.log:
        scale("log")
        ticks, texts = log_ticks(*reach, axis.percent)
        side.set_ticks(ticks, texts)
        side.set_ticks([], minor=True)
    elif axis.percent:
        side.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
    limits(*reach)


def _plain(text: str) -> str:
    """Text that matplotlib reads as it is: no mathematics between dollars, no hidden label."""
    shown = text.replace("$", r"\$")
    return f"\u200b{shown}" if shown.startswith("_") else shown


def _colour(one: Series) -> str:
    return _OWN[one.colour] if isinstance(one.colour, str) else COLOURS[one.colour % len(COLOURS)]


def _marker(one: Series) -> str:
    return MARKERS[mark_of(one.colour)]


def _floats(values: Numbers) -> Any:
    return np.array([np.nan if value is None else value for value in values])
