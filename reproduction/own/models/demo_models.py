"""The settings of the models that `fullrank demo` trains, chosen on validation items alone.

The demonstration holds out one item of each user of ml-latest-small (seed 0). Here another one is
held out of what is left (seed 1), every setting of the grids below is fitted on the rest, and
NDCG@10 of the exact ranks decides, training items excluded. No test item is looked at. The
demonstration's constants must be what this finds (tests/docs/test_study_demo_models.py).
"""

from __future__ import annotations

import argparse
from typing import Any

from fullrank.data.sets import datasets
from fullrank.models import MODELS, grid_search
from reproduction.study import QUICK

REPEATS = 1

TUNED_BY = "ndcg@10"
GRIDS: dict[str, dict[str, list[Any]]] = {
    "item-knn": {
        "n_neighbors": [50, 100, 200, 400],
        "weighting": ["none", "tfidf", "bm25"],
        "shrinkage": [0.0, 10.0, 100.0],
    },
    "pure-svd": {"n_factors": [16, 32, 64, 128]},
    "ease": {"regularization": [50.0, 100.0, 200.0, 500.0, 1000.0]},
    "ials": {
        "n_factors": [32, 64, 128],
        "regularization": [0.003, 0.01, 0.03],
        "unobserved_weight": [0.1, 0.3, 1.0],
    },
}


def study(asked: argparse.Namespace) -> dict[str, Any]:
    name = QUICK if asked.quick else "ml-latest-small"
    train = datasets.load(name).split("leave-one-out", by="random", rng=0).train
    inner = train.split("leave-one-out", by="random", rng=1)
    models = []
    for label, whole in GRIDS.items():
        grid = {key: values[:2] if asked.quick else values for key, values in whole.items()}
        found = grid_search(
            MODELS[label],
            inner.train,
            inner.test,
            grid=grid,
            metrics=TUNED_BY,
            exclude=inner.train,
        )
        print(label, found.best_settings, round(float(found.values.max()), 4), flush=True)
        models.append(
            {
                "model": label,
                "grid": grid,
                "tried": len(found.combinations),
                "best": found.best_settings,
                "validation": round(float(found.values[found.best, 0]), 4),
            }
        )
    return {
        "seeds": "0 for the test items, 1 for the validation items",
        "data": name,
        "n_users": inner.test.n_interactions,
        "n_items": train.n_items,
        "tuned_by": TUNED_BY,
        "models": models,
    }
