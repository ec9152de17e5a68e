"""How often nominal 95 % intervals hold the truth, and whether the diagnosis knows where not.

Truths with the shapes of four real data sets (shapes.json). Each run draws users from the
population, then candidates for them, estimates, and looks whether the interval for the population
holds the population's metric and the interval for these users the metric of the users drawn. A
cell is a shape, a design, an estimator, a metric and a question. FULLRANK_DATA is not needed.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from fullrank.designs import Adaptive, Design, RankGrid, Uniform
from fullrank.estimators import METHODS
from fullrank.estimators.methods import choose, point
from fullrank.inference.estimation.diagnosis import reasons
from fullrank.inference.estimation.uncertainty import interval, spread
from fullrank.metrics import Metric, parse_all
from fullrank.samples import RankSample, simulate
from reproduction.common.workers import in_processes
from reproduction.own.inference.truths import Shape, shapes

REPEATS = 1000

METRICS = ("recall@1", "recall@5", "recall@10", "recall@20", "recall@50", "ndcg@10", "ndcg@50",
           "ap@10")  # fmt: skip
DESIGNS: dict[str, Design] = {
    "adaptive 25 to 3200": Adaptive(25, limit=3200),
    "fixed 500": Uniform(500),
    "fixed 100": Uniform(100),
}
TARGETS = ("population", "users")
FEW_USERS = 300
BLOCK = 50
LOW, HIGH, FIRES, SELDOM = 0.93, 0.97, 0.95, 0.20  # the goals


@dataclass(frozen=True)
class Task:
    """Some runs of one shape and design."""

    shape: str
    design: str
    methods: tuple[str, ...]
    n_users: int
    first: int
    runs: int


def study(asked: argparse.Namespace) -> dict[str, Any]:
    known = shapes()
    names = ["ml-1m"] if asked.quick else list(known)
    folder = asked.cache / "intervals"
    folder.mkdir(parents=True, exist_ok=True)
    tasks = [
        Task(name, *kind, first, min(BLOCK, asked.repeats - first))
        for first in range(0, asked.repeats, BLOCK)
        for name in names
        for kind in _kinds(known[name], asked.quick)
    ]
    in_processes(partial(_do, folder=folder), tasks, asked.jobs)
    kinds = dict.fromkeys((task.shape, task.design, task.methods, task.n_users) for task in tasks)
    cells = [cell for kind in kinds for cell in _cells(kind, asked.repeats, folder)]
    return {"level": 0.95, "cells": cells, "summary": _summary(cells)}


def _kinds(shape: Shape, quick: bool) -> list[tuple[str, tuple[str, ...], int]]:
    adaptive = "adaptive 25 to 3200"
    if quick:
        return [(adaptive, ("smoothed",), shape.n_users)]
    few = [(adaptive, ("smoothed",), FEW_USERS)] if shape.name == "ml-1m" else []
    return [
        (adaptive, ("smoothed", "MLE"), shape.n_users),
        ("fixed 500", ("auto",), shape.n_users),
        ("fixed 100", ("auto",), shape.n_users),
        *few,
    ]


def _file(task: Task, folder: Path) -> Path:
    name = f"{task.shape}-{task.design}-{task.n_users}-{task.first}-{task.runs}"
    return folder / f"{name.replace(' ', '_')}.npy"


def _do(task: Task, *, folder: Path) -> None:
    """Do the runs of a task and keep them in a file, so that a study can be resumed."""
    path = _file(task, folder)
    if path.is_file():
        return
    shape = shapes()[task.shape]
    metrics = parse_all(METRICS)
    kept = []
    for number in range(task.first, task.first + task.runs):
        rng = np.random.default_rng([number, task.n_users])
        ranks = shape.draw(task.n_users, rng)
        sample = simulate(ranks, n_items=shape.n_items, design=DESIGNS[task.design], rng=rng)
        here = [metric.weights(ranks, shape.n_items).mean() for metric in metrics]
        kept.append([_one(sample, method, here) for method in task.methods])
    part = path.with_suffix(".part")
    with part.open("wb") as file:
        np.save(file, np.array(kept))
    part.rename(path)


def _one(sample: RankSample, method: str, here: list[float]) -> np.ndarray:
    """The numbers behind an estimate and its intervals: what `estimate` does, once for both."""
    metrics = parse_all(METRICS)
    chosen = choose(method, sample, {})
    grid = RankGrid.for_metrics(int(sample.pool.max()), metrics)
    chosen = chosen.settled(sample, grid)
    values, distribution = point(sample, metrics, chosen, grid)
    found = spread(sample, metrics, chosen, grid)
    recalls = [distribution.metric(Metric("recall", metric.k)) for metric in metrics]
    return np.array(
        [
            list(values.values()),
            found.population,
            found.users,
            np.broadcast_to(found.bias, len(metrics)),
            here,
            np.array(recalls) * sample.n_targets,
            np.full(len(metrics), chosen.name == "smoothed"),
        ]
    )


def _cells(
    kind: tuple[str, str, tuple[str, ...], int], repeats: int, folder: Path
) -> list[dict[str, Any]]:
    firsts = range(0, repeats, BLOCK)
    tasks = [Task(*kind, first, min(BLOCK, repeats - first)) for first in firsts]
    runs = np.concatenate([np.load(_file(task, folder)) for task in tasks])
    return [
        _cell(kind, target, metric, runs[:, which, :, column].T)
        for which in range(len(kind[2]))
        for target in TARGETS
        for column, metric in enumerate(parse_all(METRICS))
    ]


def _cell(
    kind: tuple[str, str, tuple[str, ...], int], target: str, metric: Metric, runs: np.ndarray
) -> dict[str, Any]:
    shape = shapes()[kind[0]]
    values, population, users, bias, here, hits, smooth = runs
    deviation = population if target == "population" else users
    truth = np.full(here.size, shape.metric(metric)) if target == "population" else here
    ends = [interval(v, d, 0.95, bias=b) for v, d, b in zip(values, deviation, bias, strict=True)]
    held = [end.low <= true <= end.high for end, true in zip(ends, truth, strict=True)]
    method = "smoothed" if smooth.all() else "MLE"
    size = DESIGNS[kind[1]].rounds(shape.n_items).sizes[-1]
    promises = METHODS[method]
    fired = [
        bool(
            reasons(
                metric, ranks=shape.n_items / size, hits=h, honest=promises.honest,
                rough=promises.rough,
            )
        )
        for h in hits
    ]  # fmt: skip
    return {
        "shape": kind[0],
        "design": kind[1],
        "method": method,
        "n_users": kind[3],
        "interval_for": target,
        "metric": metric.name,
        "coverage": round(float(np.mean(held)), 4),
        "fired": round(float(np.mean(fired)), 4),
        "bias_over_error": round(float((values - truth).mean() / deviation.mean()), 3),
        "bound_over_error": round(float(bias.mean() / deviation.mean()), 3),
        "width": round(float(np.mean([end.high - end.low for end in ends])), 6),
        "hits": round(float(hits.mean()), 1),
    }


def _held_to(cell: dict[str, Any]) -> bool:
    """Whether the cell must cover 93 to 97 %: smoothed, or adaptive where nothing is warned of."""
    k = int(cell["metric"].split("@")[1])
    adaptive = cell["design"].startswith("adaptive") and cell["fired"] < 0.5
    return k >= 10 and cell["hits"] >= 30 and (cell["method"] == "smoothed" or adaptive)


def _summary(cells: list[dict[str, Any]]) -> dict[str, Any]:
    held = [cell for cell in cells if _held_to(cell)]
    inside = [LOW <= cell["coverage"] <= HIGH for cell in held]
    missed = [cell for cell in cells if cell["coverage"] < LOW]
    covered = [cell for cell in cells if cell["coverage"] >= LOW]
    return {
        "pooled": round(float(np.mean([cell["coverage"] for cell in held])), 4),
        "held_to": len(held),
        "inside": int(np.sum(inside)),
        "least": min(cell["coverage"] for cell in held),
        "most": max(cell["coverage"] for cell in held),
        "below": len(missed),
        "below_and_fires": sum(cell["fired"] >= FIRES for cell in missed),
        "covered": len(covered),
        "covered_and_seldom_fires": sum(cell["fired"] < SELDOM for cell in covered),
    }
