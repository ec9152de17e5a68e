"""What Jin et al. (AAAI 2021) say about their estimators, held against what was measured.

Each statement is a question to the content of the study, answered in numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from _outcome import claim

Content = dict[str, Any]

NEW = ("MLE", "WMLE", "MES")
BV = ("BV 0.1", "BV 0.01")
COMPARABLE = 10.0  # percent points between numbers of winners


def claims(content: Content) -> list[dict[str, Any]]:
    """The paper's statements; those about a data set that was not taken along are left out."""
    tables = {one["table"]: one for one in content["estimates"]}
    winners = {one["table"]: one for one in content["winner_tables"]}
    found = [_close(tables["2"], ("MLE", "MES"))]
    if "3" in tables:
        found.append(_most_often_close(tables["3"]))
    found += [_spread(content), _winners(winners["4"])]
    found += [_less_bias(tables[number]) for number in ("6",) if number in tables]
    return [*found, _curve(content), _sums(content), _larger(content)]


def _biases(table: Content) -> tuple[list[str], np.ndarray]:
    """|mean - exact| / exact: rows of models and metrics, columns of estimators."""
    names = list(dict.fromkeys(cell["estimator"] for cell in table["cells"]))
    rows: dict[tuple[str, str], dict[str, float]] = {}
    for cell in table["cells"]:
        bias = abs(cell["measured"]["mean"] / cell["exact"] - 1)
        rows.setdefault((cell["model"], cell["metric"]), {})[cell["estimator"]] = bias
    return names, np.array([[row[name] for name in names] for row in rows.values()])


def _among_two(table: Content) -> dict[str, int]:
    """In how many rows an estimator is the closest or the second closest."""
    names, biases = _biases(table)
    best = np.argsort(biases, axis=1)[:, :2]
    return {name: int((best == at).sum()) for at, name in enumerate(names)}


def _close(table: Content, names: tuple[str, ...]) -> dict[str, Any]:
    counts = _among_two(table)
    others = max(count for name, count in counts.items() if name not in names)
    holds = min(counts[name] for name in names) >= others
    return claim(
        "004",
        f"On {table['data']} MLE and MES are most often the closest or second closest in the mean.",
        holds,
        f"of {len(table['cells']) // len(counts)} rows: {_listed(counts)}",
    )


def _most_often_close(table: Content) -> dict[str, Any]:
    counts = _among_two(table)
    return claim(
        "004",
        f"On {table['data']} WMLE is most often the closest or second closest in the mean.",
        counts["WMLE"] == max(counts.values()),
        f"of {len(table['cells']) // len(counts)} rows: {_listed(counts)}",
    )


def _spread(content: Content) -> dict[str, Any]:
    """Whether the new estimators spread more than either BV, row by row."""
    rows: dict[tuple[str, str, str], dict[str, float]] = {}
    for table in content["estimates"]:
        for cell in table["cells"]:
            key = (table["data"], cell["model"], cell["metric"])
            rows.setdefault(key, {})[cell["estimator"]] = cell["measured"]["sd"]
    wider = {
        name: sum(row[name] > max(row[b] for b in BV) for row in rows.values()) for name in NEW
    }
    return claim(
        "004",
        "MLE, WMLE and MES spread more than BV.",
        _whole([count == len(rows) for count in wider.values()]),
        f"more than both BV, of {len(rows)} rows: {_listed(wider)}",
    )


def _curve(content: Content) -> dict[str, Any]:
    """What is said of single estimators in Figure 2, model by model."""
    further, above = [], []
    for one in content["curves"]["2"]:
        errors = one["errors"]
        pair = [errors["MLE"], errors["MES"]]
        further.append(errors["BV 0.1"]["cdf"] > max(error["cdf"] for error in pair))
        above.append(errors["WMLE"]["cdf_signed"] > max(error["cdf_signed"] for error in pair))
    models = len(further)
    return claim(
        "004",
        "BV 0.1 misses the recall curve by more than MLE and MES do, and WMLE lies above both.",
        _whole([*further, *above]),
        f"BV 0.1 further off for {sum(further)} of {models} models, WMLE above for {sum(above)}",
    )


def _whole(parts: list[bool]) -> bool | None:
    """True if all hold, False if none does, else None: in part."""
    return True if all(parts) else None if any(parts) else False


def _winners(table: Content) -> dict[str, Any]:
    means = {
        name: float(np.mean(list(table["right"][name].values()))) for name in ("CLS", *BV, *NEW)
    }
    best = max(means, key=lambda name: means[name])
    return claim(
        "004",
        f"On {table['data']} WMLE names the best model most often; MLE and MES are about as good, "
        "and better than BV 0.01.",
        _whole(
            [
                best == "WMLE",
                min(means["MLE"], means["MES"]) > means["BV 0.01"],
                abs(means["MLE"] - means["MES"]) <= COMPARABLE,
            ]
        ),
        f"mean percent right: {_listed(means, '.0f')}",
    )


def _less_bias(table: Content) -> dict[str, Any]:
    names, biases = _biases(table)
    mean = dict(zip(names, (100 * biases.mean(axis=0)).tolist(), strict=True))
    return claim(
        "004",
        f"On {table['data']} MLE and MES are more accurate in the mean than BV.",
        max(mean["MLE"], mean["MES"]) < min(mean[name] for name in BV),
        f"mean absolute bias in percent: {_listed(mean, '.1f')}",
    )


def _sums(content: Content) -> dict[str, Any]:
    panels = content["curves"]["2"]
    pairs = [one["errors"][name] for one in panels for name in NEW]
    pmf, cdf = (float(np.mean([pair[kind] for pair in pairs])) for kind in ("pmf", "cdf"))
    return claim(
        "004",
        "The learned probabilities of single ranks are poor and their sums good.",
        all(pair["cdf"] < pair["pmf"] for pair in pairs),
        f"mean errors up to rank 50: {pmf:.0f} % of single ranks, {cdf:.0f} % of their sums",
    )


def _larger(content: Content) -> dict[str, Any]:
    small, large = content["curves"]["3"]
    pairs = {
        name: (small["errors"][name]["cdf"], large["errors"][name]["cdf"]) for name in (BV[0], *NEW)
    }
    return claim(
        "004",
        "A larger sample brings the learned distribution closer to the exact one.",
        _whole([after < before for before, after in pairs.values()]),
        "error of the mean recall curve, 100 → 500 items: "
        + ", ".join(f"{name} {a:.1f} → {b:.1f} %" for name, (a, b) in pairs.items()),
    )


def ours(content: Content) -> list[dict[str, Any]]:
    """Statements about our own columns, in the same form."""
    return [*_own_errors(content), _own_winners(content), _own_bounds(content)]


def _own_errors(content: Content) -> list[dict[str, Any]]:
    """Root mean square errors relative to the exact value, over all rows."""
    errors: dict[str, list[float]] = {}
    for table in content["estimates"]:
        for cell in table["cells"]:
            errors.setdefault(cell["estimator"], []).append(_rmse(cell["measured"], cell["exact"]))
    for table in content["ours_beside"]:
        for row in table["rows"]:
            for name, measured in row["estimates"].items():
                errors.setdefault(name, []).append(_rmse(measured, row["exact"]))
    means = {name: float(np.median(values)) for name, values in errors.items()}
    found = f"median root mean square error at 10 in percent: {_listed(means, '.0f')}"
    others = [means[name] for name in ("CLS", *BV, *NEW)]
    adaptive = [value for name, value in means.items() if "adaptive" in name]
    return [
        {
            "says": "From the same 100 items the smoothed likelihood errs less than MLE and MES.",
            "holds": means["smoothed"] < min(means["MLE"], means["MES"]),
            "found": found,
        },
        {
            "says": "Adaptive samples err less than every estimator does from 100 items.",
            "holds": max(adaptive) < min(*others, means["smoothed"]),
            "found": "the same figures",
        },
    ]


def _rmse(measured: dict[str, float], exact: float) -> float:
    return 100 * float(np.hypot(measured["mean"] - exact, measured["sd"])) / exact


def _own_winners(content: Content) -> dict[str, Any]:
    right: dict[str, list[float]] = {}
    for table in content["winner_tables"]:
        for name, counts in table["right"].items():
            right.setdefault(name, []).extend(counts.values())
    means = {name: float(np.mean(values)) for name, values in right.items()}
    best = max(means, key=lambda name: means[name])
    return {
        "says": "Adaptive samples name the best model more often than any estimator does from 100.",
        "holds": "adaptive" in best,
        "found": f"mean percent right over all tables: {_listed(means, '.0f')}",
    }


def _own_bounds(content: Content) -> dict[str, Any]:
    cells = [
        one
        for table in content["ours_beside"]
        for row in table["rows"]
        for one in row["bounds"].values()
    ]
    held, runs = sum(one["held"] for one in cells), sum(one["of"] for one in cells)
    return {
        "says": "The bounds hold the exact value at least as often as they promise (95 %).",
        "holds": held >= 0.95 * runs,
        "found": f"{held:,} of {runs:,} intervals did",
    }


def _listed(values: dict[str, Any], form: str = "d") -> str:
    return ", ".join(f"{name} {value:{form}}" for name, value in values.items())
