"""The table of ``fullrank demo`` as a figure: sampled, corrected and exact values by model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from fullrank._lib import extras

if TYPE_CHECKING:
    from fullrank.cli.demonstration import Demo, Row

PAGE, INK, NAIVE, CORRECTED = "#ffffff", "#1f2328", "#d1242f", "#0969da"


def draw(result: Demo) -> Any:
    """Draw the first metric of every model; returns the figure of matplotlib."""
    plt = extras.load("matplotlib.pyplot", extra="plot", purpose="Drawing")
    metric = result.models[0].metric
    rows = sorted((row for row in result.models if row.metric == metric), key=lambda row: row.exact)
    figure, ax = plt.subplots(figsize=(7.5, 2.9), layout="constrained", facecolor=PAGE)
    for y, row in enumerate(rows):
        assert row.corrected is not None
        assert row.corrected_interval is not None
        ax.plot([row.exact, row.naive], [y, y], ":", color=INK, alpha=0.4, linewidth=1)
        ax.plot(row.naive, y, "X", color=NAIVE, markersize=9)
        ax.plot(row.corrected_interval, [y, y], color=CORRECTED, linewidth=3, alpha=0.6)
        ax.plot(row.corrected, y, "o", color=CORRECTED, markersize=7)
        ax.plot(row.exact, y, "|", color=INK, markersize=18, markeredgewidth=2)
    _name(ax, result, rows[-1])
    ax.set_yticks(range(len(rows)), [row.model for row in rows])
    ax.set_ylim(-0.6, len(rows) + 0.1)
    ax.set_xlim(0.0, 1.0)
    ax.set_xlabel(f"{metric} on {result.data}", color=INK)
    ax.set_facecolor(PAGE)
    ax.tick_params(colors=INK, length=0)
    ax.grid(axis="x", color=INK, alpha=0.12)
    ax.spines[:].set_visible(False)
    return figure


def _name(ax: Any, result: Demo, row: Row) -> None:
    """Write above the top row what its marks are, in their colours."""
    y, size = ax.get_lines()[-1].get_ydata()[0] + 0.42, "small"
    ax.text(row.exact - 0.01, y, "exact", color=INK, size=size, ha="right")
    ax.text(row.exact + 0.01, y, "corrected, 95 % interval", color=CORRECTED, size=size)
    among = f"among {result.sample_size} candidates"
    ax.text(row.naive, y, among, color=NAIVE, size=size, ha="center")


def save(result: Demo, path: Path) -> None:
    """Write the figure into a file; its suffix says of what kind."""
    draw(result).savefig(path, dpi=150)
