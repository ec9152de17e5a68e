"""Settings of the neural models on ml-1m, tried and tested: one line of JSON for each fit.

The protocol is that of `ml1m_models.py`: each user's last item is the test, the last before it
validation, and training items stay in the ranking. A model with given settings is trained on the
rest, and the epoch with the best Recall@10 on the validation items is kept. What is best of a model
is then trained on all training items for as many epochs at the same rates, once for each seed, and
evaluated on the test items. Fits in the file are not repeated, so a search can be stopped and
resumed, also on another machine.
"""

from __future__ import annotations

import importlib.util
import itertools
import json
import multiprocessing
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fullrank
from fullrank.data import Interactions
from fullrank.data.sets import datasets
from fullrank.models.neural.cdae import CDAE
from fullrank.models.neural.multi_vae import MultiDAE, MultiVAE
from fullrank.models.neural.neumf import NeuMF
from reproduction.common.kept import append_json, read_lines
from reproduction.common.workers import Steps, begin

METRICS = ("recall@10", "ndcg@10", "ap@10")
TUNED_BY = METRICS[0]
KINDS: dict[str, Any] = {
    "NeuMF": NeuMF, "MultiVAE": MultiVAE, "MultiDAE": MultiDAE, "CDAE": CDAE,
}  # fmt: skip
COMMON = {"metric": TUNED_BY, "patience": 3, "min_learning_rate": 0.001}
FIXED: dict[str, dict[str, Any]] = {
    "NeuMF": {"epochs": 15, "batch_size": 4096, "hidden": [32, 16, 8]},
    "MultiVAE": {"epochs": 40, "annealing": 20},
    "MultiDAE": {"epochs": 40},
    "CDAE": {"epochs": 40, "patience": 8},
}
# all combinations
GRIDS: dict[str, dict[str, list[Any]]] = {
    "NeuMF": {"n_factors": [8, 32], "n_negatives": [4, 1], "learning_rate": [0.002, 0.005]},
    "MultiVAE": {
        "hidden": [[], [600]],
        "dropout": [0.5, 0.8],
        "beta": [0.2, 1.0],
        "learning_rate": [0.005],
    },
    "MultiDAE": {"dropout": [0.5, 0.8], "learning_rate": [0.002, 0.005]},
    "CDAE": {"n_negatives": [5, 1], "learning_rate": [0.01, 0.02]},
}
QUICK = {"epochs": 2, "batch_size": 500}


def combinations(model: str, quick: bool = False) -> Iterator[dict[str, Any]]:
    """All settings that are tried."""
    grid = GRIDS[model]
    if quick:
        *others, last = grid
        grid = {name: grid[name][:1] for name in others} | {last: grid[last][:2]}
    for values in itertools.product(*grid.values()):
        chosen = dict(zip(grid, values, strict=True))
        yield COMMON | FIXED[model] | chosen | (QUICK if quick else {})


# ---- data ----


@dataclass(frozen=True)
class World:
    """What is learned from when tuning and in the end, and what is ranked."""

    train: Interactions
    valid: Interactions
    whole: Interactions
    test: Interactions


def world(quick: bool) -> World:
    if quick:
        split = datasets.load("simulated").split("leave-one-out", by="last")
    else:
        split = datasets.load_split("ml-1m")
    inner = split.train.split("leave-one-out", by="last")
    return World(train=inner.train, valid=inner.test, whole=split.train, test=split.test)


# ---- fits ----


def tune(one: dict[str, Any], where: World, device: str | None) -> dict[str, Any]:
    """Train with some settings, and keep the best epoch."""
    start = time.perf_counter()
    model = KINDS[one["model"]](**one["settings"], seed=0, device=device)
    model.fit(where.train, valid=where.valid, exclude=False)
    history = model.history_
    return one | {
        "metrics": measured(model, where.valid),
        "epochs": history.n_epochs,
        "rates": history.rates,
        "seconds": round(time.perf_counter() - start, 1),
    }


def test(one: dict[str, Any], where: World, device: str | None) -> dict[str, Any]:
    """Train on everything as long as was best, and rank the test items."""
    start = time.perf_counter()
    model = KINDS[one["model"]](**one["settings"], seed=one["seed"], device=device)
    model.fit(where.whole, rates=one["rates"])
    # a machine for training may be without numba, which excluding needs
    able = importlib.util.find_spec("numba") is not None
    return one | {
        "metrics": measured(model, where.test),
        "excluded": measured(model, where.test, exclude=where.whole) if able else None,
        "rows_per_second": round(model.history_.rows_per_second),
        "seconds": round(time.perf_counter() - start, 1),
    }


def measured(model: Any, targets: Interactions, **options: Any) -> dict[str, float]:
    """In thousandths; equal scores share their mean rank."""
    found = fullrank.rank(model.scorer(), targets, device=model.device, **options).metrics(METRICS)
    return {name: round(1000 * value, 3) for name, value in found.items()}


FITS = {"validation": tune, "test": test}


# ---- what is there, and what is left to do ----


def key(one: dict[str, Any]) -> str:
    named = {name: one.get(name) for name in ("kind", "model", "settings", "seed")}
    return json.dumps(named, sort_keys=True)


def best(found: list[dict[str, Any]], model: str, quick: bool = False) -> dict[str, Any]:
    """The best of the grid on the validation items, of equals the first that was done."""
    grid = list(combinations(model, quick))
    tried = [
        one
        for one in found
        if (one["kind"], one["model"]) == ("validation", model) and one["settings"] in grid
    ]
    return max(tried, key=lambda one: one["metrics"][TUNED_BY])


def left(found: list[dict[str, Any]], repeats: int, quick: bool) -> list[dict[str, Any]]:
    """The fits that the file lacks; a model is tested once all of its settings are tried."""
    done = {key(one) for one in found}
    tasks = []
    for model in KINDS:
        tries = [
            {"kind": "validation", "model": model, "settings": settings}
            for settings in combinations(model, quick)
        ]
        missing = [one for one in tries if key(one) not in done]
        if not missing:
            chosen = best(found, model, quick)
            tests = [
                {"kind": "test", "seed": seed}
                | {name: chosen[name] for name in ("model", "settings", "rates")}
                for seed in range(repeats)
            ]
            missing = [one for one in tests if key(one) not in done]
        tasks.append(missing)
    # in turn, so that a search that is stopped has something of every model
    return [one for turn in itertools.zip_longest(*tasks) for one in turn if one is not None]


_where: World  # of a process


def _begin(quick: bool) -> None:
    global _where
    import torch

    begin()
    torch.set_num_threads(1)
    _where = world(quick)


def _work(one: dict[str, Any], device: str | None) -> dict[str, Any]:
    import torch

    on_gpu = device not in (None, "cpu") and torch.cuda.is_available()
    name = torch.cuda.get_device_name(device) if on_gpu else "one core"
    return FITS[one["kind"]](one, _where, device) | {"device": name}


def search(
    path: Path, *, repeats: int, jobs: int, device: str | None, quick: bool
) -> list[dict[str, Any]]:
    """Make the fits that the file lacks; each is written as soon as it is done."""
    path.parent.mkdir(parents=True, exist_ok=True)
    context = multiprocessing.get_context("spawn")
    running: dict[str, Any] = {}
    world(quick)  # a worker that cannot read the data would be replaced for ever
    todo = left(read_lines(path), repeats, quick)
    tests = repeats * len({one["model"] for one in todo if one["kind"] == "validation"})
    steps = Steps(len(todo) + tests)
    with context.Pool(jobs, initializer=_begin, initargs=(quick,)) as pool:
        while tasks := left(read_lines(path), repeats, quick):
            waiting = [one for one in tasks if key(one) not in running]
            for one in waiting[: jobs - len(running)]:
                running[key(one)] = pool.apply_async(_work, (one, device))
            time.sleep(0.1)
            for name in [name for name, answer in running.items() if answer.ready()]:
                _write(path, running.pop(name).get(), steps.text())
    return read_lines(path)


def _write(path: Path, one: dict[str, Any], place: str) -> None:
    append_json(one, path)
    shown = {k: v for k, v in one.items() if k not in ("rates", "kind", "model")}
    said = f"{one['kind']} {one['model']}, {len(one['rates'])} epochs"
    print(f"{place}: {said} {json.dumps(shown)}", flush=True)
