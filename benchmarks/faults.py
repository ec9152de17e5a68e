"""Runs killed with SIGKILL at random moments, started again, and compared byte for byte.

Each run evaluates two models in a folder. It is killed once to three times, each time at a random
moment: a random number of shards is waited for, and then a random time. At last it is left to end.
Its ranks and results must be those of a run that was never killed, byte for byte, and nothing else
may be left: no file, no process, no shared memory. (A kill between CPython's creation of a named
semaphore and its registration for clean-up leaves that one; these are counted by themselves and
removed, at most one for each kill of a run with workers.) Every tenth run ranks with two worker
processes. Where the kills struck is told: before the first shard, between shards, or while the
results were put in place.

The runs are forked from one process that has loaded everything, so that a run is all work.

    python benchmarks/faults.py [--runs 100] [--seed 0] [--processes N] [--design sampled:300]

With a design such as exact:10, how many items were scored for a user (`n_scored`) may differ
between runs and is left out of the comparison.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from _measure import report

from fullrank.data import simulate
from fullrank.engines import Processes, Serial
from fullrank.evaluation import evaluate
from fullrank.models import EASE
from fullrank.scorers import FactorScorer

USERS, ITEMS, SHARD = 400, 300, 40
SHARDS = 2 * -(-USERS // SHARD)  # of both models
PATIENCE = 600  # tenths of a second until what is left has gone by itself, on a busy machine


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=_Plain)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=None, help="runs with worker processes")
    # all of the items by default: estimating takes no time from the shards
    parser.add_argument("--design", default="sampled:300", help="design of the runs")
    asked = parser.parse_args()
    if asked.processes is None:
        asked.processes = asked.runs // 10
    with tempfile.TemporaryDirectory(prefix="faults-") as place:
        dice = random.Random(asked.seed)
        result = faults(Path(place), asked.runs, asked.processes, dice, asked.design)
    report("faults", result)
    sys.exit(0 if result["identical"] == asked.runs and not result["litter"] else 1)


def faults(
    place: Path, runs: int, with_processes: int, dice: random.Random, design: str
) -> dict[str, Any]:
    world = {**_world(), "design": design}
    before = _shared_memory()
    whole, seconds = {}, {}
    _run(world, place / "warm", 0)  # here, so that all runs begin with everything loaded
    for workers in (0, 2) if with_processes else (0,):
        seconds[workers] = _undisturbed(world, place / f"whole-{workers}", workers)
        whole[workers] = _content(place / f"whole-{workers}")
    struck: Counter[str] = Counter()
    identical, litter, chances = 0, [], 0
    for run in range(runs):
        workers = 2 if run < with_processes else 0
        folder = place / f"run-{run}"
        n_kills = dice.randint(1, 3)
        chances += n_kills if workers else 0
        for _ in range(n_kills):
            struck[_killed(world, folder, workers, seconds[workers], dice)] += 1
        _undisturbed(world, folder, workers)
        identical += _content(folder) == whole[workers] == whole[0]
        litter += [path.name for path in folder.rglob("*") if path.name not in _EXPECTED]
        shutil.rmtree(folder)
    litter += [f"process {pid}" for pid in _left_over()]
    abandoned = sorted(_abandoned(before))
    semaphores = [name for name in abandoned if name.startswith("sem.mp-")][:chances]
    for name in semaphores:
        Path("/dev/shm", name).unlink(missing_ok=True)
    litter += [name for name in abandoned if name not in semaphores]
    return {
        "design": design,
        "runs": runs,
        "with worker processes": with_processes,
        "kills": sum(struck.values()),
        "where they struck": dict(sorted(struck.items())),
        "identical": identical,
        "litter": litter,
        "semaphores killed before their registration": len(semaphores),
        "seconds of a run": {str(workers): round(s, 3) for workers, s in seconds.items()},
    }


_EXPECTED = {"ranks", "factors.parquet", "ease.parquet", "results.json", "run.json"}


def _world() -> dict[str, Any]:
    data = simulate(n_users=USERS, n_items=ITEMS, mean_interactions=20, rng=0)
    split = data.split("leave-one-out", by="random", rng=0)
    normal = np.random.default_rng(0).normal
    users, items = (normal(size=(n, 16)).astype(np.float32) for n in (USERS, ITEMS))
    factors = FactorScorer(users, items, user_ids=data.user_ids, item_ids=data.item_ids)
    return {
        "models": {"factors": factors, "ease": EASE(regularization=50)},
        "split": split,
    }


def _run(world: dict[str, Any], folder: Path, workers: int) -> None:
    evaluate(
        world["models"],
        world["split"],
        design=world["design"],
        metrics="recall@10",
        out=folder,
        engine=Processes(workers) if workers else Serial(1),
        shard_size=SHARD,
        report=False,
    )


def _forked(world: dict[str, Any], folder: Path, workers: int) -> int:
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            _run(world, folder, workers)
            code = 0
        finally:
            os._exit(code)
    return pid


def _undisturbed(world: dict[str, Any], folder: Path, workers: int) -> float:
    start = time.perf_counter()
    _, status = os.waitpid(_forked(world, folder, workers), 0)
    if status:
        raise RuntimeError(f"the run in {folder} failed")
    return time.perf_counter() - start


def _killed(
    world: dict[str, Any], folder: Path, workers: int, seconds: float, dice: random.Random
) -> str:
    """Kill a run at a random moment, before its end; what was there then."""
    while True:
        pid = _forked(world, folder, workers)
        wanted = dice.choice([0, 0, *range(SHARDS), SHARDS, SHARDS, SHARDS, SHARDS])
        while _shards(folder) < wanted and os.waitpid(pid, os.WNOHANG) == (0, 0):
            time.sleep(0.001)
        # about what two shards take, or after the last of them what the end takes
        time.sleep(dice.uniform(0, seconds / (4 if wanted == SHARDS else SHARDS)))
        if _dead(pid):
            break
        shutil.rmtree(folder, ignore_errors=True)  # it was through already: begin again
    unfinished = folder / "unfinished"
    if (folder / "run.json").exists():
        return "3 while clearing up"
    if (folder / "ranks").exists() or list(unfinished.glob("*.whole")):
        return "2 putting in place"
    return "1 between shards" if _shards(folder) else "0 before the first shard"


def _dead(pid: int) -> bool:
    """Kill it; whether it was alive until then."""
    try:
        os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
    except (ProcessLookupError, ChildProcessError):
        return False
    return os.WIFSIGNALED(status)


def _shards(folder: Path) -> int:
    return sum(1 for _ in (folder / "unfinished").glob("*-*-*.parquet"))


def _content(folder: Path) -> dict[str, bytes]:
    """All files but the manifest, which tells the time and the engine."""
    return {
        str(path.relative_to(folder)): _compared(path)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "run.json"
    }


def _compared(path: Path) -> bytes:
    """The bytes of a file; of ranks up to K without the column that depends on the blocks."""
    if path.suffix != ".parquet" or "n_scored" not in pq.read_schema(path).names:
        return path.read_bytes()
    sink = pa.BufferOutputStream()
    pq.write_table(pq.read_table(path).drop_columns("n_scored"), sink)
    return sink.getvalue().to_pybytes()


def _shared_memory() -> set[str]:
    """Names of shared memory and semaphores; folders there are somebody's temporary files."""
    place = Path("/dev/shm")
    return {path.name for path in place.iterdir() if not path.is_dir()} if place.is_dir() else set()


def _abandoned(before: set[str]) -> set[str]:
    """What came into shared memory since, is used by no process, and stays: trackers need a while.

    Names cannot tell whose it is (every program's semaphores are called sem.mp-...), but what
    others are using meanwhile is in the memory map of one of their processes, by its inode.
    """
    found = _shared_memory() - before
    for _ in range(PATIENCE):
        used = {inode for pid in _processes() for inode in _mapped(pid)}
        found = {name for name in found if _inode(name) not in used | {None}}
        if not found:
            break
        time.sleep(0.1)
    return found


def _inode(name: str) -> int | None:
    try:
        return Path("/dev/shm", name).stat().st_ino
    except OSError:
        return None


def _mapped(pid: int) -> set[int]:
    """Inodes of the shared memory that a process has in its map."""
    try:
        lines = Path(f"/proc/{pid}/maps").read_text(errors="replace").splitlines()
    except OSError:
        return set()
    return {int(line.split()[4]) for line in lines if "/dev/shm/" in line}


def _left_over() -> list[int]:
    """Workers whose parent is gone, after a while to notice it."""
    for _ in range(PATIENCE):
        found = [pid for pid in _processes() if "spawn_main" in _command(pid)]
        if not found:
            return []
        time.sleep(0.1)
    return found


def _processes() -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def _command(pid: int) -> str:
    """The command line of a process of ours that an ended process of ours has left."""
    try:
        status = Path(f"/proc/{pid}/environ").read_bytes()
        line = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return ""
    return line if f"FULLRANK_FAULTS={_MARK}".encode() in status else ""


_MARK = str(os.getpid())


class _Plain(argparse.RawDescriptionHelpFormatter):
    pass


if __name__ == "__main__":
    os.environ["FULLRANK_FAULTS"] = _MARK  # what our processes are known by
    main()
