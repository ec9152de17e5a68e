"""The page of every table and figure, from what `reproduction_index` has collected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from reproduction.index.verdict_page import tables
from reproduction.index.verdict_text import table
from reproduction.index.verdict_words import words
from reproduction.outcome import ALIKE, ENOUGH, HALF, STATES, TOLERANCE
from reproduction.runner import PAPERS

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
        _rules(),
        *(["## The verdict", *_verdict(content["verdict"])] if content["verdict"] else []),
        _claims(content),
        _ours(content),
        "## Table by table",
        *(_paper(number, content) for number in PAPERS),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _verdict(found: dict[str, Any]) -> list[str]:
    return [words(found), tables(found)]


def _head(content: dict[str, Any]) -> str:
    head = ["paper", "tables and figures", *STATES.values()]
    rows = []
    for number in PAPERS:
        mine = _of(number, content["items"])
        rows.append([f"[{SHORT[number]}](#{_anchor(number)})", len(mine), *_counted(mine)])
    everything = content["items"]
    rows.append(["all", len(everything), *_counted(everything)])
    return (
        "# Every table and figure\n\n"
        "*What the five papers print, whether it comes out here, and what all of it together says "
        "about estimators. No figure and no outcome on this page was typed: each study beside it "
        "gives its share.*"
        f"\n\n{table(head, rows, right=1)}"
    )


def _counted(items: list[dict[str, Any]]) -> list[str]:
    """How many are in each state, and of how many of them that is not all to be said."""
    found = Counter(item["state"] for item in items)
    part = Counter(item["state"] for item in items if item["in_part"] and item["state"] in GOOD)
    said = {state: f"{part[state]} in part" for state in GOOD if part[state]}
    if found["on other data"]:
        said["on other data"] = f"{sum(map(_holds_elsewhere, items))} hold"
    return [
        f"{found[state] or '–'}" + (f" ({said[state]})" if state in said else "")
        for state in STATES
    ]


def _holds_elsewhere(item: dict[str, Any]) -> bool:
    """Whether a statement that was tested on other data holds there, wherever it was."""
    mine = [one for one in item["outcomes"] if one["state"] == "on other data"]
    return item["state"] == "on other data" and all(one["holds"] is True for one in mine)


def _rules() -> str:
    enough, alike = f"{100 * ENOUGH:.0f} %", f"{100 * ALIKE:.0f} %"
    rules = {
        "reproduced": f"at least {enough} of a table's cells lie within the limits: "
        f"{100 * TOLERANCE:.0f} % of the published value, or two standard errors of the "
        "difference where those are wider. Both values are means over the repeats (a hundred as a "
        "rule), and the error is that of such means, not the spread of one repeat. A figure is "
        "reproduced if what it is there to show, written beside it, is so here",
        "in order": f"a table fails this but keeps the published order in {enough} of the pairs in "
        f"its rows that differ by more than {alike}",
        "not reproduced": "neither; for a figure, what it shows is not so here",
        "on other data": "its own data are not here; its statement was put to the test on the data "
        "that are named, and holds, holds in part or does not. No cell of it is counted",
        "not here": "nothing could be tested, for the reason given",
        "nothing to reproduce": "it holds no result: notation, sizes of data, a drawing",
    }
    claims = (
        f"*In part* means that some cells cannot be compared, for want of data or of a like model, "
        "and that the state is that of the others. Where two studies speak of one item, the weaker "
        "outcome counts.\n\n"
        f"A **statement** of a paper about so many cases *holds* if it is so in {enough} of them, "
        f"holds *in part* from {100 * HALF:.0f} %, and otherwise *does not hold*. One that names a "
        "limit is held to that limit. One that was tested in two ways, as with either kind of "
        "prior, is *in part* where the two do not agree. One that sets models side by side needs "
        "differences of more than two standard errors, over users or seeds; how it is judged where "
        "there are none is on its page. What was found stands beside each."
    )
    lines = [f"- **{STATES[state].capitalize()}**: {rules[state]}." for state in STATES]
    return "\n\n".join(["## How a state is given", "\n".join(lines), claims])


def _paper(number: str, content: dict[str, Any]) -> str:
    rows = []
    for item in _of(number, content["items"]):
        for at, one in enumerate(item["outcomes"]):
            name = item["item"].partition(" ")[2].replace(" ", "\u00a0") if at == 0 else ""
            where = f"[{one['study']}]({one['study']}.md)" if one["study"] else ""
            rows.append([name, item["shows"], _state(one), _detail(one), where])
    head = ["", "what it shows", "state", "how close, or why", "page"]
    title = SHORT[number][0].upper() + SHORT[number][1:]
    return f"### {title} {{#{_anchor(number)}}}\n\n{PAPERS[number]}.\n\n{table(head, rows)}"


def _state(one: dict[str, Any]) -> str:
    said = STATES[one["state"]]
    if one["state"] == "on other data":
        return f"{said}: {HOLDS[one['holds']]}"
    return f"{said}, in part" if one.get("absent") and one["state"] in GOOD else said


def _detail(one: dict[str, Any]) -> str:
    """One line: how close it is, and what differs."""
    said = [f"as {_named(one['repeats'])}"] if "repeats" in one else []
    said.append(_how_close(one))
    more = [str(one[key]) for key in ("exact", "note", "differs") if one.get(key)]
    said += [text for at, text in enumerate(more) if not any(text in x for x in more[at + 1 :])]
    return "; ".join(text.rstrip(". ") for text in said if text)


def _how_close(one: dict[str, Any]) -> str:
    if one["state"] == "on other data":
        return f"{one['says']}; tested on {one['data']}"
    if "says" in one:
        return (
            str(one["says"])
            if one["state"] == "reproduced"
            else f"not so, or not all of it: {one['says']}"
        )
    if "cells" not in one:
        return str(one["why"])
    said = f"{one['within']:,} of {one['cells']:,} cells within the limits"
    if one["tolerance"] != TOLERANCE:
        said += f" (of {100 * one['tolerance']:.0f} %)"
    if (one.get("two_sd") or 0) > one["within"]:  # a wider rule, which passes more
        said += f" ({one['two_sd']:,} within two published standard deviations of one repeat)"
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
