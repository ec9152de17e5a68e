"""The figure of the stored ranks, drawn from nothing but the study's JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def figures(content: dict[str, Any], folder: Path) -> None:
    from reproduction.common.figures import drawing, line  # which needs matplotlib

    every, columns = content["data"], 3
    rows = -(-len(every) // columns)
    with drawing(folder / "ranks-shares.svg", rows=rows, columns=columns, height=2.4) as axes:
        for axis, one in zip(axes, every, strict=False):
            cut_offs = [k for k in content["cut_offs"] if k <= one["n_items"]]
            for model in one["models"]:
                axis.plot(cut_offs, model["within"][: len(cut_offs)], **line(model["model"]))
            axis.set(xscale="log", yscale="log", title=one["name"], xlabel="K", ylabel="Recall@K")
            axis.minorticks_off()
        axes[0].legend()
        for axis in axes[len(every) :]:
            axis.set_visible(False)
