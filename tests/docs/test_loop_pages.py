"""The pages of "Inside your training loop": each is run as a reader would run it.

A page has one block of Python, at most 15 lines, and in a block of text what that prints. It runs
after `loop_contexts/NAME.py`, which makes what is the reader's own: model, loader, data. A page is
skipped where a package that it imports is not installed.

FULLRANK_REQUIRE_PACKAGES=implicit,lenskit   a page of one of these fails where it is not installed
"""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "guide" / "loop"
CONTEXTS = Path(__file__).parent / "loop_contexts"
PAGES = sorted(path.stem for path in FOLDER.glob("*.md") if path.stem != "index")
MOST_LINES = 15
REQUIRED = set(filter(None, os.environ.get("FULLRANK_REQUIRE_PACKAGES", "").split(",")))
FENCE = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", flags=re.DOTALL | re.MULTILINE)
RUN = """
import contextlib, sys
context, block = sys.argv[1:]
names = {"__name__": "__main__"}
with contextlib.redirect_stdout(sys.stderr):
    exec(compile(open(context, encoding="utf-8").read(), context, "exec"), names)
exec(compile(open(block, encoding="utf-8").read(), block, "exec"), names)
"""


def blocks(page: str, language: str) -> list[str]:
    text = (FOLDER / f"{page}.md").read_text(encoding="utf-8")
    return [code for found, _, code in FENCE.findall(text) if found == language]


def code_lines(code: str) -> list[str]:
    lines = map(str.strip, code.splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def packages(page: str) -> set[str]:
    """The packages that a page and its context import."""
    found: set[str] = set()
    codes = [*blocks(page, "python"), (CONTEXTS / f"{page}.py").read_text(encoding="utf-8")]
    for code in codes:
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                found.add(node.module.partition(".")[0])
    # fullrank.integrations has a file per library, which imports it
    integrations = re.findall(r"\bintegrations(?:\.| import )(\w+)", "".join(codes))
    return found | set(integrations)


def test_every_page_has_a_context_and_every_context_a_page() -> None:
    assert sorted(path.stem for path in CONTEXTS.glob("*.py")) == PAGES


def test_the_index_links_every_page() -> None:
    text = (FOLDER / "index.md").read_text(encoding="utf-8")
    linked = set(re.findall(r"\]\(([\w-]+)\.md[#)]", text))
    assert linked == set(PAGES)


def test_collecting_the_tests_runs_no_context(tmp_path: Path) -> None:
    """They train models, write files where they are run and need packages that may be missing."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--collect-only"]
    command += [str(CONTEXTS)]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert run.returncode == pytest.ExitCode.NO_TESTS_COLLECTED, run.stdout
    assert not [path for path in tmp_path.iterdir() if not path.name.startswith(".")]


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_one_block_of_few_lines(page: str) -> None:
    (code,) = blocks(page, "python")
    assert len(blocks(page, "text")) == 1
    assert 1 <= len(code_lines(code)) <= MOST_LINES


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_a_page_prints_what_it_shows(page: str, tmp_path: Path) -> None:
    missing = sorted(one for one in packages(page) if importlib.util.find_spec(one) is None)
    if set(missing) & REQUIRED:
        pytest.fail(f"{', '.join(missing)} must be installed here", pytrace=False)
    if missing:
        pytest.skip(f"{', '.join(missing)} is not installed")
    (code,), (printed,) = blocks(page, "python"), blocks(page, "text")
    script = tmp_path / "block.py"  # no name of a package, which it would hide
    script.write_text(code, encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-c", RUN, CONTEXTS / f"{page}.py", script],
        cwd=tmp_path, capture_output=True, text=True, encoding="utf-8", timeout=600,
        env=os.environ | {"COLUMNS": "96", "NO_COLOR": "1", "TERM": "dumb"},
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert tidy(run.stdout) == tidy(printed)


def tidy(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip().splitlines()]
