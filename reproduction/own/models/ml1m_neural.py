"""The neural models on ml-1m, training items kept in the ranking, tuned on that and tested.

All fits take hours on the processor; `--device cuda` uses a GPU. They are kept, one line each, in
`<cache>/ml1m_neural-ml-1m.jsonl`, which may be copied from another machine.
"""

from __future__ import annotations

import argparse
from typing import Any

from reproduction.own.models.neural_search import (
    FIXED,
    GRIDS,
    KINDS,
    METRICS,
    TUNED_BY,
    best,
    combinations,
    search,
    world,
)
from reproduction.study import QUICK, spread

REPEATS = 3

# in thousandths, the exact values of Table 2: Recall, NDCG and AP at 10
PUBLISHED = {"NeuMF": (30.96, 13.43, 8.26), "MultiVAE": (18.38, 7.08, 3.81)}
GOAL = 0.9


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--device", help="cpu or cuda")


def study(asked: argparse.Namespace) -> dict[str, Any]:
    name = QUICK if asked.quick else "ml-1m"
    found = search(
        asked.cache / f"ml1m_neural-{name}.jsonl",
        repeats=asked.repeats,
        jobs=asked.jobs,
        device=asked.device,
        quick=asked.quick,
    )
    where = world(asked.quick)
    return {
        "data": name,
        "n_users": where.test.n_interactions,
        "n_items": where.whole.n_items,
        "tuned_by": TUNED_BY,
        "published": {key: dict(zip(METRICS, row, strict=True)) for key, row in PUBLISHED.items()},
        "models": [_summary(model, found, asked.quick) for model in KINDS],
        # of the fits, wherever and whenever they were made
        "seconds": round(sum(one["seconds"] for one in found), 1),
    }


def _summary(model: str, found: list[dict[str, Any]], quick: bool) -> dict[str, Any]:
    tried = list(combinations(model, quick))
    chosen = best(found, model, quick)
    tests = [
        one
        for one in found
        if (one["kind"], one["model"], one["settings"]) == ("test", model, chosen["settings"])
    ]
    test = {name: spread(one["metrics"][name] for one in tests) for name in METRICS}
    goal = None
    if model in PUBLISHED:
        share = test[TUNED_BY]["mean"] / PUBLISHED[model][0]
        goal = {"share_of_published": round(share, 4), "met": bool(share >= GOAL)}
    return {
        "model": model,
        "grid": GRIDS[model],
        "fixed": FIXED[model],
        "validation": [
            {key: one[key] for key in ("settings", "metrics", "epochs", "rates", "seconds")}
            for one in found
            if (one["kind"], one["model"]) == ("validation", model) and one["settings"] in tried
        ],
        "best": chosen["settings"],
        "epochs": len(chosen["rates"]),
        "test": test,
        "test_excluded": {name: spread(one["excluded"][name] for one in tests) for name in METRICS}
        if all(one["excluded"] for one in tests)
        else None,
        "device": tests[0]["device"],
        "rows_per_second": spread(one["rows_per_second"] for one in tests)["mean"],
        "goal": goal,
    }
