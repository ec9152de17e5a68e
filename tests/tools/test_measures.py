"""The tools that measure the project: lines of code, a quiz, what a call crosses."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import code_lines, crossed, quiz

TEXT = '''"""A module.

Two paragraphs.
"""

import json  # counted


def f(x):
    """Once."""
    # not counted
    return json.dumps(
        x,
    )


class C:
    """Twice."""
    text = """counted
    twice"""
'''


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in ("src/fullrank/data/a.py", "src/fullrank/errors.py", "tests/unit/b.py"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(TEXT)
    return tmp_path


def test_lines_that_bear_code() -> None:
    assert code_lines.code_lines(TEXT) == 8
    assert code_lines.code_lines("") == 0


def test_lines_by_folder_and_two_trees(
    tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert code_lines.sums(code_lines.by_folder(tree)) == {
        "src/fullrank/(top)": 8,
        "src/fullrank/data": 8,
        "src/fullrank": 16,
        "tests/unit": 8,
        "tests": 8,
        "everything": 24,
    }
    assert code_lines.main([str(tmp_path / "nothing"), str(tree)]) == 0
    assert capsys.readouterr().out.splitlines()[-1].split() == ["everything", "0", "24", "+24"]


def test_a_quiz_hides_paths_and_keeps_answers(
    tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, answers = tree / "src" / "fullrank", tmp_path / "answers.txt"
    call = [str(source), "--number", "2", "--answers", str(answers)]
    assert quiz.main(call) == 0
    asked = capsys.readouterr().out
    assert asked.count(">     return json.dumps(") == 2
    assert "fullrank" not in asked
    assert sorted(line.split()[1] for line in answers.read_text().splitlines()) == [
        "data",
        "errors",
    ]
    assert quiz.main([*call, "--seed", "0"]) == 0
    assert capsys.readouterr().out == asked


def test_files_functions_and_depth_of_a_call(tmp_path: Path) -> None:
    for name, text in {"a": "def inner(): return [i for i in (1, 2)]", "b": "outer = None"}.items():
        (tmp_path / f"{name}.py").write_text(text)
    spaces: dict[str, object] = {}
    for name in ("a", "b"):
        code = compile((tmp_path / f"{name}.py").read_text(), str(tmp_path / f"{name}.py"), "exec")
        exec(code, spaces)
    source = "def outer():\n    inner()\n    return inner()\n"
    exec(compile(source, str(tmp_path / "b.py"), "exec"), spaces)
    found = crossed.crossed(spaces["outer"], tmp_path)  # type: ignore[arg-type]
    assert found.files == {"a.py", "b.py"}
    assert (len(found.functions), found.depth) == (2, 2)
