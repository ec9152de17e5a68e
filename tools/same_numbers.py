"""Compare every stored number, and those of the demo, between two revisions or folders.

    python tools/same_numbers.py main HEAD
    python tools/same_numbers.py ../other-checkout . --no-demo

Stored results are the JSON and npz files below docs, benchmarks and reproduction. They are matched
by file name, wherever they are in the tree, so that a file may move; files that share a name, by
their folder's name too. Numbers in `after` that
`before` does not have are counted as new and are no difference. The demo runs from the sources of
each tree (`python -m fullrank demo --json`); its running times are left out.

The exit code is 1 if a number differs or is missing.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

FOLDERS = ("docs", "benchmarks", "reproduction")
SHOWN = 20  # differences that are printed
Numbers = dict[str, Any]  # by file and path


@dataclass
class Compared:
    """Counts of numbers, and the places where they differ or are missing."""

    equal: int = 0
    new: int = 0
    differing: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)

    def add(self, before: Numbers, after: Numbers) -> None:
        for place, value in before.items():
            if place not in after:
                self.missing.append(place)
            elif _same(value, after[place]):
                self.equal += np.size(value)
            else:
                self.differing.append(place)
        self.new += sum(np.size(value) for place, value in after.items() if place not in before)

    def __str__(self) -> str:
        lines = [f"differs: {one}" for one in self.differing[:SHOWN]]
        lines += [f"missing: {one}" for one in self.missing[:SHOWN]]
        lines.append(
            f"{self.equal:,} numbers are equal, {len(self.differing):,} places differ, "
            f"{len(self.missing):,} are missing; {self.new:,} numbers are new."
        )
        return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("before", help="a git revision or a folder")
    parser.add_argument("after", help="a git revision or a folder")
    parser.add_argument("--no-demo", action="store_true", help="compare stored results only")
    asked = parser.parse_args()
    found = Compared()
    with tempfile.TemporaryDirectory() as scratch:
        trees = [
            _tree(given, Path(scratch, name))
            for name, given in (("before", asked.before), ("after", asked.after))
        ]
        stored = [_stored(tree) for tree in trees]
        print(f"{len(stored[0])} files before, {len(stored[1])} after")
        found.add(*(_merged(one) for one in stored))
        if not asked.no_demo:
            found.add(*(_demo(tree) for tree in trees))
    print(found)
    return int(bool(found.differing or found.missing))


def _tree(given: str, scratch: Path) -> Path:
    """The folder, or the files of the revision in a new folder."""
    if Path(given).is_dir():
        return Path(given).resolve()
    done = subprocess.run(["git", "archive", given], capture_output=True, check=False)
    if done.returncode:
        sys.exit(f"{given} is neither a folder nor a revision: {done.stderr.decode().strip()}")
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        archive.extractall(scratch, filter="data")
    return scratch


def _stored(tree: Path) -> dict[str, Numbers]:
    """The numbers of each stored file, by its name, or by folder and name where it has a twin."""
    paths = [path for folder in FOLDERS for path in sorted((tree / folder).rglob("*"))
             if path.suffix in (".json", ".npz")]  # fmt: skip
    shared = Counter(path.name for path in paths)
    found: dict[str, Numbers] = {}
    for path in paths:
        name = path.name if shared[path.name] == 1 else f"{path.parent.name}/{path.name}"
        if name in found:
            sys.exit(f"{tree} has two files of the name {name}")
        found[name] = _numbers(path)
    return found


def _numbers(path: Path) -> Numbers:
    if path.suffix == ".json":
        return dict(_walk(json.loads(path.read_text(encoding="utf-8"))))
    with np.load(path) as content:
        return {name: content[name] for name in content.files}


def _walk(value: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Every number (and truth value) of parsed JSON with its path."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield from _walk(one, f"{place}/{key}")
    elif isinstance(value, list):
        for at, one in enumerate(value):
            yield from _walk(one, f"{place}/{at}")
    elif isinstance(value, int | float):
        yield place, value


def _merged(files: dict[str, Numbers]) -> Numbers:
    return {f"{name}:{place}": v for name, one in files.items() for place, v in one.items()}


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(
            one, other, equal_nan=one.dtype.kind == "f"
        )
    return type(one) is type(other) and (one == other or (one != one and other != other))


def _demo(tree: Path) -> Numbers:
    """The numbers that the demo prints, without running times."""
    with tempfile.TemporaryDirectory() as scratch:
        done = subprocess.run(
            [sys.executable, "-m", "fullrank", "demo", "--json", "--report", "report.html"],
            cwd=scratch,
            env=os.environ | {"PYTHONPATH": str(tree / "src")},
            stdout=subprocess.PIPE,
            check=True,
        )
    content = dict(_walk(json.loads(done.stdout), "demo:"))
    return {place: value for place, value in content.items() if "seconds" not in place}


if __name__ == "__main__":
    sys.exit(main())
