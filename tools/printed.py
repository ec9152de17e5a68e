"""Run what README.md shows and compare it with the output beside it.

    python tools/printed.py            print the differences; the exit code is 1 if there are any
    python tools/printed.py --update   write the present output into README.md
    python tools/printed.py --tables   write the tables of docs/demo.md, which takes minutes

A ```console block holds `$ fullrank …` commands, each followed by what it prints. A ```python block
is followed by a ```text block if it prints anything; all of them share their names. The reader's
own model and loader are those of tests/docs/loop_contexts/plain-torch.py. Numbers may
differ in their last digits from one version of a library to the next, and spaces may differ.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import math
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
DEMO = ROOT / "docs" / "demo.md"
CONTEXT = ROOT / "tests" / "docs" / "loop_contexts" / "plain-torch.py"
_FENCE = re.compile(
    r"^```(?P<kind>console|python)\n(?P<code>.*?)^```\n(?:\n```text\n(?P<text>.*?)^```\n)?",
    re.DOTALL | re.MULTILINE,
)
_NUMBER = re.compile(r"-?\d*\.?\d+")


class Shown(NamedTuple):
    """A block of a page: where it is, its code, and the output beside it."""

    kind: str
    span: tuple[int, int]
    code: str
    output: str


def blocks(text: str) -> Iterator[Shown]:
    """The code of a page; a console block gives one for each command of fullrank."""
    for found in _FENCE.finditer(text):
        if found["kind"] == "python":
            yield Shown("python", found.span("text"), found["code"], found["text"] or "")
            continue
        for command in re.finditer(r"^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)", found["code"], re.M):
            if command[1].startswith("fullrank "):
                start = found.start("code")
                span = start + command.start(2), start + command.end(2)
                yield Shown("console", span, command[1].replace("\\\n", " "), command[2])


def printed(block: Shown, names: dict[str, Any], folder: Path) -> str:
    """What a block prints now; its trailing spaces and the empty lines around it are dropped."""
    if block.kind == "console":
        words = shlex.split(block.code, comments=True)[1:]
        done = subprocess.run(
            [sys.executable, "-m", "fullrank", *words],
            cwd=folder,
            env=os.environ | {"COLUMNS": "80", "PYTHONIOENCODING": "utf-8"},
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            check=True,
        )
        out = done.stdout
    else:
        if "loader" in block.code:
            exec(compile(CONTEXT.read_text("utf-8"), str(CONTEXT), "exec"), names)
        with contextlib.redirect_stdout(io.StringIO()) as stream:
            exec(compile(block.code, "README.md", "exec"), names)
        out = stream.getvalue()
    lines = [line.rstrip() for line in out.strip("\n").splitlines()]
    return "".join(f"{line}\n" for line in lines)


def run(text: str) -> Iterator[tuple[Shown, str]]:
    """Every block of a page with what it prints, run in an empty folder beside the examples."""
    names: dict[str, Any] = {"__name__": "readme"}
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "examples").symlink_to(ROOT / "examples")
        for block in blocks(text):
            yield block, printed(block, names, folder)


def same(shown: str, now: str) -> bool:
    """Whether two outputs have the same words, and numbers that agree to their last digits."""
    if _NUMBER.sub("#", shown).split() != _NUMBER.sub("#", now).split():
        return False
    pairs = zip(_NUMBER.findall(shown), _NUMBER.findall(now), strict=True)
    return all(math.isclose(float(a), float(b), rel_tol=0.01, abs_tol=0.002) for a, b in pairs)


def main() -> int:
    """Compare, or rewrite."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--update", action="store_true", help="rewrite README.md")
    parser.add_argument("--tables", action="store_true", help="rewrite docs/demo.md")
    options = parser.parse_args()
    if options.tables:
        page = DEMO.read_text(encoding="utf-8").split("<!-- demo -->")
        page[1] = f"\n```text\n{_tables()}```\n"
        DEMO.write_text("<!-- demo -->".join(page), encoding="utf-8")
        return 0
    text = README.read_text(encoding="utf-8")
    differing = [(block, now) for block, now in run(text) if not same(block.output, now)]
    for block, now in reversed(differing):
        print(f"$ {block.code.strip()}\nshown:\n{block.output}\nprinted:\n{now}")
        text = text[: block.span[0]] + now + text[block.span[1] :]
    if options.update:
        README.write_text(text, encoding="utf-8")
    return int(bool(differing) and not options.update)


def _tables() -> str:
    """All tables of the demonstration, without the lines about the report."""
    command = Shown("console", (0, 0), "fullrank demo --all", "")
    with tempfile.TemporaryDirectory() as scratch:
        return printed(command, {}, Path(scratch)).rpartition("\n\n")[0] + "\n"


if __name__ == "__main__":
    sys.exit(main())
