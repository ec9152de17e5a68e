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
    return "goes on"  # too short to be a sentence

HELP = Option(help="If not rank.")
LONG = (
    "a text of two lines, and "
    "the target counted"
)
PATTERN = re.compile("a run goes on and on")
'''


def test_what_is_read_in_python(words: Any, tmp_path: Path) -> None:
    assert found(words, tmp_path / "some.py", PYTHON) == [
        (2, "go on"),
        (14, "goes on"),
        (20, "If not"),
        (23, "target counted"),
    ]


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
