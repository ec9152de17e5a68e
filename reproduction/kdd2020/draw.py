"""The figures of the study kdd2020, from nothing but its JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reproduction.common.figures import drawing, line

_COLOURS = {"linear": "#d55e00", "bound": "#0072b2", "beta@1": "#e69f00", "beta@0.5": "#009e73"}


def figures(content: dict[str, Any], folder: Path) -> None:
    """kdd2020-….svg."""
    for data, one in content["curves"].items():
        _curves(data, one, folder)
    _beta(content, folder)
    _shapes(content["shapes_of_f"], folder)
    for data, one in content["alignment"].items():
        _alignment(data, one, folder)
    _sizes(content["sizes"], folder)


def _curves(data: str, one: dict[str, Any], folder: Path) -> None:
    """Above all of it, below the top: K up to f(10) and k up to 10."""
    top = one["top_place"]
    with drawing(folder / f"kdd2020-curves-{data}.svg", rows=2, columns=2) as axes:
        for model, values in one["exact"].items():
            axes[0].plot(one["cut_offs"], values, **line(model))
            kept = [k for k in one["cut_offs"] if k <= top]
            axes[2].plot(kept, values[: len(kept)], **line(model))
        for model, values in one["sampled"].items():
            axes[1].plot(range(1, len(values) + 1), values, **line(model))
            axes[3].plot(range(1, 11), values[:10], **line(model))
        axes[0].set(xscale="log", ylabel="HR@K", title=f"{data}: all items")
        axes[1].set(ylabel="SHR@k", title="100 candidates")
        axes[2].set(xlabel="K", ylabel="HR@K", title=f"all items, K up to f(10) = {top:,}")
        axes[3].set(xlabel="k", ylabel="SHR@k", title="100 candidates, k up to 10")
        axes[1].legend()


def _beta(content: dict[str, Any], folder: Path) -> None:
    data, model = content["shown_later"]
    one = content["density"] | content["beta_fit"][data][model]
    n_items = next(row["n_items"] for row in content["data"] if row["data"] == data)
    with drawing(folder / "kdd2020-beta.svg") as (ax,):
        ax.stairs(one["density"], one["edges"], color="black", label=f"ranks of {model}, {data}")
        middles = [(a * b) ** 0.5 for a, b in zip(one["edges"], one["edges"][1:], strict=False)]
        for name, a in one["a"].items():
            values = [a * (rank / n_items) ** (a - 1.0) for rank in middles]
            ax.plot(middles, values, "--", label=f"{name}: a = {a:.2f}")
        ax.set(xscale="log", yscale="log", xlabel="rank", ylabel="density over that of even ranks")
        ax.legend()


def _shapes(shapes: dict[str, Any], folder: Path) -> None:
    with drawing(folder / "kdd2020-mapping.svg", columns=3) as axes:
        for ax, (which, one) in zip(axes, shapes.items(), strict=False):
            for a, values in one["relative"].items():
                ax.plot(range(1, len(values) + 1), values, label=f"a = {a}")
            ax.set(xlabel="k", title=f"f(k; a)/f(k; 1) - 1, N = {one['n_items']:,}")
            if which == "shown":
                ax.legend()
        for a, values in shapes["shown"]["apart"].items():
            axes[2].plot(range(1, len(values) + 1), values, label=f"a = {a}")
        axes[2].set(xlabel="k", title=f"f(k; a) - f(k; 0.3), N = {shapes['shown']['n_items']:,}")
        axes[2].set_ylim(top=2.2 * max(max(v) for v in shapes["shown"]["apart"].values()))
        axes[2].legend(loc="upper right")


def _alignment(data: str, one: dict[str, Any], folder: Path) -> None:
    with drawing(folder / f"kdd2020-alignment-{data}.svg", columns=2) as axes:
        axes[0].plot(one["cut_offs"], one["exact"], **line("exact"))
        for name, places in one["places"].items():
            axes[0].plot(places[:20], one["sampled"][:20], ".--", color=_COLOURS[name], label=name)
            axes[1].plot(
                range(1, 21), one["at_places"][name][:20], ".--", color=_COLOURS[name], label=name
            )
        axes[1].plot(range(1, 21), one["sampled"][:20], color="black", label="SHR@k")
        axes[0].set(
            xlim=(0, one["places"]["beta@1"][19]), xlabel="K", ylabel="hit rate",
            title=f"{data}: SHR@k at K = f(k)",
        )  # fmt: skip
        axes[1].set(xlabel="k", title="HR@f(k) at k")
        for ax in axes:
            ax.legend()


def _sizes(one: dict[str, Any], folder: Path) -> None:
    with drawing(folder / "kdd2020-sizes.svg") as (ax,):
        ax.plot(one["cut_offs"], one["exact"], **line("exact"))
        for row in one["rows"]:
            ax.plot(
                row["places"], row["sampled"], ".--", markersize=3, label=f"n = {row['size']:,}"
            )
        ax.set(xscale="log", xlabel="K", ylabel="hit rate", title=f"{one['model']}, {one['data']}")
        ax.legend()
