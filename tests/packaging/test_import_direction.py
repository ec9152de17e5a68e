"""Which part of the library may import which.

A stage imports only stages before it, and the modules beneath them all. Engines are passed in, so
no stage imports them, nor the command line and its demonstration, nor the contract tests; those
may import anything.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import fullrank

STAGES = (
    "tables",
    "data",
    "metrics",
    "designs",
    "samples",
    "scorers",
    "ranking",
    "losses",
    "models",
    "estimators",
    "inference",
    "reporting",
)
ABOVE_ALL = ("cli", "engines", "evaluation", "testing", "__main__")
SOURCE = Path(fullrank.__file__).parent


def level(part: str) -> int:
    """0 beneath every stage, 1.. for the stages, and one more for what stands above them."""
    if part in STAGES:
        return STAGES.index(part) + 1
    if part in ABOVE_ALL:
        return len(STAGES) + 1
    if part == "errors" or (part.startswith("_") and not part.startswith("__")):
        return 0
    raise AssertionError(f"fullrank.{part} has no place in the import order: give it one here")


def imported(tree: ast.AST, package: str) -> Iterator[str]:
    """Full names of every fullrank module or name that the tree imports, wherever in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*above, *([base] if base else [])])
            yield from (f"{base}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            yield from (
                argument.value
                for argument in node.args
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
            )


def breaches(source: str, package: str) -> list[str]:
    """What a module of `package` (such as "fullrank.data") imports but may not."""
    own = package.split(".")[1]
    if own in ABOVE_ALL:
        return []
    found = []
    for name in imported(ast.parse(source), package):
        if name.split(".")[0] != "fullrank":
            continue
        # a name that `fullrank` only passes on belongs to the stage that it comes from
        part = (name + ".").split(".")[1]
        home = (fullrank._MODULES | fullrank._MEMBERS).get(part, name)
        part = (home + ".").split(".")[1]
        # bare `import fullrank` could reach any stage, and hides which
        if part not in (own, "__version__") and (not part or level(part) >= max(level(own), 1)):
            found.append(name)
    return found


@pytest.mark.parametrize(
    "path",
    [p for p in sorted(SOURCE.rglob("*.py")) if p.parent != SOURCE or p.stem != "__init__"],
    ids=lambda path: path.relative_to(SOURCE).as_posix(),
)
def test_imports_point_downwards(path: Path) -> None:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    package = ".".join(["fullrank", *(parts[:-1] or parts)])
    assert breaches(path.read_text("utf-8"), package) == []


@pytest.mark.parametrize(
    ("statement", "package"),
    [
        ("import fullrank.ranking", "fullrank.data"),
        ("import fullrank.ranking.exact as exact", "fullrank.samples"),
        ("from fullrank.models import EASE", "fullrank.ranking"),
        ("from fullrank import models", "fullrank.ranking"),
        ("from fullrank import RankSample", "fullrank.metrics"),
        ("from fullrank import datasets, samples", "fullrank.metrics"),
        ("from .. import samples", "fullrank.data"),
        ("from ..designs.grid import RankGrid", "fullrank.metrics"),
        ("from ...models import EASE", "fullrank.ranking.kernels"),
        ("def f():\n    from fullrank.reporting import html", "fullrank.inference"),
        ("importlib.import_module('fullrank.cli')", "fullrank.reporting"),
        ("from fullrank.engines import serial", "fullrank.ranking"),
        ("import fullrank", "fullrank.data"),
        ("from fullrank.metrics import parse", "fullrank._lib.checks"),
    ],
)
def test_a_breach_is_seen(statement: str, package: str) -> None:
    assert len(breaches(statement, package)) == 1


@pytest.mark.parametrize(
    ("statement", "package"),
    [
        ("from fullrank.data import Interactions", "fullrank.models"),
        ("from fullrank import Interactions", "fullrank.models"),
        ("from . import grid", "fullrank.samples"),
        ("from .grid import RankGrid", "fullrank.samples"),
        ("from ..data import Interactions", "fullrank.ranking"),
        ("from fullrank import _checks, errors", "fullrank.data"),
        ("from fullrank.errors import InputError", "fullrank._lib.checks"),
        ("from fullrank import __version__, cli, reporting", "fullrank.cli"),
        ("import numpy as np", "fullrank.data"),
    ],
)
def test_what_is_allowed_is_not_a_breach(statement: str, package: str) -> None:
    assert breaches(statement, package) == []


def test_a_part_without_a_place_is_named() -> None:
    with pytest.raises(AssertionError, match=r"fullrank\.plots has no place"):
        breaches("import fullrank.plots", "fullrank.data")
