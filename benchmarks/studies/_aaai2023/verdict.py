"""Which estimator wins where and at which cost, what priors are worth, and what ours are."""

from __future__ import annotations

import statistics
from typing import Any

from _study import METRICS

from _aaai2023 import published as printed
from _aaai2023.claims import Share
from _aaai2023.tables import Content, Key, rows_of

ALIKE = 0.05  # by so much a mean over 100 samples is uncertain
LITTLE = 0.01  # an advantage below this is none


def ours(content: Content) -> list[dict[str, Any]]:
    """What our own estimators and designs are meant to do, tested in the same way."""
    rows = rows_of(content)
    return [
        _versus(rows, ("adaptive 25", "MLE"), ("adaptive 100", "MLE"), cheaper=True, alike=True),
        _versus(rows, ("adaptive 25", "smoothed"), ("adaptive 25", "MLE")),
        _versus(rows, ("adaptive 25", "smoothed"), ("adaptive 100", "MLE"), cheaper=True),
        _versus(rows, ("fixed 100 without", "MLE"), ("fixed 100", "MLE"), alike=True),
        _versus(rows, ("fixed 500", "smoothed"), ("fixed 500", "MLE")),
        _versus(rows, ("fixed 100", "smoothed"), ("fixed 100", "MLE")),
        _held(content),
    ]


def _versus(
    rows: dict[Key, dict[str, Any]],
    one: tuple[str, str],
    another: tuple[str, str],
    *,
    cheaper: bool = False,
    alike: bool = False,
) -> dict[str, Any]:
    """Whether one errs less than another (or no more), over data sets, models and metrics."""
    (design, name), (than, other) = one, another
    ratios, costs = [], []
    for (data, model, drawn), row in rows.items():
        if drawn == design:
            base = rows[data, model, than]
            costs.append(row["size"] / base["size"])
            pairs = zip(row["errors"][name], base["errors"][other], strict=True)
            ratios += [mine / theirs for mine, theirs in pairs]
    wins = Share([ratio < 1 for ratio in ratios])
    mean = statistics.geometric_mean(ratios)
    than_other = "no more than" if alike else "less than"
    says = f"{name} of {design} errs {than_other} {other} of {than}"
    found = f"in {wins} cells, {mean:.2f} times the error on average, {max(ratios):.2f} at worst"
    if cheaper:
        says += ", from fewer items"
        found += f"; {statistics.geometric_mean(costs):.2f} times the items"
    smaller = mean <= 1 + ALIKE if alike else wins.most and mean < 1
    holds = smaller and (not cheaper or max(costs) < 1)
    return {"says": says, "holds": holds, "found": found}


def _held(content: Content) -> dict[str, Any]:
    each = [one["held_percent"] for one in content["bounds"]]
    at_10 = [one["width_at_10"][0] for one in content["bounds"] if one["design"] == "fixed 100"]
    mean = statistics.fmean(each)
    return {
        "says": "bounds at 95 % hold all metrics and cut-offs at once, 95 times in 100",
        "holds": mean >= 95.0,
        "found": f"{mean:.1f} % of the samples, {min(each):.0f} % in the worst cell; from 100 "
        f"items they are {min(at_10):.1f} to {max(at_10):.1f} times as wide as Recall@10 itself",
    }


def advantage(content: Content) -> list[dict[str, Any]]:
    """What is left of the advantage of a prior when it comes from the single sample.

    The error of each estimator over that of the one its prior is from, a geometric mean over
    data sets, models and metrics.
    """
    found = []
    designs = [one for one in content["designs"] if one in ("fixed 100", "fixed 500", "fixed 1000")]
    for design in designs:
        for name in printed.FOUR:
            kinds: dict[str, list[float]] = {"averaged": [], "single": []}
            for row in content["verdict"]:
                if row["design"] != design:
                    continue
                base = row["errors"][name.split("_")[1]]
                for kind, label in (("averaged", f"{name}, averaged"), ("single", name)):
                    pairs = zip(row["errors"][label], base, strict=True)
                    kinds[kind] += [mine / theirs for mine, theirs in pairs]
            ratios = {kind: statistics.geometric_mean(each) for kind, each in kinds.items()}
            gained = 1 - ratios["averaged"]
            left = 100 * (1 - ratios["single"]) / gained if gained > LITTLE else None
            found.append(
                {
                    "design": design,
                    "estimator": name,
                    "averaged": round(ratios["averaged"], 4),
                    "single": round(ratios["single"], 4),
                    "left_percent": None if left is None else round(left, 1),
                }
            )
    return found


def wins(content: Content) -> list[dict[str, Any]]:
    """For each data set, design and metric the estimator of the least error, mean over models.

    Without priors averaged over repeats, which no user has, and without bounds, whose middle is
    measured at fewer cut-offs.
    """
    found = []
    for data in content["data"]:
        for design in content["designs"]:
            rows = [r for r in content["verdict"] if (r["data"], r["design"]) == (data, design)]
            names = [n for n in rows[0]["errors"] if "averaged" not in n and n != "bounds"]
            for at, metric in enumerate(METRICS):
                errors = {n: statistics.fmean(r["errors"][n][at] for r in rows) for n in names}
                first, second = sorted(errors, key=errors.__getitem__)[:2]
                found.append(
                    {
                        "data": data,
                        "design": design,
                        "metric": metric,
                        "size": round(statistics.fmean(r["size"] for r in rows), 2),
                        "first": first,
                        "error": round(errors[first], 3),
                        "second": second,
                        "second_error": round(errors[second], 3),
                        "MLE": round(errors["MLE"], 3),
                    }
                )
    return found
