"""Several targets per user: Gowalla with a factor model.

The given split, training items excluded, a truncated SVD with 64 factors. Exact metrics; the same
from a sample that holds every item; and estimates from adaptive samples, with a standard error
from resampled users. FULLRANK_DATA names the folder of gowalla.parquet.
"""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

import numpy as np

import fullrank
from fullrank.data import Interactions
from fullrank.data.sets import datasets
from fullrank.inference import estimate
from fullrank.samples import RankSample
from reproduction.common.exact import METRICS, truncated_svd
from reproduction.common.workers import in_processes
from reproduction.study import QUICK

REPEATS = 30

NAMES = tuple(f"{metric}@{k}" for k in (10, 20) for metric in METRICS)
METHODS = {"MLE": 1, "smoothed": 3}  # and how many times fewer resamples, for their cost
SEED = 0  # of the adaptive draw; the repeats are resampled users


def world(quick: bool) -> tuple[str, Interactions, Interactions]:
    if not quick:
        split = datasets.load_split("gowalla")
        return "gowalla", split.train, split.test
    data = datasets.load(QUICK)  # two items of every other user held out, and three
    users, _ = data.pairs()
    order = np.lexsort((np.random.default_rng(0).random(users.size), users))
    place = np.empty(users.size, np.int64)
    place[order] = np.arange(users.size) - data.indptr[users[order]]
    held = place < 2 + users % 2
    return QUICK, data.select(~held), data.select(held)


def study(asked: argparse.Namespace) -> dict[str, Any]:
    name, train, test = world(asked.quick)
    scorer = truncated_svd(train)
    exact = fullrank.rank(scorer, test, exclude=train, ties="random", rng=0)
    truth = exact.metrics(NAMES)
    whole = estimate(exact.sample(), metrics=NAMES)
    sample = fullrank.sample_ranks(scorer, test, design="adaptive", exclude=train, rng=SEED)
    return {
        "data": name,
        "n_users": exact.n_users,
        "n_targets": int(exact.ranks.size),
        "n_items": train.n_items,
        "average_size": round(sample.average_size, 1),
        "levels": list(sample.design.rounds(train.n_items).sizes),
        "exact": truth,
        "exhausted": {
            "method": whole.method,
            "largest_relative_difference": max(
                abs(whole[metric] - value) / value for metric, value in truth.items()
            ),
        },
        "adaptive": [
            _adaptive(sample, method, truth, max(2, asked.repeats // fewer), asked.jobs)
            for method, fewer in METHODS.items()
        ],
    }


def _adaptive(
    sample: RankSample, method: str, truth: dict[str, float], repeats: int, jobs: int
) -> dict[str, Any]:
    found = estimate(sample, method=method, metrics=NAMES)
    again = in_processes(partial(_again, sample=sample, method=method), range(repeats), jobs)
    cells = {}
    for metric, exact in truth.items():
        error = float(np.std([values[metric] for values in again], ddof=1))
        cells[metric] = {
            "estimate": found[metric],
            "standard_error": error,
            "relative_error_percent": 100 * (found[metric] - exact) / exact,
            "distance_in_standard_errors": (found[metric] - exact) / error,
            "within_two": bool(abs(found[metric] - exact) <= 2 * error),
        }
    return {"method": method, "resamples": repeats, "metrics": cells}


def _again(seed: int, sample: RankSample, method: str) -> dict[str, float]:
    print(f"{method}: seed {seed}", flush=True)
    return dict(estimate(resampled(sample, seed), method=method, metrics=NAMES).values)


def resampled(sample: RankSample, seed: int) -> RankSample:
    """Whole users, drawn with replacement; a user drawn twice is two users."""
    rows = sample.rows
    assert rows is not None
    users, group = np.unique(rows.user, return_inverse=True)
    order = np.argsort(group, kind="stable")
    count = np.bincount(group)
    chosen = np.random.default_rng(seed).integers(users.size, size=users.size)
    ends = np.cumsum(count[chosen])
    within = np.arange(ends[-1]) - np.repeat(ends - count[chosen], count[chosen])
    first = np.repeat((np.cumsum(count) - count)[chosen], count[chosen])
    take = order[first + within]
    return RankSample.from_ranks(
        rows.rank[take],
        sample_size=rows.sample_size[take],
        n_items=rows.n_items[take],
        design=sample.design.with_(excluded=None),
        user=np.repeat(np.arange(chosen.size), count[chosen]),
        n_targets=rows.n_targets[take],
        offset=rows.offset[take],
    )
