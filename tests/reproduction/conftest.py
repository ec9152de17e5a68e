"""What the tests of the studies share: stored results and quick runs."""

from __future__ import annotations

import copy
import importlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def stored() -> Callable[[str], Any]:
    """``stored(name)`` is the stored result of a study, to be changed at will."""
    tables = importlib.import_module("reproduction.tables")
    return lambda name: copy.deepcopy(tables.stored(name))


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Processes begun here obey SIGINT, though a job in the background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def quick(tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """``quick(name, *options)`` runs the quick form: its result, and `quick.printed`."""

    def run(name: str, *options: str, **environment: str) -> dict[str, Any]:
        command = [sys.executable, "-m", "reproduction", "run", name, "--quick"]
        done = subprocess.run(
            [*command, "--out", tmp_path, "--cache", tmp_path, *options],
            capture_output=True,
            text=True,
            encoding="utf-8",
            cwd=ROOT,
            env=os.environ | {"OPENBLAS_NUM_THREADS": "1"} | environment,
        )
        assert done.returncode == 0, done.stderr
        run.printed = done.stdout
        content = json.loads((tmp_path / f"{name}.json").read_text(encoding="utf-8"))
        assert isinstance(content, dict)
        assert (content["study"], content["quick"]) == (name, True)
        return content

    return run
