"""Runs of the study of losses: side by side, each with its own result, until time is up."""

from __future__ import annotations

import itertools
import json
import re
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import fullrank
from fullrank.data import Interactions
from fullrank.errors import DivergedError
from fullrank.models import EmbeddingMF
from reproduction.common.kept import keep_arrays
from reproduction.common.workers import workers
from reproduction.gowalla_losses.settings import METRICS, rates


@dataclass(frozen=True, kw_only=True)
class World:
    """What is trained and judged on."""

    train: Interactions
    test: Interactions
    learn: Interactions
    valid: Interactions


@dataclass(frozen=True, kw_only=True)
class Task:
    """One run: a candidate on the held-out part, or settings on the test part."""

    kind: str  # "search", "refit" or "figure"
    case: str
    settings: dict[str, Any]

    @property
    def key(self) -> str:
        return " ".join([self.kind, self.case, json.dumps(self.settings, sort_keys=True)])


_WORLD: World | None = None


def _enter(world: World) -> None:
    global _WORLD
    import torch

    _WORLD = world
    torch.set_num_threads(1)


def in_turn(groups: Iterable[list[Task]]) -> list[Task]:
    """The first of each group, then the second of each, and so on."""
    rounds = itertools.zip_longest(*groups)
    return [task for turn in rounds for task in turn if task is not None]


@contextmanager
def crew(world: World, *, jobs: int, device: str, cache: Path) -> Iterator[Crew]:
    """Processes that have the data, or this one alone."""
    if jobs == 1:
        _enter(world)
        yield Crew(None, device, cache)
        return
    with workers(jobs, _enter, world) as pool:
        yield Crew(pool, device, cache)


class Crew:
    """Who does the runs: processes that have the data, or without them this one."""

    def __init__(self, pool: ProcessPoolExecutor | None, device: str, cache: Path) -> None:
        self._pool, self._arguments = pool, (device, cache)

    def run(self, tasks: list[Task], deadline: float) -> Iterator[dict[str, Any]]:
        """Records of the tasks as they are done; none begins once the time is up."""
        arguments = (*self._arguments, deadline)
        if self._pool is None:
            results: Iterable[Any] = (run(task, *arguments) for task in tasks)
        else:
            waiting = [self._pool.submit(run, task, *arguments) for task in tasks]
            results = (done.result() for done in as_completed(waiting))
        return (record for record in results if record is not None)


def run(task: Task, device: str, cache: Path, deadline: float) -> dict[str, Any] | None:
    """Train and judge; None if there is no time left."""
    if time.time() > deadline or _WORLD is None:
        return None
    start = time.time()
    searching = task.kind == "search"
    known, targets = (_WORLD.learn, _WORLD.valid) if searching else (_WORLD.train, _WORLD.test)
    record = {
        "key": task.key,
        "kind": task.kind,
        "case": task.case,
        "settings": task.settings,
        "where": where(device),
    }
    model = EmbeddingMF(device=device, **task.settings)
    try:
        model.fit(known, rates=rates(model.learning_rate, model.epochs))
    except DivergedError as error:  # a loss without an end at these settings
        seconds = time.time() - start
        return record | dict.fromkeys(METRICS, 0.0) | {"failed": str(error), "seconds": seconds}
    found = fullrank.rank(model, targets, exclude=known, device=device)
    if task.kind == "refit":
        keep(cache, task, found)
    return record | {
        **{name: 100 * value for name, value in found.metrics(METRICS).items()},
        "last_loss": float(model.history_.loss[-1]),
        "pairs_per_second": model.history_.rows_per_second,
        "seconds": time.time() - start,
    }


def keep(cache: Path, task: Task, found: Any) -> None:
    """The ranks: 1 + the number of items above."""
    keep_arrays(
        ranks_file(cache, task.case, seed=task.settings["seed"]),
        ranks=(1 + found.above).astype(np.int32),
        settings=json.dumps(task.settings, sort_keys=True),
    )


def ranks_file(cache: Path, case: str, *, seed: int) -> Path:
    return cache / f"{re.sub('[^a-z]+', '-', case)}-{seed}.npz"


def rank_levels(n_items: int) -> NDArray[np.int64]:
    """1 to 100, then 12 to each doubling: what ranks are rounded down to where they are kept.

    A byte for each target and loss, for which metrics at cut-offs up to 100 are exact.
    """
    octaves = np.log2(max(n_items, 101) / 100)
    beyond = 100 * np.exp2(np.arange(1, 12 * octaves + 1) / 12)
    return np.unique(np.concatenate([np.arange(1, 101), beyond.round()])).astype(np.int64)


def where(device: str) -> str:
    if device == "cpu":
        return "cpu"
    import torch

    return str(torch.cuda.get_device_name(device))


def ranked(known: list[dict[str, Any]], case: str) -> list[dict[str, Any]]:
    """The searched runs of a case, by the sum of Recall@20 and NDCG@20 on the held-out part."""
    found = [one for one in known if one["kind"] == "search" and one["case"] == case]
    return sorted(found, key=lambda one: -sum(one[metric] for metric in METRICS))
