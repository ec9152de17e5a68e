"""Do bounds hold, how wide are they, and are they those of the design?

Coverage: truths with the shapes of four real data sets (shapes.json). Each run draws users from the
population, then candidates for them, and looks whether the confidence region holds the true
probabilities of its events; bounds on anything hold whenever it does. Some runs of each cell solve
the programs as well. Widths: EASE on citeulike-a and ml-1m, training items excluded, beside the
ends that the design foresaw, and as the sample grows. FULLRANK_DATA names the folder of the data.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from fullrank.designs import Adaptive, Design, Uniform
from fullrank.inference.bounding.bounds import bounds
from fullrank.inference.bounding.events import Events
from fullrank.inference.bounding.region import chernoff, limits
from fullrank.metrics import parse_all
from fullrank.samples import RankSample, simulate
from reproduction.common.exact import exact_ranks
from reproduction.common.kept import keep_json
from reproduction.common.workers import in_processes
from reproduction.own.inference.truths import Shape, shapes
from reproduction.study import QUICK

REPEATS = 1000

LEVEL = 0.95
METRICS = tuple(f"{name}@{k}" for name in ("recall", "ndcg", "ap") for k in (1, 10, 50))
DESIGNS: dict[str, Design] = {
    "fixed 100, with replacement": Uniform(100, replacement=True),
    "fixed 1,000": Uniform(1_000),
    "adaptive 25 to 3,200": Adaptive(25, limit=3_200),
}
USERS = (300, 5_000)
SOLVED = 5  # runs of a cell whose programs are solved
# data, sample size, metric, shape, and the ends that the design gives
FORESEEN = (
    ("citeulike-a", 100, "recall@1", None, (0.0, 0.54)),
    ("citeulike-a", 1_000, "recall@10", None, (0.09, 0.46)),
    ("citeulike-a", 1_000, "recall@10", "decreasing", (0.24, 0.40)),
    ("ml-1m", 100, "recall@10", None, (0.0, 0.30)),
    ("ml-1m", 100, "recall@10", "decreasing", (0.06, 0.20)),
)
DRAWS, NEAR = 5, 0.03
MANY = 40  # events that look closer at the last ranks
SIZES = (30, 100, 300, 1_000, 3_000)


@dataclass(frozen=True)
class Cell:
    """Runs of one shape and design with so many users."""

    shape: str
    design: str
    n_users: int
    runs: int
    solved: int


def study(asked: argparse.Namespace) -> dict[str, Any]:
    names = ["ml-1m"] if asked.quick else list(shapes())
    designs = ["fixed 100, with replacement"] if asked.quick else list(DESIGNS)
    cells = [
        Cell(name, design, users, asked.repeats, min(SOLVED, asked.repeats) * (users == USERS[-1]))
        for name in names
        for design in designs
        for users in USERS
    ]
    real = {name: QUICK if asked.quick else name for name in ("citeulike-a", "ml-1m")}
    folder = asked.cache / "bounds"
    folder.mkdir(parents=True, exist_ok=True)
    measured = in_processes(partial(_once, folder=folder), cells, asked.jobs)
    return {
        "level": LEVEL,
        "cells": measured,
        "foreseen": [_foreseen(row, real, asked.cache) for row in FORESEEN],
        "growing": _growing(real["citeulike-a"], asked.cache),
    }


def _once(cell: Cell, folder: Path) -> dict[str, Any]:
    """What was measured before it was interrupted is not measured again."""
    name = "-".join(map(str, (cell.shape, cell.design, cell.n_users, cell.runs, cell.solved)))
    path = folder / f"{name.replace(' ', '-').replace(',', '')}.json"
    if not path.is_file():
        keep_json(measure(cell), path)
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


def measure(cell: Cell) -> dict[str, Any]:
    """How often the regions hold the truth in the runs of a cell, and the bounds."""
    shape = shapes()[cell.shape]
    design = _fitting(DESIGNS[cell.design], shape.n_items)
    first = _draw(shape, design, cell.n_users, 0)[1]
    size = int(first.sample_size.max())
    cuts = [metric.k for metric in parse_all(METRICS) if metric.k is not None]
    events = Events.chosen(first.design, size, shape.n_items, 12, cuts)  # as `bounds` does
    chance = events.probabilities(np.arange(1, shape.n_items + 1), shape.n_items)
    whole = shape.density @ chance
    held = np.zeros((cell.runs, 3), bool)
    for seed in range(cell.runs):
        ranks, sample = _draw(shape, design, cell.n_users, seed)
        count = events.counts(sample)
        low, high = limits(count, cell.n_users, 1.0 - LEVEL)
        of_users = chance[ranks - 1]
        rows, ends = chernoff(count, cell.n_users, 1.0 - LEVEL, of_users, of_users)
        held[seed] = (
            ((low <= whole) & (whole <= high)).all(),
            ((low <= of_users.mean(axis=0)) & (of_users.mean(axis=0) <= high)).all(),
            (rows.mean(axis=0) <= ends).all(),
        )
    solved = [
        one for seed in range(cell.solved) for one in _solved(shape, design, cell.n_users, seed)
    ]
    found = {
        "shape": cell.shape,
        "design": cell.design,
        "n_users": cell.n_users,
        "runs": cell.runs,
        "n_events": int(events.rank.size),
        "population": int(held[:, 0].sum()),
        "users": int(held[:, 1].sum()),
        "users, Chernoff": int(held[:, 2].sum()),
        "bounds": len(solved),
        "bounds_held": int(sum(solved)),
    }
    print(*found.values(), flush=True)
    return found


def _fitting(design: Design, n_items: int) -> Design:
    """The levels that the catalogue has items for."""
    if not isinstance(design, Adaptive):
        return design
    return Adaptive(levels=tuple(n for n in design.rounds(n_items).sizes if n <= n_items))


def _draw(shape: Shape, design: Design, n_users: int, seed: int) -> tuple[np.ndarray, RankSample]:
    rng = np.random.default_rng(seed)
    ranks = shape.draw(n_users, rng)
    return ranks, simulate(ranks, n_items=shape.n_items, design=design, rng=rng)


def _solved(shape: Shape, design: Design, n_users: int, seed: int) -> list[bool]:
    """Whether all bounds of a run hold: of the population, and of these users."""
    ranks, sample = _draw(shape, design, n_users, seed)
    whole = [shape.metric(metric) for metric in parse_all(METRICS)]
    those = [metric.weights(ranks, shape.n_items).mean() for metric in parse_all(METRICS)]
    result = []
    for target, truths in (("population", (whole, those)), ("users", (those,))):
        low, high = np.array(
            list(bounds(sample, METRICS, interval_for=target).intervals.values())
        ).T
        result += [bool(((low <= truth) & (truth <= high)).all()) for truth in truths]
    return result


def _foreseen(row: tuple[Any, ...], real: dict[str, str], cache: Path) -> dict[str, Any]:
    name, size, metric, shape, ends = row
    known = exact_ranks(real[name], "EASE", True, cache)
    size = min(size, known.n_items)
    found, closer = [], []
    for seed in range(DRAWS):
        sample = simulate(known.ranks, n_items=known.n_items, design=Uniform(size), rng=seed)
        found.append(bounds(sample, metric, shape=shape)[metric])
        closer.append(bounds(sample, metric, shape=shape, n_events=MANY).contradicted)
    low, high = np.array(found).T
    truth = float(parse_all(metric)[0].weights(known.ranks, known.n_items).mean())
    return {
        "data": real[name],
        "sample_size": size,
        "metric": metric,
        "shape": shape,
        "draws": DRAWS,
        "exact": truth,
        "low": [round(float(end), 4) for end in low],
        "high": [round(float(end), 4) for end in high],
        "contains_exact": bool(((low <= truth) & (truth <= high)).all()),
        "foreseen": list(ends),
        "within": bool(max(abs(low.mean() - ends[0]), abs(high.mean() - ends[1])) <= NEAR),
        "contradicted_by_more_events": closer.count("shape"),
    }


def _growing(name: str, cache: Path) -> dict[str, Any]:
    known = exact_ranks(name, "EASE", True, cache)
    rows = []
    for size in (*(n for n in SIZES if n < known.n_items), known.n_items):
        sample = simulate(known.ranks, n_items=known.n_items, design=Uniform(size), rng=0)
        both = [
            bounds(sample, "recall@10", interval_for=t)["recall@10"]
            for t in ("population", "users")
        ]
        rows.append({"sample_size": size, "population": list(both[0]), "users": list(both[1])})
    exact = float((known.ranks <= 10).mean())
    return {"data": name, "metric": "recall@10", "exact": exact, "rows": rows}
