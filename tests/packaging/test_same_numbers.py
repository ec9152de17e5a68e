"""tools/same_numbers.py finds what has changed, wherever the file lies."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

TOOL = Path(__file__).parents[2] / "tools" / "same_numbers.py"


@pytest.fixture
def trees(tmp_path: Path) -> tuple[Path, Path]:
    before, after = tmp_path / "before" / "docs", tmp_path / "after" / "reproduction" / "results"
    for folder in (before, after):
        folder.mkdir(parents=True)
        np.savez(folder / "ranks.npz", a=np.arange(3))
        (folder / "one.json").write_text('{"x": [1, 2.5], "text": "7", "y": true}')
    return tmp_path / "before", tmp_path / "after"


def _run(*folders: Path) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, TOOL, *folders, "--no-demo"], capture_output=True, text=True
    )
    return done.returncode, done.stdout


def test_a_file_that_moved_is_the_same(trees: tuple[Path, Path]) -> None:
    assert _run(*trees) == (
        0,
        "2 files before, 2 after\n"
        "6 numbers are equal, 0 places differ, 0 are missing; 0 numbers are new.\n",
    )


def test_differences_are_named(trees: tuple[Path, Path]) -> None:
    stored = trees[1] / "reproduction" / "results"
    (stored / "one.json").write_text(json.dumps({"x": [1], "y": False, "z": 3}))
    np.savez(stored / "ranks.npz", a=np.array([0, 1, 3]))
    code, out = _run(*trees)
    assert code == 1
    assert out.splitlines()[1:] == [
        "differs: one.json:/y",
        "differs: ranks.npz:a",
        "missing: one.json:/x/1",
        "1 numbers are equal, 2 places differ, 1 are missing; 1 numbers are new.",
    ]


def test_files_of_one_name_are_matched_by_their_folders(trees: tuple[Path, Path]) -> None:
    for tree in trees:
        for folder, value in (("first", 1), ("second", 2)):
            stored = tree / "docs" / folder
            stored.mkdir(parents=True)
            (stored / "twin.json").write_text(json.dumps({"x": value}))
    assert _run(*trees)[0] == 0
    (trees[1] / "docs" / "second" / "twin.json").write_text(json.dumps({"x": 1}))
    code, out = _run(*trees)
    assert code == 1
    assert "differs: second/twin.json:/x" in out
