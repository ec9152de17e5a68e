"""The tables on the page of the study kdd2020."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from typing import Any

from reproduction.kdd2020.published import ERRORS, MAPPED, MAPPINGS
from reproduction.kdd2020.repeats import FUNCTIONS
from reproduction.kdd2020.tables import printed_as
from reproduction.study import table

_BRIEF = ("abs", "abs@1", "abs@2-10")


def data_table(content: dict[str, Any]) -> str:
    """The data sets."""
    rows = [
        (one["data"], f"{one['n_users']:,}", f"{one['n_items']:,}", ", ".join(one["models"]))
        for one in content["data"]
    ]
    absent = content["absent"]
    note = f"\n\nRanks of {', '.join(absent)} are not here." if absent else ""
    return table(["data", "users", "items", "models"], rows) + note


def beta_table(content: dict[str, Any]) -> str:
    """Table 2."""
    names = list(dict.fromkeys(cell["row"] for cell in content["beta"]))
    by = {(cell["row"], cell["column"]): cell for cell in content["beta"]}
    models = list(dict.fromkeys(cell["column"] for cell in content["beta"]))
    head = ["model", *(part for name in names for part in (name, "from ranks"))]
    return table(head, [(model, *_beta_row(by, names, model)) for model in models])


def _beta_row(by: dict[Any, Any], names: list[str], model: str) -> Iterable[str]:
    for name in names:
        cell = by.get((name, model))
        if cell is None:
            yield from ("–", "–")
            continue
        printed = "" if cell["published"] is None else f" ({cell['published']:.4f})"
        yield f"{cell['measured']:.4f} ± {cell['measured_sd']:.4f}{printed}"
        yield f"{cell['from_exact_ranks']:.4f}"


def smaller(content: dict[str, Any]) -> str:
    """What the fit to exact ranks shows."""
    smaller = sum(cell["from_exact_ranks"] < cell["measured"] for cell in content["beta"])
    return (
        f"for {smaller} of {len(content['beta'])} it is smaller, so that more targets stand at the "
        f"very top than a sample of 100 shows"
    )


def scheme_table(content: dict[str, Any], size: int) -> str:
    """Table 5 or 6."""
    rows: dict[Any, list[str]] = {}
    for cell in content["schemes"]:
        if cell["size"] == size:
            spread = f" ± {cell['measured_sd']:.4f}" if "measured_sd" in cell else ""
            printed = "" if cell["published"] is None else f" ({cell['published']:.4f})"
            text = f"{cell['measured']:.4f}{spread}{printed}"
            rows.setdefault((cell["scheme"], cell["k"]), []).append(text)
    head = [f"n = {size:,}", "k", "SHR@k", *(f"HR@f(k), {name}" for name in MAPPED), "smoothed"]
    return table(head, [(*key, *cells) for key, cells in rows.items()])


def scheme_errors(content: dict[str, Any]) -> str:
    """How far SHR@k and our estimate are from HR at the place of beta@0.5."""
    by = {(c["size"], c["scheme"], c["k"], c["column"]): c for c in content["schemes"]}
    found: dict[Any, dict[str, list[float]]] = {}
    for (size, scheme, k, column), cell in by.items():
        if column in ("SHR", "smoothed"):
            exact = by[size, scheme, k, "beta@0.5"]["measured"]
            row = found.setdefault((size, scheme), {})
            row.setdefault(column, []).append(abs(cell["measured"] - exact))
    rows = [
        (f"{size:,}", scheme, *(f"{statistics.fmean(row[c]):.4f}" for c in ("SHR", "smoothed")))
        for (size, scheme), row in found.items()
    ]
    return table(["n", "draw", "SHR@k", "smoothed"], rows)


def error_table(content: dict[str, Any], data: str, model: str) -> str:
    """Table 7 of one model."""
    row = next(r for r in content["mappings"] if (r["data"], r["model"]) == (data, model))
    published = MAPPINGS.get((printed_as(data), model), {})
    rows = []
    for name, errors in row["mean"].items():
        printed = published.get(name)
        cells = [
            f"{value:.4f}" + (f" ({printed[e]:.4f})" if printed else "")
            for e, value in enumerate(errors.values())
        ]
        rows.append((name, *cells))
    return table(["function", *ERRORS], rows)


def all_errors(content: dict[str, Any]) -> str:
    """All k, the first, and the next nine."""
    found: dict[str, dict[str, list[dict[str, float]]]] = {}
    for row in content["mappings"]:
        for name, errors in row["mean"].items():
            found.setdefault(name, {}).setdefault(row["data"], []).append(errors)
    names = [one["data"] for one in content["data"]]
    rows = [
        (
            name,
            *(
                " / ".join(f"{statistics.fmean(e[c] for e in by[data]):.4f}" for c in _BRIEF)
                for data in names
            ),
        )
        for name, by in found.items()
    ]
    return table(["all k / k = 1 / k = 2 to 10", *names], rows)


def closer(content: dict[str, Any]) -> str:
    """How often our estimator is closer than every function."""
    counts = []
    for column in ("abs", "abs@1"):
        better = 0
        for row in content["mappings"]:
            errors = {name: one[column] for name, one in row["mean"].items()}
            better += errors["smoothed"] < min(errors[name] for name in FUNCTIONS)
        counts.append(better)
    of = len(content["mappings"])
    return (
        f"From the same samples smoothed is closer than each of the six functions for {counts[0]} "
        f"of {of} models and data sets over all k, and for {counts[1]} at k = 1."
    )


def top_table(content: dict[str, Any]) -> str:
    """Errors of HR@1..50."""
    found: dict[str, dict[str, list[float]]] = {}
    for row in content["top"]:
        by = found.setdefault(row["way"], {})
        by.setdefault(row["data"], []).append(row["error_percent"]["mean"])
    names = list(dict.fromkeys(row["data"] for row in content["top"]))
    rows = [(way, *(f"{statistics.fmean(by[n]):.1f}" for n in names)) for way, by in found.items()]
    return table(["HR@K read from the sample by", *names], rows)


def which_is_closer(content: dict[str, Any]) -> str:
    """Of the two estimators that see the same fixed sample."""
    by: dict[Any, dict[str, float]] = {}
    for row in content["top"]:
        by.setdefault((row["data"], row["model"]), {})[row["way"]] = row["error_percent"]["mean"]
    names = list(dict.fromkeys(data for data, _ in by))
    won = {
        name: sum(one["smoothed"] < one["MLE"] for (data, _), one in by.items() if data == name)
        for name in names
    }
    of = {name: sum(data == name for data, _ in by) for name in names}
    counts = ", ".join(f"{won[name]} of {of[name]} models on {name}" for name in names)
    best = sum(min(one, key=lambda way: one[way]) == "smoothed, adaptive 25" for one in by.values())
    return (
        f"From 100 candidates smoothed is closer than MLE (100 EM steps) for {counts}:\nso far "
        f"below f(1) both guess, and the data decide whose guess is better. Adaptive samples are\n"
        f"closest for {best} of {len(by)}."
    )


def bounds_table(content: dict[str, Any]) -> str:
    """Bounds of one draw."""
    rows: dict[Any, list[str]] = {}
    for one in content["bounds"]:
        text = f"{one['low']:.3f} to {one['high']:.3f} ({one['exact']:.3f})"
        rows.setdefault((one["data"], one["model"]), []).append(text)
    names = list(dict.fromkeys(one["metric"] for one in content["bounds"]))
    held = sum(one["held"] for one in content["bounds"])
    made = table(
        ["data", "model", *(f"{name} (exact)" for name in names)],
        [(*key, *cells) for key, cells in rows.items()],
    )
    return f"{made}\n\n{held} of {len(content['bounds'])} hold the exact value."


def order_table(content: dict[str, Any]) -> str:
    """Orders of two models."""
    rows = [
        (
            data,
            f"{one['orders_kept']:,} of {one['orders']:,}",
            f"{one['largest_lost']:.4f}",
            "{kept} of {pairs}".format(**content["dominance"][data]),
        )
        for data, one in content["orders"].items()
    ]
    return table(["data", "orders kept", "largest lost", "dominance kept (theorem 2.1)"], rows)


def place_table(content: dict[str, Any]) -> str:
    """Closest places."""
    rows, heads = [], []
    for data, by in content["best_places"].items():
        for model, one in by.items():
            heads = [f"k = {k}" for k in one["places"]]
            rows.append((data, model, *(f"{place:,}" for place in one["places"].values())))
    return table(["data", "model", *heads], rows)


def fit_table(content: dict[str, Any]) -> str:
    """Distances of power laws."""
    rows, heads = [], []
    for data, by in content["beta_fit"].items():
        for model, one in by.items():
            heads = list(one["distance"])
            rows.append((data, model, *(f"{value:.3f}" for value in one["distance"].values())))
    return table(["data", "model", *heads], rows)


def size_table(sized: dict[str, Any]) -> str:
    """Errors by the size of the sample."""
    rows = [
        (
            f"{row['size']:,}",
            f"{row['first_place']:,.1f}",
            f"{row['mean_error']:.5f}",
            f"{row['largest_error']:.5f}",
        )
        for row in sized["rows"]
    ]
    return table(["n", "f(1)", "mean over k of the error", "largest over k"], rows)
