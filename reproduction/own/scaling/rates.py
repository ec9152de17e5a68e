"""How fast one core of this machine is, and what a shard costs beside its ranking.

CPU seconds of one thread, medians of five: a core that has other work to do gives the same.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from fullrank.designs import Adaptive, Uniform
from fullrank.engines import Processes, Ray
from fullrank.evaluation.problem import added
from fullrank.ranking import rank, sample_ranks
from fullrank.samples import RankSample, simulate
from fullrank.scorers import FactorScorer

D = 64
SAMPLE_SIZE = 100
ROUNDS = 5


def measured(*, quick: bool) -> dict[str, Any]:
    """All rates; see the page for what each is."""
    sizes = [2_000, 20_000] if quick else [10**5, 10**6, 10**7]
    exact, sampled, adaptive = {}, {}, {}
    design = Uniform(SAMPLE_SIZE)
    for n_items in sizes:
        scorer, targets = world(2_000 if quick else 20_000, n_items)
        if n_items <= 10**6:
            pairs, work = exact_work(scorer, targets, n_items)
            exact[n_items] = pairs / cpu(work)
        sampled[n_items] = targets[0].size * SAMPLE_SIZE / cpu(
            lambda s=scorer, t=targets: sample_ranks(s, t, design=design, n_jobs=1, rng=0)
        )  # fmt: skip
        adaptive[n_items] = adaptive_rate(scorer, targets, n_items)
        del scorer
    return {
        "exact_pairs": _rounded(exact),
        "sampled_pairs": _rounded(sampled),
        "adaptive_pairs": _rounded(adaptive),
        **sample_costs(10 if quick else 1_000),
        **file_costs(2_000 if quick else 100_000),
        **task_costs(50 if quick else 2_000, ray=not quick),
    }


def world(n_users: int, n_items: int) -> tuple[FactorScorer, tuple[np.ndarray, np.ndarray]]:
    random = np.random.default_rng(0)
    items = random.standard_normal((n_items, D), np.float32)
    targets = random.integers(0, n_items, n_users)
    users = random.standard_normal((n_users, D), np.float32)
    users += 0.6 * random.random((n_users, 1), np.float32) * items[targets]
    return FactorScorer(users, items), (np.arange(n_users), targets)


def exact_work(scorer: Any, targets: Any, n_items: int) -> tuple[int, Callable[[], Any]]:
    number = min(targets[0].size, max(256, 10**8 // n_items))
    some = targets[0][:number], targets[1][:number]
    return number * n_items, lambda: rank(scorer, some, n_jobs=1)


def adaptive_rate(scorer: Any, targets: Any, n_items: int) -> float:
    """Pairs scored a second, where levels go up to an eighth of the items or 51,200."""
    some = targets[0][:2_000], targets[1][:2_000]
    limit = min(n_items // 8, 51_200)
    found = sample_ranks(scorer, some, design=Adaptive(limit=limit), n_jobs=1, rng=0)
    seconds = cpu(lambda: sample_ranks(scorer, some, design=Adaptive(limit=limit), n_jobs=1, rng=0))
    return found.average_size * found.n_targets / seconds


def sample_costs(shards: int) -> dict[str, Any]:
    """What the counts of a shard weigh, a row of a sample, and how long adding takes."""
    random = np.random.default_rng(0)
    ranks = np.exp(random.uniform(0.0, np.log(10**8), (shards, 1_000))).astype(int)
    levels = [25 * 2**step for step in range(12)]
    samples = {
        "exact": [RankSample.from_ranks(r, sample_size=10**8, n_items=10**8) for r in ranks],
        "sampled": [simulate(r, n_items=10**8, design=Uniform(SAMPLE_SIZE), rng=0) for r in ranks],
        "adaptive": [
            simulate(r, n_items=10**8, design=Adaptive(levels=levels), rng=0) for r in ranks
        ],
    }
    return {"sample": {name: _sample_cost(several) for name, several in samples.items()}}


def _sample_cost(samples: list[RankSample]) -> dict[str, float]:
    counts = [one.without_rows() for one in samples]
    whole = added(counts)
    rows = samples[0].rows
    assert rows is not None
    named = replace(samples[0], rows=replace(rows, user=np.arange(10**6, 10**6 + rows.rank.size)))
    read = sum(one.rank.size for one in (whole, whole))
    return {
        "outcomes": whole.rank.size,  # of all these users
        "counts_bytes": _file_size(whole),
        "row_bytes": round(_file_size(named) / rows.rank.size, 1),
        "add_seconds": float(f"{cpu(lambda: added(counts)) / len(counts):.3g}"),
        "add_seconds_per_outcome": float(f"{cpu(lambda: whole + whole) / read:.3g}"),
    }


def _file_size(sample: RankSample) -> int:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "one.parquet")
        sample.write(path)
        return path.stat().st_size


def file_costs(n_users: int) -> dict[str, Any]:
    """Reading a shard of users' factors and targets from Parquet, bytes a CPU second."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    factors = np.random.default_rng(0).standard_normal(n_users * D, np.float32)
    columns = {
        "target": np.arange(n_users),
        "factors": pa.FixedSizeListArray.from_arrays(pa.array(factors), D),
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "shard.parquet")
        pq.write_table(pa.table(columns), path, compression="none", use_dictionary=False)

        def read() -> np.ndarray:
            lists = pq.read_table(path, use_threads=False)["factors"].combine_chunks()
            return lists.flatten().to_numpy().reshape(-1, D)

        assert np.array_equal(read().ravel(), factors)
        size = path.stat().st_size
        seconds = cpu(read)
    return {
        "parquet_bytes_per_user": round(size / n_users, 1),
        "parquet_read": float(f"{size / seconds:.3g}"),
    }


def _nothing(shared: RankSample, part: int) -> RankSample:
    return shared


def _resident(shared: Any, part: int) -> float:
    """What a worker that has ranked something holds of its own, in MB."""
    sample_ranks(*world(100, 200), design="sampled:10", n_jobs=1, rng=0)
    lines = Path("/proc/self/status").read_text("ascii").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("RssAnon"))


def task_costs(tasks: int, *, ray: bool) -> dict[str, Any]:
    """Seconds of the driver for each shard: handed out, its counts taken in and added, kept.

    CPU seconds with worker processes. With Ray, where others work for the driver, and for what is
    kept on disk, seconds by the clock.
    """
    with Processes(1) as engine:
        (_, resident), *_ = engine.map(_resident, None, [0])
        by_processes = _handed(engine, tasks, time.process_time)
    found = {
        "processes_seconds": by_processes,
        "keep_seconds": _kept_seconds(),
        "ray_seconds": None,
        "worker_megabytes": round(resident, 1),
    }
    if ray:
        os.environ |= {"RAY_AUTH_MODE": "disabled", "RAY_USAGE_STATS_ENABLED": "0"}
        with Ray(workers=1) as engine:
            found["ray_seconds"] = _handed(engine, tasks, time.perf_counter)
    slowest = max(by_processes, found["ray_seconds"] or 0.0)
    return found | {"driver_seconds": float(f"{slowest + found['keep_seconds']:.3g}")}


def _handed(engine: Any, tasks: int, now: Callable[[], float]) -> float:
    sample = simulate(np.arange(1, 1001), n_items=10**6, design=Uniform(SAMPLE_SIZE), rng=0)
    counts, total = sample.without_rows(), None
    list(engine.map(_nothing, counts, range(10)))  # the workers are there
    start = now()
    for _, part in engine.map(_nothing, counts, range(tasks)):
        total = part if total is None else total + part
    return float(f"{(now() - start) / tasks:.3g}")


def _kept_seconds() -> float:
    """A small file written, flushed to the disk and renamed, as a run keeps its shards."""
    times = []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(20):
            start = time.perf_counter()
            with Path(folder, "new").open("wb") as file:
                file.write(bytes(4096))
                file.flush()
                os.fsync(file.fileno())
            Path(folder, "new").replace(Path(folder, f"{number}"))
            times.append(time.perf_counter() - start)
    return float(f"{statistics.median(times):.3g}")


def cpu(work: Callable[[], Any]) -> float:
    """CPU seconds, the median; the first call compiles."""
    work()
    times = []
    for _ in range(ROUNDS):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return max(statistics.median(times), 1e-9)


def _rounded(rates: dict[int, float]) -> dict[str, float]:
    return {str(n_items): float(f"{rate:.3g}") for n_items, rate in rates.items()}
