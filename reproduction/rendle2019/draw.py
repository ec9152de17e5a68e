"""Figures 1-3 of Rendle 2019, drawn from nothing but the study's JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reproduction.common.figures import drawing, line, plain

_LIKE = ("EASE", "itemKNN", "iALS", "MultiVAE")  # whose colours these lines have, one after another


def figures(content: dict[str, Any], folder: Path) -> None:
    drawn = content["curves"]
    _worth(drawn["figure1"], folder / "rendle2019-figure1.svg")
    _orders(drawn["figure2"], folder / "rendle2019-figure2.svg")
    _shapes(drawn["figure3"], folder / "rendle2019-figure3.svg")


def _worth(one: dict[str, Any], path: Path) -> None:
    """All ranks, and the first hundred."""
    with drawing(path, columns=2) as axes:
        for axis, last in zip(axes, (max(one["ranks"]), 100), strict=True):
            count = sum(rank <= last for rank in one["ranks"])
            for at, (name, values) in enumerate(one["metrics"].items()):
                axis.plot(one["ranks"][:count], values[:count], **_line(at, name))
            axis.set(xlabel="true rank", ylabel="metric", title=f"ranks 1 to {last:,}")
        axes[0].legend()


def _orders(one: dict[str, Any], path: Path) -> None:
    """A panel for each metric, a line for each model."""
    with drawing(path, rows=2, columns=2, height=2.4) as axes:
        for axis, (name, models) in zip(axes, one["metrics"].items(), strict=True):
            for at, (model, values) in enumerate(models.items()):
                axis.plot(one["candidates"], values, **_line(at, model))
            axis.set(xscale="log", xlabel="candidates", ylabel="expected value", title=name)
            plain(axis.xaxis, [10, 100, 1_000, 10_000])
        axes[1].legend()


def _shapes(one: dict[str, Any], path: Path) -> None:
    """A panel for each metric, a line for each number of candidates: the fewer, the straighter."""
    with drawing(path, rows=2, columns=2, height=2.4) as axes:
        for axis, (name, sizes) in zip(axes, one["metrics"].items(), strict=True):
            for at, (size, values) in enumerate(sizes.items()):
                axis.plot(one["ranks"], values, **_line(at, size))
            axis.set(xlabel="true rank", ylabel="expected value", title=name)
        axes[0].legend()


def _line(at: int, name: str) -> dict[str, Any]:
    return line(name) if name == "exact" else line(_LIKE[at]) | {"label": name}
