"""`import fullrank` stays light, and what it promises is there."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import fullrank

# Slow to import, optional, or both: each comes in when a function first needs it.
HEAVY = (
    "jinja2",
    "matplotlib",
    "numba",
    "pandas",
    "pyarrow",
    "pyspark",
    "ray",
    "safetensors",
    "scipy.sparse",
    "scipy.special",
    "scipy.stats",
    "torch",
)


def loaded_by(code: str) -> Any:
    """Run `code` in a fresh interpreter; give what it passes to `tell`, and the heavy modules."""
    script = f"""
import json, sys
def heavy():
    return sorted({{h for h in {HEAVY!r} for m in sys.modules if m == h or m.startswith(h + ".")}})
def tell(x):
    print(json.dumps(x))
{code}
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_import_fullrank_loads_nothing_heavy() -> None:
    assert loaded_by("import fullrank; tell(heavy())") == []


def test_no_public_name_loads_anything_heavy() -> None:
    culprits = loaded_by(
        """
import fullrank
culprits, before = {}, set()
for name in fullrank.__all__:
    getattr(fullrank, name)
    if set(heavy()) - before:
        culprits[name] = sorted(set(heavy()) - before)
        before = set(heavy())
tell(culprits)
"""
    )
    assert culprits == {}


def test_the_probe_sees_a_heavy_module() -> None:
    assert "scipy.special" in loaded_by("import scipy.special; tell(heavy())")


def test_the_command_line_loads_nothing_heavy_before_a_command_runs() -> None:
    pytest.importorskip("typer")
    assert loaded_by("import fullrank.cli.app; tell(heavy())") == []


def test_public_names_are_there() -> None:
    assert [name for name in fullrank.__all__ if getattr(fullrank, name, None) is None] == []
    assert set(fullrank.__all__) - set(dir(fullrank)) == set()


def homes() -> dict[str, str]:
    """The table of `fullrank/__init__.py`, as it is written there."""
    tree = ast.parse(Path(fullrank.__file__).read_text("utf-8"))
    (table,) = [node.value for node in tree.body
                if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict)]  # fmt: skip
    found: dict[str, str] = ast.literal_eval(table)
    assert len(found) == len(table.keys)  # none is listed twice
    return found


def test_public_names_are_listed_once_and_all() -> None:
    """But for `torch`: a star import would hide PyTorch, and load it."""
    assert sorted([*homes(), "__version__"]) == sorted([*fullrank.__all__, "torch"])


def test_type_checkers_see_the_same_names() -> None:
    tree = ast.parse(Path(fullrank.__file__).read_text("utf-8"))
    (block,) = [
        node for node in tree.body if isinstance(node, ast.If) and "TYPE" in ast.unparse(node.test)
    ]
    seen = {
        alias.name: node.module
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    wanted = {
        name: home.removesuffix(f".{name}") if home.endswith(f".{name}") else home
        for name, home in homes().items()
    }
    assert seen == wanted


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'fullrank' has no attribute 'rnak'"):
        fullrank.rnak  # noqa: B018
