"""Whether `plan` predicts the errors that are then measured.

Pinterest, EASE, training items excluded. A pilot of 5,000 users gives P(R); `plan` predicts the
error of each design for a number of users. Then the design is carried out over and over on users
drawn from all, the metric estimated as `estimate` would, and compared with the exact metric of all
users. FULLRANK_DATA names the folder of the data.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from fullrank.designs import Adaptive, Design, Exact, Uniform
from fullrank.inference import estimate, plan
from fullrank.metrics import parse_all
from fullrank.samples import simulate
from reproduction.common.exact import exact_ranks
from reproduction.common.workers import in_processes
from reproduction.study import QUICK

REPEATS = 100

METRICS = ("recall@10", "ndcg@10")
PILOT = 5_000
LEVELS = [25 * 2**step for step in range(8)]
WITHIN = 0.25


@dataclass(frozen=True)
class Task:
    """One design with a number of users."""

    data: str
    design: Design
    share: float  # of the users
    repeats: int


def designs(n_items: int) -> list[tuple[Design, float]]:
    """Designs and shares of users: fixed, adaptive, exact on some users, and combined."""
    ends = [n_items // 16, n_items // 4, n_items // 2]
    adaptive = [Adaptive(25, limit=end) for end in ends]
    return [
        (Uniform(n_items // 30), 1.0),
        (Uniform(n_items // 10), 1.0),
        (Uniform(n_items // 3), 1.0),
        *((design, 1.0) for design in adaptive),
        (adaptive[1], 0.25),
        (adaptive[2], 0.1),
        (Exact(), 0.1),
        (Exact(), 0.03),
    ]


def study(asked: argparse.Namespace) -> dict[str, Any]:
    data = QUICK if asked.quick else "pinterest-20-part"
    known = exact_ranks(data, "EASE", True, asked.cache)
    tasks = [Task(data, *one, asked.repeats) for one in designs(known.n_items)]
    found = in_processes(partial(_design, cache=asked.cache), tasks, asked.jobs)
    rows = [row for rows in found for row in rows]
    inside = sum(row["within_quarter"] for row in rows)
    return {"data": data, "rows": rows, "within_quarter": inside, "of": len(rows)}


def _design(task: Task, *, cache: Path) -> list[dict[str, Any]]:
    known = exact_ranks(task.data, "EASE", True, cache)
    ranks, n_items = known.ranks.astype(np.int64), known.n_items
    metrics = parse_all(METRICS)
    exact = [metric.weights(ranks, n_items).mean() for metric in metrics]
    n_users = round(task.share * ranks.size)
    errors = np.array(
        [_error(task.design, ranks, n_items, n_users, exact, seed) for seed in range(task.repeats)]
    )
    measured = np.sqrt((errors**2).mean(axis=0)) / exact
    rng = np.random.default_rng([12345])
    some = rng.choice(ranks, min(PILOT, ranks.size // 2), replace=False)
    levels = [level for level in LEVELS if level < n_items // 2]
    pilot = simulate(some, n_items=n_items, design=Adaptive(levels=levels), rng=rng)
    rows = []
    for metric, error in zip(METRICS, measured.tolist(), strict=True):
        option = _predicted(metric, pilot, ranks.size, n_users, task.design)
        rows.append(
            {
                "design": _label(task.design),
                "n_users": n_users,
                "items_per_user": round(option.items_per_user, 1),
                "metric": metric,
                "predicted": round(option.error, 5),
                "measured": round(error, 5),
                "ratio": round(option.error / error, 3),
                "within_quarter": bool(abs(option.error / error - 1.0) <= WITHIN),
            }
        )
    return rows


def _label(design: Design) -> str:
    if isinstance(design, Adaptive):
        return f"adaptive {design.start} to {design.limit:,}"
    return f"fixed {design.sample_size:,}" if isinstance(design, Uniform) else str(design)


def _predicted(metric: str, pilot: Any, users: int, n_users: int, design: Design) -> Any:
    """`plan` at a budget that pays for just as many users."""
    first = plan(
        metric, pilot=pilot, n_users=users, budget=1e12, designs=[design], interval_for="users"
    ).options[0]
    budget = (n_users + 0.5) * first.items_per_user
    return plan(
        metric, pilot=pilot, n_users=users, budget=budget, designs=[design], interval_for="users"
    ).options[0]


def _error(
    design: Design, ranks: np.ndarray, n_items: int, n_users: int, exact: list[float], seed: int
) -> list[float]:
    rng = np.random.default_rng(seed)
    some = ranks if n_users == ranks.size else rng.choice(ranks, n_users, replace=False)
    if isinstance(design, Exact):
        found = [metric.weights(some, n_items).mean() for metric in parse_all(METRICS)]
    else:
        sample = simulate(some, n_items=n_items, design=design, rng=rng)
        result = estimate(sample, metrics=METRICS, confidence_level=None)
        found = list(result.values.values())
    return [value - true for value, true in zip(found, exact, strict=True)]
