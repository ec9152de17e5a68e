"""Which estimator wins where and at which cost, what priors are worth, and what ours are."""

from __future__ import annotations

import statistics
from typing import Any

from reproduction.aaai2023 import published as printed
from reproduction.aaai2023.claims import Share
from reproduction.aaai2023.errors import DIGITS
from reproduction.aaai2023.tables import Content, Key, rows_of
from reproduction.common.exact import METRICS

ALIKE = 0.05  # by so much a mean over 100 samples is uncertain
LITTLE = 0.01  # an advantage below this is none


def ours(content: Content) -> list[dict[str, Any]]:
    """What our own estimators and designs are meant to do, tested in the same way."""
    rows, drawn = rows_of(content), content["designs"]
    return [
        *(
            _versus(rows, one, another, **how)
            for one, another, how in _COMPARED
            if {one[0], another[0]} <= set(drawn)
        ),
        _held(content),
    ]


_COMPARED: tuple[tuple[tuple[str, str], tuple[str, str], dict[str, bool]], ...] = (
    (("adaptive 25", "MLE"), ("adaptive 100", "MLE"), {"cheaper": True, "alike": True}),
    (("adaptive 25", "smoothed"), ("adaptive 25", "MLE"), {}),
    (("adaptive 25", "smoothed"), ("adaptive 100", "MLE"), {"cheaper": True}),
    (("adaptive 25", "smoothed"), ("fixed 500", "smoothed"), {}),
    (("fixed 100 without", "MLE"), ("fixed 100", "MLE"), {"alike": True}),
    (("fixed 500", "smoothed"), ("fixed 500", "MLE"), {}),
    (("fixed 100", "smoothed"), ("fixed 100", "MLE"), {}),
)


def _versus(
    rows: dict[Key, dict[str, Any]],
    one: tuple[str, str],
    another: tuple[str, str],
    *,
    cheaper: bool = False,
    alike: bool = False,
) -> dict[str, Any]:
    """Whether one errs less than another (or no more), over data sets, models and metrics.

    Means are shown both ways: the geometric mean of the ratios does not see how large an error is,
    and the ratio of the arithmetic means sees the large ones alone.
    """
    (design, name), (than, other) = one, another
    errors: list[tuple[float, float]] = []
    costs = []
    for (data, model, drawn), row in rows.items():
        if drawn == design:
            base = rows[data, model, than]
            costs.append(row["size"] / base["size"])
            errors += zip(row["errors"][name], base["errors"][other], strict=True)
    ratios = [mine / theirs for mine, theirs in errors]
    wins, level = Share(r < 1 for r in ratios), Share(r <= 1 + ALIKE for r in ratios)
    total = sum(mine for mine, _ in errors) / sum(theirs for _, theirs in errors)
    than_other = f"no more than (within {100 * ALIKE:.0f} %)" if alike else "less than"
    says = f"{name} of {design} errs {than_other} {other} of {than}"
    found = f"less in {wins} cells"
    if alike:
        found += f", less or at most {100 * ALIKE:.0f} % more in {level}"
    found += (
        f"; ratios {statistics.geometric_mean(ratios):.2f} in the geometric mean, {total:.2f} of "
        f"the mean errors, {max(ratios):.2f} at worst; {_times(costs)} the items"
    )
    holds = (level if alike else wins).holds
    if cheaper:
        says += ", from fewer items"
        holds = _and(holds, Share(cost < 1 for cost in costs).holds)
    return {"says": says, "holds": holds, "found": found}


def _and(one: bool | None, other: bool | None) -> bool | None:
    """The weaker of the two, None being in part."""
    if False in (one, other):
        return False
    return None if None in (one, other) else True


def _times(costs: list[float]) -> str:
    low, high = f"{min(costs):.2f}", f"{max(costs):.2f}"
    return f"{low} times" if low == high else f"{low} to {high} times"


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
                    "averaged": round(ratios["averaged"], DIGITS),
                    "single": round(ratios["single"], DIGITS),
                    "left_percent": None if left is None else round(left, DIGITS),
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
                        "size": round(statistics.fmean(r["size"] for r in rows), DIGITS),
                        "first": first,
                        "error": round(errors[first], DIGITS),
                        "second": second,
                        "second_error": round(errors[second], DIGITS),
                        "MLE": round(errors["MLE"], DIGITS),
                    }
                )
    return found
