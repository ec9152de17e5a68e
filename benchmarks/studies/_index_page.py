"""The page of every table and figure, from what `reproduction_index` has collected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from _outcome import ALIKE, ENOUGH, STATES, TOLERANCE
from _verdict_page import table, verdict_part

from fullrank.evaluation.studies import PAPERS

WORDS = {
    "reproduced": "reproduced",
    "in order": "in order, not in value",
    "not reproduced": "not reproduced",
    "not here": "not possible here",
    "nothing to reproduce": "nothing to reproduce",
}
GOOD = ("reproduced", "in order")
SHORT = {
    "002": "Rendle 2019",
    "001": "KDD 2020",
    "004": "AAAI 2021",
    "000": "AAAI 2023",
    "003": "dissertation",
}
HOLDS = {True: "holds", None: "in part", False: "does not hold"}


def page(content: dict[str, Any]) -> str:
    parts = [
        _head(content),
        *([verdict_part(content["verdict"])] if content["verdict"] else []),
        _claims(content),
        _ours(content),
        "## Table by table\n\n" + _rule(),
        *(_paper(number, content) for number in PAPERS),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _head(content: dict[str, Any]) -> str:
    head = ["paper", "tables and figures", *(WORDS[state] for state in STATES)]
    rows = []
    for number in PAPERS:
        mine = _of(number, content["items"])
        rows.append([f"[{SHORT[number]}](#{_anchor(number)})", len(mine), *_counted(mine)])
    everything = content["items"]
    rows.append(["all", len(everything), *_counted(everything)])
    return (
        "# Every table and figure\n\n"
        "*What the five papers print, whether it comes out here, and what all of it together says "
        "about estimators. Nothing on this page was typed: each study beside it gives its share.*"
        f"\n\n{table(head, rows, right=1)}"
    )


def _counted(items: list[dict[str, Any]]) -> list[str]:
    """How many are in each state, and how many of them with only some of their cells."""
    found = Counter(item["state"] for item in items)
    part = Counter(item["state"] for item in items if item["in_part"] and item["state"] in GOOD)
    return [
        f"{found[state] or '–'}" + (f" ({part[state]} in part)" if part[state] else "")
        for state in STATES
    ]


def _rule() -> str:
    enough, alike = f"{100 * ENOUGH:.0f} %", f"{100 * ALIKE:.0f} %"
    return (
        f"A table is *reproduced* if at least {enough} of the cells lie within the limits: "
        f"{100 * TOLERANCE:.0f} % of the published, or two published standard deviations where "
        f"those are wider. It is *in order* if it fails this but keeps the order of {enough} of "
        f"the pairs in its rows that differ by more than {alike}. *In part* means that some cells "
        "cannot be compared, for want of data or of a like model, and that the state is that of "
        "the others. A figure is reproduced if what it is there to show, written beside it, is so "
        "here."
    )


def _paper(number: str, content: dict[str, Any]) -> str:
    rows = []
    for item in _of(number, content["items"]):
        for at, one in enumerate(item["outcomes"]):
            name = item["item"].partition(" ")[2].replace(" ", "\u00a0") if at == 0 else ""
            where = f"[{one['study']}]({one['study']}.md)" if one["study"] else ""
            part = bool(one.get("absent")) and one["state"] in GOOD
            state = WORDS[one["state"]] + (", in part" if part else "")
            rows.append([name, item["shows"], state, _detail(one), where])
    head = ["", "what it shows", "state", "how close, or why", "page"]
    title = SHORT[number][0].upper() + SHORT[number][1:]
    return f"### {title} {{#{_anchor(number)}}}\n\n{PAPERS[number]}.\n\n{table(head, rows)}"


def _detail(one: dict[str, Any]) -> str:
    """One line: how close it is, and what differs."""
    said = [f"as {_named(one['repeats'])}"] if "repeats" in one else []
    said.append(_how_close(one))
    if one.get("differs"):
        said.append(one["differs"])
    return "; ".join(text.rstrip(". ") for text in said if text)


def _how_close(one: dict[str, Any]) -> str:
    if "says" in one:
        return str(one["says"]) if one["state"] == "reproduced" else f"not so: {one['says']}"
    if "cells" not in one:
        return str(one["why"])
    said = f"{one['within']:,} of {one['cells']:,} cells within the limits"
    if one["tolerance"] != TOLERANCE:
        said += f" (of {100 * one['tolerance']:.0f} %)"
    if one.get("median_percent") is not None:
        said += f", {one['median_percent']:.1f} % off in the median"
    if one["order"] is not None:
        said += f"; order kept in {100 * one['order']:.0f} % of {one['pairs']:,} pairs"
    if one.get("absent"):
        said += f"; {one['absent']:,} more cells cannot be compared"
    return said


def _claims(content: dict[str, Any]) -> str:
    if not content["claims"]:
        return ""
    papers = list(PAPERS)
    # in the order of their study: some go on from the one before
    found = sorted(content["claims"], key=lambda one: papers.index(one["paper"]))
    counts = Counter((one["paper"], one["holds"]) for one in found)
    counted = [
        [SHORT[paper], *(counts[paper, holds] or "–" for holds in HOLDS)]
        for paper in papers
        if any(one["paper"] == paper for one in found)
    ]
    rows = [
        [
            SHORT[one["paper"]],
            one["says"].rstrip("."),
            _holds(one),
            one["found"],
            _link(one),
        ]
        for one in found
    ]
    return "\n\n".join(
        [
            "## What the papers say, and whether it holds",
            table(["statements of", *HOLDS.values()], counted, right=1),
            table(["paper", "statement", "here", "found", "page"], rows),
        ]
    )


def _ours(content: dict[str, Any]) -> str:
    if not content["ours"]:
        return ""
    rows = [
        [one["says"].rstrip("."), _holds(one), one["found"], _link(one)] for one in content["ours"]
    ]
    return "## What we say of our own\n\n" + table(["statement", "here", "found", "page"], rows)


def _of(number: str, items: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return [item for item in items if item["item"].startswith(f"{number} ")]


def _named(item: str) -> str:
    number, _, what = item.partition(" ")
    return f"{what} of {SHORT[number]}"


def _holds(one: dict[str, Any]) -> str:
    said = HOLDS[one["holds"]]
    return f"**{said}**" if one["holds"] is False else said


def _link(one: dict[str, Any]) -> str:
    return f"[{one['study']}]({one['study']}.md)"


def _anchor(number: str) -> str:
    return SHORT[number].lower().replace(" ", "-")
