"""What a fuzz target is, and what counts as a violation.

A target is a function of a `random.Random`: it makes an input from it, gives the input to the
library and returns what came back. The same function serves a plain generator (many inputs a
second), hypothesis (which shrinks what fails) and atheris (which follows coverage).

An input passes if the call returns without a NaN in its answer or raises an error of ours, one
printable sentence; if nothing but our own warnings are given; and if no temporary file stays.
"""

from __future__ import annotations

import atexit
import math
import os
import random
import re
import shutil
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from fullrank.errors import FullrankError, FullrankWarning

Run = Callable[[random.Random], Any]
TARGETS: dict[str, Target] = {}
LONGEST = 2000  # characters of an error's sentence


@dataclass(frozen=True)
class Target:
    """One reader or public function, and its share of the inputs of a long run."""

    name: str
    run: Run
    share: float


@dataclass
class Outcome:
    """What became of many inputs."""

    inputs: int = 0
    returned: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    violations: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)

    def note(self, found: str | None, error: str | None, which: str, text: str = "") -> None:
        self.inputs += 1
        if found is not None:
            self.violations[found] += 1
            self.examples.setdefault(found, f"{which}\n{text}")
        elif error is None:
            self.returned += 1
        else:
            self.errors[error] += 1


def target(name: str, share: float = 1) -> Callable[[Run], Run]:
    """Register a target; `share` is its weight where inputs are dealt out."""

    def register(run: Run) -> Run:
        TARGETS[name] = Target(name, run, share)
        return run

    return register


def seeded(name: str, number: int) -> random.Random:
    """The generator of input `number` of a target."""
    return random.Random(f"{name}:{number}")


def try_one(one: Target, source: random.Random, which: str, outcome: Outcome) -> None:
    """Give a target one input and note what became of it."""
    error, found, text = None, None, ""
    lost: list[Any] = []  # exceptions that a library could not raise, and printed instead
    hook, sys.unraisablehook = sys.unraisablehook, lost.append
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        try:
            answer = one.run(source)
            bad = first_nan(answer)
            if bad is not None:
                found = f"NaN in {bad}"
        except FullrankError as raised:
            error = normal(raised)
            found = spoken_badly(str(raised))
        except Exception as raised:
            where = traceback.extract_tb(raised.__traceback__)[-1]
            at = [
                f for f in traceback.extract_tb(raised.__traceback__) if "fullrank/" in f.filename
            ]
            at = f"{Path(at[-1].filename).name}:{at[-1].lineno}" if at else where.name
            found = f"{type(raised).__name__} at {at}: {_short(str(raised))}"
            text = traceback.format_exc()
    sys.unraisablehook = hook
    if found is None and lost:
        found = f"not raised: {type(lost[0].exc_value).__name__}"
    foreign = [one for one in given if not issubclass(one.category, FullrankWarning)]
    if found is None and foreign:
        first = foreign[0]
        found = f"{first.category.__name__}: {_short(str(first.message))}"
        text = f"{first.filename}:{first.lineno}"
    if found is None and (left := litter()):
        found = f"left behind: {left}"
    outcome.note(found, error, which, text)


def spoken_badly(sentence: str) -> str | None:
    """What is wrong with the sentence of an error, if anything is."""
    if not sentence.isprintable():
        odd = next(one for one in sentence if not one.isprintable())
        return f"an error with {odd!r} in it: {_short(sentence)}"
    if len(sentence) > LONGEST:
        return f"an error of {len(sentence)} characters: {_short(sentence)}"
    return None


def normal(error: BaseException) -> str:
    """An error without what differs from input to input, to count the distinct ones."""
    text = re.sub(r"\S*/fuzz-\S*", "…", str(error).splitlines()[0])
    text = re.sub(r"'[^']*'|\"[^\"]*\"|‘[^’]*’", "'…'", text)
    text = re.sub(r"-?\d[\d.,e+]*", "#", text)
    return f"{type(error).__name__}: {text[:90]}"


def first_nan(answer: Any, where: str = "answer", depth: int = 0) -> str | None:
    """Where in an answer the first NaN is, or None. Infinite numbers count as NaN."""
    if isinstance(answer, float | np.floating):
        return None if math.isfinite(answer) else where
    if isinstance(answer, np.ndarray):
        bad = answer.dtype.kind in "fc" and not np.isfinite(answer).all()
        return where if bad else None
    if depth > 6:
        return None
    if isinstance(answer, Mapping):
        parts: Any = answer.items()
    elif isinstance(answer, list | tuple):
        parts = enumerate(answer)
    else:
        return None
    for key, part in parts:
        found = first_nan(part, f"{where}[{key if isinstance(key, str) else '…'}]", depth + 1)
        if found is not None:
            return found
    return None


# ---- the folder that targets write to ----

_FOLDER: list[Path] = []


def folder() -> Path:
    """A folder for the files of this process, in memory where there is such a place."""
    if not _FOLDER or not _FOLDER[0].is_dir():
        base = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        _FOLDER[:] = [Path(tempfile.mkdtemp(prefix="fuzz-", dir=base))]
        atexit.register(shutil.rmtree, _FOLDER[0], ignore_errors=True)
    return _FOLDER[0]


def written(name: str, content: bytes) -> Path:
    """A file with this content; the next of this name takes its place."""
    path = folder() / name
    with open(path, "wb") as file:
        file.write(content)
    return path


def litter() -> list[str]:
    """Temporary files that a writer left behind; they are removed."""
    if not _FOLDER:
        return []
    left = [one.name for one in os.scandir(_FOLDER[0]) if one.name.endswith(".tmp")]
    for name in left:
        (_FOLDER[0] / name).unlink()
    return left


def _short(text: str) -> str:
    line = (text.splitlines() or [""])[0]
    return re.sub(r"0x\w+|\d+", "#", line)[:110]
