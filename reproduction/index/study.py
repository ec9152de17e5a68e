"""Every table and figure of the five papers with its outcome, and the estimators compared.

Reads the stored results of the other studies. Run it after them.
"""

from __future__ import annotations

import argparse
import json
from functools import cache
from pathlib import Path
from typing import Any

from fullrank import estimate
from fullrank.samples import simulate
from reproduction.common.bank import bank
from reproduction.common.kept import RESULTS
from reproduction.common.repeats import design_of
from reproduction.index.figures import draw
from reproduction.index.verdict import verdict
from reproduction.papers import ITEMS

REPEATS = 1

NAME = "reproduction_index"
NOT_RUN = "its study has not been run"
# if two studies have an outcome for an item, the last of these counts
WEAKER = (
    "nothing to reproduce",
    "reproduced",
    "in order",
    "on other data",
    "not here",
    "not reproduced",
)


def study(asked: argparse.Namespace) -> dict[str, Any]:
    folder = RESULTS / "papers"
    content = collected(read(folder))
    lacking = [
        item["item"] for item in content["items"] if item["outcomes"][0].get("why") == NOT_RUN
    ]
    if lacking and not asked.quick:
        raise SystemExit(f"no study in {folder} speaks of {', '.join(lacking)}")
    return content


def read(folder: Path) -> list[dict[str, Any]]:
    """The results of the other studies that repeat a table or figure."""
    found = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]
    return [one for one in found if one["study"] != NAME and "tables" in one]


def collected(studies: list[dict[str, Any]]) -> dict[str, Any]:
    """What the page needs, from the results of the studies."""
    outcomes: dict[str, list[dict[str, Any]]] = {}
    for one in studies:
        for table in one.get("tables", []):
            if table["item"] not in ITEMS:
                raise ValueError(f"{one['study']} speaks of {table['item']}, which no paper has")
            found = {key: value for key, value in table.items() if key != "item"}
            outcomes.setdefault(table["item"], []).append({"study": one["study"]} | found)
    rows = [row for one in studies for row in one.get("verdict", [])]
    return {
        "seeds": "are not needed: nothing is drawn",
        "studies": [_about(one) for one in studies],
        "items": [_item(item, outcomes) for item in ITEMS],
        "verdict": _verdict(studies, rows) if rows else None,
    }


def _verdict(studies: list[dict[str, Any]], rows: list[dict[str, Any]]) -> dict[str, Any]:
    repeats = max(one["repeats"] for one in studies if one.get("verdict"))
    return {"repeats": repeats} | verdict(rows, _winners(studies), chosen)


@cache
def chosen(data: str, design: str) -> str:
    """The estimator that the library takes by itself for a sample of this design."""
    known = next(iter(bank(data).values()))
    few = known.ranks[:200]
    sample = simulate(few, n_items=known.n_items, design=design_of(design, known), rng=0)
    return str(estimate(sample, metrics="recall@10").method.split(",")[0])


def _winners(studies: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One row for each data set and design, where two have one from the study of the errors."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for one in sorted(studies, key=lambda one: "verdict" not in one):
        for row in one.get("winners", []):
            if "right" in row:
                found.setdefault((row["data"], row["design"]), row)
    return list(found.values())


def _about(study: dict[str, Any]) -> dict[str, Any]:
    return {key: study[key] for key in ("study", "quick", "repeats", "seconds")}


def _item(item: str, outcomes: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """An item with its outcome: from the studies, from the item it repeats, or from the list."""
    known = ITEMS[item]
    found = outcomes.get(item, [])
    if not found and known.repeats:
        found = [{"repeats": known.repeats} | one for one in outcomes.get(known.repeats, [])]
    if not found and known.nothing:
        found = [{"study": None, "state": "nothing to reproduce", "why": known.nothing}]
    if not found:
        found = [{"study": None, "state": "not here", "why": NOT_RUN}]
    state = max((one["state"] for one in found), key=WEAKER.index)
    return {
        "item": item,
        "shows": known.shows,
        "state": state,
        "in_part": any(one.get("absent") for one in found),  # some of its cells are not available
        "outcomes": found,
    }


def figures(content: dict[str, Any], folder: Path) -> None:
    if content["verdict"]:
        draw(content["verdict"], folder)
