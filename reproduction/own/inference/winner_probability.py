"""Is the probability of being the best right? How often the model it names is the best.

Four models on the pinterest part, two of them nearly the same, training items kept. All users of
the file are the population; what `compare` sees are exact ranks of users drawn from it with
replacement. FULLRANK_DATA names the folder of pinterest-20-part.parquet.
"""

from __future__ import annotations

import argparse
from functools import partial
from itertools import pairwise, product
from typing import Any

import numpy as np

from fullrank.data import Interactions
from fullrank.inference import compare
from fullrank.metrics import parse
from fullrank.models import EASE, ItemKNN
from reproduction.common.exact import METRICS, MODELS, exact_ranks
from reproduction.common.workers import in_processes
from reproduction.study import QUICK

REPEATS = 100

ASKED = [f"{metric}@{k}" for k in (5, 10, 20) for metric in METRICS]
DRAWN = (300, 1000, 3000, 10_000, 30_000)  # users
STEPS = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.01)


def _item_knn(train: Interactions, _: float) -> ItemKNN:
    return ItemKNN(n_neighbors=200).fit(train)


def _ease(train: Interactions, _: float) -> EASE:
    return EASE(regularization=3000.0).fit(train)


MODELS.update({"EASE 3000": _ease, "itemKNN": _item_knn})
COMPARED = ("EASE", "EASE 3000", "itemKNN", "SVD 64")
QUICKLY = ("EASE", "itemKNN", "SVD 64")


def study(asked: argparse.Namespace) -> dict[str, Any]:
    name = QUICK if asked.quick else "pinterest-20-part"
    models = QUICKLY if asked.quick else COMPARED
    known = {model: exact_ranks(name, model, False, asked.cache) for model in models}
    values = {
        model: np.stack([parse(m).weights(one.ranks, one.n_items) for m in ASKED], axis=1)
        for model, one in known.items()
    }
    exact = np.array([one.mean(axis=0) for one in values.values()])
    drawn = [n for n in DRAWN if not asked.quick or n == DRAWN[0]]
    tasks = list(product(drawn, range(asked.repeats)))
    found = in_processes(partial(_winner, values=values), tasks, asked.jobs)
    best = exact.argmax(axis=0)
    return {
        "data": name,
        "n_users": int(known["EASE"].ranks.size),
        "n_items": known["EASE"].n_items,
        "models": list(models),
        "metrics": ASKED,
        "drawn": drawn,
        "exact": {
            metric: dict(zip(models, np.round(exact[:, at], 6).tolist(), strict=True))
            for at, metric in enumerate(ASKED)
        },
        "best": {metric: models[int(at)] for metric, at in zip(ASKED, best, strict=True)},
        "stated": _by_step(
            np.concatenate([stated for stated, _ in found]),
            np.concatenate([named == best for _, named in found]),
        ),
    }


def _winner(task: tuple[int, int], values: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """The probability that is stated for each metric, and the model it is stated for."""
    n_users, seed = task
    rng = np.random.default_rng([seed, n_users])
    users = rng.integers(len(next(iter(values.values()))), size=n_users)
    results = {model: dict(zip(ASKED, one[users].T, strict=True)) for model, one in values.items()}
    found = compare(results, ASKED, rng=rng).p_best
    return found.max(axis=0), found.argmax(axis=0)


def _by_step(stated: np.ndarray, right: np.ndarray) -> list[dict[str, Any]]:
    cells = []
    for low, high in pairwise(STEPS):
        inside = (stated >= low) & (stated < high)
        if inside.any():
            cells.append(
                {
                    "from": low,
                    "below": high,
                    "runs": int(inside.sum()),
                    "stated_percent": round(100 * float(stated[inside].mean()), 2),
                    "right_percent": round(100 * float(right[inside].mean()), 2),
                }
            )
    return cells
