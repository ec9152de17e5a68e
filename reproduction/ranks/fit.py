"""Search and fit for the stored ranks: one line of JSON for each fit, ranks in files beside it.

Finished fits are not repeated, so that a run can be stopped and resumed, on another machine too.
Neural models run on the device, several processes side by side, and the others on the processor at
the same time. After most of the time budget, a model is tested with the best settings tried so far.
"""

from __future__ import annotations

import itertools
import json
import multiprocessing
import os
import time
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reproduction.common.bank import DATA, MODELS, models_of
from reproduction.common.kept import append_json, read_lines
from reproduction.common.workers import Steps, begin
from reproduction.ranks.data import World, world
from reproduction.ranks.settings import NEURAL, TUNED_BY, combinations, found_before

Fit = dict[str, Any]
LOG = "fits.jsonl"
ON_PROCESSORS = ("itemKNN", "iALS")  # beside a GPU too
SETTLED = 0.7  # the share of the time after which nothing more is tried where something was


@dataclass(frozen=True)
class Asked:
    """What is to be fitted, and with what."""

    cache: Path
    data: tuple[str, ...] = DATA
    models: tuple[str, ...] = MODELS
    device: str | None = None
    jobs: int = 1  # processes, on a GPU those of the neural models
    processors: int = 6  # beside a GPU, processes of the other models
    budget: float = 1e6
    quick: bool = False


def key(one: Fit) -> str:
    return json.dumps([one[name] for name in ("kind", "data", "model", "settings")], sort_keys=True)


def ranks_file(cache: Path, data: str, model: str) -> Path:
    return cache / f"{data}-{model}.npz"


def best(found: list[Fit], data: str, model: str, *, quick: bool = False) -> Fit | None:
    """The best of the grid on the validation items, of equals the first; None before any."""
    known = found_before(data, model)
    if known is not None:
        return known
    grid = combinations(data, model, quick=quick)
    tried = [
        one
        for one in found
        if (one["kind"], one["data"], one["model"]) == ("validation", data, model)
        and one["settings"] in grid
    ]
    order = sorted(tried, key=lambda one: grid.index(one["settings"]))
    return max(order, key=lambda one: one["metrics"][TUNED_BY], default=None)


def left(found: list[Fit], asked: Asked, *, settle: bool = False) -> list[Fit]:
    """The fits that are missing, in turn of each model, so that something of all is done."""
    done = {key(one) for one in found}
    tasks = []
    for data, model in itertools.product(asked.data, asked.models):
        if model not in models_of(data):
            continue
        named: Fit = {"data": data, "model": model}
        chosen = best(found, data, model, quick=asked.quick)
        missing: list[Fit] = []
        if found_before(data, model) is None and not (settle and chosen is not None):
            grid = combinations(data, model, quick=asked.quick)
            tries = [{"kind": "validation", **named, "settings": one} for one in grid]
            missing = [one for one in tries if key(one) not in done]
        if not missing and chosen is not None:
            rates = {"rates": chosen["rates"]} if "rates" in chosen else {}
            test = {"kind": "test", **named, "settings": chosen["settings"], **rates}
            there = ranks_file(asked.cache, data, model).is_file() and key(test) in done
            missing = [] if there else [test]
        tasks.append(missing)
    return [one for turn in itertools.zip_longest(*tasks) for one in turn if one is not None]


_worlds: dict[str, World] = {}  # of a process


def _work(one: Fit, asked: Asked, n_jobs: int) -> Fit:
    from reproduction.ranks.models import Fitter

    try:
        name = one["data"]
        if name not in _worlds:
            _worlds.clear()
            _worlds[name] = world(name, quick=asked.quick)
        device = _prepared(None if one["model"] in ON_PROCESSORS else asked.device, n_jobs)
        fitter = Fitter(_worlds[name], device=asked.device, n_jobs=n_jobs)
        if one["kind"] == "validation":
            return fitter.tried(one) | device
        path = ranks_file(asked.cache, one["data"], one["model"])
        return fitter.tested(one, path) | device
    except Exception:  # one that fails must not take hours of others with it
        return one | {"error": traceback.format_exc()}


def _prepared(device: str | None, n_jobs: int) -> Fit:
    """Hold this process to its threads; on what it works, in words."""
    import torch
    from threadpoolctl import threadpool_limits

    torch.set_num_threads(n_jobs)
    threadpool_limits(n_jobs)
    on_gpu = device not in (None, "cpu")
    return {"device": torch.cuda.get_device_name(device) if on_gpu else "processor"}


def _lanes(asked: Asked) -> dict[str, tuple[int, int]]:
    """Processes and the threads of each, by what they work at."""
    if asked.device in (None, "cpu"):
        cores = os.cpu_count() or 1
        return {"all": (asked.jobs, max(1, cores // asked.jobs))}
    return {"neural": (asked.jobs, 1), "EASE": (1, 4), "others": (asked.processors, 1)}


def _lane(one: Fit, lanes: dict[str, Any]) -> str:
    if "all" in lanes:
        return "all"
    if one["model"] in ON_PROCESSORS:
        return "others"
    return "neural" if one["model"] in NEURAL else "EASE"


def search(asked: Asked) -> list[Fit]:
    """Do what is left, beginning nothing once the time is over; what is done is written."""
    asked.cache.mkdir(parents=True, exist_ok=True)
    context, lanes = multiprocessing.get_context("spawn"), _lanes(asked)
    pools = {name: context.Pool(count, initializer=begin) for name, (count, _) in lanes.items()}
    try:
        tasks = _search(asked, lanes, pools)
    finally:  # stopped or not, no process is left
        for pool in pools.values():
            pool.terminate()
            pool.join()
    for one in tasks:
        print("left:", one["kind"], one["data"], one["model"], one["settings"], flush=True)
    return read_lines(asked.cache / LOG)


def _search(asked: Asked, lanes: dict[str, tuple[int, int]], pools: dict[str, Any]) -> list[Fit]:
    """What was not done in time."""
    start = time.monotonic()
    steps = Steps(expected(left(read_lines(asked.cache / LOG), asked)))
    running: dict[str, tuple[Fit, str, Any]] = {}
    failed: set[str] = set()
    while True:
        passed = time.monotonic() - start
        tasks = left(read_lines(asked.cache / LOG), asked, settle=passed > SETTLED * asked.budget)
        busy = {(one["data"], one["model"]) for one, _, _ in running.values()}
        waiting = [
            one
            for one in tasks
            if key(one) not in running.keys() | failed
            # what is still being tried may turn out to be the best
            and (one["kind"] == "validation" or (one["data"], one["model"]) not in busy)
        ]
        for one in waiting if passed < asked.budget else []:
            lane = _lane(one, lanes)
            count, threads = lanes[lane]
            if sum(name == lane for _, name, _ in running.values()) < count:
                answer = pools[lane].apply_async(_work, (one, asked, threads))
                running[key(one)] = (one, lane, answer)
        if not running:
            return tasks
        time.sleep(0.1)
        for name in [name for name, (_, _, answer) in running.items() if answer.ready()]:
            _, _, answer = running.pop(name)
            failed |= _write(asked.cache, answer.get(), name, steps.text())


def expected(tasks: list[Fit]) -> int:
    """How many fits these are together with the tests that follow them."""
    return len(tasks) + len({(t["data"], t["model"]) for t in tasks if t["kind"] == "validation"})


def _write(cache: Path, one: Fit, name: str, place: str) -> set[str]:
    """One line; the names of fits that failed, which are not written."""
    shown = " ".join((f"{place}:", one["kind"], one["data"], one["model"]))
    if "error" in one:
        print(shown, "FAILED", one["settings"], one["error"], flush=True)
        return {name}
    append_json(one, cache / LOG)
    value, seconds = one["metrics"][TUNED_BY], one["seconds"]
    settings = ", ".join(f"{name} {setting}" for name, setting in one["settings"].items())
    print(f"{shown}, {TUNED_BY} {value:.2f}, {seconds:.1f} s, {settings}", flush=True)
    return set()
