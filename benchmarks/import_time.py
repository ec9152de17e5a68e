"""Compare the time of `import fullrank` with `import numpy`.

Both run in fresh interpreters, in turn, so that a busy machine slows them alike; the goal is to
stay within 0.15 s of numpy. `from fullrank import *` loads every public name.

    python benchmarks/import_time.py [pairs]
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
import time

GOAL = 0.15
STATEMENTS = {
    "python": "pass",
    "numpy": "import numpy",
    "fullrank": "import fullrank",
    "every name": "from fullrank import *",
}


def seconds(statement: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", statement], check=True)
    return time.perf_counter() - start


def main(rounds: int = 11) -> None:
    for statement in STATEMENTS.values():  # the first run compiles and fills the disk cache
        seconds(statement)
    times: dict[str, list[float]] = {name: [] for name in STATEMENTS}
    for _ in range(rounds):
        for name, statement in STATEMENTS.items():
            times[name].append(seconds(statement))
    median = {name: statistics.median(values) for name, values in times.items()}
    result = {
        "benchmark": "import_time",
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "rounds": rounds,
        "median_seconds": {name: round(value, 4) for name, value in median.items()},
        "ratio_to_numpy": round(median["fullrank"] / median["numpy"], 3),
        "seconds_beyond_numpy": round(median["fullrank"] - median["numpy"], 4),
        "seconds_beyond_numpy_every_name": round(median["every name"] - median["numpy"], 4),
        "goal_seconds_beyond_numpy": GOAL,
    }
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
