"""The verdict in words and tables; every figure and every name comes from `_verdict`."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from _study import table as markdown
from _verdict import AVERAGED, METRICS

DESIGNS = (
    "*Fixed* designs draw the same number of candidates for every user, with replacement or "
    "*without*. *Adaptive* ones begin with 25 or 100 and double for the users whose target still "
    "stands first, up to 3,200: from 100 with replacement as published, from 25 without, as ours."
)
FIGURE = "reproduction_index-cost.svg"
DRAWN = ("smoothed", "MLE", "MES", "BV 0.01", "MN_MES", "CLS")
PICTURE = (
    f"![Error against the candidates scored for a user, for fixed and adaptive designs and "
    f"{len(DRAWN)} estimators]({FIGURE})"
)
_TITLES = {"recall": "Recall", "ndcg": "NDCG", "ap": "AP"}


def table(head: list[str], rows: Iterable[Iterable[Any]], *, right: int | None = None) -> str:
    """A Markdown table whose cells may hold a bar, as in |a - b|.

    Columns from `right` on hold numbers, and stand to the right.
    """
    cells = ([str(cell).replace("|", "\\|") for cell in row] for row in rows)
    lines = markdown(head, cells).split("\n")
    if right is not None:
        lines[1] = f"|{' --- |' * right}{' ---: |' * (len(head) - right)}"
    return "\n".join(lines)


def verdict_part(found: dict[str, Any]) -> str:
    parts = [
        "## The verdict",
        _scope(found),
        _sentences(found),
        "### What a design costs, and who wins with it",
        DESIGNS,
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
    """Error against size: fixed designs as a line, adaptive ones as filled marks."""
    from _figures import drawing, line, plain

    with drawing(folder / FIGURE, height=3.6) as (axis,):
        for name in DRAWN:
            fixed, adaptive = (
                [(one["size"], _error(one, name)) for one in found["designs"] if _is(one, kind)]
                for kind in ("fixed", "adaptive")
            )
            style = line(name) | {"linestyle": "-"}
            axis.plot(*zip(*fixed, strict=True), marker="o", markerfacecolor="white", **style)
            marks = {"color": style["color"], "linestyle": "", "marker": "D"}
            axis.plot(*zip(*adaptive, strict=True), **marks)
        axis.set(
            xscale="log",
            yscale="log",
            xlabel="candidates scored for a user, on average",
            ylabel="error, % (geometric mean)",
            title="fixed designs (circles) and adaptive ones (diamonds), from one sample",
        )
        plain(axis.xaxis, [50, 100, 200, 300, 500, 1000, 2000])
        plain(axis.yaxis, [1, 2, 3, 5, 10, 20, 30, 50, 100])
        axis.legend(ncols=2)


def _is(one: dict[str, Any], kind: str) -> bool:
    return str(one["design"]).startswith(kind) and not one["design"].endswith("without")


def _error(one: dict[str, Any], name: str) -> float:
    return next((e["error"] for e in one["estimators"] if e["estimator"] == name), math.nan)


def _scope(found: dict[str, Any]) -> str:
    data, models = found["data"], found["models"]
    left = ""
    if found["pairs_with_every_design"] < found["pairs"]:
        left = (
            f" {found['pairs_with_every_design']} of {found['pairs']} pairs of data set and model "
            "have every design, and tables that compare designs are of these."
        )
    if found["apart"]:
        left += f" Too few have {' and '.join(found['apart'])}, which the table by data set shows."
    return (
        f"Data sets: {', '.join(data)}. Models: {', '.join(models)}. Metrics: "
        "Recall, NDCG and AP. An error is the papers': the mean over K = 1..50 of |estimate − "
        "exact| / exact, in percent; a mean of errors is geometric. Every estimator has the one "
        "sample that a user has, and a prior, where it takes one, from that sample. The size is "
        "the average number of candidates scored for a user; seconds are those of one estimate "
        f"once the ranks are there.{left}"
    )


def _sentences(found: dict[str, Any]) -> str:
    designs = found["designs"]
    least = min(designs, key=_least)
    said = [_least_of_all(least)]
    fixed = [one for one in designs if one["design"].startswith("fixed")]
    for one in designs:
        dearer = [other for other in fixed if other["size"] >= one["size"]]
        if dearer and one not in fixed:
            said.append(_beside(one, min(dearer, key=_least)))
    said += [_first_and_second(one) for one in designs]
    if found["priors"]:
        said.append(_with_priors(designs))
    return "\n".join(f"- {one}" for one in said)


def _in_words(one: dict[str, Any]) -> str:
    return str(one["design"]).replace("without", "without replacement")


def _least(one: dict[str, Any]) -> float:
    return float(one["estimators"][0]["error"])


def _least_of_all(one: dict[str, Any]) -> str:
    return (
        f"The least error of all is that of {one['estimators'][0]['estimator']} on "
        f"{one['design']}: {_least(one):.1f} % with {one['size']:,.0f} candidates a user."
    )


def _beside(one: dict[str, Any], other: dict[str, Any]) -> str:
    return (
        f"{_in_words(one).capitalize()} ({one['size']:,.0f} candidates) beside {other['design']}, "
        f"the best fixed design that costs no less: its error is "
        f"{_times(_least(other) / _least(one))}."
    )


def _first_and_second(one: dict[str, Any]) -> str:
    first, second = one["estimators"][:2]
    margin = second["error"] / first["error"] - 1
    return (
        f"{_in_words(one).capitalize()}: {first['estimator']} first with {first['error']:.1f} %, "
        f"least in {first['won']} of {one['cells']} cells; {second['estimator']} is "
        f"{100 * margin:.0f} % behind and least in {second['won']}."
    )


def _with_priors(designs: list[dict[str, Any]]) -> str:
    """How often an estimator that takes a prior has the least error, by where the prior is from."""
    single = [one["design"] for one in designs if "_" in one["estimators"][0]["estimator"]]
    averaged = [
        one["design"]
        for one in designs
        if any(e["error"] < _least(one) for e in one["estimators"] if AVERAGED in e["estimator"])
    ]
    return (
        "BV_* and MN_*, with the prior of the one sample, have the least error on "
        f"{', '.join(single) or 'no design'}; with the prior averaged over all repeats, which no "
        f"user has, they would on {', '.join(averaged) or 'none either'}."
    )


def _times(ratio: float) -> str:
    if ratio >= 1.05:
        return f"{ratio:.1f} times smaller"
    return f"{1 / ratio:.1f} times larger" if ratio <= 0.95 else "the same"


def _costs(found: dict[str, Any]) -> str:
    rows = []
    for one in found["designs"]:
        first = one["estimators"][0]
        by = [
            min((e for e in one["estimators"] if not e["apart"]), key=lambda e: e["by_metric"][at])
            for at in range(len(METRICS))
        ]
        rows.append(
            [
                f"**{one['design']}**" if one["front"] else one["design"],
                f"{one['size']:,.0f}",
                first["estimator"],
                f"{first['error']:.1f}",
                _time(first["seconds"]),
                *(f"{e['estimator']} {e['by_metric'][at]:.1f}" for at, e in enumerate(by)),
            ]
        )
    head = ["design", "size", "best", "error %", "seconds", *(_TITLES[m] for m in METRICS)]
    note = (
        "Cheapest first; in bold the designs that no cheaper one beats. The last three columns "
        "name the estimator of the least error for each metric."
    )
    return f"{table(head, rows)}\n\n{note}"


def _by_data(found: dict[str, Any]) -> str:
    designs = [*(one["design"] for one in found["designs"]), *found["apart"]]
    cells = {(one["data"], one["design"]): one for one in found["by_data"]}
    rows = [[data, *(_best(cells.get((data, d))) for d in designs)] for data in found["data"]]
    return table(["data", *designs], rows)


def _best(one: dict[str, Any] | None) -> str:
    return "–" if one is None else f"{one['first']} {one['error']:.1f}"


def _every(found: dict[str, Any]) -> str:
    names: dict[str, None] = {}
    for one in found["designs"]:
        names |= dict.fromkeys(e["estimator"] for e in one["estimators"])
    cells = {
        (e["estimator"], one["design"]): e for one in found["designs"] for e in one["estimators"]
    }
    apart = {e["estimator"] for one in found["designs"] for e in one["estimators"] if e["apart"]}
    designs = [one["design"] for one in found["designs"]]
    rows = []
    for name in sorted(names, key=lambda one: (one in apart, _logs(one, cells, designs))):
        seconds = [cells[name, d]["seconds"] for d in designs if (name, d) in cells]
        timed = [one for one in seconds if one is not None]
        rows.append(
            [
                f"*{name}*" if name in apart else name,
                *(_cell(cells.get((name, d)), found, d) for d in designs),
                _time(min(timed) if timed else None, max(timed) if timed else None),
            ]
        )
    size = ["size", *(f"{one['size']:,.0f}" for one in found["designs"]), ""]
    note = (
        "The best on average first. Percent, and in brackets the number of cells in which it is "
        "the least. In italics what no user has or what is measured otherwise: priors averaged "
        "over all repeats, as the papers took them, and the middle of the bounds, at a few "
        "cut-offs only. WMLE is the weighted likelihood inside the tilted family: what is printed "
        "estimates another distribution."
    )
    return f"{table(['estimator', *designs, 'seconds'], [size, *rows], right=1)}\n\n{note}"


def _logs(name: str, cells: dict[tuple[str, str], Any], designs: list[str]) -> float:
    """By how much it is behind, on average over the designs it fits."""
    best = {d: min(e["error"] for (_, at), e in cells.items() if at == d) for d in designs}
    mine = [d for d in designs if (name, d) in cells]
    return sum(math.log(cells[name, d]["error"] / best[d]) for d in mine) / len(mine)


def _cell(one: dict[str, Any] | None, found: dict[str, Any], design: str) -> str:
    if one is None:
        return "–"
    best = next(d for d in found["designs"] if d["design"] == design)["estimators"][0]
    text = f"{one['error']:.1f}" if one["error"] < 100 else f"{one['error']:,.0f}"
    text = f"**{text}**" if one is best else text
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
    kept = sum(one["single"] < 0.95 for one in found["priors"])
    gained = sum(one["averaged"] < 0.95 for one in found["priors"])
    said = (
        f"Error over that of the estimator the prior is from (MLE or MES). With the prior "
        f"averaged over all repeats, as published, {gained} of {len(found['priors'])} gain 5 % or "
        f"more; with the prior of the sample at hand, {kept}. Averaged, then single:"
    )
    return ["### What a prior is worth", said, table(["estimator", *designs], rows, right=1)]


def _both(one: dict[str, Any] | None) -> str:
    return "–" if one is None else f"{one['averaged']:.2f}, {one['single']:.2f}"


def _winners(found: dict[str, Any]) -> list[str]:
    if not found["winners"]:
        return []
    names: dict[str, None] = {}
    for one in found["winners"]:
        names |= dict.fromkeys(one["right"])
    designs = [one["design"] for one in found["winners"]]
    rows = [
        [name, *(_right(one["right"], name) for one in found["winners"])]
        for name in sorted(names, key=lambda one: (one.endswith(", averaged"), one))
    ]
    said = (
        "How many repeats in a hundred name the model that is best by exact ranks, mean over data "
        "sets and metrics; in bold the best of a design that a user can have."
    )
    return ["### Naming the best model", said, table(["estimator", *designs], rows, right=1)]


def _right(right: dict[str, float], name: str) -> str:
    if name not in right:
        return "–"
    best = max(value for key, value in right.items() if not key.endswith(", averaged"))
    bold = right[name] == best and not name.endswith(", averaged")
    return f"**{right[name]:.0f}**" if bold else f"{right[name]:.0f}"


def _time(low: float | None, high: float | None = None) -> str:
    if low is None:
        return "–"
    return f"{low:.2g}" if high is None or high == low else f"{low:.2g} to {high:.2g}"
