"""The page of user_sampling, from its JSON, and what it is held to."""

from __future__ import annotations

import math
from typing import Any

from reproduction.aaai2023 import published as printed
from reproduction.aaai2023.tables import BESIDE, Content, scale, standing
from reproduction.study import table

METRICS = ("recall", "ndcg")


def published(data: str, model: str, label: str) -> dict[str, dict[str, float]] | None:
    """The two published errors; those of the whole data set for a part of it."""
    name = {"pinterest-20-part": "pinterest-20"}.get(data, data)
    found = {}
    for metric in METRICS:
        pair = printed.USER_SAMPLING[metric].get(name, {}).get(model, {}).get(label)
        if pair is None:
            return None
        found[metric] = {"mean": pair[0], "sd": pair[1]}
    return found


def expected(name: str, content: Content, label: str) -> float:
    """What a published error is multiplied by where the data set here has fewer users.

    All users ranked among sampled items: √(M / m). Of m users n are drawn without replacement, so
    that the error has the factor √(1 - n/m) here and √(1 - n/M) there.
    """
    data = standing({"data": content["sizes"]}, name)
    if data is None or data == name:
        return 1.0
    if "items" in label:
        return scale({"data": content["sizes"]}, name)
    drawn = int(label.split()[0].replace(",", ""))
    part, whole = content["sizes"][data]["n_users"], printed.USERS[name]
    return math.sqrt((1 - drawn / part) / (1 - drawn / whole))


def page(content: dict[str, Any]) -> str:
    parts = [_HEAD.format(repeats=content["repeats"])]
    head = ["model", "design", "scores, millions", "Recall %", "published", "NDCG %", "published"]
    for data, size in content["sizes"].items():
        rows = []
        for row in (one for one in content["rows"] if one["data"] == data):
            name = _shown_beside(data)
            beside = (
                row["published"] or (name and published(name, row["model"], row["design"])) or {}
            )
            cells = []
            for metric in METRICS:
                cells += [_pair(row[metric]), _pair(beside.get(metric))]
            scored = f"{row['scored_millions']:.1f}"
            rows.append((row["model"], row["design"], scored, *cells))
            if "averaged" in row:
                cells = [
                    c for m in METRICS for c in (_pair(row["averaged"][m]), _pair(beside.get(m)))
                ]
                rows.append((row["model"], f"{row['design']}, averaged prior", scored, *cells))
        note = _note(content, data)
        parts.append(f"## {data}\n\n{size['n_users']:,} users, {size['n_items']:,} items. {note}\n")
        parts.append(table(head, rows) + "\n")
    parts += [_outcomes(content), _cost(content)]
    return "\n".join(parts)


_HEAD = """# Sampling users, sampling items

After Tables 6 and 7 of the dissertation, training items kept, {repeats} repeats: the average over
K = 1..50 of |estimate - exact| / exact in percent, mean ± standard deviation over the repeats.
Sampled users are ranked among all items, and the mean over them is the estimate; the error is that
against all users of the file. "scores" is what a design costs: users times candidates. The
published MN_MES takes its prior from the mean over all repeats; the line without "averaged prior"
takes it from the one sample, as a user has it. "adaptive 25 to 3200, smoothed" is ours.
"""


def _shown_beside(data: str) -> str | None:
    return next((name for name, other in BESIDE.items() if other == data), None)


def _note(content: dict[str, Any], data: str) -> str:
    name = _shown_beside(data)
    if name is not None:
        return f"Published is what stands for {name}, which is other data."
    if data == "pinterest-20-part":
        grown = expected("pinterest-20", content, "100 items")
        return (
            f"The part holds {content['sizes'][data]['n_users']:,} of the "
            f"{printed.USERS['pinterest-20']:,} users, so that item sampling errs about "
            f"{grown:.2f} times as much as published, and 10,000 users are a larger share."
        )
    return "" if data in printed.DATA else "Not in the paper."


def _outcomes(content: dict[str, Any]) -> str:
    rows = []
    for one in content["tables"]:
        counts = ("", "", "")
        if "cells" in one:
            order = f"{100 * one['order']:.0f} %"
            counts = (f"{one['within']} of {one['cells']}", f"{one['two_sd']}", order)
        rows.append((one["item"], one["state"], *counts, one.get("differs") or one["why"]))
    holds = {True: "yes", False: "no", None: "in part"}
    claims = [(one["says"], holds[one["holds"]], one["found"]) for one in content["claims"]]
    head = ["item", "state", "cells within", "within two sd", "pairs in order", "what differs"]
    return f"""## What came out

A cell is within where it lies no further from the published one than 15 % or two standard errors of
the two means, where those are wider; "within two sd" counts those within two published standard
deviations, which are the spread of single repeats and wide. A statement about cases holds where
nine in ten are so, and in part from a half.

{table(head, rows)}

{table(["statement of the paper", "holds", "found"], claims)}
"""


def _cost(content: dict[str, Any]) -> str:
    rows = [
        (
            one["data"],
            one["model"],
            *(f"{one[kind][key]:.1f}" for kind in ("users", "items") for key in one[kind]),
        )
        for one in content["matched"]
    ]
    better = sum(one["items"]["recall"] < one["users"]["recall"] for one in content["matched"])
    ratios = [one["items"]["millions"] / one["users"]["millions"] for one in content["matched"]]
    head = ["data", "model", "users, millions", "Recall %", "adaptive, millions", "Recall %"]
    return f"""## At which cost

The smallest draw of users beside the adaptive sample of items for all users: items err less in
{better} of {len(rows)} cases, at {min(ratios):.2f} to {max(ratios):.2f} times the scores.

{table(head, rows)}
"""


def _pair(cell: dict[str, float] | None) -> str:
    return "" if cell is None else f"{cell['mean']:.2f} ± {cell['sd']:.2f}"
