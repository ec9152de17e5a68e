"""What the verdict tells to do, at which cost, and where our own estimator wins and loses.

Every figure, every name of a winner and every comparison comes from `_verdict`.
"""

from __future__ import annotations

from typing import Any

from reproduction.index.verdict_text import amount, label, names, table

OURS = "smoothed"


def advice(found: dict[str, Any]) -> str:
    parts = [
        "### What to do",
        "Errors are geometric means, with the arithmetic ones in brackets.",
        _in_short(found),
        _advice(found),
        _by_itself(found),
        _remarks(found),
        *_where_ours_stands(found),
    ]
    return "\n\n".join(part for part in parts if part)


def _in_short(found: dict[str, Any]) -> str:
    """The design of the least error, and what is to be had from the cheapest."""
    best, cheap = min(found["designs"], key=_least), min(found["designs"], key=_price)
    draw = (
        f"**You draw the candidates yourself**: take {best['design']}, then {_either(best)}. "
        f"Expect an error of {_expected(best)}; by data set {_range(found, best)}. It costs "
        f"{size(best, ' candidates a user')}."
    )
    said = [draw]
    if cheap is not best:
        said.append(
            f"**You have {cheap['size']:,.0f} candidates a user and no more**: take "
            f"{_either(cheap)}. Expect {_expected(cheap)}; by data set {_range(found, cheap)}."
        )
        ours = [e for e in cheap["estimators"] if e["estimator"] == OURS]
        if ours and OURS not in cheap["first"]:
            said[-1] += f" Do not take {OURS}: {_percent(ours)}."
    said.append("Other cases: [which estimator when](../choosing.md).")
    return "\n".join(f"- {one}" for one in said)


def _advice(found: dict[str, Any]) -> str:
    """A line for each design, that of the least error first: take, expect, cost."""
    rows = [
        [one["design"], _either(one), _expected(one), _range(found, one), size(one)]
        for one in sorted(found["designs"], key=_least)
    ]
    head = ["design", "take", "expect an error of", "by data set", "candidates a user"]
    note = (
        "The same for every design, that of the least error first. Where several are level, any of "
        "them will do, and the error is given from the lowest to the highest; by data set, the "
        "lowest and the highest geometric mean. Of candidates the mean is given, then the data "
        "sets with the fewest and the most."
    )
    return f"{note}\n\n{table(head, rows)}"


def _by_itself(found: dict[str, Any]) -> str:
    """What `estimate` takes when it is not told which, and what that costs in error."""
    if not found["by_itself"]:
        return ""
    rows = []
    for one in found["by_itself"]:
        which: dict[str, list[str]] = {}
        for data, name in one["taken"].items():
            which.setdefault(label(name), []).append(data)
        taken = "; ".join(f"{name} on {names(data)}" for name, data in which.items())
        if len(which) == 1:
            (taken,) = which
        error = f"{amount(one['error'])} % ({amount(one['arithmetic'])})"
        rows.append([one["design"], taken, error])
    note = (
        "`fr.estimate` without `method=` chooses by what rank 1 of a sample stands for, so that it "
        "does not smooth where a sample is too coarse for it:"
    )
    return f"{note}\n\n{table(['design', 'takes', 'error'], rows)}"


def _least(one: dict[str, Any]) -> float:
    return float(one["estimators"][0]["error"])


def _price(one: dict[str, Any]) -> tuple[float, float]:
    return float(one["size"]), _least(one)


def _first(one: dict[str, Any]) -> list[dict[str, Any]]:
    by = {e["estimator"]: e for e in one["estimators"]}
    return [by[name] for name in one["first"]]


def _either(one: dict[str, Any]) -> str:
    level = [label(name) for name in one["first"]]
    return names(level).replace(" and ", " or ") + (" (level)" if len(level) > 1 else "")


def _expected(one: dict[str, Any]) -> str:
    return _percent(_first(one))


def _percent(found: list[dict[str, Any]]) -> str:
    """The lowest and the highest by either mean: 3.4 to 3.8 % (4.4 to 4.5)."""
    geometric, arithmetic = (
        " to ".join(dict.fromkeys(amount(end(one[mean] for one in found)) for end in (min, max)))
        for mean in ("error", "arithmetic")
    )
    return f"{geometric} % ({arithmetic})"


def _range(found: dict[str, Any], design: dict[str, Any]) -> str:
    """The lowest and the highest error on a data set, over the estimators that are first."""
    mine = [one for one in found["by_data"] if one["design"] == design["design"]]
    each = [
        (float(one["errors"][name][0]), str(one["data"]))
        for one in mine
        for name in design["first"]
        if name in one["errors"]
    ]
    (low, where), (high, there) = min(each), max(each)
    return f"{amount(low)} % ({where}) to {amount(high)} % ({there})"


def size(one: dict[str, Any], unit: str = "") -> str:
    low, high = (end(one["sizes"], key=one["sizes"].get) for end in (min, max))
    said = f"{one['size']:,.0f}{unit}"
    if one["sizes"][low] == one["sizes"][high]:
        return said
    said += " on average" if unit else ""
    return f"{said}: {one['sizes'][low]:,.0f} ({low}) to {one['sizes'][high]:,.0f} ({high})"


def _remarks(found: dict[str, Any]) -> str:
    designs = found["designs"]
    fixed = [one for one in designs if one["design"].startswith("fixed")]
    adaptive = [one for one in designs if one not in fixed]
    said = []
    for one in adaptive:
        dearer = [other for other in fixed if other["size"] >= one["size"]]
        if dearer:
            said.append(_beside(one, min(dearer, key=_least)))
        said += [
            f"{one['design'].capitalize()} is not cheaper everywhere: {size:,.0f} candidates on "
            f"{data}, more than {other['design']}."
            for other in fixed
            for data, size in one["sizes"].items()
            if one["size"] < other["size"] < size
        ]
    if found["winners"]:
        said.append(_named(min(designs, key=_least)["design"], found))
    return "\n".join(f"- {one}" for one in said)


def _beside(one: dict[str, Any], other: dict[str, Any]) -> str:
    by = [
        min(e[mean] for e in other["estimators"] if not e["apart"])
        / min(e[mean] for e in one["estimators"] if not e["apart"])
        for mean in ("error", "arithmetic")
    ]
    return (
        f"{one['design'].capitalize()} beside {other['design']}, the best fixed design that costs "
        f"no less ({one['size']:,.0f} candidates against {other['size']:,.0f}), each with its best "
        f"estimator: the error of {other['design']} is {by[0]:.1f} times as large ({by[1]:.1f} "
        "times by the arithmetic mean)."
    )


def _named(design: str, found: dict[str, Any]) -> str:
    """How often the best model is named from the design of the least error."""
    for one in found["winners"]:
        if one["design"] == design:
            right = {k: x for k, x in one["right"].items() if not k.endswith(", averaged")}
            best = max(right, key=lambda k: right[k])
            ours = f", {OURS} {right[OURS]:.0f}" if OURS in right and best != OURS else ""
            return (
                "To name the best of several models is harder than to estimate one: from "
                f"{design}, {label(best)} names it in {right[best]:.0f} of 100 repeats{ours} "
                "([below](#naming-the-best-model))."
            )
    return ""


def _where_ours_stands(found: dict[str, Any]) -> list[str]:
    """Where our own default wins, where it is level and where it loses, by the same rule."""
    if all(OURS not in one["errors"] for one in found["by_data"]):
        return []
    designs = [*(one["design"] for one in found["designs"]), *found["apart"]]
    cells = {(one["data"], one["design"]): one for one in found["by_data"]}
    rows = [[data, *(_against(cells.get((data, d))) for d in designs)] for data in found["data"]]
    note = (
        f"The error of {OURS}, and of the best of the others; geometric means in percent. In bold "
        "where it is behind."
    )
    title = f"### Where {OURS}, our own, wins and where it does not"
    return [title, _over_all(found), note, table(["data", *designs], rows)]


def _against(one: dict[str, Any] | None) -> str:
    if one is None or OURS not in one["errors"]:
        return "–"
    others = {name: error[0] for name, error in one["errors"].items() if name != OURS}
    best = min(others, key=lambda name: float(others[name]))
    standing = "**behind**"
    if OURS in one["first"]:
        standing = "first" if len(one["first"]) == 1 else "level"
    ours = amount(one["errors"][OURS][0])
    return f"{standing}: {ours}, {label(best)} {amount(others[best])}"


def _over_all(found: dict[str, Any]) -> str:
    alone = [one["design"] for one in found["designs"] if one["first"] == [OURS]]
    level = [
        f"{one['design']} (with {names(label(name) for name in one['first'] if name != OURS)})"
        for one in found["designs"]
        if OURS in one["first"] and len(one["first"]) > 1
    ]
    lost = [one for one in found["designs"] if OURS not in one["first"]]
    cells = found["by_data"]
    wins = sum(one["first"] == [OURS] for one in cells)
    ties = sum(OURS in one["first"] for one in cells) - wins
    said = (
        f"Over all data sets together: first alone on {names(alone) or 'no design'}; level on "
        f"{names(level) or 'none'}"
    )
    if lost:
        said += "; behind on " + ", ".join(_behind(one) for one in lost)
    return (
        f"{said}. Of {len(cells)} pairs of data set and design it is first in {wins}, level in "
        f"{ties} and behind in {len(cells) - wins - ties}."
    )


def _behind(one: dict[str, Any]) -> str:
    by = {e["estimator"]: e for e in one["estimators"]}
    best, ours = by[one["first"][0]], by[OURS]
    return (
        f"{one['design']} ({ours['error']:.1f} against {best['error']:.1f} % for "
        f"{label(best['estimator'])}; arithmetic {ours['arithmetic']:.1f} against "
        f"{best['arithmetic']:.1f})"
    )
