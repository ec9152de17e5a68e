"""Tables 6 and 7 of Li (dissertation), compared with the measured errors."""

from __future__ import annotations

import math
from typing import Any

from reproduction.aaai2023 import published as printed
from reproduction.aaai2023.tables import Content, scale, standing
from reproduction.outcome import compare, missing

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
    """The factor by which a published error grows on a part with m of the M users.

    All users ranked among sampled items: √(M / m). For n users drawn without replacement the error
    has the factor √(1 - n/m) on the part and √(1 - n/M) on the whole.
    """
    data = standing({"data": content["sizes"]}, name)
    if data is None or data == name:
        return 1.0
    if "items" in label:
        return scale({"data": content["sizes"]}, name)
    drawn = int(label.split()[0].replace(",", ""))
    part, whole = content["sizes"][data]["n_users"], printed.USERS[name]
    return math.sqrt((1 - drawn / part) / (1 - drawn / whole))


def tables(content: Content) -> list[dict[str, Any]]:
    """The outcome of both tables."""
    rows = {(one["data"], one["model"], one["design"]): one for one in content["rows"]}
    found = []
    for item, metric in (("003 Table 6", "recall"), ("003 Table 7", "ndcg")):
        cells, absent = [], []
        for name, models in printed.USER_SAMPLING[metric].items():
            data = standing({"data": content["sizes"]}, name)
            if data is None:
                absent.append(name)
            for model, columns in models.items():
                for label, (mean, sd) in columns.items():
                    one = rows.get((data or "", model, label))
                    measured = one and one.get("averaged", one)[metric]
                    factor = expected(name, content, label)
                    cells.append(
                        {
                            "row": f"{name} {model}",
                            "column": label,
                            "published": factor * mean,
                            "published_sd": factor * sd,
                            "measured": measured and measured["mean"],
                            "measured_sd": measured and measured["sd"],
                        }
                    )
        if all(cell["measured"] is None for cell in cells):
            found.append(missing(item, f"{' and '.join(absent)} are not here"))
        else:
            differs = _differs(content, absent)
            found.append(compare(item, cells, differs=differs, repeats=content["repeats"]))
    return found


def _differs(content: Content, absent: list[str]) -> str:
    differences = []
    if standing({"data": content["sizes"]}, "pinterest-20") == "pinterest-20-part":
        users = content["sizes"]["pinterest-20-part"]["n_users"]
        grown = expected("pinterest-20", content, "100 items")
        differences.append(
            f"{users:,} of the {printed.USERS['pinterest-20']:,} users of pinterest-20: errors of "
            f"items held to the published times {grown:.2f}, of users to what a larger share errs"
        )
    differences.append("models trained here")
    differences.append("users drawn without replacement (003 does not say how)")
    if absent:
        differences.append(f"{' and '.join(absent)} not here")
    return "; ".join(differences)
