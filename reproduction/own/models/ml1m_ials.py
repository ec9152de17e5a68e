"""iALS on MovieLens 1M with the training items kept in the ranking, as AAAI 2021 ranked ALS.

Settings are chosen by Recall@10 on the last training item of each user, with everything else of the
protocol alike: the model learns from the rest, and all items are candidates, those it learned from
among them. Then it is fitted on all training items and ranked on the test items, once for each seed
of its start. FULLRANK_DATA names the folder of ml-1m.parquet.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import fullrank
from fullrank.data import Split, leave_one_out
from fullrank.data.sets import datasets
from fullrank.models import IALS
from reproduction.common.tuning import tuned
from reproduction.study import QUICK, spread

REPEATS = 3

PUBLISHED = 24.17  # Recall@10 of ALS per mille (Jin et al., AAAI 2021, Table 2)
NAMES = ("recall@10", "ndcg@10", "ap@10")
GRID: dict[str, list[Any]] = {
    "n_factors": [16, 32, 64],
    "unobserved_weight": [0.1, 0.03, 0.01, 0.003],
    "regularization": [0.01, 0.003, 0.001],
}
QUICK_GRID: dict[str, list[Any]] = {"n_factors": [8], "unobserved_weight": [0.1, 0.01]}
SETTINGS = {"epochs": 6}


def world(quick: bool) -> tuple[str, Split, Split]:
    """The data's name, its split, and the split of its training part."""
    if quick:
        split = datasets.load(QUICK).split("leave-one-out", by="random", rng=0)
        return QUICK, split, leave_one_out(split.train, by="random", rng=1)
    split = datasets.load_split("ml-1m")
    return "ml-1m", split, leave_one_out(split.train, by="last", min_interactions=3)


def study(asked: argparse.Namespace) -> dict[str, Any]:
    name, split, inner = world(asked.quick)
    path: Path = asked.cache / f"ml1m_ials-{name}.json"
    grid = QUICK_GRID if asked.quick else GRID
    rows = tuned(
        IALS, inner.train, inner.test, grid=grid, settings=SETTINGS, metrics=NAMES, kept=path
    )
    best = max(rows, key=lambda row: row["values"]["recall@10"])
    found = []
    for seed in range(asked.repeats):
        print(f"test: seed {seed}", flush=True)
        model = IALS(**best["settings"], seed=seed).fit(split.train)
        found.append(fullrank.rank(model, split.test).metrics(NAMES))
    excluded = fullrank.rank(model, split.test, exclude=split.train).metrics(NAMES)
    return {
        "data": name,
        "n_users": int(split.test.n_interactions),
        "n_items": split.train.n_items,
        "validation": rows,
        "best": best["settings"],
        "test": {metric: spread(1000 * one[metric] for one in found) for metric in NAMES},
        "test_excluded": {metric: round(1000 * excluded[metric], 3) for metric in NAMES},
        "published": PUBLISHED,
        "share_of_published": round(
            sum(1000 * one["recall@10"] for one in found) / len(found) / PUBLISHED, 4
        ),
    }
