"""The figures of the study of losses, from nothing but its JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reproduction.gowalla_losses.settings import NAMES

# figure, its panels: what is varied, and whether on a logarithmic axis
FIGURES: dict[str, dict[str, tuple[str, bool]]] = {
    "figure13": {
        "negatives": ("negatives of a batch", True),
        "positives": ("further positives of a pair", False),
    },
    "figure14": {
        "weight": ("weight of the negatives' mean", True),
        "temperature": ("temperature", False),
    },
}
_STYLES: dict[str, dict[str, Any]] = {
    "debiased-ccl": {"color": "#d55e00", "marker": "o"},
    "debiased-mse": {"color": "#009e73", "marker": "s"},
    "debiased-info-nce": {"color": "#0072b2", "marker": "D"},
    "mine-plus": {"color": "#cc79a7", "marker": "^"},
}


def figures(content: dict[str, Any], folder: Path) -> None:
    """`gowalla_losses-figure13.svg` and the other, if there are points of each panel."""
    from reproduction.common.figures import drawing

    for figure, panels in FIGURES.items():
        curves = {name: content["sweeps"][name]["curves"] for name in panels}
        if not all(curves.values()):
            continue
        with drawing(folder / f"{content['study']}-{figure}.svg", columns=len(panels)) as axes:
            for ax, (name, (label, logarithmic)) in zip(axes, panels.items(), strict=True):
                for case, one in curves[name].items():
                    x, y = zip(*one["points"], strict=True)
                    ax.plot(x, y, markersize=4, label=NAMES[case], **_STYLES[case])
                if logarithmic:
                    ax.set_xscale("log")
                ax.set(xlabel=label, ylabel="Recall@20, %")
                ax.legend()
