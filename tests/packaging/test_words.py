"""Text for readers keeps to the words of CONTRIBUTING.md, and the check that says so works."""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest


@pytest.fixture(scope="module")
def words(root: Path) -> Any:
    """The names of tools/words.py."""
    return SimpleNamespace(**runpy.run_path(str(root / "tools" / "words.py")))


def found(words: Any, path: Path, text: str) -> list[tuple[int, str]]:
    path.write_text(text, "utf-8")
    return [(one.line, one.found) for one in words.findings([path])]


def test_no_word_is_used_more_often_than_before(words: Any) -> None:
    now, known = words.found_in_areas(), words.known()
    for line in words.slack(now, known):
        print(f"python tools/words.py --update can lower {line}")  # noqa: T201
    complaints = words.complaints(now, known)
    assert not complaints, "\n".join(complaints)


def test_every_entry_has_a_count_and_every_count_an_entry(words: Any) -> None:
    assert set(words.known()) == {word.pattern for word in words.WORDS}


PYTHON = '''"""Runs that
go on."""

def public(x):
    """Half.

    Parameters
    ----------
    blind : a name

    >>> print("goes on")
    goes on
    """
    raise ValueError(f"`x` goes on: {x}")

def _private(x):
    """It goes on."""
    return "anew"  # one word is a key, not a text

HELP = Option(help="If not rank.")
LONG = (
    "a text of two lines, and "
    "the target counted"
)
PATTERN = re.compile("a run goes on and on")
HEAD = ["goes on", f"the {LONG} goes on"]
SUM = "runs " + "go " + ", ".join(["goes on"]) + " and go" + (" on" if LONG else f" {LONG} on")
'''


def test_what_is_read_in_python(words: Any, tmp_path: Path) -> None:
    assert found(words, tmp_path / "some.py", PYTHON) == [
        (2, "go on"),
        (14, "goes on"),
        (20, "If not"),
        (23, "target counted"),
        (26, "goes on"),
        (26, "goes on"),
        (27, "goes on"),
    ]


SCRIPT = """// a script goes on
const title = "Made anew" + `${count} runs go on`;  /* it goes on */
const key = "anew";
"""
PROJECT = """# made anew
name = "anew"
description = "Ranks made anew"
"""


def test_what_is_read_in_scripts_and_in_the_project_file(words: Any, tmp_path: Path) -> None:
    assert found(words, tmp_path / "report.js", SCRIPT) == [(2, "anew"), (2, "go on")]
    assert found(words, tmp_path / "pyproject.toml", PROJECT) == [(3, "anew")]


def test_what_is_read_in_the_project(words: Any) -> None:
    areas = {one.name for paths in words.areas().values() for one in paths}
    assert {"README.md", "pyproject.toml", "CITATION.cff", "mkdocs.yml", "report.js"} <= areas


MARKDOWN = """# A run goes
on

`goes on`, [a link](goes on) and \\(goes on\\)

```text
goes on
```

It {{ goes on }} anew.
"""


def test_what_is_read_in_markdown(words: Any, tmp_path: Path) -> None:
    assert found(words, tmp_path / "page.md", MARKDOWN) == [(1, "goes on"), (10, "anew")]


@pytest.mark.parametrize(
    "text",
    [
        "There is no target, and it is no longer there.",
        "The licence of the data set.",
        "Its blind spot (Li et al. 2023).",
        "The items a user has seen.",
        "0.003, 2,003 and Table 4",
        "The highest is bold.",
        "It cannot tell rank 1 from rank 2.",
        "and so on to the limit",
        "The least squares estimate with the least mean squared error.",
    ],
)
def test_plain_english_is_left_alone(words: Any, tmp_path: Path, text: str) -> None:
    assert found(words, tmp_path / "page.md", text) == []


def test_counts_may_fall_but_not_rise(words: Any, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("Made anew.\nMade anew.\n", "utf-8")
    now = {"pages": list(words.findings([page]))}
    assert words.complaints(now, {"anew": {"pages": 2}}) == []
    complaints = words.complaints(now, {"anew": {"pages": 1}})
    assert [line.split(f"{page.name}:")[1] for line in complaints] == [
        '1: instead of "anew", write: again, or from scratch.',
        '2: instead of "anew", write: again, or from scratch.',
    ]
    assert words.slack(now, {"anew": {"pages": 3}}) == ["'anew' in pages: 3 -> 2"]
    assert words.lowered(now, {"anew": {"pages": 3}})["anew"] == {"pages": 2}
    assert words.lowered(now, {"anew": {"pages": 1}})["anew"] == {"pages": 1}
    assert words.lowered(now, {})["anew"] == {"pages": 2}  # an entry that is new
