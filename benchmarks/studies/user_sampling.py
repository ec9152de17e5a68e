"""Sampled users, each ranked among all items, against all users ranked among sampled items.

After Tables 6 and 7 of the dissertation (003, section 2.8.6): the average over K = 1..50 of the
relative error of recall and NDCG. FULLRANK_DATA names the folder of pinterest-20-part.parquet.
What has been computed is kept beside the ranks, so that a run that was stopped goes on.

    python benchmarks/studies/user_sampling.py [--quick]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from _study import (
    MODELS,
    QUICK,
    Judge,
    Ranks,
    adaptive_levels,
    exact_ranks,
    in_processes,
    run,
    spread,
    table,
)

from fullrank.data import Interactions
from fullrank.estimators import mle, mn
from fullrank.ranking import sample_users
from fullrank.sampling import RankDistribution, simulate

Found = tuple[float, float, float]  # scores computed, and the two errors

USERS = (1000, 5000, 10_000)
ITEMS = (100, 500)
LEVELS = (100, 3200)
METRICS = ("recall", "ndcg")
# Tables 6 and 7, pinterest-20 with 55,187 users: mean and spread of recall, then of NDCG
PUBLISHED: dict[str, dict[str, tuple[tuple[float, float], tuple[float, float]]]] = {
    "EASE": {
        "100 items, MN_MES": ((5.00, 1.39), (9.35, 3.09)),
        "500 items, MN_MES": ((2.78, 1.05), (4.17, 2.45)),
        "1,000 users": ((9.04, 4.32), (11.02, 6.81)),
        "5,000 users": ((3.85, 1.76), (4.21, 2.72)),
        "10,000 users": ((2.65, 1.33), (3.05, 1.99)),
    },
    "itemKNN": {
        "100 items, MN_MES": ((5.09, 1.15), (9.69, 2.74)),
        "500 items, MN_MES": ((2.79, 1.12), (4.23, 2.47)),
        "1,000 users": ((8.91, 4.27), (10.46, 6.72)),
        "5,000 users": ((3.64, 1.52), (3.92, 2.42)),
        "10,000 users": ((2.65, 1.22), (2.96, 1.68)),
    },
}


def _item_knn(train: Interactions, _: float) -> Any:
    from fullrank.models.item_knn import ItemKNN

    return ItemKNN(n_neighbors=200).fit(train)


MODELS["itemKNN"] = _item_knn
COMPARED = ("EASE", "itemKNN")


def study(asked: argparse.Namespace) -> dict[str, Any]:
    name = QUICK if asked.quick else "pinterest-20-part"
    rows, seconds = [], 0.0
    for model in COMPARED:
        known = exact_ranks(name, model, False, asked.cache)
        judge = Judge(known)
        for label, work in _designs(known).items():
            path = asked.cache / f"user-sampling-{name}-{model}-{label.replace(' ', '-')}.npz"
            found, spent = _kept(path, partial(work, known=known, judge=judge), asked)
            print(f"{model}, {label}", flush=True)
            seconds += spent
            scored, recall, ndcg = found.T
            published = PUBLISHED.get(model, {}).get(label)
            rows.append(
                {
                    "model": model,
                    "design": label,
                    "scored_millions": round(float(np.mean(scored)) / 1e6, 3),
                    "recall": spread(recall),
                    "ndcg": spread(ndcg),
                    "published": published
                    and {
                        m: {"mean": one[0], "sd": one[1]}
                        for m, one in zip(METRICS, published, strict=True)
                    },
                }
            )
    return {
        "data": name,
        "n_users": int(known.ranks.size),
        "n_items": known.n_items,
        "seconds": round(seconds, 1),  # of all runs
        "rows": rows,
    }


def _kept(
    path: Path, work: Callable[[int], Found], asked: argparse.Namespace
) -> tuple[np.ndarray, float]:
    """Scores computed and both errors of every repeat, and seconds; kept beside the ranks."""
    if path.is_file():
        with np.load(path) as content:
            if len(content["found"]) >= asked.repeats:
                return content["found"][: asked.repeats], float(content["seconds"])
    start = time.perf_counter()
    found = np.array(in_processes(work, range(asked.repeats), asked.jobs))
    seconds = time.perf_counter() - start
    np.savez(path, found=found, seconds=seconds)
    return found, seconds


def _designs(known: Ranks) -> dict[str, Any]:
    start, limit = min(LEVELS[0], known.n_items // 8), min(LEVELS[1], known.n_items)
    levels = adaptive_levels(known.n_items, start, limit)
    users = {f"{n:,} users": partial(_users, n_users=min(n, known.ranks.size // 2)) for n in USERS}
    items = {
        f"{n} items, MN_MES": partial(_items, sample_size=min(n, known.n_items // 4)) for n in ITEMS
    }
    adaptive = {f"adaptive {LEVELS[0]} to {LEVELS[1]}, MLE": partial(_adaptive, levels=levels)}
    return items | adaptive | users


def _users(seed: int, known: Ranks, judge: Judge, n_users: int) -> Found:
    chosen = sample_users(known.ranks.size, n_users, rng=seed).user_rows
    seen = RankDistribution.from_ranks(known.ranks[chosen], n_items=known.n_items, grid=judge.grid)
    return _found(n_users * known.n_items, judge, seen.mass)


def _items(seed: int, known: Ranks, judge: Judge, sample_size: int) -> Found:
    sample = simulate(
        known.ranks, n_items=known.n_items, sample_size=sample_size, replacement=True, rng=seed
    )
    mass = mn(sample, prior="mes", grid=judge.grid).mass
    return _found(known.ranks.size * sample_size, judge, mass)


def _adaptive(seed: int, known: Ranks, judge: Judge, levels: list[int]) -> Found:
    sample = simulate(known.ranks, n_items=known.n_items, levels=levels, replacement=True, rng=seed)
    mass = mle(sample, iterations=50, grid=judge.grid).mass
    return _found(known.ranks.size * sample.average_size, judge, mass)


def _found(scored: float, judge: Judge, mass: np.ndarray) -> Found:
    recall, ndcg, _ = judge.errors(mass)
    return scored, recall, ndcg


def page(content: dict[str, Any]) -> str:
    rows = []
    for row in content["rows"]:
        published = row["published"] or {}
        cells = [cell for m in METRICS for cell in (_pair(row[m]), _pair(published.get(m)))]
        rows.append((row["model"], row["design"], f"{row['scored_millions']:.1f}", *cells))
    head = ["model", "design", "scores, millions", "Recall %", "published", "NDCG %", "published"]
    return f"""# Sampling users, sampling items

After Tables 6 and 7 of the dissertation on {content["data"]} ({content["n_users"]:,} users,
{content["n_items"]:,} items), training items kept, {content["repeats"]} repeats: the average over
K = 1..50 of |estimate - exact| / exact in percent, mean ± standard deviation over the repeats.

{table(head, rows)}

Sampled users are ranked among all items, and the mean over them is the estimate; the error is that
against all users of the file. "scores" is what a design costs: users times candidates.

What differs from the paper: the part holds 37,501 of the 55,187 users, so that item sampling errs
about 1.21 times as much, and 10,000 users are a larger share; the prior of MN_MES is from the one
sample at hand, not from the mean over all repeats; itemKNN has 200 cosine neighbours, the paper
does not say how many.
"""


def _pair(cell: dict[str, float] | None) -> str:
    return "" if cell is None else f"{cell['mean']:.2f} ± {cell['sd']:.2f}"


if __name__ == "__main__":
    run("user_sampling", study, page, repeats=50)
