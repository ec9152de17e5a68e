"""EASE on gowalla: 40,981 items, and what fitting and ranking cost.

λ is chosen by a tenth of the training items, which the model does not learn from; then all of them
are. Every fit runs in a process of its own, whose peak memory is kept. Two cores take about forty
minutes a fit, sixteen two. FULLRANK_DATA names the folder of the data.
"""

from __future__ import annotations

import argparse
import json
import resource
from pathlib import Path
from typing import Any

import fullrank
from fullrank.data import Interactions
from fullrank.data.sets import datasets
from fullrank.models import EASE
from reproduction.common.kept import keep_json
from reproduction.common.workers import workers
from reproduction.study import QUICK

REPEATS = 1

METRICS = ("recall@20", "ndcg@20")
REGULARIZATIONS = (20.0, 50.0, 100.0, 200.0)


def world(quick: bool) -> tuple[Interactions, Interactions, Interactions, Interactions]:
    """Training and held-out items, for the choice of λ and for the test."""
    load = datasets.load_split
    split = datasets.load(QUICK).split("ratio", rng=0) if quick else load("gowalla")
    inner = split.train.split("ratio", test=0.1, rng=0)
    return inner.train, inner.test, split.train, split.test


def study(asked: argparse.Namespace) -> dict[str, Any]:
    folder = asked.cache / ("gowalla-ease-quick" if asked.quick else "gowalla-ease")
    folder.mkdir(parents=True, exist_ok=True)
    strengths = REGULARIZATIONS[1:3] if asked.quick else REGULARIZATIONS
    valid = [_kept(asked.quick, strength, False, folder) for strength in strengths]
    best = max(valid, key=lambda one: one["metrics"]["recall@20"])
    test = _kept(asked.quick, best["regularization"], True, folder)
    return {"data": QUICK if asked.quick else "gowalla", "valid": valid, "test": test}


def _kept(quick: bool, strength: float, final: bool, folder: Path) -> dict[str, Any]:
    """From the folder, or fitted in a process of its own and kept there."""
    path = folder / f"{'test' if final else 'valid'}-{strength:g}.json"
    if not path.is_file():
        with workers(1) as pool:
            found = pool.submit(_fit, quick, strength, final).result()
        keep_json(found, path)
    content = json.loads(path.read_text(encoding="utf-8"))
    return {key: value for key, value in content.items() if not key.endswith("_seconds")}


def _fit(quick: bool, strength: float, final: bool) -> dict[str, Any]:
    inner, held_out, train, test = world(quick)
    train, test = (train, test) if final else (inner, held_out)
    model = EASE(regularization=strength).fit(train)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    found = fullrank.rank(model, test, exclude=train)
    return {
        "regularization": strength,
        "metrics": {name: round(value, 5) for name, value in found.metrics(METRICS).items()},
        "n_items": train.n_items,
        "n_users": found.n_users,
        "fit_gigabytes": round(peak, 2),
    }
