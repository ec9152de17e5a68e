"""Code asks for promises and capabilities, never for a metric by name or a scorer by class."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from fullrank import metrics
from fullrank.estimators import METHODS

SOURCE = Path(__file__).parents[2] / "src" / "fullrank"
SCORERS = {"FactorScorer", "ItemItemScorer", "ItemScorer", "TorchScorer", "Popularity"}
# the scorer that a class from outside may return as it is
ALLOWED = {"scorers/offers.py"}


def _names(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)} | {
        one.attr for one in ast.walk(node) if isinstance(one, ast.Attribute)
    }


def _constants(node: ast.AST) -> set[str]:
    return {
        one.value
        for one in ast.walk(node)
        if isinstance(one, ast.Constant) and isinstance(one.value, str)
    }


def _asked(tree: ast.AST) -> Iterator[str]:
    """Switches by class, and comparisons of a metric's kind or a method's name with text."""
    known = {*metrics.names(), *METHODS} - {"exact"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _names(node.func) == {"isinstance"}:
            if _names(node.args[1]) & SCORERS:
                yield f"line {node.lineno}: isinstance"
        elif isinstance(node, ast.Compare):
            attributes = {one.attr for one in ast.walk(node) if isinstance(one, ast.Attribute)}
            if attributes & {"kind", "name"} and _constants(node) & known:
                yield f"line {node.lineno}: a name"


@pytest.mark.parametrize(
    "code",
    [
        "isinstance(scorer, FactorScorer | ItemItemScorer)",
        'metric.kind == "auc"',
        'metric.kind in ("ap", "rr")',
        'chosen.name != "MLE"',
    ],
)
def test_a_switch_is_noticed(code: str) -> None:
    assert list(_asked(ast.parse(code)))


def test_nothing_is_asked_by_name_or_class() -> None:
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        where = path.relative_to(SOURCE).as_posix()
        asked = list(_asked(ast.parse(path.read_text("utf-8"))))
        if asked and where not in ALLOWED:
            found[where] = asked
    assert found == {}
