"""Rendle 2019, all of it: both tables and Figures 1-3, and whether an estimate keeps the order.

The tables and figures are expectations under the sampling kernel, beside simulated repeats as the
paper has them. Then the paper's ranks 2,000 times over: what estimators make of such samples.
Needs no data.
"""

from __future__ import annotations

import argparse
import math
import time
from pathlib import Path
from typing import Any

from fullrank.cli.demonstration import RENDLE, RENDLE_ITEMS, RENDLE_METRICS, SAMPLE_SIZE, example
from fullrank.designs import Uniform
from fullrank.samples import simulate
from reproduction.outcome import compare, shown
from reproduction.rendle2019.estimated import estimated
from reproduction.rendle2019.figures import (
    SIZES,
    TOP_METRICS,
    curves,
    equation_30,
    mean,
    order,
    orders,
    shapes,
    weights,
)
from reproduction.study import spread

# section 3.2, and section 4.3: means and spreads over 1,000 repeats with 99 sampled items
EXACT = {
    "A": (0.990, 0.010, 0.150, 0.000),
    "B": (0.555, 0.010, 0.122, 0.000),
    "C": (0.843, 0.101, 0.208, 0.200),
}
SAMPLED = {
    "A": ((0.990, 0.004), (0.630, 0.129), (0.724, 0.097), (1.000, 0.000)),
    "B": ((0.555, 0.014), (0.336, 0.073), (0.444, 0.054), (0.400, 0.000)),
    "C": ((0.843, 0.014), (0.325, 0.050), (0.460, 0.039), (0.567, 0.092)),
}
REPEATS = 1000  # as published
# Figure 2, average precision: the order that is named, and the numbers of samples it is named for
ORDERS = {"A > C > B": (10, 20, 49), "A > B > C": (200,), "C > A > B": (500,)}
ESTIMATED_REPEATS = 100


def study(asked: argparse.Namespace) -> dict[str, Any]:
    found = estimated(min(asked.repeats, ESTIMATED_REPEATS), asked)
    start = time.perf_counter()
    kernel, simulated = example(), _simulated(asked.repeats)
    exact = [
        {
            "row": row.metric,
            "column": row.model,
            "published": _of(EXACT, row),
            "measured": row.exact,
        }
        for row in kernel
    ]
    sampled = []
    for row in kernel:
        mean, sd = _of(SAMPLED, row)
        assert row.spread is not None  # the example has it
        allowed = 3 * row.spread / math.sqrt(REPEATS) + 0.0005
        sampled.append(
            {
                "row": row.metric,
                "column": row.model,
                "published": mean,
                "published_sd": sd,
                "measured": row.naive,
                "measured_sd": row.spread,
                "simulated": simulated[row.model][row.metric],
                "within_simulation_error": bool(abs(row.naive - mean) <= allowed),
            }
        )
    content = {
        "n_items": RENDLE_ITEMS,
        "ranks": {model: list(ranks) for model, ranks in RENDLE.items()},
        "exact": exact,
        "sampled": sampled,
        "weights": weights(),
        "orders": {name: orders(name) for name in RENDLE_METRICS},
        "shapes": shapes(),
        "curves": curves(),
        "equation_30": equation_30(),
        "estimated": found,
        # with what an earlier run has drawn
        "seconds": round(found["seconds"] + time.perf_counter() - start, 1),
    }
    return content | {"tables": _tables(content)}


def _of(published: dict[str, tuple[Any, ...]], row: Any) -> Any:
    return published[row.model][RENDLE_METRICS.index(row.metric)]


def _simulated(repeats: int) -> dict[str, dict[str, dict[str, float]]]:
    """Mean and spread of the sampled metrics over repeats, as in section 4.3."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for model, ranks in RENDLE.items():
        drawn = [
            simulate(
                ranks, n_items=RENDLE_ITEMS, design=Uniform(SAMPLE_SIZE, replacement=True), rng=seed
            )
            for seed in range(repeats)
        ]
        found[model] = {
            name: spread(sample.naive(name) for sample in drawn) for name in RENDLE_METRICS
        }
    return found


def _tables(content: dict[str, Any]) -> list[dict[str, Any]]:
    worth, ordered, shaped = content["weights"], content["orders"], content["shapes"]
    named = [
        order(mean("ap", samples)) == said for said, sizes in ORDERS.items() for samples in sizes
    ]
    auc = [one for one in shaped if one["metric"] == "auc"]
    others = [one for one in shaped if one["metric"] != "auc"]
    deviates = [one["from_exact"] for one in others if one["candidates"] == SIZES[-1]]
    return [
        compare("002 Table 1", content["exact"]),
        compare(
            "002 Table 2",
            [cell | {"measured_sd": 0.0} for cell in content["sampled"]],  # no draws: expectations
            repeats=REPEATS,
            differs="expectations from the kernel; the paper has means over 1,000 draws",
        ),
        shown(
            "002 Figure 1",
            "rank 1 is worth twice rank 2 by AP and 1.58 times by NDCG; AUC pays every step alike",
            round(worth["ap"]["first_over_second"], 2) == 2.0
            and round(worth["ndcg"]["first_over_second"], 2) == 1.58
            and math.isclose(worth["auc"]["step_at_1"], worth["auc"]["step_at_100"]),
        ),
        shown(
            "002 Figure 2",
            "the order by AP changes with the number of samples as named, NDCG and recall change "
            "theirs too, AUC never does",
            all(named)
            and len(ordered["auc"]["steps"]) == 1
            and all(len(ordered[name]["steps"]) > 1 for name in TOP_METRICS),
        ),
        shown(
            "002 Figure 3",
            "sampled AUC is AUC; the others are far from their exact forms even from 1,000 samples",
            max(one["from_exact"] for one in auc) < 1e-9 and min(deviates) > 0.1,
        ),
    ]


def figures(content: dict[str, Any], folder: Path) -> None:
    from reproduction.rendle2019.draw import figures  # which needs matplotlib

    figures(content, folder)
