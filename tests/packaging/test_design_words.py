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
        for name in ("id", "attr", "arg", "name", "asname", "rest", "kwd_attrs", "names"):
            value = getattr(node, name, None)
            found |= {one for one in (value if isinstance(value, list) else [value])
                      if isinstance(one, str)}  # fmt: skip
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value)  # a key of a dict, a name for getattr
    return found


def test_only_designs_know_how_items_are_drawn() -> None:
    breaches = {
        str(path.relative_to(SOURCE)): sorted(words)
        for path in sorted(SOURCE.rglob("*.py"))
        if path.relative_to(SOURCE).parts[0] != "designs"
        and (words := _with_words(identifiers(ast.parse(path.read_text("utf-8")))))
    }
    assert breaches == {}


def _with_words(names: set[str]) -> set[str]:
    """The names that hold such a word, as `with_replacement` does."""
    return {one for one in names if one.isidentifier() and any(word in one for word in WORDS)}


def test_the_word_strategy_is_gone() -> None:
    root = SOURCE.parents[1]
    pages = [*SOURCE.rglob("*.py"), *(root / "docs" / "guide").rglob("*.md")]
    assert len(pages) > 300
    assert [one for one in pages if "strategy" in one.read_text("utf-8").lower()] == []


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
        "import x as replacement",
        "from x import y as replacement",
        "def f():\n    global replacement",
        "match x:\n    case Uniform(replacement=True): ...",
        "match x:\n    case {'a': 1, **replacement}: ...",
        "getattr(x, 'replacement')",
    )
    assert all("replacement" in identifiers(ast.parse(use)) for use in uses)


def test_words_within_names_are_found() -> None:
    names = identifiers(ast.parse("with_replacement = x.no_replacement"))
    assert _with_words(names) == {"with_replacement", "no_replacement"}
    assert _with_words({"placement", "drawn with replacement"}) == set()
