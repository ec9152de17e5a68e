"""iALS on Gowalla beside the dissertation's, with popularity and PureSVD for contrast.

The given split, several test items per user, training items excluded. Settings are chosen by
Recall@20 on a seventh of the training items of 4,000 users; then each size is fitted on all that is
for training and ranked on the test items, once for each seed of its start. FULLRANK_DATA names the
folder of gowalla.parquet.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

import fullrank
from fullrank.data import Interactions
from fullrank.data.sets import datasets
from fullrank.models import IALS, Popularity, PureSVD
from reproduction.common.tuning import tuned
from reproduction.study import QUICK, spread

REPEATS = 3

PUBLISHED = {"recall@20": 13.88, "ndcg@20": 12.24}  # iALS in Li's dissertation, Table 13, percent
NAMES = tuple(PUBLISHED)
SIZES = (64, 128)
GRID: dict[str, list[Any]] = {
    "unobserved_weight": [0.03, 0.01],
    "regularization": [0.01, 0.003, 0.001],
}
QUICK_SIZES = (4, 8)
QUICK_GRID: dict[str, list[Any]] = {"unobserved_weight": [0.3, 0.03]}
N_USERS, SHARE = 4000, 1 / 7
Values = dict[str, float]


def world(quick: bool) -> tuple[str, Interactions, Interactions]:
    if not quick:
        split = datasets.load_split("gowalla")
        return "gowalla", split.train, split.test
    return QUICK, *held_out(datasets.load(QUICK), 1000)


def held_out(data: Interactions, n_users: int) -> tuple[Interactions, Interactions]:
    """Each item of some users with chance `SHARE`, and the rest."""
    generator = np.random.default_rng(0)
    users, _ = data.pairs()
    chosen = np.zeros(data.n_users, bool)
    chosen[generator.permutation(data.n_users)[:n_users]] = True
    held = chosen[users] & (generator.random(users.size) < SHARE)
    return data.select(~held), data.select(held)


def study(asked: argparse.Namespace) -> dict[str, Any]:
    name, train, test = world(asked.quick)
    learn, valid = held_out(train, N_USERS)
    grid, sizes = (QUICK_GRID, QUICK_SIZES) if asked.quick else (GRID, SIZES)
    tuning = asked.cache / f"gowalla_models-{name}-tuning.json"
    svd = PureSVD(n_factors=sizes[0])
    models: dict[str, Any] = {
        "popularity": {"test": [on_test(Popularity(), train, test)]},
        f"PureSVD {sizes[0]}": {"test": [on_test(svd, train, test)]},
    }
    for size in sizes:
        rows = tuned(
            IALS, learn, valid,
            grid=grid, settings={"n_factors": size, "epochs": 6}, metrics=NAMES, kept=tuning,
            exclude=learn,
        )  # fmt: skip
        best = max(rows, key=lambda row: row["values"]["recall@20"])["settings"]
        seeds = range(asked.repeats)
        found = [on_test(IALS(**best, seed=seed), train, test) for seed in seeds]
        models[f"iALS {size}"] = {"validation": rows, "settings": best, "test": found}
    for model in models.values():
        found = model.pop("test")
        if len(found) > 1:
            model["test"] = {m: spread(100 * one[m] for one in found) for m in NAMES}
        else:
            model["test"] = {m: {"mean": round(100 * found[0][m], 4), "sd": None} for m in NAMES}
        model["fit_seconds"] = round(min(one["fit_seconds"] for one in found), 2)
    return {
        "data": name,
        "n_users": int(np.count_nonzero(test.user_counts())),
        "n_targets": test.n_interactions,
        "n_items": train.n_items,
        "models": models,
        "published": PUBLISHED,
    }


def on_test(model: Any, train: Interactions, test: Interactions) -> Values:
    start = time.perf_counter()
    model.fit(train)
    seconds = time.perf_counter() - start
    found = fullrank.rank(model, test, exclude=train).metrics(NAMES)
    print(model, {m: round(v, 4) for m, v in found.items()}, f"{seconds:.1f} s", flush=True)
    return found | {"fit_seconds": seconds}
