"""Run every benchmark, one after the other, as `make bench` does.

A script that needs missing data or a missing library says so in a line and skips that part.

    python benchmarks                    # all of them in full; takes an hour or two
    python benchmarks --quick            # each in its shortest form, to see that it works
    python benchmarks --quick data cli   # some of them
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent

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


def main() -> int:
    scripts = {path.stem: path for path in sorted(HERE.glob("[!_]*.py"))}
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "names", nargs="*", metavar="name", help=f"some of {', '.join(scripts)}; default: all"
    )
    parser.add_argument("--quick", action="store_true", help="run the shortest form of each")
    asked = parser.parse_args()
    if unknown := set(asked.names) - set(scripts):
        parser.error(f"no benchmark is called {', '.join(sorted(unknown))}")
    failed = []
    for name in asked.names or scripts:
        arguments = QUICK.get(name, []) if asked.quick else []
        print("==", name, *arguments, flush=True)
        began, used = time.monotonic(), _processor_seconds()
        if subprocess.run([sys.executable, str(scripts[name]), *arguments], check=False).returncode:
            failed.append(name)
        taken, used = time.monotonic() - began, _processor_seconds() - used
        print(f"== {name}: {taken:.0f} s, {used:.0f} s of processor time", flush=True)
    if failed:
        print(f"failed: {', '.join(failed)}")
    return int(bool(failed))


def _processor_seconds() -> float:
    """What all children that have ended used: on a busy machine it says more than the clock."""
    return os.times().children_user + os.times().children_system


if __name__ == "__main__":
    sys.exit(main())
