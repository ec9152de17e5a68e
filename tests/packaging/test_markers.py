"""What the shared fixtures and markers do, seen on small suites of their own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

SUITE = """
import pytest

def test_need_gives_the_module(need):
    assert need("json").dumps(1) == "1"

def test_need_misses(need):
    need("no_such_package")

def test_file_there(data_file):
    assert data_file("there.txt").read_text() == "x"

def test_file_not_there(data_file):
    data_file("absent.parquet")

@pytest.mark.realdata
def test_marked():
    pass
"""


@pytest.fixture
def outcomes(root: Path, tmp_path: Path):
    """Run the suite above under our conftest and settings; give {test: outcome}."""
    shutil.copy(root / "tests" / "conftest.py", tmp_path)
    shutil.copy(root / "pyproject.toml", tmp_path)
    (tmp_path / "test_suite.py").write_text(textwrap.dedent(SUITE), "utf-8")

    def run(*arguments: str, **settings: str) -> dict[str, str]:
        env = {k: v for k, v in os.environ.items() if not k.startswith(("FULLRANK_", "PYTEST_"))}
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", ".", *arguments],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env=env | settings,
        )
        verdicts = (line.split() for line in done.stdout.splitlines() if "::" in line)
        return {
            words[0].partition("::test_")[2]: words[1]
            for words in verdicts
            if words[0].startswith("test_suite.py") and len(words) > 1
        }

    return run


def test_without_extras_and_data_tests_are_skipped(outcomes) -> None:
    assert outcomes() == {
        "need_gives_the_module": "PASSED",
        "need_misses": "SKIPPED",
        "file_there": "SKIPPED",
        "file_not_there": "SKIPPED",
        "marked": "SKIPPED",
    }


def test_ci_asks_for_extras_and_data_are_read_where_they_are(outcomes, tmp_path: Path) -> None:
    (tmp_path / "there.txt").write_text("x", "utf-8")
    assert outcomes(FULLRANK_REQUIRE_EXTRAS="1", FULLRANK_DATA=str(tmp_path)) == {
        "need_gives_the_module": "PASSED",
        "need_misses": "FAILED",
        "file_there": "PASSED",
        "file_not_there": "SKIPPED",
        "marked": "PASSED",
    }


def test_a_data_folder_that_is_none_is_an_error(outcomes) -> None:
    assert outcomes("-k", "marked", FULLRANK_DATA="nowhere") == {"marked": "ERROR"}


def test_data_file_marks_its_test(outcomes) -> None:
    assert set(outcomes("-m", "realdata")) == {"file_there", "file_not_there", "marked"}
