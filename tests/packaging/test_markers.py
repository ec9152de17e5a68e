"""What the shared fixtures and markers do, seen on a small suite of their own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SUITE = """
import pytest

@pytest.mark.slow
def test_need_gives_the_module(need):
    assert need("json").dumps(1) == "1"

@pytest.mark.slow
def test_need_misses(need):
    need("no_such_package")

@pytest.mark.slow
def test_browser(chromium):
    pass

def test_file_there(data_file):
    assert data_file("there.txt").read_text() == "x"

def test_file_not_there(data_file):
    data_file("absent.parquet")

@pytest.mark.realdata
def test_marked():
    pass

def test_neither_slow_nor_of_real_data():
    pass

@pytest.mark.slow
@pytest.mark.breadth
@pytest.mark.parametrize("case", ["first", "second"])
def test_cases(case):
    pass

@pytest.mark.slow
@pytest.mark.breadth(2)
@pytest.mark.parametrize("case", ["first", "second"])
@pytest.mark.parametrize("other", [1, 2])
def test_two(case, other):
    pass
"""
# a folder for each setting, which is made before our own conftest looks at it
SETTING = """
import os
import pytest

@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    for name in ("FULLRANK_REQUIRE_EXTRAS", "FULLRANK_DATA"):
        os.environ.pop(name, None)
    os.environ.update({settings!r})
"""


@pytest.fixture(scope="module")
def outcomes(root: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    """The suite above under our conftest and settings, in one run: {setting: {test: outcome}}."""
    folder = tmp_path_factory.mktemp("suite")
    shutil.copy(root / "tests" / "conftest.py", folder)
    shutil.copy(root / "pyproject.toml", folder)
    (folder / "there.txt").write_text("x", "utf-8")
    settings = {
        "bare": {},
        "ci": {"FULLRANK_REQUIRE_EXTRAS": "1", "FULLRANK_DATA": str(folder)},
        "astray": {"FULLRANK_DATA": "nowhere"},
    }
    for name, chosen in settings.items():
        (folder / name).mkdir()
        (folder / name / "conftest.py").write_text(SETTING.format(settings=chosen), "utf-8")
        (folder / name / "test_suite.py").write_text(SUITE, "utf-8")
    command = [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider"]
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("FULLRANK_", "PYTEST_"))}
    done = subprocess.run(
        [*command, "-m", "(slow or realdata) and not verify", *settings],
        capture_output=True,
        text=True,
        cwd=folder,
        env=kept | {"PATH": str(folder)},  # where there is no browser
    )
    found: dict[str, dict[str, str]] = {name: {} for name in settings}
    for line in done.stdout.splitlines():
        place, _, rest = line.partition("/test_suite.py::test_")
        if place in found and len(words := rest.split()) > 1:
            found[place][words[0]] = words[1]
    return found


def test_without_extras_and_data_tests_are_skipped(outcomes) -> None:
    assert outcomes["bare"] == {
        "need_gives_the_module": "PASSED",
        "need_misses": "SKIPPED",
        "browser": "SKIPPED",
        "file_there": "SKIPPED",
        "file_not_there": "SKIPPED",
        "marked": "SKIPPED",
        "cases[first]": "PASSED",
        "two[1-first]": "PASSED",
        "two[1-second]": "PASSED",
    }


def test_ci_asks_for_extras_and_data_are_read_where_they_are(outcomes) -> None:
    assert outcomes["ci"] == {
        "need_gives_the_module": "PASSED",
        "need_misses": "FAILED",
        "browser": "ERROR",
        "file_there": "PASSED",
        "file_not_there": "SKIPPED",
        "marked": "PASSED",
        "cases[first]": "PASSED",
        "two[1-first]": "PASSED",
        "two[1-second]": "PASSED",
    }


def test_a_data_folder_that_is_none_is_an_error(outcomes) -> None:
    assert outcomes["astray"]["marked"] == "ERROR"


def test_all_cases_of_breadth_but_the_first_are_left_to_verify(outcomes) -> None:
    assert [name for name in outcomes["ci"] if name.startswith("cases")] == ["cases[first]"]
    two = [name for name in outcomes["ci"] if name.startswith("two")]
    assert two == ["two[1-first]", "two[1-second]"]


def test_data_file_marks_its_test_before_tests_are_chosen_by_marker(outcomes) -> None:
    assert {"file_there", "file_not_there"} < set(outcomes["ci"])
    assert "neither_slow_nor_of_real_data" not in outcomes["ci"]
