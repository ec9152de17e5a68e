"""Compare the engines: scaling, overhead, memory, and a run of ten million users.

Goals, on two cores, one thread of BLAS for each worker and for `serial`:

- scaling: exact ranks of gowalla (its given split, 64 factors of PureSVD): two processes at least
  1.7 times as fast as one thread;
- ray: on a run of a minute or more, at most 1.25 times the time of two processes;
- memory: what a worker holds for itself when half a gigabyte is shared: none of it;
- scale: 10,000,000 users × 100,000 items, 100 candidates each, from a Parquet file: memory flat,
  time linear in users, and what the time left was said to be beside what it was.

Engines take turns; each is started anew and warmed up before it is timed, what that takes is told
beside, and ratios are of medians. FULLRANK_DATA names the folder of gowalla.parquet; `scale` needs
2 GB in --folder and writes scale.svg there if matplotlib is installed. Parts: scaling, ray, memory,
scale.

    FULLRANK_DATA=folder python benchmarks/engines.py [--pairs 5] [--small] [part …]
"""

from __future__ import annotations

import argparse
import contextlib
import os
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from _measure import has_data, report

from fullrank._lib.progress import Clock
from fullrank.data import simulate
from fullrank.data.sets import datasets
from fullrank.data.shards import ShardedTargets
from fullrank.designs import Exact
from fullrank.engines import Engine, Processes, Ray, Serial
from fullrank.evaluation import evaluate
from fullrank.evaluation.problem import Problem, rank_shard
from fullrank.models import PureSVD
from fullrank.scorers import FactorScorer, UserFactors, UserFile, write_users

BLOCK = 20_000  # users in a row group of `scale`


def main() -> None:
    parts: dict[str, Callable[[argparse.Namespace], Any]] = {
        "scaling": scaling,
        "ray": ray,
        "memory": memory,
        "scale": scale,
    }
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", choices=[[], *parts], metavar="part")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--small", action="store_true", help="run a small form as a check")
    parser.add_argument(
        "--users", type=int, default=10_000_000, help="number of users of the part `scale`"
    )
    parser.add_argument(
        "--folder", type=Path, default=None, help="folder for the files of the part `scale`"
    )
    asked = parser.parse_args()
    os.environ.setdefault("RAY_AUTH_MODE", "disabled")
    wanted = list(asked.parts or parts)
    if "scaling" in wanted and not asked.small and not has_data("gowalla"):
        wanted.remove("scaling")
    report("engines", {name: parts[name](asked) for name in wanted})


def scaling(asked: argparse.Namespace) -> dict[str, Any]:
    if asked.small:
        split = simulate(n_users=2000, n_items=3000).split("leave-one-out", by="random", rng=0)
    else:
        split = datasets.load_split("gowalla")
    scorer = PureSVD(n_factors=64).fit(split.train).scorer()
    targets = ShardedTargets.of(split.test).excluding(split.train)
    return in_pairs(
        {"serial": lambda: Serial(1), "processes": lambda: Processes(2)},
        problem_of(scorer, targets),
        targets.shards(512),
        asked.pairs,
    )


def ray(asked: argparse.Namespace) -> dict[str, Any]:
    n_users, n_items = (2_000, 20_000) if asked.small else (150_000, 500_000)
    random = np.random.default_rng(0)
    users, items = (random.standard_normal((n, 64), np.float32) for n in (n_users, n_items))
    pairs = np.arange(n_users), random.integers(0, n_items, n_users)
    targets = ShardedTargets.of(pairs)
    return in_pairs(
        {"processes": lambda: Processes(2), "ray": lambda: Ray(workers=2)},
        problem_of(FactorScorer(users, items), targets),
        targets.shards(1024),
        asked.pairs,
    )


def problem_of(scorer: Any, targets: ShardedTargets) -> Problem:
    return Problem(scorer=scorer, targets=targets, design=Exact(), seed=0, threads=1)


def in_pairs(
    engines: dict[str, Callable[[], Engine]], problem: Problem, shards: list[Any], pairs: int
) -> dict[str, Any]:
    """Both engines in turn, the second beside the first."""
    times: dict[str, list[float]] = {name: [] for name in engines}
    used: dict[str, list[float]] = {name: [] for name in engines}
    starts: dict[str, list[float]] = {name: [] for name in engines}
    ranks = {}
    for _ in range(pairs):
        for name, make in engines.items():
            begin = time.perf_counter()
            with make() as engine:  # one at a time: an idle Ray takes a share of the processors
                list(engine.map(rank_shard, problem, shards[:4]))  # workers up, kernels loaded
                starts[name].append(time.perf_counter() - begin)
                begin, before = time.perf_counter(), _cpu_seconds()
                found = dict(engine.map(rank_shard, problem, shards))
                times[name].append(time.perf_counter() - begin)
                used[name].append(_cpu_seconds() - before)
            ranks[name] = np.concatenate([found[i].ranks for i in range(len(shards))])
    first, second = engines
    medians = {name: statistics.median(values) for name, values in times.items()}
    least = {name: min(values) for name, values in times.items()}
    return {
        "seconds": {name: [round(s, 2) for s in values] for name, values in times.items()},
        # what a busy machine disturbs less: with free cores two workers take half of it
        "seconds of processors": {name: round(statistics.median(v), 2) for name, v in used.items()},
        "to start, seconds": {name: round(statistics.median(v), 2) for name, v in starts.items()},
        f"{second} over {first}, medians": round(medians[second] / medians[first], 3),
        f"{first} over {second}, medians": round(medians[first] / medians[second], 3),
        f"{first} over {second}, least": round(least[first] / least[second], 3),
        "identical": bool(np.array_equal(ranks[first], ranks[second])),
    }


def memory(asked: argparse.Namespace) -> dict[str, Any]:
    size = 50 if asked.small else 500
    array = np.ones((size, 2**17))  # a megabyte a row
    with Processes(2) as engine:
        found = list(engine.map(_touched, array, list(range(8))))
    return {
        "shared megabytes": size,
        "private megabytes of each worker": sorted({mb for _, (_, mb) in found}),
        "sums are right": all(total == array.size for _, (total, _) in found),
    }


def _touched(array: np.ndarray, part: int) -> tuple[float, int]:
    """Read all of it; the memory that is this process's alone."""
    total = float(array.sum())
    text = Path("/proc/self/smaps_rollup").read_text("ascii")
    private = [int(line.split()[1]) for line in text.splitlines() if line.startswith("Private_")]
    return total, round(sum(private) / 1024)


def scale(asked: argparse.Namespace) -> dict[str, Any]:
    n_users = 100_000 if asked.small else asked.users
    with contextlib.ExitStack() as stack:
        folder = asked.folder or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        path = folder / f"users-{n_users}.parquet"
        if not path.is_file():
            write_users(path, _blocks(n_users))
        items = np.random.default_rng(0).standard_normal((100_000, 32), np.float32)
        users = UserFile(path=path, n_items=100_000)
        watch = Watch()
        with watch:
            found = evaluate(
                {"factors": UserFactors(item_factors=items)},
                users,
                design="sampled:100",
                engine=Processes(2),
                shard_size=BLOCK,
                keep_rows=False,
                progress=watch.steps,
            )
        result = watch.result(n_users)
        _draw(watch, folder / "scale.svg", n_users)
    result["recall@10 of chance"] = round(found.estimates["factors"]["recall@10"], 6)
    return result


def _blocks(n_users: int) -> Iterator[dict[str, Any]]:
    for start in range(0, n_users, BLOCK):
        size = min(BLOCK, n_users - start)
        random = np.random.default_rng([1, start])
        yield {
            "user": np.arange(start, start + size),
            "target": random.integers(0, 100_000, size),
            "factors": random.standard_normal((size, 32), np.float32),
        }


class Watch:
    """Memory and progress of a run, as time goes by."""

    def __init__(self) -> None:
        self.memory: list[tuple[float, float]] = []  # seconds, megabytes
        self.done: list[tuple[float, int, float | None]] = []  # seconds, users, seconds left
        self._start, self._ended = time.perf_counter(), threading.Event()
        self._thread = threading.Thread(target=self._look)

    def __enter__(self) -> Watch:
        self._start = time.perf_counter()
        self._thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._ended.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._ended.wait(0.5):
            self.memory.append((time.perf_counter() - self._start, _megabytes()))

    @contextlib.contextmanager
    def steps(self, label: str) -> Iterator[Callable[[int, int], None]]:
        clock = Clock()

        def show(done: int, total: int) -> None:
            now = time.perf_counter() - self._start
            self.done.append((now, done, clock.left(done, total)))

        yield show

    def result(self, n_users: int) -> dict[str, Any]:
        end = self.done[-1][0]
        # after a tenth all kernels are loaded; from then on memory should stay, and time be a line
        late = [mb for at, mb in self.memory if at > end / 10]
        half = len(late) // 2
        told = {}
        for share in (0.1, 0.25, 0.5, 0.75):
            at, _, left = next(one for one in self.done if one[1] >= share * n_users)
            told[f"{share:.0%}"] = {"said": round(left or 0, 1), "was": round(end - at, 1)}
        quarter = [next(t for t, n, _ in self.done if n >= q * n_users / 4) for q in range(1, 5)]
        return {
            "users": n_users,
            "seconds": round(end, 1),
            "seconds of each quarter after the first": np.diff(quarter).round(1).tolist(),
            "megabytes, first half and second": [
                round(statistics.median(late[:half] or [0])),
                round(statistics.median(late[half:] or [0])),
            ],
            "megabytes at most": round(max((mb for _, mb in self.memory), default=0)),
            "seconds left": told,
        }


def _megabytes() -> float:
    """Proportional memory of this process and its workers: what is shared counts once."""
    total = 0.0
    for pid in [os.getpid(), *_descendants()]:
        with contextlib.suppress(OSError, StopIteration):
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text("ascii").splitlines()
            total += next(int(one.split()[1]) for one in lines if one.startswith("Pss_Anon:"))
    return total / 1024


def _cpu_seconds() -> float:
    """Of this process and its workers."""
    ticks = sum(sum(map(int, _stat(pid)[11:13])) for pid in _descendants())
    return time.process_time() + ticks / os.sysconf("SC_CLK_TCK")


def _descendants() -> list[int]:
    numbers = [int(place.name) for place in Path("/proc").iterdir() if place.name.isdigit()]
    parents = {pid: int(_stat(pid)[1]) for pid in numbers}
    found, more = [], [os.getpid()]
    while more:
        more = [pid for pid, parent in parents.items() if parent in more]
        found += more
    return found


def _stat(pid: int) -> list[str]:
    """The numbers behind the name of a process; zeros if it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
    except OSError:
        return ["0"] * 50


def _draw(watch: Watch, path: Path, n_users: int) -> None:
    try:
        import matplotlib
    except ImportError:
        return
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (above, below) = pyplot.subplots(2, sharex=True, figsize=(6, 5))
    above.plot([t for t, _ in watch.memory], [mb for _, mb in watch.memory], color="black")
    above.set(ylabel="memory, MB", ylim=(0, None))
    below.plot([t for t, _, _ in watch.done], [n / 1e6 for _, n, _ in watch.done], color="black")
    below.set(ylabel="million users done", xlabel="seconds", ylim=(0, None))
    above.set_title(f"{n_users:,} users × 100,000 items, 100 candidates each", fontsize="medium")
    figure.tight_layout()
    figure.savefig(path)


if __name__ == "__main__":
    main()
