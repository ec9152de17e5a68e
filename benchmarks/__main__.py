"""Run every benchmark, one after the other, as `make bench` does.

A script that needs missing data or a missing library says so in a line and skips that part.

    python benchmarks                    # all of them in full; takes an hour or two
    python benchmarks --quick            # each in its shortest form, to see that it works
    python benchmarks --quick data cli   # some of them
    python benchmarks --keep             # and keep the JSON of each in benchmarks/results
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from _measure import headed, stamp

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"

# The arguments of the shortest form; a script that is not named here has none.
QUICK = {
    "adaptive": ["2", "1"],
    "bounds": ["1"],
    "cli": ["1", "1"],
    "data": ["1", "100000"],
    "ddp": ["--processes", "2", "--users", "101", "--items", "500"],
    "engines": ["--small", "--pairs", "1", "--users", "40000"],
    "estimators": ["1"],
    "faults": ["--runs", "2"],
    "frameworks": ["1"],
    "fuzz": ["--inputs", "500"],
    "frameworks_recbole": ["1", "--only", "BPR"],
    "ials": ["--simulated", "--rounds", "1"],
    "import_time": ["1"],
    "intervals": ["1"],
    "kernels": ["1"],
    "lightning_validation": ["1", "--users", "256", "--retrieval-users", "100"],
    "models": ["1", "item-knn"],
    "module_blocks": ["1", "--users", "600"],
    "one_value": ["1", "--design", "adaptive"],
    "pruned": ["1", "iALS, 64", "random"],
    "ranking_exact": ["1", "factors"],
    "ranking_sampled": ["1"],
    "ranking_sparse": ["1", "--small"],
    "report": ["--users", "200", "--items", "3300", "--rounds", "1"],
    "smoothed": ["1"],
    "torch_counts": ["--rounds", "1", "--scale", "0.1"],
    "training": ["--simulated", "--rounds", "1"],
    "up_to_k": ["1", "ml-1m", "--epochs", "1"],
}

# Scripts that write files to which other devices or environments add: with --keep, these arguments.
# What gpu.py and torch_counts.py measure on a GPU is kept by hand.
THEIR_OWN = {
    "frameworks": ["--into", f"{RESULTS / 'frameworks.json'}"],
    "frameworks_recbole": ["--into", f"{RESULTS / 'frameworks.json'}"],
    "gpu": [],
    "training": ["--keep", f"{RESULTS / 'training.json'}"],
}
ON_THE_CPU = {"torch_counts": "torch_counts_cpu"}  # what is kept as NAME was measured on a GPU


def main() -> int:
    scripts = {path.stem: path for path in sorted(HERE.glob("[!_]*.py"))}
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "names", nargs="*", metavar="name", help=f"some of {', '.join(scripts)}; default: all"
    )
    parser.add_argument("--quick", action="store_true", help="run the shortest form of each")
    parser.add_argument(
        "--keep", action="store_true", help="keep results in benchmarks/results; not with --quick"
    )
    asked = parser.parse_args()
    if unknown := set(asked.names) - set(scripts):
        parser.error(f"no benchmark is called {', '.join(sorted(unknown))}")
    if asked.keep and asked.quick:
        parser.error("--keep needs the full form, and --quick is the shortest")
    failed = []
    for name in asked.names or scripts:
        arguments = QUICK.get(name, []) if asked.quick else []
        if asked.keep:
            arguments = ["--device", "cpu"] if name in ON_THE_CPU else THEIR_OWN.get(name, [])
        print("==", name, *arguments, flush=True)
        began, used = time.monotonic(), _processor_seconds()
        code, output = _shown([sys.executable, str(scripts[name]), *arguments])
        if code:
            failed.append(name)
        elif asked.keep and name not in THEIR_OWN:
            keep(ON_THE_CPU.get(name, name), output)
        taken, used = time.monotonic() - began, _processor_seconds() - used
        print(f"== {name}: {taken:.0f} s, {used:.0f} s of processor time", flush=True)
    if failed:
        print(f"failed: {', '.join(failed)}")
    return int(bool(failed))


def keep(name: str, output: str, results: Path = RESULTS) -> None:
    """Write the JSON of an output to a file: its last object, or all that name a benchmark."""
    objects = list(_objects(output))
    if not objects:
        print(f"{name} printed no JSON, as when what it needs is missing: nothing is kept.")
        return
    parts = [one for one in objects if "benchmark" in one]
    result = objects[-1] if len(parts) < 2 else {"parts": parts}
    result = headed(result.pop("benchmark", name), result) | stamp()
    new = results / f".{name}.json"
    new.write_text(json.dumps(result, indent=2) + "\n", "utf-8")
    new.replace(results / f"{name}.json")


def _objects(output: str) -> Iterator[dict[str, Any]]:
    """The JSON objects of an output that begin a line."""
    end = 0
    for start in (found.start() for found in re.finditer(r"^\{", output, re.M)):
        if start >= end:
            found, length = json.JSONDecoder().raw_decode(output[start:])
            end = start + length
            yield found


def _shown(command: list[str]) -> tuple[int, str]:
    """The exit code and standard output of a command, which is shown as it comes."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = []
        for line in process.stdout:
            print(line, end="", flush=True)
            lines.append(line)
    return process.returncode, "".join(lines)


def _processor_seconds() -> float:
    """What all children that have ended used: on a busy machine it says more than the clock."""
    return os.times().children_user + os.times().children_system


if __name__ == "__main__":
    sys.exit(main())
