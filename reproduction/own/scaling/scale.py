"""Ten million users and a hundred thousand items: memory, time, and the time that is left.

Factors of d = 64 made from a seed, so that targets rank from the very top to the middle; n = 100
candidates for each user. The users' factors and targets lie in files. Two worker processes map the
rows of one shard at a time, and send back counts, which add: nothing of the size of the users is
held anywhere. Memory is what the system counts for driver and workers (PSS, so that shared pages
count once), read four times a second. The time left is what the progress line of `evaluate` shows;
beside it, the same reckoned by a clock that counts the CPU time of the workers, and so stands still
while the machine does something else. Linux only.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from fullrank._lib.progress import Clock
from fullrank.designs import Uniform
from fullrank.engines import Processes
from fullrank.ranking import sample_ranks
from fullrank.samples import RankSample
from fullrank.scorers import FactorScorer

REPEATS = 1

SAMPLE_SIZE, WORKERS, SEED = 100, 2, 0
PULL = 0.6  # at most: how far a user's vector leans towards the target's
FIELDS = ("Pss_Anon", "Pss_File", "Pss_Shmem")
POINTS = 100  # of a curve that is kept


@dataclass(frozen=True)
class World:
    """The items' factors, and where the users' factors and targets lie."""

    item_factors: np.ndarray
    user_factors: Path
    targets: Path


def make_world(folder: Path, n_users: int, n_items: int, d: int) -> World:
    """Made block by block, or found there."""
    items = np.random.default_rng(SEED).standard_normal((n_items, d), np.float32)
    name = f"{n_users}-{n_items}-{d}"
    world = World(items, folder / f"users-{name}.npy", folder / f"targets-{name}.npy")
    if world.targets.is_file():
        return world
    folder.mkdir(parents=True, exist_ok=True)
    users = np.lib.format.open_memmap(world.user_factors, "w+", np.float32, (n_users, d))
    targets = np.empty(n_users, np.int32)
    for block, start in enumerate(range(0, n_users, 10_000)):
        random = np.random.default_rng([SEED, block])
        here = slice(start, min(start + 10_000, n_users))
        targets[here] = random.integers(0, n_items, here.stop - start)
        pull = PULL * random.random((here.stop - start, 1), np.float32)
        users[here] = random.standard_normal((here.stop - start, d), np.float32)
        users[here] += pull * items[targets[here]]
    users.flush()
    np.save(world.targets, targets)
    return world


def rank_part(world: World, part: tuple[int, int]) -> RankSample:
    """The counts of users `start` to `stop`; their pages are let go with the map."""
    rows = np.arange(*part)
    scorer = FactorScorer(np.load(world.user_factors, mmap_mode="r"), world.item_factors)
    targets = np.load(world.targets, mmap_mode="r")[slice(*part)]
    sample = sample_ranks(scorer, (rows, targets), design=Uniform(SAMPLE_SIZE), n_jobs=1, rng=SEED)
    return sample.without_rows()


class Meter:
    """Memory of this process and its workers, in MB, read by a thread beside the run."""

    def __init__(self) -> None:
        self.readings: list[tuple[float, ...]] = []  # users done, then FIELDS
        self.done = 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._read, daemon=True)

    def _read(self) -> None:
        while not self._over.wait(0.25):
            sums = np.sum([_memory(one) for one in _processes()], axis=0)
            self.readings.append((self.done, *sums.tolist()))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._over.set()
        self._thread.join()


def _processes() -> list[int]:
    return [os.getpid(), *(child.pid for child in multiprocessing.active_children() if child.pid)]


def _memory(process: int) -> np.ndarray:
    lines = Path(f"/proc/{process}/smaps_rollup").read_text("ascii").splitlines()
    found = {line.split(":")[0]: line.split()[1] for line in lines[1:]}
    return np.array([int(found[field]) / 1024 for field in FIELDS])


def _cpu_seconds() -> float:
    """Of this process and its workers since they started."""
    ticks = 0
    for process in _processes():
        fields = Path(f"/proc/{process}/stat").read_text("ascii").rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def ranked(engine: Processes, world: World, n_users: int, shard: int) -> dict[str, Any]:
    """One run: its sample, time, memory along the way and time left along the way."""
    parts = [(start, min(start + shard, n_users)) for start in range(0, n_users, shard)]
    ways = {"clock": time.perf_counter, "cpu": _cpu_seconds}
    clocks = {name: Clock(now) for name, now in ways.items()}
    left, sample = [], None
    with Meter() as meter:
        begun = {name: now() for name, now in ways.items()}
        for clock in clocks.values():
            clock.left(0, n_users)
        for place, counts in engine.map(rank_part, world, parts):
            sample = counts if sample is None else sample + counts
            meter.done += parts[place][1] - parts[place][0]
            row: list[float | None] = [meter.done]
            for name, now in ways.items():
                row += [now() - begun[name], clocks[name].left(meter.done, n_users)]
            left.append(row)
        seconds, cpu = (now() - begun[name] for name, now in ways.items())
    print(f"{n_users:,} users in {seconds:.1f} s, {cpu:.1f} s of CPU", flush=True)
    return {
        "sample": sample,
        "n_users": n_users,
        "seconds": round(seconds, 4),
        "cpu_seconds": round(cpu, 2),
        "memory": [[round(x, 1) for x in one] for one in _thinned(meter.readings)],
        "left": [[_rounded(x) for x in row] for row in _thinned(left)],
    }


def _rounded(x: float | None) -> float | None:
    return None if x is None else round(x, 4)


def _thinned(rows: list[Any]) -> list[Any]:
    at = np.linspace(0, len(rows) - 1, min(POINTS, len(rows))).round().astype(int)
    return [rows[i] for i in at]


def study(asked: argparse.Namespace) -> dict[str, Any]:
    if asked.quick:
        sizes, n_items, d, shard = [2_000, 20_000], 2_000, 16, 500
    else:
        sizes, n_items, d, shard = [10**5, 10**6, 10**7], 10**5, 64, 50_000
    world = make_world(asked.cache / "scale", sizes[-1], n_items, d)
    with Processes(WORKERS) as engine:
        warm = [(at, at + 10) for at in range(0, 80, 10)]
        list(engine.map(rank_part, world, warm))  # both workers have started and compiled
        runs = [ranked(engine, world, n_users, shard) for n_users in sizes]
    samples = [one.pop("sample") for one in runs]
    told = [along(one) for one in runs]
    for one in runs[:-1]:  # only the longest is drawn
        del one["memory"], one["left"]
    at_once = rank_part(world, (0, sizes[0]))
    return {
        "n_items": n_items,
        "d": d,
        "sample_size": SAMPLE_SIZE,
        "shard": shard,
        "workers": WORKERS,
        "user_bytes": world.user_factors.stat().st_size + world.targets.stat().st_size,
        "memory_fields": ["users done", *FIELDS],
        "left_fields": ["users done", "seconds", "said", "CPU seconds", "said of them"],
        "runs": [one | more for one, more in zip(runs, told, strict=True)],
        "same_at_once": _same(samples[0], at_once),
    }


def _same(a: RankSample, b: RankSample) -> bool:
    names = ("rank", "sample_size", "count", "weight")
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in names)


def along(one: dict[str, Any]) -> dict[str, Any]:
    """How flat the memory was, and how true the time left, from a tenth of the run on."""
    total = one["n_users"]
    memory = np.array([sum(x) for done, *x in one["memory"] if 0.1 * total <= done <= 0.9 * total])
    return {
        "megabytes": _spread(memory),
        "left_error": _left_error(one, 1, one["seconds"]),
        "left_error_cpu": _left_error(one, 3, one["cpu_seconds"]),
    }


def _left_error(one: dict[str, Any], column: int, end: float) -> dict[str, float] | None:
    """Relative to what was left; the columns are when it was said, and what was said."""
    said = [
        (row[column + 1], end - row[column])
        for row in one["left"]
        if row[column + 1] is not None and 0.1 <= row[0] / one["n_users"] <= 0.9
    ]
    if not said:  # over before anything was
        return None
    errors = np.abs([guess / max(true, 1e-9) - 1.0 for guess, true in said])
    return {
        "median": round(float(np.median(errors)), 3),
        "largest": round(float(errors.max()), 3),
    }


def _spread(values: np.ndarray) -> dict[str, float] | None:
    if not values.size:  # over before it was read
        return None
    parts = {"least": values.min(), "median": np.median(values), "most": values.max()}
    return {name: round(float(value), 1) for name, value in parts.items()}


def figures(content: dict[str, Any], folder: Path) -> None:
    from reproduction.common.figures import drawing

    last = content["runs"][-1]
    # a short run may be over before anything was read
    done, *parts = np.array(last["memory"], float).reshape(-1, 1 + len(FIELDS)).T
    with drawing(folder / "scale-memory.svg") as (ax,):
        names = ["private", "mapped files", "shared between processes"]
        ax.stackplot(done / 1e6, parts, labels=names)
        ax.set(xlabel="million users done", ylabel="MB, driver and workers", ylim=(0, None))
        ax.legend(loc="lower right")
    done, *left = np.array(last["left"], float).reshape(-1, 5).T
    with drawing(folder / "scale-left.svg", columns=2) as axes:
        for ax, column, end in zip(axes, (0, 2), ("seconds", "cpu_seconds"), strict=True):
            ax.plot(done / 1e6, last[end] - left[column], color="black", label="measured")
            ax.plot(done / 1e6, left[column + 1], label="predicted")
            label = f"{end.replace('cpu_', 'CPU ')} left"
            ax.set(xlabel="million users done", ylabel=label, ylim=(0, None))
        axes[0].legend()
