"""The benchmarks: what they import is there, in the scripts that they write as well."""

from __future__ import annotations

import importlib
import importlib.util
import json
import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPTS = sorted((Path(__file__).parents[2] / "benchmarks").glob("*.py"))
IMPORTS = re.compile(r"\bfrom (fullrank[\w.]*) import (\([^)]*\)|[\w, ]+)")


def is_there(module: str, name: str) -> bool:
    return hasattr(importlib.import_module(module), name) or bool(
        importlib.util.find_spec(f"{module}.{name}")
    )


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_names_of_fullrank_are_there(script: Path) -> None:
    found = [
        (module, name.split(" as ")[0].strip())
        for module, names in IMPORTS.findall(script.read_text("utf-8"))
        for name in names.strip("()").split(",")
        if name.strip()
    ]
    assert [one for one in found if not is_there(*one)] == []


@pytest.fixture
def runner(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    (path,) = (path for path in SCRIPTS if path.stem == "__main__")
    monkeypatch.syspath_prepend(str(path.parent))
    return runpy.run_path(str(path))


def test_forms_of_a_script_are_those_of_scripts(runner: dict[str, Any]) -> None:
    assert {*runner["QUICK"], *runner["THEIR_OWN"], *runner["ON_THE_CPU"]} <= {
        path.stem for path in SCRIPTS
    }


def test_the_last_object_is_kept_with_its_commit(runner: dict[str, Any], tmp_path: Path) -> None:
    told = json.dumps({"benchmark": "x", "rows": [{"a": 2}]}, indent=2)
    runner["keep"]("x", f'a table\n{{"first": 1}}\n{told}\nend\n', tmp_path)
    (path,) = tmp_path.iterdir()
    kept = json.loads(path.read_text("utf-8"))
    assert (path.name, kept["rows"], kept["benchmark"]) == ("x.json", [{"a": 2}], "x")
    assert {"python", "machine", "commit", "date", "load of the last minutes"} <= set(kept)


def test_all_parts_are_kept(runner: dict[str, Any], tmp_path: Path) -> None:
    told = [json.dumps({"benchmark": name, "rows": [{}]}, indent=1) for name in ("x, a", "x, b")]
    runner["keep"]("x", "\n".join(told), tmp_path)
    kept = json.loads((tmp_path / "x.json").read_text("utf-8"))
    assert kept["benchmark"] == "x"
    assert [one["benchmark"] for one in kept["parts"]] == ["x, a", "x, b"]


def test_nothing_is_kept_of_an_output_without_json(
    runner: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runner["keep"]("x", "x is not installed: skipped.\n", tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert "printed no JSON" in capsys.readouterr().out


@pytest.mark.verify
@pytest.mark.parametrize(
    "name",
    ["bounds", "engines", "kernels", "one_value", "ranking_sampled", "report", "smoothed"],
)
def test_the_short_form_runs(name: str) -> None:
    """Names of the library that a script uses without importing them are found by running it."""
    command = [sys.executable, str(SCRIPTS[0].parent), "--quick", name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^\{", done.stdout, re.M), done.stdout
