"""Error against cost: the figure of the estimators compared."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

FIGURE = "reproduction_index-cost.svg"
DRAWN = ("smoothed", "MLE", "MES", "BV 0.1", "MN_MES", "CLS")


def draw(found: dict[str, Any], folder: Path) -> None:
    """Error against size by both means: fixed designs as a line, adaptive ones as filled marks."""
    from reproduction.common.figures import drawing, line, plain

    with drawing(folder / FIGURE, columns=2, height=3.6, sharey=True) as axes:
        for axis, mean in zip(axes, ("error", "arithmetic"), strict=True):
            for name in DRAWN:
                fixed, adaptive = (
                    [(d["size"], _error(d, name, mean)) for d in found["designs"] if _is(d, kind)]
                    for kind in ("fixed", "adaptive")
                )
                style = line(name) | {"linestyle": "-"}
                axis.plot(*_columns(fixed), marker="o", markerfacecolor="white", **style)
                marks = {"color": style["color"], "linestyle": "", "marker": "D"}
                axis.plot(*_columns(adaptive), **marks)
            axis.set(xscale="log", yscale="log", xlabel="candidates scored for a user, on average")
            plain(axis.xaxis, [50, 100, 200, 500, 1000, 2000])
            plain(axis.yaxis, [1, 2, 3, 5, 10, 20, 30, 50, 100])
        axes[0].set(ylabel="error, %", title="geometric mean")
        axes[0].legend(loc="lower left")
        axes[1].set(title="arithmetic mean")


def _columns(points: list[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [x for x, _ in points], [y for _, y in points]


def _is(one: dict[str, Any], kind: str) -> bool:
    return str(one["design"]).startswith(kind) and not one["design"].endswith("without")


def _error(one: dict[str, Any], name: str, mean: str = "error") -> float:
    return next((e[mean] for e in one["estimators"] if e["estimator"] == name), math.nan)
