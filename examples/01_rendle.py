"""Compute Figures 1–3 of Rendle (2019) from the sampling distribution, without simulation.

python examples/01_rendle.py [folder for rendle-1.png, rendle-2.png, rendle-3.png]
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from fullrank import metrics
from fullrank.cli.demonstration import RENDLE, RENDLE_ITEMS, RENDLE_METRICS
from fullrank.designs import Uniform, expected_metric


def figure_1() -> plt.Figure:
    """Plot each metric against the true rank: all ranks, and the first hundred."""
    figure, axes = plt.subplots(1, 2, figsize=(10, 3.5), layout="constrained")
    for ax, last in zip(axes, (RENDLE_ITEMS, 100), strict=True):
        ranks = np.unique(np.geomspace(1, last, 400).astype(int))
        for name in RENDLE_METRICS:
            ax.plot(ranks, metrics.parse(name).weights(ranks, RENDLE_ITEMS), label=name)
        ax.set(xlabel="true rank", ylabel="metric", title=f"ranks 1 to {last:,}")
    axes[0].legend()
    return figure


def figure_2() -> plt.Figure:
    """Plot the expected sampled metric of A, B and C against the number of candidates."""
    sizes = np.unique(np.geomspace(2, RENDLE_ITEMS, 60).astype(int))
    figure, axes = plt.subplots(1, 4, figsize=(14, 3.5), layout="constrained")
    for ax, name in zip(axes, RENDLE_METRICS, strict=True):
        for model, ranks in RENDLE.items():
            means = [
                expected_metric(
                    ranks, name, n_items=RENDLE_ITEMS, design=Uniform(n, replacement=True)
                ).mean()
                for n in sizes
            ]
            ax.plot(sizes, means, label=model)
        ax.set(xscale="log", xlabel="candidates n", title=name)
    axes[0].set_ylabel("expected sampled metric")
    axes[0].legend()
    return figure


def figure_3() -> plt.Figure:
    """Plot the expected sampled metric against the true rank: few candidates make it linear."""
    ranks = np.unique(np.geomspace(1, 1_000, 120).astype(int))
    figure, axes = plt.subplots(1, 4, figsize=(14, 3.5), layout="constrained")
    for ax, name in zip(axes, RENDLE_METRICS, strict=True):
        for n in (2, 11, 101, 1_001):
            ax.plot(
                ranks,
                expected_metric(
                    ranks, name, n_items=RENDLE_ITEMS, design=Uniform(n, replacement=True)
                ),
                label=f"n = {n:,}",
            )
        ax.plot(ranks, metrics.parse(name).weights(ranks, RENDLE_ITEMS), "k--", label="exact")
        ax.set(xlabel="true rank", title=name)
    axes[0].legend()
    return figure


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path()
    for number, draw in enumerate((figure_1, figure_2, figure_3), start=1):
        path = folder / f"rendle-{number}.png"
        draw().savefig(path, dpi=100)
        print(f"wrote {path}")
