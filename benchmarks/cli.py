"""What the command line costs: `fullrank --help`, and `fullrank estimate` of ten million ranks.

Each is a fresh process; they take turns with what they are measured against, so that a busy
machine slows them alike. Goals: `--help` at most 0.4 s slower than `import typer, rich`; ten
million rows of Parquet in under 5 s and under 500 MB on two cores that are free.

    python benchmarks/cli.py [pairs] [million rows]
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from _measure import report

HELP_GOAL, SECONDS_GOAL, MEGABYTES_GOAL = 0.4, 5.0, 500.0
# what a process held at most and the time its processor spent, on the last line of stderr
_MEASURED = """
import json, resource, sys
from fullrank import cli
{work}
peak = next(int(l.split()[1]) for l in open("/proc/self/status") if l.startswith("VmHWM")) / 1000
used = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps([peak, used.ru_utime + used.ru_stime]), file=sys.stderr)
"""
_ESTIMATE = """
sys.argv = ["fullrank", "estimate", {path!r}, *{words!r}, "--json"]
if cli.main() != 0:
    sys.exit(1)
"""
_READ = """
import pyarrow.parquet as pq
sum(len(batch) for batch in pq.ParquetFile({path!r}).iter_batches(columns=["rank"]))
"""


def seconds(*command: str) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - start


def measured(work: str) -> dict[str, float]:
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", _MEASURED.format(work=work)],
        check=True,
        capture_output=True,
        text=True,
    )
    took = time.perf_counter() - start
    peak, used = json.loads(done.stderr.splitlines()[-1])
    return {"seconds": took, "cpu_seconds": used, "peak_megabytes": peak}


def of_help(pairs: int) -> dict[str, float]:
    ours = (sys.executable, "-m", "fullrank", "--help")
    theirs = (sys.executable, "-c", "import typer, rich")
    seconds(*ours), seconds(*theirs)  # compile
    times = [(seconds(*ours), seconds(*theirs)) for _ in range(pairs)]
    beyond = statistics.median(mine - other for mine, other in times)
    return {
        "fullrank --help": round(statistics.median(mine for mine, _ in times), 3),
        "import typer, rich": round(statistics.median(other for _, other in times), 3),
        "seconds_beyond": round(beyond, 3),
        "goal_seconds_beyond": HELP_GOAL,
    }


def of_estimate(folder: Path, pairs: int, n: int) -> dict[str, object]:
    """Three files: ranks alone; with users; with sizes, two models and users named by text."""
    rng = np.random.default_rng(0)
    rank = 1 + rng.binomial(99, rng.random(n) ** (1 / 0.37))
    half = n // 2
    sizes = {"sample_size": np.full(n, 100), "n_items": np.full(n, 1_000_000)}
    names = {
        "model": np.repeat(["ease", "ials"], [half, n - half]),
        "user": pa.array([f"user{u}" for u in np.r_[0:half, 0 : n - half]]),
    }
    given = ["--sample-size", "100", "--n-items", "1000000"]
    files = {
        "ranks": ({"rank": rank}, given),
        "ranks and users": ({"rank": rank, "user": np.arange(n)}, given),
        "all columns, two models": ({"rank": rank, **sizes, **names}, []),
    }
    found: dict[str, object] = {"rows": n}
    for name, (columns, words) in files.items():
        path = str(folder / "ranks.parquet")
        pq.write_table(pa.table(columns), path)
        work = {
            "estimate": _ESTIMATE.format(path=path, words=words),
            "read": _READ.format(path=path),
        }
        runs = {kind: [] for kind in work}
        for _ in range(pairs):
            for kind, text in work.items():
                runs[kind].append(measured(text))
        median = {
            kind: {key: statistics.median(run[key] for run in all_runs) for key in all_runs[0]}
            for kind, all_runs in runs.items()
        }
        found[name] = {
            "file_megabytes": round(os.path.getsize(path) / 1e6, 1),
            **{key: round(value, 2) for key, value in median["estimate"].items()},
            "ratio_to_reading_the_column": round(
                median["estimate"]["seconds"] / median["read"]["seconds"], 2
            ),
        }
    return {**found, "goal_seconds": SECONDS_GOAL, "goal_peak_megabytes": MEGABYTES_GOAL}


def main(pairs: int = 5, millions: int = 10) -> None:
    with tempfile.TemporaryDirectory() as folder:
        estimate = of_estimate(Path(folder), pairs, millions * 1_000_000)
    report("cli", {"pairs": pairs, "help": of_help(max(pairs, 5)), "estimate": estimate})


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
