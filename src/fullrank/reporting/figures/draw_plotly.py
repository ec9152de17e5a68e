"""A figure as plotly's JSON; colours are names of CSS variables, which the page looks up."""

from __future__ import annotations

import math
from typing import Any

from fullrank.reporting.escaping import figure_text, percent, short
from fullrank.reporting.figures.figure import (
    EXACT,
    N_COLOURS,
    NAIVE,
    Axis,
    Figure,
    Numbers,
    Series,
    all_x,
    all_y,
    ends,
    log_ticks,
)

_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "triangle-down", "cross", "x", "star")
_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
_HOVER = "%{{fullData.name}}<br>%{{{}}}<extra></extra>"  # names are never read as templates
_WIDE = 0.12  # of a stacked bar, from which on its share is written into it


def spec(figure: Figure) -> dict[str, Any]:
    """Traces, layout, which legend entry each trace belongs to, and the entries."""
    traces: list[tuple[str, dict[str, Any]]] = []
    y_ends = ends(figure.y, all_y(figure))
    if figure.shade is not None:
        low, high, label = figure.shade
        traces.append((label, _filled([low, high, high, low], [*y_ends[:1] * 2, *y_ends[1:] * 2],
                                      "--shade")))  # fmt: skip
    for one in figure.series:
        traces += [(one.legend, trace | {"visible": not one.hidden})
                   for trace in _traces(one, figure)]  # fmt: skip
    entries: dict[str, dict[str, Any]] = {}
    if figure.shade is not None:
        entries[figure.shade[2]] = {"label": figure.shade[2], "colour": "--shade", "dash": "fill",
                                    "shown": True}  # fmt: skip
    for one in figure.series:
        mark = one.dash if one.kind in ("line", "step") else "fill" if one.kind == "bar" else "mark"
        entry = {"label": one.legend, "colour": _colour(one), "dash": mark, "shown": not one.hidden}
        entries.setdefault(one.legend, entry)
    places = list(entries)
    return {
        "name": figure.name,
        "data": [trace for _, trace in traces],
        "groups": [places.index(legend) for legend, _ in traces],
        # the names of the rows say it already where there is an entry for each
        "legend": [] if figure.name == "differences" else list(entries.values()),
        "layout": _layout(figure, y_ends),
        "height": 90 + 44 * len(figure.y.labels) if figure.y.labels else 0,
    }


def _traces(one: Series, figure: Figure) -> list[dict[str, Any]]:
    colour, name = _colour(one), figure_text(short(one.name, 48))
    told = {"name": name, "text": _told(one, figure), "hovertemplate": _HOVER.format("text")}
    if one.kind == "bar":
        shares = [value or 0.0 for value in one.x]
        return [
            {
                "type": "bar",
                "orientation": "h",
                "x": shares,
                "y": list(one.y),
                "name": name,
                "marker": {"color": colour, "line": {"color": "--page", "width": 1}},
                "text": [percent(share) if share >= _WIDE else "" for share in shares],
                "textposition": "inside",
                "insidetextanchor": "middle",
                "textangle": 0,
                "insidetextfont": {"color": "--page", "size": 12},
                "hovertext": told["text"],
                "hovertemplate": _HOVER.format("hovertext"),
            }
        ]
    base = {"type": "scatter", "x": list(one.x), "y": list(one.y)} | told
    line = {"color": colour, "width": 2.25, "dash": one.dash}
    if one.kind == "line":
        band = [_band(one, colour)] if one.low and any(v is not None for v in one.low) else []
        mode = "lines+markers" if len(one.x) <= 12 else "lines"
        return [*band, base | {"mode": mode, "line": line, "marker": _marker(one, 6)}]
    if one.kind == "step":
        return [base | {"mode": "lines", "line": line | {"shape": "hv"}}]
    if one.kind == "points":
        stroke = {"symbol": "line-ew-open", "size": 11, "color": colour, "line": {"width": 1.75}}
        return [base | {"mode": "markers", "marker": stroke}]
    lying = one.kind == "interval"
    return [_segments(one, colour, lying), base | {"mode": "markers", "marker": _marker(one, 8)}]


def _told(one: Series, figure: Figure) -> list[str]:
    """What the label of each point says; numbers alone, and words of ours."""
    tail = _tails(one)
    if one.kind == "bar":
        return [f"{figure.y.labels[int(y or 0)]}: {percent(x or 0.0)}"
                for x, y in zip(one.x, one.y, strict=True)]  # fmt: skip
    if one.kind == "interval":
        return [f"{_signed(x)}{more}" for x, more in zip(one.x, tail, strict=True)]
    if one.kind == "step":
        starts = [1.0 if x is None else x for x in one.x]
        spans = [
            f"ranks {low:,.0f}–{high - 1:,.0f}" if high > low + 1 else f"rank {low:,.0f}"
            for low, high in zip(starts, [*starts[1:-1], starts[-1] + 1], strict=False)
        ]
        return [f"{span}: {100 * (y or 0.0):.1f} %"
                for span, y in zip([*spans, spans[-1]], one.y, strict=False)]  # fmt: skip
    if figure.name == "efficiency":
        return [f"{100 * (x or 0.0):.1f} % of the items: {y or 0.0:,.0f} for each"
                for x, y in zip(one.x, one.y, strict=True)]  # fmt: skip
    return [f"K = {x or 0.0:,.0f}: {'–' if y is None else f'{y:.4f}'}{more}"
            for x, y, more in zip(one.x, one.y, tail, strict=True)]  # fmt: skip


def _tails(one: Series) -> list[str]:
    if not one.low:
        return [""] * len(one.x)
    sides = zip(one.low, one.high, strict=True)
    if one.kind == "interval":
        return [f" ({_signed(low)} to {_signed(high)})" for low, high in sides]
    label = "<br>bounds " if one.kind == "whisker" else "<br>interval "
    return ["" if low is None or high is None else f"{label}{low:.4f} to {high:.4f}"
            for low, high in sides]  # fmt: skip


def _signed(value: float | None) -> str:
    return "–" if value is None else f"{value:+.4f}".replace("-", "−")


def _band(one: Series, colour: str) -> dict[str, Any]:
    kept = [(x, low, high) for x, low, high in zip(one.x, one.low, one.high, strict=True)
            if low is not None and high is not None]  # fmt: skip
    x, low, high = (list(side) for side in zip(*kept, strict=True))
    return _filled([*x, *x[::-1]], [*high, *low[::-1]], f"{colour}/0.16")


def _filled(x: list[Any], y: list[Any], colour: str) -> dict[str, Any]:
    return {"type": "scatter", "x": x, "y": y, "mode": "lines", "fill": "toself",
            "fillcolor": colour, "line": {"width": 0, "color": colour}, "hoverinfo": "skip",
            "name": ""}  # fmt: skip


def _segments(one: Series, colour: str, lying: bool) -> dict[str, Any]:
    """A stroke from low to high at each place, with ends."""
    along = _gapped(one.low, one.high)
    across = _gapped(*((one.y, one.y) if lying else (one.x, one.x)))
    x, y = (along, across) if lying else (across, along)
    return {
        "type": "scatter",
        "x": x,
        "y": y,
        "mode": "lines+markers",
        "line": {"color": colour, "width": 2},
        "marker": {"symbol": "line-ns-open" if lying else "line-ew-open", "size": 8,
                   "color": colour, "line": {"width": 2}},
        "hoverinfo": "skip",
        "name": "",
    }  # fmt: skip


def _gapped(first: Numbers, second: Numbers) -> list[float | None]:
    return [value for a, b in zip(first, second, strict=True) for value in (a, b, None)]


def _layout(figure: Figure, y_ends: tuple[float, float]) -> dict[str, Any]:
    return {
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": _FONT, "size": 13, "color": "--text"},
        "margin": {"l": 56, "r": 22, "t": 8, "b": 48},
        "showlegend": False,
        "hovermode": "closest",
        "hoverlabel": {"namelength": -1, "bgcolor": "--page", "bordercolor": "--faint",
                       "font": {"family": _FONT, "size": 13, "color": "--text"}},
        "barmode": "stack",
        "bargap": 0.35,
        "xaxis": _axis(figure.x, ends(figure.x, all_x(figure)), figure.name == "differences"),
        "yaxis": _axis(figure.y, y_ends, False),
    }  # fmt: skip


def _axis(axis: Axis, reach: tuple[float, float], zero: bool) -> dict[str, Any]:
    look = {
        "title": {"text": figure_text(axis.title), "standoff": 10},
        "gridcolor": "--rule",
        "linecolor": "--faint",
        "zeroline": zero,
        "zerolinecolor": "--text",
        "zerolinewidth": 1,
        "automargin": True,
    }
    if axis.labels:
        labels = [figure_text(label) for label in axis.labels]
        return look | {"tickvals": list(range(len(labels))), "ticktext": labels,
                       "range": [-0.6, len(labels) - 0.4], "showgrid": False}  # fmt: skip
    if axis.log:
        ticks, texts = log_ticks(*reach, axis.percent)
        return look | {"type": "log", "range": [math.log10(end) for end in reach],
                       "tickvals": ticks, "ticktext": texts}  # fmt: skip
    low, high = reach
    if axis.percent:
        look["tickformat"] = ",.0%"
    return look | {"range": [min(low, 0.0), max(high, 0.0)] if zero else [low, high]}


def _colour(one: Series) -> str:
    if isinstance(one.colour, str):
        return {NAIVE: "--naive", EXACT: "--exact"}[one.colour]
    return f"--m{one.colour % N_COLOURS}"


def _marker(one: Series, size: int) -> dict[str, Any]:
    place = one.colour if isinstance(one.colour, int) else 0
    return {"color": _colour(one), "size": size, "symbol": _SYMBOLS[place % len(_SYMBOLS)]}
