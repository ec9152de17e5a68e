"""Text is for people: no module branches on, or cuts up, what an error or a result says."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "fullrank"
CUTS = {
    "endswith", "find", "index", "partition", "removeprefix", "removesuffix", "replace",
    "rpartition", "rsplit", "split", "splitlines", "startswith", "rstrip", "strip",
}  # fmt: skip
QUOTES = {  # errors that are put on one line as the end of a sentence
    "_lib/text.py": "because",
    "cli/__init__.py": "_sentence",
    "designs/design.py": "_refused",
    "engines/ray_engine.py": "__enter__",
    "engines/shared.py": "__init__",
    "tables/candidate_files.py": "_words",
}


def texts_used(tree: ast.AST) -> Iterator[ast.Call]:
    """Every `str(…)` that is compared, looked into, cut or matched."""
    for node in ast.walk(tree):
        parts: list[ast.expr] = []
        if isinstance(node, ast.Compare):
            parts = [node.left, *node.comparators]
        elif isinstance(node, ast.Subscript) or (
            isinstance(node, ast.Attribute) and node.attr in CUTS
        ):
            parts = [node.value]
        elif isinstance(node, ast.Call) and ast.unparse(node.func).startswith("re."):
            parts = node.args
        for part in parts:
            called = isinstance(part, ast.Call) and ast.unparse(part.func) == "str"
            if called and len(part.args) == 1:  # type: ignore[attr-defined]
                yield part  # type: ignore[misc]


def names_of_errors(tree: ast.AST) -> set[str]:
    return {node.name for node in ast.walk(tree)
            if isinstance(node, ast.ExceptHandler) and node.name} | {"error"}  # fmt: skip


def found_in(path: Path) -> list[str]:
    tree = ast.parse(path.read_text("utf-8"))
    errors = names_of_errors(tree)
    found = []
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        for call in texts_used(function):
            of = ast.unparse(call.args[0])
            where = path.relative_to(SOURCE).as_posix()
            if QUOTES.get(where) == function.name and of == "error":
                continue
            if of in errors or _is_result(of):
                found.append(f"{where}:{call.lineno} {ast.unparse(call)}")
    return found


def _is_result(of: str) -> bool:
    """A name by which results go, not a path, a method's name or a cell of a table."""
    words = {"allowed", "bounds", "comparison", "estimate", "found", "given", "note", "result"}
    return of.split(".")[-1].split("[")[0].strip("_") in words


def test_no_module_reads_the_text_of_errors_or_results() -> None:
    found = [one for path in sorted(SOURCE.rglob("*.py")) for one in found_in(path)]
    assert found == []


@pytest.mark.parametrize(
    "line",
    [
        'if "have a split" in str(error): pass',
        'why = str(error).removeprefix("`sample` must have ")',
        "last = str(allowed).splitlines()[-1]",
        "first = str(result)[0]",
        're.search("x", str(error))',
    ],
)
def test_such_lines_are_found(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{__name__}.SOURCE", tmp_path)
    path = tmp_path / "one.py"
    path.write_text(f"def one(allowed, error, result):\n    {line}\n", "utf-8")
    assert len(found_in(path)) == 1
