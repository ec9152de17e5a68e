"""The gain from a prior, and the estimators with the smallest errors."""

from __future__ import annotations

import statistics
from typing import Any

from reproduction.aaai2023 import published as printed
from reproduction.aaai2023.errors import DIGITS
from reproduction.aaai2023.tables import Content
from reproduction.common.exact import METRICS

LITTLE = 0.01  # an advantage below this is none


def advantage(content: Content) -> list[dict[str, Any]]:
    """The share of a prior's advantage that remains when it comes from the single sample.

    The error of each estimator relative to that of MES or MLE without a prior, as a geometric mean
    over data sets, models and metrics.
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
    """For each data set, design and metric the two smallest errors, mean over models.

    Excludes priors averaged over repeats, which are not available in practice, and bounds, whose
    middle is computed at fewer cut-offs.
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
