"""The benchmarks: what they import is there, in the scripts that they write as well."""

from __future__ import annotations

import importlib
import importlib.util
import re
import runpy
from pathlib import Path

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


def test_the_quick_forms_are_those_of_scripts() -> None:
    (runner,) = (path for path in SCRIPTS if path.stem == "__main__")
    assert set(runpy.run_path(str(runner))["QUICK"]) <= {path.stem for path in SCRIPTS}
