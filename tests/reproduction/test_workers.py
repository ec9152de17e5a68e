"""Work of the studies in several processes: what they say, and that they end with the study."""

from __future__ import annotations

import doctest
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType

import pytest

from reproduction.common import workers as module

ROOT = Path(__file__).parents[2]


class Time:
    """A clock that is set by hand."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_the_example() -> None:
    assert doctest.testmod(module).failed == 0


def test_a_line_now_and_then_with_the_time_left(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Time()
    steps = module.Steps(1000, "cells", now=clock)
    for _ in range(1000):
        clock.now += 1.0
        steps.step()
    out, err = capsys.readouterr()
    assert out == ""
    lines = err.splitlines()
    assert lines[:2] == [
        "cells: 10 of 1,000, about 16:30 left",
        "cells: 20 of 1,000, about 16:20 left",
    ]
    # every ten seconds at first, then less often: no flood in a file
    assert 30 < len(lines) < 60
    assert not lines[-1].startswith("cells: 1,000")


def test_what_was_kept_tells_nothing_of_the_speed() -> None:
    clock = Time()
    steps = module.Steps(10, "cells", now=clock)
    said = [steps.text() for _ in range(8)]
    assert said[-1] == "8 of 10"
    clock.now += 30.0
    assert steps.text() == "9 of 10, about 0:30 left"
    clock.now += 30.0
    assert steps.text() == "10 of 10"


def test_nothing_is_said_of_what_is_quick(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "Steps", partial(module.Steps, now=Time()))
    assert list(module.watched(range(100), 100)) == list(range(100))
    assert capsys.readouterr() == ("", "")


STUDY = """
import sys, time, pathlib
sys.path.insert(0, {root!r})
from reproduction.common.workers import workers

def work(name):
    pathlib.Path({folder!r}, name).write_text(str(__import__("os").getpid()))
    time.sleep(600)

if __name__ == "__main__":
    with workers(2) as pool:
        running = [pool.submit(work, name) for name in ("one", "two", "three", "four")]
        [one.result() for one in running]
"""
# the same by the crew of gowalla_losses, whose workers have the data
CREW = """
import sys, time, pathlib
sys.path.insert(0, {root!r})
from reproduction.gowalla_losses import runs

def work(name, device, cache, deadline):
    assert runs._WORLD == "the data"
    pathlib.Path({folder!r}, name).write_text(str(__import__("os").getpid()))
    time.sleep(600)

runs.run = work
if __name__ == "__main__":
    with runs.crew("the data", jobs=2, device="cpu", cache=pathlib.Path()) as hands:
        list(hands.run(["one", "two", "three", "four"], 0.0))
"""


@pytest.mark.slow
@pytest.mark.usefixtures("interruptible")
@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("how", ["Ctrl-C", "killed"])
@pytest.mark.parametrize("study", [STUDY, CREW], ids=["workers", "crew"])
def test_no_process_is_left(
    tmp_path: Path, how: str, study: str, need: Callable[[str], ModuleType]
) -> None:
    if study == CREW:
        need("torch")
    script = tmp_path / "study.py"
    script.write_text(study.format(root=str(ROOT), folder=str(tmp_path)))
    child = subprocess.Popen(
        [sys.executable, script], stderr=subprocess.PIPE, start_new_session=True
    )
    begun = [tmp_path / name for name in ("one", "two")]
    while not all(path.is_file() and path.read_text() for path in begun):
        assert child.poll() is None
        time.sleep(0.05)
    if how == "Ctrl-C":
        os.killpg(child.pid, signal.SIGINT)
    else:
        child.kill()
    _, said = child.communicate(timeout=600)
    # the study says it once, and the workers nothing
    assert said.count(b"Traceback") == (1 if how == "Ctrl-C" else 0)
    end = time.monotonic() + 600
    while any(_runs(int(path.read_text())) for path in begun):
        assert time.monotonic() < end, "a worker goes on"
        time.sleep(0.05)
    assert not (tmp_path / "three").exists()


def _runs(pid: int) -> bool:
    """One that has ended, and that nobody has asked about, is a zombie where there is a /proc."""
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except ProcessLookupError:
        return False
    except FileNotFoundError:
        return not Path("/proc/self/stat").exists()
    return state != "Z"
