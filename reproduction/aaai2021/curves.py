"""Figures 1 to 3 of Jin et al. 2021: learned rank distributions beside the exact one.

Figure 6 of the dissertation is the first of them on pinterest-20, for MLE and MES alone.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from reproduction.aaai2021.published import label
from reproduction.common.repeats import Cell, Repeats
from reproduction.outcome import shown

LEARNED = ("BV 0.1", "MLE", "WMLE", "MES")  # the paper's
OWN = "smoothed"
SHOWN = (*LEARNED, OWN)
DIGITS = 4
CLOSE = 15.0  # percent
UP_TO = 50  # cut-offs over which a curve is judged
FIGURE_1 = ("EASE", 200)
FIGURE_2 = ("NeuMF", "MultiVAE", "itemKNN")

Curve = dict[str, Any]


def curves(
    found: dict[Cell, Repeats], data: str, larger: Cell, later: str | None = None
) -> dict[str, list[Curve]]:
    """The mean over the repeats of each learned P(R), and its sum, as the paper draws them.

    `later` are the data of the dissertation's figure, where they are here.
    """
    model, last = FIGURE_1
    small = Cell(larger.data, larger.model, "fixed 100")
    return {
        "1": [
            _curve(Cell(name, model, "fixed 100"), found, last)
            for name in (data, later)
            if name is not None
        ],
        "2": [
            _curve(cell, found, UP_TO)
            for cell in (Cell(data, model, "fixed 100") for model in FIGURE_2)
            if cell in found
        ],
        "3": [_curve(cell, found, UP_TO) for cell in (small, larger)],
    }


def _curve(cell: Cell, found: dict[Cell, Repeats], last: int) -> Curve:
    """P(R) for R = 1..last; beyond the ranks kept one by one it is constant inside a bin."""
    one = found[cell]
    widths = np.diff(one.edges)
    bins = np.searchsorted(one.edges, np.arange(1, last + 1), side="left") - 1

    def density(mass: np.ndarray) -> np.ndarray:
        return np.asarray((mass / widths)[bins])

    masses = {name: density(one.masses[one.estimators.index(name)]) for name in SHOWN}
    exact = density(one.truth)
    return {
        "data": cell.data,
        "model": cell.model,
        "design": cell.design,
        "errors": {name: _errors(mass, exact) for name, mass in masses.items()},
        "exact": _rounded(exact),
        "learned": {name: _rounded(mass) for name, mass in masses.items()},
    }


def _errors(mass: np.ndarray, exact: np.ndarray) -> dict[str, float]:
    """Mean relative errors in percent over R = 1..50: of P(R), of the sum, and its sign."""
    mass, exact = mass[:UP_TO], exact[:UP_TO]
    total = exact.sum() / exact.size
    sums, exact_sums = np.cumsum(mass), np.cumsum(exact)
    known = exact_sums > 0.0
    relative = (sums[known] - exact_sums[known]) / exact_sums[known]
    return {
        # P(R) of a single rank can be 0: relative to the mean
        "pmf": round(100 * float(np.abs(mass - exact).mean() / total), 6),
        "cdf": round(100 * float(np.abs(relative).mean()), 6),
        "cdf_signed": round(100 * float(relative.mean()), 6),
    }


def _rounded(values: np.ndarray) -> list[float]:
    return [float(f"{value:.{DIGITS}g}") for value in values]


def figure_outcomes(drawn: dict[str, list[Curve]]) -> list[dict[str, Any]]:
    """What each figure is there to show, and whether it does here."""
    learned = ("MLE", "WMLE", "MES")
    tilted = label("WMLE")
    first, *later = drawn["1"]
    small, large = drawn["3"]
    return [
        _first("004 Figure 1", f"MLE, {tilted} and MES", learned, first),
        *(_first("003 Figure 6", "MLE and MES", ("MLE", "MES"), one) for one in later),
        _second(drawn["2"]),
        shown(
            "004 Figure 3",
            "500 candidates bring every learned curve closer to the exact one than 100",
            all(large["errors"][name]["cdf"] < small["errors"][name]["cdf"] for name in LEARNED),
            differs="our NeuMF is another fit",
        ),
    ]


def _first(item: str, words: str, names: tuple[str, ...], one: Curve) -> dict[str, Any]:
    """Whether these estimators learn a distribution of ranks."""
    part = "not all of the users; " if one["data"].endswith("-part") else ""
    return shown(
        item,
        f"{words} learn the distribution of ranks: the mean recall curve up to {UP_TO} within "
        f"{CLOSE:.0f} % of the exact one",
        all(one["errors"][name]["cdf"] <= CLOSE for name in names),
        differs=f"{part}the model is not named in the paper; {one['model']} here",
    )


def _second(panels: list[Curve]) -> dict[str, Any]:
    """All that the text says of Figure 2; it is shown where each part is, for every model."""
    learned, tilted = ("MLE", "WMLE", "MES"), label("WMLE")
    sums = [
        all(one["errors"][n]["cdf"] < min(CLOSE, one["errors"][n]["pmf"]) for n in learned)
        for one in panels
    ]
    parts = [sums, further(panels), above(panels)]
    names = ("single ranks and sums", "BV 0.1 further off", f"{tilted} above")
    counted = ", ".join(
        f"{name} for {sum(part)} of {len(part)}" for name, part in zip(names, parts, strict=True)
    )
    return shown(
        "004 Figure 2",
        f"P(R) of single ranks comes out badly and the recall curve well, within {CLOSE:.0f} %, "
        f"from MLE, {tilted} and MES; BV 0.1 misses the curve by more than MLE and MES; "
        f"{tilted} lies above both",
        all(all(part) for part in parts),
        differs=f"our models are other fits; of the models: {counted}",
    )


def further(panels: list[Curve]) -> list[bool]:
    """For each model whether BV 0.1 misses the recall curve by more than MLE and MES do."""
    errors = [one["errors"] for one in panels]
    return [one["BV 0.1"]["cdf"] > max(one["MLE"]["cdf"], one["MES"]["cdf"]) for one in errors]


def above(panels: list[Curve]) -> list[bool]:
    """For each model whether WMLE gives a higher curve than MLE and MES."""
    signed = [{name: one["errors"][name]["cdf_signed"] for name in LEARNED} for one in panels]
    return [one["WMLE"] > max(one["MLE"], one["MES"]) for one in signed]


def figures(drawn: dict[str, list[Curve]], folder: Path) -> None:
    """Draw aaai2021-figure1.svg to aaai2021-figure3.svg."""
    from reproduction.common.figures import drawing, line

    panels = drawn["1"]
    with drawing(folder / "aaai2021-figure1.svg", columns=len(panels)) as axes:
        for axis, one in zip(axes, panels, strict=True):
            _pmf(axis, one, line)
            axis.set_title(f"{one['model']}, {one['data']}")
        axes[0].legend(ncols=2)
    for number in ("2", "3"):
        panels = drawn[number]
        with drawing(folder / f"aaai2021-figure{number}.svg", rows=2, columns=len(panels)) as axes:
            for at, one in enumerate(panels):
                _pmf(axes[at], one, line)
                _cdf(axes[at + len(panels)], one, line)
            axes[len(panels) - 1].legend(fontsize=7, loc="upper right")


def _pmf(axis: Any, one: Curve, line: Any) -> None:
    ranks = np.arange(1, len(one["exact"]) + 1)
    axis.plot(ranks, one["exact"], color="0.6", linewidth=0.7, label="exact")
    for name, mass in one["learned"].items():
        axis.plot(ranks, mass, **line(name) | {"label": label(name)})
    # a few single ranks of the exact distribution stand far above everything learned
    highest = max(max(mass) for mass in one["learned"].values())
    axis.set_ylim(0, 1.6 * highest)
    axis.set_title(f"{one['model']}, {one['design'].removeprefix('fixed ')} items")
    axis.set_ylabel("P(R)")
    axis.set_xlabel("rank R")
    axis.locator_params(nbins=4)


def _cdf(axis: Any, one: Curve, line: Any) -> None:
    ranks = np.arange(1, len(one["exact"]) + 1)
    axis.plot(ranks, np.cumsum(one["exact"]), **line("exact"))
    for name, mass in one["learned"].items():
        axis.plot(ranks, np.cumsum(mass), **line(name))
    axis.set_ylabel("Recall@K")
    axis.set_xlabel("K")
    axis.locator_params(nbins=4)
