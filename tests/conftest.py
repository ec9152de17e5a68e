"""What all tests share: optional packages, real data, and what each marker asks for.

FULLRANK_REQUIRE_EXTRAS=1   a missing extra fails the test instead of skipping it
FULLRANK_DATA=folder        where the tests marked `realdata` find their files
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import NoReturn

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parents[1]

os.environ.setdefault("MPLBACKEND", "Agg")  # no test opens a window

# No test depends on the pace of the machine, which others may keep busy, nor on chance: the same
# examples are tried each time. `--hypothesis-profile explore` tries others.
_patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("unhurried", _patient, derandomize=True)
settings.register_profile("explore", _patient)
settings.load_profile("unhurried")


@pytest.fixture(scope="session")
def root() -> Path:
    """The project's folder."""
    return ROOT


@pytest.fixture(scope="session")
def need() -> Callable[[str], ModuleType]:
    """``need("torch")`` gives the module, or skips (in CI: fails) the test without it."""
    return _need


@pytest.fixture(scope="session")
def data_file() -> Callable[[str], Path]:
    """``data_file("ml-1m.parquet")`` gives its path, or skips; marks the test `realdata`."""
    return _data_file


@pytest.fixture(scope="module")
def chromium() -> str:
    """The path of the browser, or skips (in CI: fails) the test without it."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    return program or _missing("chromium is not installed")


@pytest.hookimpl(tryfirst=True)  # before -m selects by marker
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    seen: Counter[str] = Counter()
    for item in items:
        if "data_file" in getattr(item, "fixturenames", ()):
            item.add_marker("realdata")
        if breadth := item.get_closest_marker("breadth"):
            test = item.nodeid.partition("[")[0]
            seen[test] += 1
            if seen[test] > (breadth.args[0] if breadth.args else 1):
                item.add_marker("verify")


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("realdata"):
        _data_folder()
    if item.get_closest_marker("ray"):
        _need("ray")
    if item.get_closest_marker("browser"):
        _need("playwright")
    if item.get_closest_marker("gpu") and not _need("torch").cuda.is_available():
        pytest.skip("no CUDA device")  # hardware, not an extra: never a failure


@pytest.fixture(autouse=True)
def _close_figures() -> Iterator[None]:
    yield
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        pyplot.close("all")


def _need(module: str) -> ModuleType:
    if importlib.util.find_spec(module) is None:
        _missing(f"{module} is not installed")
    return importlib.import_module(module)


def _missing(what: str) -> NoReturn:
    if os.environ.get("FULLRANK_REQUIRE_EXTRAS") == "1":
        pytest.fail(f"{what}, and FULLRANK_REQUIRE_EXTRAS=1 asks for it", pytrace=False)
    pytest.skip(what)


def _data_folder() -> Path:
    named = os.environ.get("FULLRANK_DATA")
    if not named:
        pytest.skip("FULLRANK_DATA names no folder")
    folder = Path(named)
    if not folder.is_dir():  # a slip of the pen, not a machine without the data
        pytest.fail(f"FULLRANK_DATA must name a folder; {named} is not one", pytrace=False)
    return folder


def _data_file(name: str) -> Path:
    path = _data_folder() / name
    if not path.is_file():
        pytest.skip(f"FULLRANK_DATA has no {name}")
    return path
