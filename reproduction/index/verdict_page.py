"""The tables and the picture of the verdict; every figure and every name comes from `_verdict`."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from typing import Any

from reproduction.index.verdict import AVERAGED, LEVEL, METRICS
from reproduction.index.verdict_text import amount, label, names, table

FIGURE = "reproduction_index-cost.svg"
DRAWN = ("smoothed", "MLE", "MES", "BV 0.1", "MN_MES", "CLS")
PICTURE = (
    f"![Error against the candidates scored for a user, for fixed and adaptive designs and "
    f"{len(DRAWN)} estimators, by both means]({FIGURE})\n\n"
    "*Circles: fixed designs; diamonds: adaptive ones.*"
)
_TITLES = {"recall": "Recall", "ndcg": "NDCG", "ap": "AP"}


def tables(found: dict[str, Any]) -> str:
    parts = [
        "### What a design costs, and who wins with it",
        _costs(found),
        PICTURE,
        "### By data set",
        _by_data(found),
        "### Every estimator",
        _every(found),
        *_priors(found),
        *_winners(found),
    ]
    return "\n\n".join(parts)


def draw(found: dict[str, Any], folder: Path) -> None:
    """Error against size by both means: fixed designs as a line, adaptive ones as filled marks."""
    from reproduction.common.figures import drawing, line, plain

    with drawing(folder / FIGURE, columns=2, height=3.6, sharey=True) as axes:
        for axis, mean in zip(axes, ("error", "arithmetic"), strict=True):
            for name in DRAWN:
                fixed, adaptive = (
                    [(d["size"], _error(d, name, mean)) for d in found["designs"] if _is(d, kind)]
                    for kind in ("fixed", "adaptive")
                )
                style = line(name) | {"linestyle": "-"}
                axis.plot(*_columns(fixed), marker="o", markerfacecolor="white", **style)
                marks = {"color": style["color"], "linestyle": "", "marker": "D"}
                axis.plot(*_columns(adaptive), **marks)
            axis.set(xscale="log", yscale="log", xlabel="candidates scored for a user, on average")
            plain(axis.xaxis, [50, 100, 200, 500, 1000, 2000])
            plain(axis.yaxis, [1, 2, 3, 5, 10, 20, 30, 50, 100])
        axes[0].set(ylabel="error, %", title="geometric mean")
        axes[0].legend(loc="lower left")
        axes[1].set(title="arithmetic mean")


def _columns(points: list[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [x for x, _ in points], [y for _, y in points]


def _is(one: dict[str, Any], kind: str) -> bool:
    return str(one["design"]).startswith(kind) and not one["design"].endswith("without")


def _error(one: dict[str, Any], name: str, mean: str = "error") -> float:
    return next((e[mean] for e in one["estimators"] if e["estimator"] == name), math.nan)


def _costs(found: dict[str, Any]) -> str:
    rows = []
    for one in found["designs"]:
        by = {e["estimator"]: e for e in one["estimators"]}
        rows += [
            [
                _bold(one["design"], one["front"]) if at == 0 else "",
                f"{one['size']:,.0f}" if at == 0 else "",
                label(name),
                "first" if len(one["first"]) == 1 else "level",
                _bold(f"{by[name]['error']:.1f}", name == _best(one, "error")),
                _bold(f"{by[name]['arithmetic']:.1f}", name == _best(one, "arithmetic")),
                by[name]["won"],
                _time(by[name]["seconds"]),
                ", ".join(f"{error:.1f}" for error in by[name]["by_metric"]),
            ]
            for at, name in enumerate(one["first"])
        ]
    head = ["design", "size", "estimator", "is", "geometric", "arithmetic", "least in", "seconds"]
    note = (
        "Mean errors in percent by the geometric mean, which decides, and by the arithmetic; bold "
        "is the least of all estimators on the design. *Level* are those within "
        f"{100 * LEVEL:.0f} % of the least by both means, and those that are least by one mean "
        "only. Size is the mean number of candidates a user, and the designs that no cheaper one "
        "beats are bold. *Least in* counts the cells in which an estimator has the least error, of "
        f"{found['designs'][0]['cells']}, each a data set, a model and a metric. Seconds are those "
        "of one estimate once the ranks are there. The last column has the geometric means by "
        "metric."
    )
    return f"{table([*head, ', '.join(_TITLES[m] for m in METRICS)], rows)}\n\n{note}"


def _best(one: dict[str, Any], mean: str) -> str:
    ranked = [e for e in one["estimators"] if not e["apart"]]
    return str(min(ranked, key=lambda e: float(e[mean]))["estimator"])


def _bold(text: str, bold: bool) -> str:
    return f"**{text}**" if bold else text


def _by_data(found: dict[str, Any]) -> str:
    designs = [*(one["design"] for one in found["designs"]), *found["apart"]]
    cells = {(one["data"], one["design"]): one for one in found["by_data"]}
    rows = [[data, *(_leading(cells.get((data, d))) for d in designs)] for data in found["data"]]
    note = "Who is first on each data set, or level, with geometric means in percent."
    return f"{note}\n\n{table(['data', *designs], rows)}"


def _leading(one: dict[str, Any] | None) -> str:
    if one is None:
        return "–"
    said = ", ".join(f"{label(name)} {amount(one['errors'][name][0])}" for name in one["first"])
    return f"level: {said}" if len(one["first"]) > 1 else said


def _every(found: dict[str, Any]) -> str:
    each: dict[str, None] = {}
    for one in found["designs"]:
        each |= dict.fromkeys(e["estimator"] for e in one["estimators"])
    cells = {
        (e["estimator"], one["design"]): e for one in found["designs"] for e in one["estimators"]
    }
    apart = {e["estimator"] for one in found["designs"] for e in one["estimators"] if e["apart"]}
    designs = [one["design"] for one in found["designs"]]
    rows = []
    for name in sorted(each, key=lambda one: (one in apart, _logs(one, cells, designs))):
        seconds = [cells[name, d]["seconds"] for d in designs if (name, d) in cells]
        timed = [one for one in seconds if one is not None]
        rows.append(
            [
                f"*{name}*" if name in apart else label(name),
                *(_cell(cells.get((name, one["design"])), one) for one in found["designs"]),
                _time(min(timed) if timed else None, max(timed) if timed else None),
            ]
        )
    size = ["size", *(f"{one['size']:,.0f}" for one in found["designs"]), ""]
    note = (
        "The best on average first. Percent: the geometric mean, then the arithmetic; in brackets "
        "the number of cells in which it is the least; bold is first or level. In italics what no "
        "user has or what is measured otherwise: priors averaged over all repeats, as the papers "
        "took them, and the middle of the bounds, at a few cut-offs only."
    )
    return f"{table(['estimator', *designs, 'seconds'], [size, *rows], right=1)}\n\n{note}"


def _logs(name: str, cells: dict[tuple[str, str], Any], designs: list[str]) -> float:
    """By how much it is behind, on average over the designs it fits."""
    best = {d: min(e["error"] for (_, at), e in cells.items() if at == d) for d in designs}
    mine = [d for d in designs if (name, d) in cells]
    return sum(math.log(cells[name, d]["error"] / best[d]) for d in mine) / len(mine)


def _cell(one: dict[str, Any] | None, design: dict[str, Any]) -> str:
    if one is None:
        return "–"
    text = f"{amount(one['error'])}, {amount(one['arithmetic'])}"
    text = _bold(text, one["estimator"] in design["first"])
    return text if one["apart"] or not one["won"] else f"{text} ({one['won']})"


def _priors(found: dict[str, Any]) -> list[str]:
    if not found["priors"]:
        return []
    designs = [one["design"] for one in found["designs"]]
    cells = {(one["estimator"], one["design"]): one for one in found["priors"]}
    rows = [
        [name, *(_both(cells.get((name, design))) for design in designs)]
        for name in dict.fromkeys(one["estimator"] for one in found["priors"])
    ]
    said = (
        "Error over that of the estimator the prior is from (MLE or MES), as geometric means. With "
        f"the prior averaged over all repeats, as published, {_gains(found, 'averaged')}; with the "
        f"prior of the sample at hand, {_gains(found, 'single')}. {_on_mes(found)}"
        "Averaged, then single:"
    )
    return ["### What a prior is worth", said, table(["estimator", *designs], rows, right=1)]


def _gains(found: dict[str, Any], kind: str) -> str:
    """How many gain, and over which estimator."""
    gained = [one for one in found["priors"] if one[kind] < 1 - LEVEL]
    by = {
        base: sum(one["base"] == base for one in gained)
        for base in dict.fromkeys(one["base"] for one in found["priors"])
    }
    parts = names(f"{n or 'none'} over {base}" for base, n in by.items())
    count = f"{len(gained)} of {len(found['priors'])}"
    return f"{count} gain {100 * LEVEL:.0f} % or more ({parts})"


def _on_mes(found: dict[str, Any]) -> str:
    """Why a gain over MES may say little: how it does as the sample grows."""
    mes = {one["design"]: _error(one, "MES") for one in found["designs"]}
    fixed = [one for one in found["designs"] if _is(one, "fixed")]
    said = [
        f"from {a['design']} to {b['design']} it does not gain ({mes[a['design']]:.1f} % and "
        f"{mes[b['design']]:.1f} %)"
        for a, b in pairwise(fixed)
        if mes[b["design"]] > (1 - LEVEL) * mes[a["design"]]
    ]
    said += [
        f"on {one['design']} it errs by {mes[one['design']]:.1f} % (MLE by "
        f"{_error(one, 'MLE'):.1f} %)"
        for one in found["designs"]
        if _is(one, "adaptive") and mes[one["design"]] > 1.5 * _error(one, "MLE")
    ]
    if not said:
        return ""
    return (
        f"MES itself does not do well here: {names(said)}, probably because its η stays at the "
        "published 0.001 whatever the sample. A gain over it is therefore not a gain over the best "
        "estimator. "
    )


def _both(one: dict[str, Any] | None) -> str:
    return "–" if one is None else f"{one['averaged']:.2f}, {one['single']:.2f}"


def _winners(found: dict[str, Any]) -> list[str]:
    if not found["winners"]:
        return []
    each: dict[str, None] = {}
    for one in found["winners"]:
        each |= dict.fromkeys(one["right"])
    designs = [one["design"] for one in found["winners"]]
    rows = [
        [label(name), *(_right(one["right"], name) for one in found["winners"])]
        for name in sorted(each, key=lambda one: (one.endswith(AVERAGED), one))
    ]
    said = (
        "How many repeats in a hundred name the model that is best by exact ranks, mean over data "
        "sets and metrics; in bold the best of a design that a user can have."
    )
    return ["### Naming the best model", said, table(["estimator", *designs], rows, right=1)]


def _right(right: dict[str, float], name: str) -> str:
    if name not in right:
        return "–"
    best = max(value for key, value in right.items() if not key.endswith(AVERAGED))
    bold = round(right[name]) == round(best) and not name.endswith(AVERAGED)
    return f"**{right[name]:.0f}**" if bold else f"{right[name]:.0f}"


def _time(low: float | None, high: float | None = None) -> str:
    if low is None:
        return "–"
    return f"{low:.2g}" if high is None or high == low else f"{low:.2g} to {high:.2g}"
