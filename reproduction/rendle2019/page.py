"""The page of the study rendle2019, from nothing but its JSON."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from reproduction.study import table

_HOLDS = {True: "holds", False: "does not hold", None: "holds in part"}


def share_of_draws(percents: list[float]) -> str:
    """The shares of several metrics in words."""
    low, high = min(percents), max(percents)
    if low == high:
        return {0.0: "no draw", 100.0: "every draw"}.get(low, f"{low:.0f} % of the draws")
    return f"{low:.0f} to {high:.0f} % of the draws"


def page(content: dict[str, Any]) -> str:
    estimated = content["estimated"]
    near = sum(cell["within_simulation_error"] for cell in content["sampled"])
    same = sum(round(cell["measured"], 3) == cell["published"] for cell in content["exact"])
    return f"""# Rendle 2019: sampled metrics

S. Rendle, *Evaluation Metrics for Item Recommendation under Sampling*. Three models, five users,
{content["n_items"]:,} items, with these true ranks:

{table(["model", "ranks"], [(m, ", ".join(map(str, r))) for m, r in content["ranks"].items()])}

Nothing here needs data. What was published stands in brackets.

## The exact metrics (section 3.2)

{_values(content["exact"])}

{same} of {len(content["exact"])} are the same to the printed digits.

## Among 99 sampled items (section 4.3)

Expectation ± spread of one draw, from the kernel; below them mean ± spread over
{content["repeats"]:,} draws.

{_sampled(content["sampled"])}

The paper's are means over 1,000 draws, taken to be with replacement as in its section 4.4: {near}
of {len(content["sampled"])} lie within the error of such a mean (3 spreads/√1000, and the rounding)
of the expectation.

## Figure 1: what a rank is worth

![What each metric gives for each true rank](rendle2019-figure1.svg)

{_weights(content["weights"])}

## Figure 2: the order of the models

![Expected sampled metrics of the models by the number of candidates](rendle2019-figure2.svg)

From so many sampled items on, the models stand in this order, the best first:

{_orders(content["orders"])}

The paper names the orders of AP below 50 samples (A, C, B), at about 200 (A, B, C) and at about 500
(C, A, B): {_named(content)}. Between {_between(content["orders"]["ap"]["steps"])} it goes back to a
former one. The last columns are on a grid of 300 numbers of samples.

## Figure 3: the shape of a sampled metric

![Expected sampled metrics by the true rank of the target, from 2 to 1,001 candidates, beside the
exact ones](rendle2019-figure3.svg)

Largest distance of the expected metric from the exact one and from a straight line, ranks 1 to
1,000:

{_shapes(content["shapes"])}

## Ours: what the same samples tell when they are corrected

Five users tell an estimator nothing, so here each of the ranks belongs to
{estimated["users"] // 5:,} users. Mean over {estimated["repeats"]} draws, and in brackets the share
of draws in % in which the best model, C, comes out best:

{_estimated(content)}

Bounds (95 %) of one draw: what the sample does not rule out, whatever the distribution of ranks.

{_bounds(estimated["bounds"])}

Ranks in a few places only are as far from a smooth distribution as can be.{_told(content)}

## What the paper says

{_claims(content["claims"])}
"""


def _claims(claims: list[dict[str, Any]]) -> str:
    rows = [(one["says"], _HOLDS[one["holds"]], one["found"]) for one in claims]
    return table(["claim", "here", "found"], rows)


def _rows(cells: list[dict[str, Any]], show: Any) -> str:
    metrics = list(dict.fromkeys(cell["row"] for cell in cells))
    models = list(dict.fromkeys(cell["column"] for cell in cells))
    by = {(cell["row"], cell["column"]): cell for cell in cells}
    rows = [(model, *(show(by[metric, model]) for metric in metrics)) for model in models]
    return table(["", *metrics], rows)


def _values(cells: list[dict[str, Any]]) -> str:
    return _rows(cells, lambda cell: f"{cell['measured']:.3f} ({cell['published']:.3f})")


def _sampled(cells: list[dict[str, Any]]) -> str:
    def show(cell: dict[str, Any]) -> str:
        drawn = cell["simulated"]
        return (
            f"{cell['measured']:.3f} ± {cell['measured_sd']:.3f}<br>"
            f"{drawn['mean']:.3f} ± {drawn['sd']:.3f}<br>"
            f"({cell['published']:.3f} ± {cell['published_sd']:.3f})"
        )

    return _rows(cells, show)


def _weights(weights: dict[str, Any]) -> str:
    rows = [
        (
            name,
            f"{one['first_over_second']:.4g}",
            f"{one['step_at_1']:.4g}",
            f"{one['step_at_100']:.4g}",
        )
        for name, one in weights.items()
    ]
    head = ["metric", "rank 1 over rank 2", "from rank 2 to 1", "from rank 101 to 100"]
    return table(head, rows)


def _orders(orders: dict[str, Any]) -> str:
    rows = []
    for name, one in orders.items():
        steps = one["steps"]
        shown = [f"{step['from']:,}: {step['order']}" for step in steps]
        rows.append(
            (
                name,
                "; ".join(shown),
                f"{one['best_from']:,}",
                "never" if (near := one["within_hundredth_from"]) is None else f"{near:,}",
            )
        )
    return table(["metric", "orders", "best model right from", "values to 0.01 from"], rows)


def _named(content: dict[str, Any]) -> str:
    figure = next(one for one in content["tables"] if one["item"] == "002 Figure 2")
    return "they are so" if figure["state"] == "reproduced" else "they are not so"


def _between(steps: list[dict[str, Any]]) -> str:
    seen: set[str] = set()
    for step, after in pairwise(steps):
        if step["order"] in seen:
            return f"{step['from']:,} and {after['from'] - 1:,} ({step['order']})"
        seen.add(step["order"])
    return "none of them"


def _shapes(shapes: list[dict[str, Any]]) -> str:
    sizes = list(dict.fromkeys(one["candidates"] for one in shapes))
    metrics = list(dict.fromkeys(one["metric"] for one in shapes))
    by = {(one["metric"], one["candidates"]): one for one in shapes}
    rows = [
        (
            name,
            *(f"{by[name, n]['from_exact']:.3f} / {by[name, n]['from_line']:.3f}" for n in sizes),
        )
        for name in metrics
    ]
    return table(["from exact / from a line", *(f"n = {n:,}" for n in sizes)], rows)


def _estimated(content: dict[str, Any]) -> str:
    metrics = [cell for cell in dict.fromkeys(c["row"] for c in content["exact"]) if cell != "auc"]
    exact = {(c["row"], c["column"]): c["measured"] for c in content["exact"]}
    models = list(content["ranks"])
    lines = [
        (
            "exact",
            "",
            f"{content['n_items']:,}",
            *(" / ".join(f"{exact[name, m]:.3f}" for m in models) for name in metrics),
        )
    ]
    for row in content["estimated"]["rows"]:
        cells = []
        for name in metrics:
            one = row["metrics"][name]
            means = " / ".join(f"{cell['mean']:.3f}" for cell in one["models"].values())
            cells.append(f"{means} ({one['best_named_percent']:.0f})")
        lines.append((row["design"], row["estimator"], f"{row['average_size']:,.0f}", *cells))
    named = [f"{name}: {' / '.join(models)}" for name in metrics]
    return table(["design", "estimator", "items a user", *named], lines)


def _bounds(bounds: list[dict[str, Any]]) -> str:
    metrics = list(dict.fromkeys(one["metric"] for one in bounds))
    rows: dict[Any, list[str]] = {}
    for one in bounds:
        low, high = one["interval"]
        rows.setdefault((one["design"], one["model"]), []).append(f"{low:.3f} to {high:.3f}")
    return table(["design", "model", *metrics], [(*key, *cells) for key, cells in rows.items()])


def _told(content: dict[str, Any]) -> str:
    exact = {c["column"]: c["measured"] for c in content["exact"] if c["row"] == "ap"}["C"]
    rows = {(row["design"], row["estimator"]): row for row in content["estimated"]["rows"]}
    ends = {
        one["design"]: one["interval"]
        for one in content["estimated"]["bounds"]
        if (one["model"], one["metric"]) == ("C", "ap")
    }
    said = []
    for design in ("fixed 100", "adaptive 25"):
        row = rows[design, "smoothed"]["metrics"]
        named = [one["best_named_percent"] for one in row.values()]
        error = 100 * (row["ap"]["models"]["C"]["mean"] / exact - 1)
        low, high = ends[design]
        said.append(
            f"Smoothed, {design}, names the best model in {share_of_draws(named)}; "
            f"its AP of C\nis off by {error:+.0f} % on average, within bounds of {low:.3f} to "
            f"{high:.3f}."
        )
    return "\n".join(["", *said])
