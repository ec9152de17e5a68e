"""What belongs to designs alone: `replacement` is an identifier in designs/ and nowhere else."""

from __future__ import annotations

import ast
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "fullrank"
WORDS = {"replacement", "stop_rank", "refine_rank", "strategy"}


def identifiers(tree: ast.AST) -> set[str]:
    """Every name that code uses: variables, attributes, arguments, keywords, functions, keys."""
    found: set[str] = set()
    for node in ast.walk(tree):
        for name in ("id", "attr", "arg", "name"):
            value = getattr(node, name, None)
            if isinstance(value, str):
                found.add(value)
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value)  # a key of a dict, a name for getattr
    return found


def test_only_designs_know_how_items_are_drawn() -> None:
    breaches = {
        str(path.relative_to(SOURCE)): sorted(words)
        for path in sorted(SOURCE.rglob("*.py"))
        if path.relative_to(SOURCE).parts[0] != "designs"
        and (words := identifiers(ast.parse(path.read_text("utf-8"))) & WORDS)
    }
    assert breaches == {}


def test_the_search_finds_every_kind_of_use() -> None:
    uses = (
        "replacement = 1",
        "x.replacement",
        "f(replacement=1)",
        "def f(replacement): ...",
        "def replacement(): ...",
        "x['replacement']",
        "lambda replacement: 0",
        "import replacement",
    )
    assert all("replacement" in identifiers(ast.parse(use)) for use in uses)
