"""Measurements of the benchmarks: in turn, by medians, with memory in a separate process."""

from __future__ import annotations

import datetime
import importlib.util
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

# What the work adds to the most a process has held, in MB. Linux hands the peak of a parent
# down through ru_maxrss, so it is read from the process itself where that is possible.
_PEAK = """
def peak():
    try:
        with open("/proc/self/status", encoding="ascii") as status:
            return next(int(l.split()[1]) for l in status if l.startswith("VmHWM")) / 1024
    except FileNotFoundError:
        import resource, sys
        used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return used / (2**20 if sys.platform == "darwin" else 2**10)
{setup}
before = peak()
{work}
print(round(peak() - before, 1))
"""


def in_turn(work: dict[str, Callable[[], Any]], rounds: int = 5) -> dict[str, float]:
    """Median seconds of each; they take turns, so that a busy machine slows them alike."""
    for function in work.values():  # the first call compiles, loads and fills caches
        function()
    times: dict[str, list[float]] = {name: [] for name in work}
    for _ in range(rounds):
        for name, function in work.items():
            start = time.perf_counter()
            function()
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(values) for name, values in times.items()}


def peak_megabytes(setup: str, work: str) -> float:
    """Peak memory that `work` adds to a fresh process in which `setup` has run."""
    script = _PEAK.format(setup=setup, work=work)
    run = subprocess.run(
        [sys.executable, "-c", script], check=True, stdout=subprocess.PIPE, text=True
    )
    return float(run.stdout.split()[-1])


def has_peer(name: str) -> bool:
    """Whether a library to measure beside is installed; if not, that is said in a line."""
    if importlib.util.find_spec(name) is not None:
        return True
    print(f"{name} is not installed (extra `bench`): skipped.", file=sys.stderr)
    return False


def has_data(name: str) -> bool:
    """Whether FULLRANK_DATA has a data set; if not, that is said in a line."""
    if Path(os.environ.get("FULLRANK_DATA", "nowhere"), f"{name}.parquet").is_file():
        return True
    print(f"FULLRANK_DATA does not name a folder with {name}.parquet: skipped.", file=sys.stderr)
    return False


def report(name: str, result: dict[str, Any]) -> None:
    """Print one JSON object, with the machine it was measured on."""
    print(json.dumps(headed(name, result), indent=2))


def headed(name: str, result: dict[str, Any]) -> dict[str, Any]:
    """A result behind its name and the machine it was measured on."""
    head = {
        "benchmark": name,
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
    }
    return {**head, **result}


def stamp() -> dict[str, Any]:
    """The commit that was measured, the date, and the load of the machine.

    The load tells whether other work was under way: a benchmark alone makes 1 or 2.
    """
    command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short=12", "HEAD"]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    return {
        "commit": told.stdout.strip() or None,  # None where git does not know
        "date": f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}",
        "load of the last minutes": [round(one, 1) for one in os.getloadavg()[1:]],
    }
