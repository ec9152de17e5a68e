"""What writes the pages: failing code ends it, formulas are set, the navigation is complete."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

DOCS = Path(__file__).parents[2] / "docs"
TOOLS = DOCS / "_tools"


@pytest.fixture
def tool(
    need: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], Any]:
    """One of the modules in docs/_tools."""
    for module in ("griffe", "latex2mathml", "typer"):
        need(module)
    monkeypatch.syspath_prepend(str(TOOLS))
    return importlib.import_module


@pytest.fixture
def run(tool: Callable[[str], Any]) -> Iterator[Callable[..., str]]:
    """Run the blocks of a page."""
    blocks = tool("blocks")
    yield lambda *fences: blocks.run("\n\n".join(fences), "page.md")
    blocks.stop()


def fence(kind: str, code: str) -> str:
    return f"```{kind}\n{code}\n```"


def test_output_is_shown_and_blocks_share_names(run: Callable[..., str]) -> None:
    shown = run(fence("python run hide", "x = 3"), fence("python run", "print(x * 2)"))
    assert shown.strip() == ("```python\nprint(x * 2)\n```\n\n``` { .text .output }\n6\n```")


def test_a_block_can_be_a_file_that_commands_take(run: Callable[..., str]) -> None:
    code = "from fullrank import metrics\nmetrics.register('tenth', lambda rank: 0.1 / rank)\nx = 3"
    shown = run(
        fence("python run file=tenth_metric.py", code),
        fence("python run", "print(x)"),
        fence("console run", "$ fullrank --plugin tenth_metric.py --version"),
    )
    assert '```python title="tenth_metric.py"' in shown
    assert "3" in shown


def test_what_is_not_marked_is_left_alone(run: Callable[..., str]) -> None:
    text = fence("python", "raise SystemExit")
    assert run(text) == text


@pytest.mark.parametrize(
    ("kind", "code", "says"),
    [
        ("python run", "1 / 0", "ZeroDivisionError"),
        ("python run", "import warnings\nwarnings.warn('careful')", "UserWarning: careful"),
        ("console run", "$ fullrank estimate nowhere.csv", "ended with 2, not 0"),
        ("console run exit=2", "$ fullrank --version", "ended with 0, not 2"),
        ("console run", "$ rm -r folder", "rm is not run here"),
    ],
)
def test_what_fails_fails_the_build(
    run: Callable[..., str], tool: Callable[[str], Any], kind: str, code: str, says: str
) -> None:
    with pytest.raises(tool("blocks").BlockError, match=r"block of page\.md failed") as caught:
        run(fence(kind, code))
    assert says in str(caught.value)


def test_commands_stand_before_what_they_print(run: Callable[..., str]) -> None:
    shown = run(fence("console run", "$ fullrank \\\n    --version"))
    assert shown.startswith("```console\n$ fullrank \\\n    --version\nfullrank 0.")


def test_the_numbers_of_every_page_are_found(tool: Callable[[str], Any]) -> None:
    """Without the site, which only `make verify` builds; what is not stored fails."""
    rendered, maths = tool("write_pages").rendered, tool("maths").render
    filled = 0
    for page in sorted(DOCS.rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        try:
            shown = rendered(text)
        except Exception as why:
            raise AssertionError(f"{page.relative_to(DOCS)}: {why!r}") from why
        assert "{{" not in shown, page
        words = re.sub(r"(?ms)^ *```.*?^ *```$|`[^`\n]+`", "", maths(shown))
        assert not re.search(r"\$\$|\\\(", words), f"{page}: a formula that is not set"
        filled += shown != text
    assert filled > 20


def test_a_page_is_written_with_its_numbers_and_formulas(
    tool: Callable[[str], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = tool("write_pages")
    monkeypatch.setattr(pages, "_OUT", tmp_path)
    pages.main(["estimators/cls.md"])
    text = tmp_path.joinpath("estimators", "cls.md").read_text(encoding="utf-8")
    assert text.startswith("# CLS")
    assert text.endswith("\n")
    assert "<math" in text
    assert "``` { .text .output }" in text
    tool("blocks").stop()


def test_formulas(tool: Callable[[str], Any]) -> None:
    render = tool("maths").render
    inline = render(r"a \(x < y_1\) b")
    assert inline.startswith(
        'a <span><math xmlns="http://www.w3.org/1998/Math/MathML" display="inline">'
    )
    assert "<mo>&#x0003C;</mo>" in inline
    assert "<msub><mi>y</mi><mn>1</mn></msub>" in inline
    block = render("text\n\n$$\n\\frac{a}{b}\n$$\n")
    assert block.startswith('text\n\n<div class="formula" tabindex="0"')
    assert "<mfrac>" in block


def test_no_formula_is_found_in_code(tool: Callable[[str], Any]) -> None:
    text = "`\\(x\\)` and\n\n" + fence("python", "r'\\(x\\)'\n$$\nx\n$$")
    assert tool("maths").render(text) == text


def test_short_lines_of_docstrings(tool: Callable[[str], Any], tmp_path: Path) -> None:
    import griffe

    text = '''def f(a, b, c):
    """Do.

    Parameters
    ----------
    a : words that go on
        in the next line
    b : int, optional
        A sentence of its own.
    c : words alone
    """
'''
    extensions = griffe.load_extensions(tool("docstrings").ShortLines)
    tmp_path.joinpath("a_module.py").write_text(text)
    module = griffe.load("a_module", search_paths=[tmp_path], extensions=extensions)
    parsed = module["f"].docstring.parsed
    found = {one.name: (one.annotation, one.description) for one in parsed[1].value}
    assert found["a"] == (None, "words that go on in the next line")
    assert str(found["b"][0]) == "int"
    assert found["b"][1] == "A sentence of its own."
    assert found["c"] == (None, "words alone")
