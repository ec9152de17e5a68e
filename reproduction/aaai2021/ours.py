"""What our own columns beside the tables of Jin et al. (AAAI 2021) do, and at which cost."""

from __future__ import annotations

from typing import Any

import numpy as np

from reproduction.aaai2021.claims import BV, NEW, Content, listed


def ours(content: Content) -> list[dict[str, Any]]:
    """Statements about our own columns, in the same form; adaptive samples cost more than 100."""
    return [*_own_errors(content), _at_equal_cost(content), _own_winners(content),
            _own_bounds(content)]  # fmt: skip


def _all_errors(content: Content, data: str | None = None) -> dict[str, float]:
    """The median over the rows of the root mean square error relative to the exact value."""
    errors: dict[str, list[float]] = {}
    for table in content["estimates"]:
        for cell in table["cells"] if data in (None, table["data"]) else []:
            errors.setdefault(cell["estimator"], []).append(_rmse(cell["measured"], cell["exact"]))
    for table in content["ours_beside"]:
        for row in table["rows"] if data in (None, table["data"]) else []:
            for name, measured in row["estimates"].items():
                errors.setdefault(name, []).append(_rmse(measured, row["exact"]))
    return {name: float(np.median(values)) for name, values in errors.items()}


def _items(content: Content, data: str | None = None) -> str:
    """What the adaptive samples cost, in items a user."""
    sizes: dict[str, list[float]] = {}
    for one in content["sizes"]:
        if one["design"].startswith("adaptive") and data in (None, one["data"]):
            sizes.setdefault(one["design"], []).append(one["size"])
    each = [
        f"{design}: {' to '.join(dict.fromkeys(f'{x:.0f}' for x in (min(s), max(s))))}"
        for design, s in sizes.items()
    ]
    return "items a user: " + ", ".join(each)


def _own_errors(content: Content) -> list[dict[str, Any]]:
    means = _all_errors(content)
    others = [means[name] for name in ("CLS", *BV, *NEW) if name in means]
    adaptive = [value for name, value in means.items() if "adaptive" in name]
    return [
        {
            "says": "From the same 100 items the smoothed likelihood errs less than MLE and MES.",
            "holds": means["smoothed"] < min(means["MLE"], means["MES"]),
            "found": f"median root mean square error at 10 in percent: {listed(means, '.0f')}",
        },
        {
            "says": "Adaptive samples err less than every estimator does from 100 items, at a "
            "higher cost.",
            "holds": max(adaptive) < min(*others, means["smoothed"]),
            "found": f"the same figures; {_items(content)}",
        },
    ]


def _at_equal_cost(content: Content) -> dict[str, Any]:
    """On the data set where the cheapest adaptive sample is nearest to 100 items."""
    cheap = [one for one in content["sizes"] if one["design"] == "adaptive 25"]
    data = min(cheap, key=lambda one: abs(one["size"] - 100))["data"]
    means = _all_errors(content, data)
    own = {name: value for name, value in means.items() if "from 25" in name}
    others = {
        name: value
        for name, value in means.items()
        if "adaptive" not in name and "without" not in name and name != "naive"
    }
    return {
        "says": f"At about the same cost ({data}) adaptive samples from 25 err less than every "
        "estimator does from 100 items.",
        "holds": max(own.values()) < min(others.values()),
        "found": f"on {data}: {listed(own | others, '.0f')}; {_items(content, data)}",
    }


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
        "says": "Adaptive samples name the best model more often than any estimator does from 100 "
        "items, at a higher cost.",
        "holds": "adaptive" in best,
        "found": f"mean percent right over all tables: {listed(means, '.0f')}; {_items(content)}",
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
