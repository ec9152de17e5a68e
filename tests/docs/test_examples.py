"""The examples run as a user runs them, and leave what they say."""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


def _run(name: str, *arguments: object) -> str:
    command = [sys.executable, ROOT / "examples" / name, *map(str, arguments)]
    run = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
    assert run.returncode == 0, run.stderr
    return run.stdout


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


@pytest.mark.slow
def test_ranks_from_a_file() -> None:
    out = _run("03_ranks_from_a_file.py")
    estimated = re.search(r"^recall@50 +0\.\d+ +(0\.\d+) ", out, flags=re.MULTILINE)
    exact = re.search(r"'recall@50': (0\.\d+)", out)
    low, high = re.search(r"^recall@50 +(0\.\d{4}) +(0\.\d{4})$", out, flags=re.M).groups()  # type: ignore[union-attr]
    assert estimated is not None
    assert exact is not None
    assert float(estimated[1]) == pytest.approx(float(exact[1]), rel=0.1)
    assert float(low) < float(exact[1]) < float(high)
    assert "◀ recommended" in out


@pytest.mark.slow
def test_my_model() -> None:
    out = _run("04_my_model.py")
    assert re.search(
        r"^factors − popular +recall@10 +\+0\.\d+ .*p < 0\.001", out, flags=re.MULTILINE
    )


@pytest.mark.slow
def test_evaluate_and_report(tmp_path: Path, need: Callable[[str], ModuleType]) -> None:
    need("jinja2")
    out = _run("05_evaluate_and_report.py", tmp_path / "run")
    assert "ease:regularization=200" in out
    assert (
        (tmp_path / "run" / "report.html").read_text(encoding="utf-8").startswith("<!doctype html")
    )


def test_every_example_is_short() -> None:
    for script in (ROOT / "examples").glob("*.py"):
        lines = script.read_text(encoding="utf-8").splitlines()
        assert len(lines) <= 75, script.name
