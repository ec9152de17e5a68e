"""The examples run as a user runs them, and leave what they say."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_rendle_draws_three_figures(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    script = ROOT / "examples" / "01_rendle.py"
    run = subprocess.run(
        [sys.executable, script, tmp_path], capture_output=True, text=True, encoding="utf-8"
    )
    assert run.returncode == 0, run.stderr
    figures = sorted(path.name for path in tmp_path.iterdir())
    assert figures == ["rendle-1.png", "rendle-2.png", "rendle-3.png"]
    assert all((tmp_path / name).read_bytes().startswith(b"\x89PNG") for name in figures)


def test_every_example_is_short() -> None:
    for script in (ROOT / "examples").glob("*.py"):
        lines = script.read_text(encoding="utf-8").splitlines()
        assert len(lines) <= 75, script.name
