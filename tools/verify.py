"""The checks that take too long for every change, and what they found the last time.

Each result is kept in verification/NAME.json with a hash of what it measured: the folders of
src/fullrank that it runs, all folders that these may import, and the files of the check itself. A
result is fresh while these are as they were, stale afterwards.

    python tools/verify.py                   # run them all: hours
    python tools/verify.py faults            # run one
    python tools/verify.py --stale           # fresh, stale, failed, damaged or missing, each
    python tools/verify.py --stale --strict  # and exit with 1 unless all are fresh
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # as a script it is not a package

from tools.import_graph import FLOOR_PLAN

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "fullrank"
RESULTS = ROOT / "verification"


@dataclass(frozen=True)
class Check:
    """A command for Python, the folders of src/fullrank that it runs, and its own files."""

    name: str
    command: tuple[str, ...]
    measures: tuple[str, ...]
    own: tuple[str, ...] = ()

    @property
    def shown(self) -> str:
        """The command as one would type it."""
        return shlex.join(["python", *self.command])


CHECKS = (
    Check(
        "interpreter",  # every CUDA kernel, by Triton's interpreter
        ("-m", "pytest", "-q", "-n", "2", "tests/cuda"),
        ("ranking", "models", "evaluation"),
        ("tests/cuda",),
    ),
    Check(
        "statistical",  # coverage, bias and error on known truths
        ("-m", "pytest", "-q", "-n", "2", "tests/statistical"),
        ("inference",),
        ("tests/statistical",),
    ),
    Check(
        "studies",  # every study in its short form
        ("-m", "pytest", "-q", "-n", "2", "tests/reproduction"),
        ("evaluation",),
        ("reproduction", "tests/reproduction"),
    ),
    Check(
        "fuzz",  # every reader and every public function
        ("benchmarks/fuzz.py", "--inputs", "1000000"),
        ("evaluation",),
        ("benchmarks/fuzz.py", "tests/fuzz"),
    ),
    Check(
        "faults",  # runs killed at random moments
        ("benchmarks/faults.py", "--runs", "500"),
        ("evaluation",),
        ("benchmarks/faults.py",),
    ),
)


def reached(folders: Sequence[str], source: Path = SOURCE) -> list[Path]:
    """The folders, and those that they may import; a folder that is named must be there."""
    if absent := [name for name in folders if not (source / name).is_dir()]:
        raise FileNotFoundError(f"{', '.join(absent)} must be a folder of {source.name}")
    rooms = {*folders, *(room for name in folders for room in FLOOR_PLAN.get(name, ()))}
    return [source / name for name in sorted(rooms) if name and (source / name).is_dir()]


def code_hash(folders: Sequence[str], own: Sequence[str] = (), source: Path = SOURCE) -> str:
    """SHA-256 over all files that count: relative paths, sorted, and contents."""
    places = [*reached(folders, source), *(ROOT / name for name in own)]
    files = {
        f"{place.name}/{path.relative_to(place).as_posix()}": path
        for place in places
        for path in (place.rglob("*") if place.is_dir() else [place])
        if path.is_file() and "__pycache__" not in path.parts
    }
    digest = hashlib.sha256()
    for name, path in sorted(files.items()):
        content = path.read_bytes()
        digest.update(f"{name}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


def counts(output: str) -> dict[str, Any]:
    """The numbers at the end of an output: of its JSON object, or of pytest's closing line."""
    starts = [found.start() for found in re.finditer(r"^\{", output, re.M)]
    if starts:
        try:
            told = json.loads(output[starts[-1] :])
        except ValueError:
            pass
        else:
            return {
                name: value
                for name, value in told.items()
                if isinstance(value, int | float) and name != "seconds"
            }
    for line in reversed(output.splitlines()):
        found = re.findall(r"(\d+) (passed|failed|skipped|deselected|xfailed|errors?)\b", line)
        if found:
            return {what: int(number) for number, what in found}
    return {}


def run(check: Check, *, source: Path = SOURCE, results: Path = RESULTS) -> dict[str, Any]:
    """Run a check, showing what it prints, and keep its result."""
    code = code_hash(check.measures, check.own, source)  # of what the run begins with
    began = time.monotonic()
    with subprocess.Popen(
        [sys.executable, *check.command],
        cwd=ROOT,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        assert process.stdout is not None
        lines = []
        for line in process.stdout:
            print(line, end="", flush=True)
            lines.append(line)
    result = {
        "check": check.name,
        "command": check.shown,
        "outcome": "passed" if process.returncode == 0 else "failed",
        "exit": process.returncode,
        "counts": counts("".join(lines)),
        "seconds": round(time.monotonic() - began, 1),
        "python": platform.python_version(),
        "numpy": metadata.version("numpy"),
        "numba": metadata.version("numba"),
        "measures": list(check.measures),
        "code": code,
    }
    results.mkdir(parents=True, exist_ok=True)
    with NamedTemporaryFile("w", dir=results, delete=False, encoding="utf-8") as new:
        new.write(json.dumps(result, indent=2) + "\n")
    os.replace(new.name, results / f"{check.name}.json")
    return result


def state(check: Check, *, source: Path = SOURCE, results: Path = RESULTS) -> str:
    """Whether the kept result is fresh, stale, failed, damaged or missing."""
    path = results / f"{check.name}.json"
    if not path.is_file():
        return "missing"
    try:
        kept = json.loads(path.read_text("utf-8"))
        made = (kept["command"], kept["code"])
        passed = kept["outcome"] == "passed"
    except (ValueError, KeyError, TypeError):
        return "damaged"
    if made != (check.shown, code_hash(check.measures, check.own, source)):
        return "stale"
    return "fresh" if passed else "failed"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the checks named, or tell which results are older than the code they measure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    names = [check.name for check in CHECKS]
    parser.add_argument("checks", nargs="*", metavar="check", help=f"of {', '.join(names)}; or all")
    parser.add_argument("--stale", action="store_true", help="run nothing, tell what is fresh")
    parser.add_argument("--strict", action="store_true", help="with --stale: 1 unless all is fresh")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where results are kept")
    told = parser.parse_args(argv)
    if unknown := set(told.checks) - set(names):
        parser.error(f"no check is called {', '.join(sorted(unknown))}; there are {names}")
    chosen = [check for check in CHECKS if not told.checks or check.name in told.checks]
    try:
        if told.stale:
            states = {check: state(check, results=told.results) for check in chosen}
            for check, found in states.items():
                print(f"{found:<8} {check.name} ({', '.join(check.measures)})")
            return int(told.strict and set(states.values()) != {"fresh"})
        found = [run(check, results=told.results) for check in chosen]
    except FileNotFoundError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    for result in found:
        print(f"{result['outcome']:<8} {result['check']} {result['counts']} {result['seconds']} s")
    return int(any(result["outcome"] != "passed" for result in found))


if __name__ == "__main__":
    sys.exit(main())
