"""The figures of aaai2023, from its JSON."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

from reproduction.aaai2023.tables import Content

SHOWN = 15  # sampled ranks
STYLES = {
    "fixed 100, MLE": ("#0072b2", "-"),
    "fixed 100, smoothed": ("#56b4e9", "--"),
    "adaptive 100, MLE": ("#d55e00", "-"),
    "adaptive 25, smoothed": ("#009e73", "-"),
}
CLOUD = tuple(
    product(
        ("fixed 100", "fixed 500", "fixed 1000", "adaptive 100", "adaptive 25"),
        ("MLE", "MN_MES", "smoothed"),
    )
)
_MARKS = {
    "fixed 100": "o",
    "fixed 500": "s",
    "fixed 1000": "D",
    "adaptive 100": "^",
    "adaptive 25": "v",
}


def figures(content: Content, folder: Path) -> None:
    """Three drawings: the blind spot, the depth, error against cost."""
    _blind(content, folder / "aaai2023-blind-spot.svg")
    _depth(content, folder / "aaai2023-depth.svg")
    _cost(content, folder / "aaai2023-cost.svg")


def _blind(content: Content, path: Path) -> None:
    from reproduction.common.figures import drawing

    shown = content["blind_spot"]
    with drawing(path, rows=2, columns=len(shown), height=2.4) as axes:
        for j, one in enumerate(shown):
            top, bottom = axes[j], axes[len(shown) + j]
            edges = [rank + 0.5 for rank in range(SHOWN + 1)]
            top.stairs(one["shares"][:SHOWN], edges, fill=True, color="#0072b2")
            top.stairs(one["shares"][:1], edges[:2], fill=True, color="#d55e00")
            top.set(title=one["data"], xlabel="rank among 100")
            for name, values in one["recall_errors"].items():
                points = [
                    (k, v)
                    for k, v in enumerate(values, 1)
                    if v is not None and (k < 10 or k % 2 == 0)
                ]
                colour, dashes = STYLES[name]
                label = name if j == 0 else None
                xy = zip(*points, strict=True)
                bottom.plot(*xy, color=colour, linestyle=dashes, label=label)
            bottom.set(xlabel="K", yscale="log")
            _plain(bottom.yaxis)
        axes[0].set_ylabel("% of users")
        axes[len(shown)].set_ylabel("error of Recall@K, %")
        axes[0].figure.legend(loc="outside lower center", ncols=4)


def _depth(content: Content, path: Path) -> None:
    from reproduction.common.figures import drawing

    data = list(dict.fromkeys(one["data"] for one in content["depth"]))
    marks = {"adaptive 100": ("o", "#0072b2", "MLE"), "adaptive 25": ("s", "#d55e00", "smoothed")}
    with drawing(path, rows=2, columns=len(data), height=2.4) as axes:
        for one in content["depth"]:
            j = data.index(one["data"])
            mark, colour, name = marks[one["design"]]
            label = f"{one['design']}, {name}" if j == 0 else None
            style = {"marker": mark, "markersize": 3.5, "color": colour}
            costs = [level for level in one["levels"] if level["cost"]]
            axes[j].plot(
                [level["percent_of_items"] for level in costs],
                [level["cost"]["mean"] for level in costs],
                **style,
            )
            axes[len(data) + j].plot(
                [level["percent_of_items"] for level in one["levels"]],
                [level["errors"][name][0] for level in one["levels"]],
                label=label,
                **style,
            )
        for j, name in enumerate(data):
            top, bottom = axes[j], axes[len(data) + j]
            top.set(title=name, xscale="log", yscale="log")
            bottom.set(xlabel="largest size, % of the items", xscale="log", yscale="log")
            for axes_of in (top, bottom):
                _plain(axes_of.xaxis, (1.0, 3.0))
                _plain(axes_of.yaxis)
        axes[0].set_ylabel("cost C_j, items")
        axes[len(data)].set_ylabel("error of Recall, %")
        axes[0].figure.legend(loc="outside lower center", ncols=2)


def _cost(content: Content, path: Path) -> None:
    from reproduction.common.figures import drawing, line

    data = list(content["data"])
    with drawing(path, columns=len(data), height=3.4, sharey=False) as axes:
        for j, name in enumerate(data):
            for design, estimator in CLOUD:
                if design not in content["designs"]:
                    continue
                rows = [r for r in content["verdict"] if (r["data"], r["design"]) == (name, design)]
                size, error = (
                    _mean(values) for values in zip(*_points(rows, estimator), strict=True)
                )
                axes[j].plot(
                    [size],
                    [error],
                    marker=_MARKS[design],
                    linestyle="",
                    markersize=5,
                    color=line(estimator)["color"],
                    label=f"{design}, {estimator}" if j == 0 else None,
                )
            axes[j].set(title=name, xlabel="items a user", xscale="log", yscale="log")
            _plain(axes[j].yaxis, (1.0, 1.5, 2.0, 3.0, 5.0, 7.0))
            axes[j].set_xticks([100, 300, 1000], ["100", "300", "1,000"], minor=False)
            axes[j].set_xticks([], minor=True)
        axes[0].set_ylabel("error of Recall, %")
        axes[0].figure.legend(loc="outside lower center", ncols=4)


def _plain(axis: Any, at: tuple[float, ...] = (1.0, 2.0, 5.0)) -> None:
    """Numbers as they are said on a logarithmic axis, at these times powers of ten."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    axis.set_major_locator(LogLocator(subs=at, numticks=6))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))


def _points(rows: list[dict[str, Any]], estimator: str) -> list[tuple[float, float]]:
    return [(row["size"], row["errors"][estimator][0]) for row in rows]


def _mean(values: Any) -> float:
    return float(sum(values) / len(values))
