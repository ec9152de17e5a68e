"""MF with nine losses on Gowalla: Tables 12 and 13, Figures 13 and 14 of Li (dissertation).

64 dimensions, several test items for each user, training items excluded, exact ranks of this
library. Settings are chosen on a tenth of the training data; MINE+ and debiased CCL are also
trained with the weights, temperature and margin of Tables 19 and 20. Each is then trained on all of
the data with the seeds of the repeats, and with one setting varied at a time.

--parts selects parts; --budget bounds the seconds, and 0 only uses finished runs. A stopped run
resumes: <cache>/gowalla_losses/runs.jsonl has a line for each finished run, and <case>-<seed>.npz
beside it the ranks. A GPU takes a quarter of an hour, a CPU days. --quick takes seconds, on
simulated data.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np

from fullrank.data.sets import datasets
from reproduction.common.kept import append_json, read_lines
from reproduction.common.workers import Steps
from reproduction.gowalla_losses.figures import figures as figures
from reproduction.gowalla_losses.outcome import tables
from reproduction.gowalla_losses.results import case, keep_ranks, others, points, popular, swept
from reproduction.gowalla_losses.runs import Crew, Task, World, crew, in_turn, ranked
from reproduction.gowalla_losses.settings import CASES, COMMON, METRICS, QUICK_COMMON, SWEEPS

REPEATS = 3

NAME = "gowalla_losses"
# the parts, and the share of --budget in which each may begin a run
PARTS = {"search": 0.45, "refit": 0.88, "figures": 1.0}
HELD_OUT = 0.1
Record = dict[str, Any]


def study(asked: argparse.Namespace) -> dict[str, Any]:
    # quick runs are kept apart from those of the full study
    folder = asked.cache / (f"{NAME}-quick" if asked.quick else NAME)
    folder.mkdir(parents=True, exist_ok=True)
    data = world(asked)
    work(asked, data, folder)
    known = records(folder)
    cases = {name: found for name in asked.cases if (found := case(known, name)) is not None}
    keep_ranks(asked.ranks / "gowalla-losses.npz", folder, cases, data)
    content = {
        "data": "simulated" if asked.quick else "gowalla",
        "n_factors": common(asked)["n_factors"],
        "n_users": int(np.count_nonzero(data.test.user_counts())),
        "n_items": data.train.n_items,
        "n_train": data.train.n_interactions,
        "n_targets": data.test.n_interactions,
        "held_out": HELD_OUT,
        "popular": popular(data),
        "trained_on": sorted({one["where"] for one in known}),
        "training_seconds": round(sum(one["seconds"] for one in known), 1),
        "cases": cases,
        "sweeps": {name: swept(known, cases, sweep) for name, sweep in SWEEPS.items()},
        "others": others(),
    }
    return content | {"tables": tables(content)}


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--parts", nargs="*", default=list(PARTS), choices=list(PARTS))
    parser.add_argument("--cases", nargs="*", default=list(CASES), choices=list(CASES))
    parser.add_argument("--device", default=None, help="a GPU if there is one, by default")
    parser.add_argument("--budget", type=float, default=float("inf"), help="seconds")


def world(asked: argparse.Namespace) -> World:
    """The data; a tenth of the training part held out at random, seed 0."""
    if asked.quick:
        split = datasets.load("simulated").split("ratio", rng=0)
    else:
        split = datasets.load_split("gowalla")
    train, test = split.train, split.test
    held = np.random.default_rng(0).random(train.n_interactions) < HELD_OUT
    return World(train=train, test=test, learn=train.select(~held), valid=train.select(held))


def work(asked: argparse.Namespace, data: World, folder: Path) -> None:
    begun = time.time()
    device = asked.device or usual_device()
    with crew(data, jobs=asked.jobs, device=device, cache=folder) as hands:

        def do(part: str, tasks: list[Task]) -> None:
            share = PARTS[part] if part != asked.parts[-1] else 1.0
            go(hands, tasks, folder, begun + share * asked.budget)

        if "search" in asked.parts:
            do("search", searched(asked))
        if "refit" in asked.parts:
            do("refit", refitted(asked, folder))
        if "figures" in asked.parts:
            do("figures", varied(asked, folder))


def usual_device() -> str:
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def go(hands: Crew, tasks: list[Task], folder: Path, deadline: float) -> None:
    done = {record["key"] for record in records(folder)}
    todo = [task for task in tasks if task.key not in done]
    print(f"{len(todo)} of {len(tasks)} runs to do", flush=True)
    steps = Steps(len(todo))
    for record in hands.run(todo, deadline):
        append_json(record, folder / "runs.jsonl")
        print(f"{steps.text()}: {told(record)}", flush=True)


def told(record: Record) -> str:
    base = COMMON | CASES[record["case"]].base
    own = {key: value for key, value in record["settings"].items() if base.get(key) != value}
    found = "/".join(f"{record[metric]:.2f}" for metric in METRICS)
    return f"{record['kind']} {record['case']} {own} {found}, {record['seconds']:.1f} s"


def records(folder: Path) -> list[Record]:
    """The finished runs; an incomplete line of a stopped run is left out."""
    return read_lines(folder / "runs.jsonl")


def common(asked: argparse.Namespace) -> dict[str, Any]:
    return COMMON | (QUICK_COMMON if asked.quick else {})


def searched(asked: argparse.Namespace) -> list[Task]:
    """Every candidate of every case, the first of each before the second of any."""
    own = QUICK_COMMON if asked.quick else {}
    return in_turn(
        [
            Task(
                kind="search",
                case=name,
                settings=COMMON | {"loss": CASES[name].loss} | CASES[name].base | candidate | own,
            )
            for candidate in CASES[name].candidates[: 2 if asked.quick else None]
        ]
        for name in asked.cases
    )


def refitted(asked: argparse.Namespace, folder: Path) -> list[Task]:
    """The best candidate of each case, once for each seed."""
    return in_turn(
        [
            Task(kind="refit", case=name, settings=chosen["settings"] | {"seed": seed})
            for seed in range(asked.repeats)
        ]
        for name, chosen in chosen_of(asked, folder).items()
    )


def varied(asked: argparse.Namespace, folder: Path) -> list[Task]:
    """The best candidate with one setting varied, seed 0, in few and large steps."""
    chosen = chosen_of(asked, folder)
    return in_turn(
        [
            Task(kind="figure", case=name, settings=settings)
            for settings in points(sweep, name, chosen[name]["settings"])
        ][: 2 if asked.quick else None]
        for sweep in SWEEPS.values()
        for name in sweep.cases
        if name in chosen
    )


def chosen_of(asked: argparse.Namespace, folder: Path) -> dict[str, Record]:
    known = records(folder)
    found = {name: ranked(known, name) for name in asked.cases}
    return {name: runs[0] for name, runs in found.items() if runs}
