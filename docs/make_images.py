"""Draw the pictures of the pages into `docs/images`, small enough to be kept beside the text.

python docs/make_images.py [folder]
"""

from __future__ import annotations

import io
import runpy
import sys
from collections.abc import Callable
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

from fullrank.designs import kernel

ROOT = Path(__file__).parents[1]
ITEMS = 10_000


def blind_spot() -> plt.Figure:
    """The probability of rank 1 among n candidates, against the true rank."""
    figure, ax = plt.subplots(figsize=(7, 3.5), layout="constrained")
    ranks = np.unique(np.geomspace(1, 2_000, 300).astype(int))
    for size in (100, 1_000, 5_000):
        first = kernel(ranks, [1], n_items=ITEMS, sample_size=size, replacement=False)[:, 0]
        ax.plot(ranks, first, label=f"n = {size:,}")
    ax.axvline(10, color="grey", linewidth=0.8)
    ax.annotate("K = 10", (10.5, 0.02), color="dimgrey")
    ax.set(
        xscale="log", xlabel=f"true rank among {ITEMS:,}", ylabel="probability of rank 1 among n"
    )
    ax.legend()
    return figure


def pictures() -> dict[str, Callable[[], plt.Figure]]:
    """Name to what draws it."""
    example = runpy.run_path(str(ROOT / "examples" / "01_rendle.py"))
    drawn = {f"rendle-{number}": example[f"figure_{number}"] for number in (1, 2, 3)}
    return {**drawn, "blind-spot": blind_spot}


def write(figure: plt.Figure, path: Path) -> None:
    """Save a figure as a PNG of at most 128 colours: a third of the size, and no eye sees it."""
    buffer = io.BytesIO()
    figure.savefig(buffer, dpi=120)
    plt.close(figure)
    image = Image.open(buffer).convert("RGB")
    image.quantize(128, dither=Image.Dither.NONE).save(path, optimize=True)


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "images"
    for name, draw in pictures().items():
        write(draw(), folder / f"{name}.png")
