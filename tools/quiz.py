"""Twenty lines of src/fullrank without their paths: in which room is each, what may it import?

Prints each line with the lines around it, and writes the answers to a file of their own. A reader
who can name the rooms has a floor plan that says what it is.

    python tools/quiz.py --seed 1 --answers out/answers.txt
"""

from __future__ import annotations

import argparse
import ast
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tools import import_graph

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Question:
    """A line of a function's body."""

    path: Path
    line: int  # from 1
    first: int  # of the lines shown
    last: int

    def shown(self) -> str:
        """The line, marked, with its context."""
        lines = self.path.read_text("utf-8").splitlines()[self.first - 1 : self.last]
        return "\n".join(
            f"{'>' if number == self.line else ' '} {line}".rstrip()
            for number, line in enumerate(lines, self.first)
        )


def body_lines(path: Path, context: int) -> list[Question]:
    """Every line on which a statement of a function begins, docstrings and imports left out."""
    found: dict[int, Question] = {}
    for function in ast.walk(ast.parse(path.read_text("utf-8"))):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        body = function.body[1 if ast.get_docstring(function) is not None else 0 :]
        end = function.end_lineno or function.lineno
        for statement in (node for part in body for node in ast.walk(part)):
            if isinstance(statement, ast.stmt) and not isinstance(
                statement, ast.Import | ast.ImportFrom | ast.Pass
            ):
                line = statement.lineno
                first, last = max(body[0].lineno, line - context), min(end, line + context)
                found[line] = Question(path, line, first, last)
    return list(found.values())


def questions(source: Path, *, number: int, seed: int, context: int = 4) -> list[Question]:
    """Lines drawn at random, each as likely as any other, in random order."""
    everything = [one for path in sorted(source.rglob("*.py")) for one in body_lines(path, context)]
    return random.Random(seed).sample(everything, number)


def answer(question: Question, source: Path) -> str:
    """The room, what it may import, and where the line is."""
    place = question.path.relative_to(source)
    room = import_graph.room(".".join([source.name, *place.with_suffix("").parts]))
    may = import_graph.order_of(source).get(room, frozenset())
    allowed = ", ".join(sorted(may - {""})) or "errors only"
    return f"{room} (may import: {allowed}) {place.as_posix()}:{question.line}"


def main(argv: Sequence[str] | None = None) -> int:
    """Print the questions and write the answers."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("source", nargs="?", type=Path, default=ROOT / "src" / "fullrank")
    parser.add_argument("--number", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--context", type=int, default=4, help="lines before and after")
    parser.add_argument("--answers", type=Path, default=ROOT / "out" / "quiz-answers.txt")
    told = parser.parse_args(argv)
    source = told.source.resolve()
    asked = questions(source, number=told.number, seed=told.seed, context=told.context)
    for place, question in enumerate(asked, 1):
        print(f"{place}.\n{question.shown()}\n")
    answers = [f"{place}. {answer(one, source)}" for place, one in enumerate(asked, 1)]
    told.answers.parent.mkdir(parents=True, exist_ok=True)
    told.answers.write_text("\n".join(answers) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
