"""Lines of code by folder: those with a token that is neither comment nor docstring nor blank.

The rooms of src/fullrank, the folders of tests, benchmarks, reproduction, examples and tools; with
two trees, side by side with the difference.

    python tools/code_lines.py
    python tools/code_lines.py ../before .
"""

from __future__ import annotations

import argparse
import ast
import io
import sys
import tokenize
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WHOLE = ("benchmarks", "reproduction", "examples", "tools")  # counted as one
_NO_CODE = {
    tokenize.COMMENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
    tokenize.INDENT,
    tokenize.NEWLINE,
    tokenize.NL,
}


def code_lines(text: str) -> int:
    """How many lines of a text bear code."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - _docstring_lines(text))


def _docstring_lines(text: str) -> set[int]:
    found: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if ast.get_docstring(node, clean=False) is not None and first is not None:
                found.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    return found


def by_folder(tree: Path) -> dict[str, int]:
    """Lines of code of each folder of a project's tree; files at the top count as "(top)"."""
    found: Counter[str] = Counter()
    for top in ("src/fullrank", "tests"):
        for path in sorted((tree / top).rglob("*.py")):
            parts = path.relative_to(tree / top).parts
            found[f"{top}/{parts[0] if len(parts) > 1 else '(top)'}"] += _count(path)
    for name in WHOLE:
        for path in sorted((tree / name).rglob("*.py")):
            found[name] += _count(path)
    return dict(found)


def _count(path: Path) -> int:
    return code_lines(path.read_text("utf-8"))


def sums(counted: dict[str, int]) -> dict[str, int]:
    """The same with a line for all of src and for all of tests, and one for everything."""
    result = {}
    for top in ("src/fullrank", "tests"):
        inside = {name: n for name, n in counted.items() if name.startswith(top + "/")}
        result |= dict(sorted(inside.items()))
        result[top] = sum(inside.values())
    result |= {name: counted[name] for name in WHOLE if name in counted}
    result["everything"] = sum(counted.values())
    return result


def main(argv: Sequence[str] | None = None) -> int:
    """Print the lines of one tree or of two."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("trees", nargs="*", type=Path, default=[ROOT], help="one project, or two")
    told = parser.parse_args(argv)
    if len(told.trees) > 2:
        parser.error("one tree or two")
    columns = [sums(by_folder(tree)) for tree in told.trees]
    names = list(dict.fromkeys(name for column in columns for name in column))
    if len(columns) == 2:
        names.sort(key=lambda name: (not name.startswith(("src", "tests")), name == "everything"))
        print(f"{'':<28} {'before':>8} {'after':>8} {'change':>8}")
    for name in names:
        numbers = [column.get(name, 0) for column in columns]
        change = f" {numbers[1] - numbers[0]:>+8,}" if len(numbers) == 2 else ""
        print(f"{name:<28} " + " ".join(f"{n:>8,}" for n in numbers) + change)
    return 0


if __name__ == "__main__":
    sys.exit(main())
