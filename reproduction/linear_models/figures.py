"""The figures of the study of linear models, from nothing but its JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reproduction.linear_models.published import SEARCHES
from reproduction.linear_models.search import published_best

NAME = "linear_models"


def figures(content: dict[str, Any], folder: Path) -> None:
    """Figures 11 and 12, the parameter searches beside the published ones, and the models."""
    from reproduction.common.figures import drawing

    for name, one in content["data"].items():
        if "missing" in one:
            continue
        with drawing(folder / f"{NAME}-figure11-{name}.svg", columns=2) as axes:
            _figure11(one["spectra"], axes)
        with drawing(folder / f"{NAME}-figure12-{name}.svg", columns=2) as axes:
            _figure12(one["spectra"], axes)
        with drawing(folder / f"{NAME}-searches-{name}.svg", rows=2, columns=2) as axes:
            _searches(one["searches"], axes)
        with drawing(folder / f"{NAME}-models-{name}.svg", height=4.4) as axes:
            _models(one["beside_ease"], axes[0])


def _figure11(spectra: dict[str, Any], axes: Any) -> None:
    left, right = axes
    rank, values = spectra["rank"], spectra["values"]
    left.plot(rank, values, color="black", label="singular values")
    for name, dashes in (("LRR", "-"), ("MF", "--")):
        label = f"{name}, λ = {spectra[f'{name.lower()}_settings']['regularization']:g}"
        left.plot(rank, spectra[name], dashes, label=label)
        ratios = [a / b for a, b in zip(spectra[name], values, strict=True)]
        right.plot(rank, ratios, dashes, label=label)
    left.set(xscale="log", yscale="symlog", ylim=(0, None), ylabel="what is left")
    right.set(xscale="log", ylabel="share that is left")
    for ax in axes:
        ax.set_xlabel("number of the singular value")
        ax.legend()


def _figure12(spectra: dict[str, Any], axes: Any) -> None:
    left, right = axes
    middle = spectra["lrr_settings"]["regularization"]
    constant = dict(zip(spectra["rank"], spectra["LRR"], strict=True))
    left.axhline(0, color="black", linewidth=1, label=f"one λ = {middle:g}")
    right.axhline(middle, color="black", linewidth=1)
    for (name, one), dashes in zip(spectra["learned"].items(), ("-", "--", ":"), strict=True):
        more = [
            100 * (value / constant[rank] - 1)
            for rank, value in zip(one["rank"], one["values"], strict=True)
        ]
        left.plot(one["rank"], more, dashes, label=name)
        right.plot(one["rank"], one["penalties"], dashes, label=name)
    left.set(xscale="log", ylabel="singular value, % above one λ")
    right.set(xscale="log", ylabel="λ of each")
    for ax in axes:
        ax.set_xlabel("number of the singular value")
    left.legend(loc="upper left")


def _searches(searches: dict[str, Any], axes: Any) -> None:
    """Shares of the best along λ, at the lowest and the highest rank of the grid."""
    for ax, (table, published) in zip(axes, SEARCHES.items(), strict=True):
        _, column = published_best(published)
        grids = {"published": published, "here": searches[published["model"]].get(table)}
        for (who, grid), colour in zip(grids.items(), ("#0072b2", "#d55e00"), strict=True):
            if grid is None:
                continue
            top, middle = max(map(max, grid["values"])), grid["penalties"][column]
            for at, dashes in ((0, "--"), (-1, "-")):
                ax.plot(
                    [penalty / middle for penalty in grid["penalties"]],
                    [value / top for value in grid["values"][at]],
                    dashes,
                    marker=".",
                    color=colour,
                    label=f"{who}, k = {grid['ranks'][at]:,}",
                )
        ax.set(title=f"{table}: {published['model']} on {published['data']}")
        ax.set(xlabel="λ over the best λ", ylabel="NDCG@100 over the best")
        ax.legend()


def _models(beside: dict[str, Any], ax: Any) -> None:
    """NDCG@100 beside EASE with two standard errors of the difference, the best at the top."""
    order = sorted(beside, key=lambda name: beside[name]["percent"])
    cells = [beside[name] for name in order]
    ax.axvline(0, color="black", linewidth=1)
    ax.errorbar(
        [cell["percent"] for cell in cells],
        range(len(order)),
        xerr=[2 * cell["se"] for cell in cells],
        fmt="o",
        markersize=4,
    )
    ax.set_yticks(range(len(order)), order)
    ax.set_xlabel("NDCG@100 of the test users, % above EASE, with two standard errors")
