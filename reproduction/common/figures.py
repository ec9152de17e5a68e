"""Figures of the studies: one style, one colour for each name, and files that can be compared.

    with drawing(folder / "kdd2020-figure1.svg", columns=3) as axes:
        axes[0].plot(ks, values, **line("EASE"))

The text of a drawing stays text and its marks have fixed names, so that the same numbers draw the
same file, and a test can say what has changed.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

WIDTH, HEIGHT = 7.2, 2.9  # inches, of a figure and of one of its rows
STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "fullrank",
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "lines.linewidth": 1.4,
    "path.simplify": True,
}
# Colours for the colour-blind (Okabe and Ito), then dashes; black is exact.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
_DASHES = ("-", "--", ":", "-.")
_NAMES = (
    "EASE", "itemKNN", "iALS", "MultiVAE", "NeuMF", "popularity",
    "smoothed", "MLE", "MES", "BV 0.01", "MN_MES", "CLS",
    "naive", "BV_MES", "BV_MLE", "BV 0.1", "MN_MLE", "WMLE", "bounds",
)  # fmt: skip


def line(name: str) -> dict[str, Any]:
    """Colour, dashes and label of a model or estimator, the same on every page."""
    if name == "exact":
        return {"color": "black", "linestyle": "-", "linewidth": 2.0, "label": name}
    place = _NAMES.index(name) if name in _NAMES else zlib.crc32(name.encode())
    dashes = _DASHES[place // len(_COLOURS) % len(_DASHES)]
    return {"color": _COLOURS[place % len(_COLOURS)], "linestyle": dashes, "label": name}


def plain(axis: Any, ticks: Sequence[float]) -> None:
    """Numbers as they are on a logarithmic axis (`axes.xaxis`), at these places alone."""
    axis.set_major_locator(FixedLocator(ticks))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    axis.set_minor_locator(NullLocator())


@contextmanager
def drawing(
    path: Path, *, rows: int = 1, columns: int = 1, height: float = HEIGHT, **settings: Any
) -> Iterator[np.ndarray]:
    """The axes of a figure, one after the other, which is written at the end."""
    with matplotlib.rc_context(STYLE):
        size = (WIDTH, height * rows)
        figure, axes = plt.subplots(
            rows, columns, figsize=size, layout="constrained", squeeze=False, **settings
        )
        yield axes.ravel()
        figure.savefig(path, metadata={"Date": None, "Creator": None})
        plt.close(figure)
