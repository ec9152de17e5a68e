"""What Jin et al. (AAAI 2021) say about their estimators, held against what was measured.

Each statement is a question to the content of the study, answered in numbers. What is said of WMLE
is tested with our form of it (`published.LABELS`), and says so.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reproduction.aaai2021.curves import above, further
from reproduction.aaai2021.published import label
from reproduction.outcome import claim, holds_for

Content = dict[str, Any]

NEW = ("MLE", "WMLE", "MES")
BV = ("BV 0.1", "BV 0.01")
COMPARABLE = 10.0  # percent points between numbers of winners
OUR_FORM = "(our form of it)"


def claims(content: Content) -> list[dict[str, Any]]:
    """The paper's statements; those about a data set that was not taken along are left out."""
    tables = {one["table"]: one for one in content["estimates"]}
    winners = {one["table"]: one for one in content["winner_tables"]}
    found = [_close(tables["2"], ("MLE", "MES"))]
    if "3" in tables:
        found.append(_most_often_close(tables["3"]))
    found += [_spread(content), _winners(winners["4"], content["repeats"])]
    found += [_less_bias(tables[number]) for number in ("6",) if number in tables]
    return [*found, _curve(content), _sums(content), _larger(content)]


def mean_biases(table: Content) -> tuple[list[str], np.ndarray]:
    """|mean - exact| / exact: rows of models and metrics, columns of estimators."""
    names = list(dict.fromkeys(cell["estimator"] for cell in table["cells"]))
    rows: dict[tuple[str, str], dict[str, float]] = {}
    for cell in table["cells"]:
        bias = abs(cell["measured"]["mean"] / cell["exact"] - 1)
        rows.setdefault((cell["model"], cell["metric"]), {})[cell["estimator"]] = bias
    return names, np.array([[row[name] for name in names] for row in rows.values()])


def _among_two(table: Content) -> dict[str, int]:
    """In how many rows an estimator is the closest or the second closest."""
    names, biases = mean_biases(table)
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
        f"of {len(table['cells']) // len(counts)} rows: {listed(counts)}",
    )


def _most_often_close(table: Content) -> dict[str, Any]:
    counts = _among_two(table)
    return claim(
        "004",
        f"On {table['data']} WMLE {OUR_FORM} is most often the closest or second closest in the "
        "mean.",
        counts["WMLE"] == max(counts.values()),
        f"of {len(table['cells']) // len(counts)} rows: {listed(counts)}",
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
        f"MLE, WMLE {OUR_FORM} and MES spread more than BV.",
        holds_for(min(wider.values()), len(rows)),
        f"more than both BV, of {len(rows)} rows: {listed(wider)}",
    )


def _curve(content: Content) -> dict[str, Any]:
    """What is said of single estimators in Figure 2, model by model."""
    off, over = further(content["curves"]["2"]), above(content["curves"]["2"])
    return claim(
        "004",
        "BV 0.1 misses the recall curve by more than MLE and MES do, and WMLE "
        f"{OUR_FORM} lies above both.",
        holds_for(min(sum(off), sum(over)), len(off)),
        f"BV 0.1 further off for {sum(off)} of {len(off)} models, {label('WMLE')} above for "
        f"{sum(over)}",
    )


def _winners(table: Content, repeats: int) -> dict[str, Any]:
    means = {
        name: float(np.mean(list(table["right"][name].values()))) for name in ("CLS", *BV, *NEW)
    }
    parts = [
        max(means, key=lambda name: means[name]) == "WMLE",
        min(means["MLE"], means["MES"]) > means["BV 0.01"],
        abs(means["MLE"] - means["MES"]) <= COMPARABLE,
    ]
    return claim(
        "004",
        f"On {table['data']} WMLE {OUR_FORM} names the best model most often; MLE and MES are "
        "about as good, and better than BV 0.01.",
        holds_for(sum(parts), len(parts)),
        f"mean percent right: {listed(means, '.0f')}; shares of {repeats} repeats, each uncertain "
        f"by up to {50 / repeats**0.5:.0f}",
    )


def _less_bias(table: Content) -> dict[str, Any]:
    names, biases = mean_biases(table)
    mean = dict(zip(names, (100 * biases.mean(axis=0)).tolist(), strict=True))
    return claim(
        "004",
        f"On {table['data']} MLE and MES are more accurate in the mean than BV.",
        max(mean["MLE"], mean["MES"]) < min(mean[name] for name in BV),
        f"mean absolute bias in percent: {listed(mean, '.1f')}",
    )


def _sums(content: Content) -> dict[str, Any]:
    panels = content["curves"]["2"]
    pairs = [one["errors"][name] for one in panels for name in NEW]
    pmf, cdf = (float(np.mean([pair[kind] for pair in pairs])) for kind in ("pmf", "cdf"))
    return claim(
        "004",
        "The learned probabilities of single ranks are poor and their sums good.",
        holds_for(sum(pair["cdf"] < pair["pmf"] for pair in pairs), len(pairs)),
        f"mean errors up to rank 50: {pmf:.0f} % of single ranks, {cdf:.0f} % of their sums",
    )


def _larger(content: Content) -> dict[str, Any]:
    small, large = content["curves"]["3"]
    pairs = {
        name: (small["errors"][name]["cdf"], large["errors"][name]["cdf"]) for name in (BV[0], *NEW)
    }
    closer = sum(after < before for before, after in pairs.values())
    return claim(
        "004",
        "A larger sample brings the learned distribution closer to the exact one.",
        holds_for(closer, len(pairs)),
        "error of the mean recall curve, 100 → 500 items: "
        + ", ".join(f"{label(name)} {a:.1f} → {b:.1f} %" for name, (a, b) in pairs.items()),
    )


def listed(values: dict[str, Any], form: str = "d") -> str:
    return ", ".join(f"{label(name)} {value:{form}}" for name, value in values.items())
