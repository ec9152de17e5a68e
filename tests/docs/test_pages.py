"""The pages as they are written: what they begin with, run, name and picture."""

from __future__ import annotations

import ast
import importlib
import re
import runpy
import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from reproduction import registry, runner

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
TEXTS = {path.relative_to(DOCS).as_posix(): path.read_text(encoding="utf-8") for path in PAGES}
FENCE = re.compile(r"^ *```(\w+)([^\n]*)\n(.*?)^ *```$", flags=re.DOTALL | re.MULTILINE)
# Python that other tests run: on sizing.md it needs a cluster (test_spark.py), in guide/loop/ the
# reader's own model and data (test_loop_pages.py)
RUN_BY_TESTS = re.compile(r"sizing\.md|guide/loop/(?!index)")
# (page, first line) of the Python that is not run: what it stands for is the reader's own
NOT_RUN = {
    ("guide/scale-out.md", "from fullrank.engines import Ray"),  # test_scale_out.py
    ("guide/scorers.md", "model = MyModule()  # has n_items, and forward(users, items)"),
    ("guide/gpu.md", "scorer = fr.FactorScorer(user_factors, item_factors)"),
    (
        "guide/gpu.md",
        'fast = fr.rank(scorer, targets, device="cuda", operands="bf16", precision="fast")',
    ),
    ("guide/gpu.md", 'model = MyModule().to("cuda")  # has n_items, and forward(users, items)'),
}


@pytest.fixture(scope="module")
def reference(need: Callable[[str], ModuleType]) -> Any:
    """The module that makes the reference pages."""
    need("typer")
    return runpy.run_path(str(DOCS / "_tools" / "reference.py"))


def test_every_page_is_in_the_navigation_once(
    reference: Any, need: Callable[[str], ModuleType]
) -> None:
    yaml = need("yaml")
    settings = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    listed = sorted(_leaves(settings["nav"]))
    assert listed == sorted([*TEXTS, *reference["pages"]()])


def _leaves(part: Any) -> Iterator[str]:
    if isinstance(part, str):
        yield part
    else:
        for inside in part.values() if isinstance(part, dict) else part:
            yield from _leaves(inside)


@pytest.mark.parametrize("page", TEXTS)
def test_a_page_begins_with_its_title_and_what_the_reader_gets(page: str) -> None:
    title, _, after = TEXTS[page].partition("\n\n")
    assert re.fullmatch(r"# \S.*", title)
    assert re.match(r"\*[^*]+\*( .*)?\n", after), "what the reader gets, in italics"


def _python(page: str) -> list[tuple[str, str]]:
    """The options and the code of a page's Python, unless another test runs it."""
    if RUN_BY_TESTS.match(page):
        return []
    return [
        (options, code) for language, options, code in FENCE.findall(TEXTS[page])
        if language == "python"
    ]  # fmt: skip


@pytest.mark.parametrize("page", TEXTS)
def test_python_on_a_page_is_run_when_the_site_is_built(page: str) -> None:
    for options, code in _python(page):
        ast.parse(code)
        first = code.partition("\n")[0]
        assert options.startswith(" run") or (page, first) in NOT_RUN, code


def test_what_is_not_run_is_still_there() -> None:
    blocks = {
        (page, code.partition("\n")[0])
        for page in TEXTS
        for options, code in _python(page)
        if not options.startswith(" run")
    }
    assert blocks == NOT_RUN


def test_commands_that_are_not_run_have_the_options_they_show(reference: Any) -> None:
    """Those on the pages, and the examples in the commands' own help."""
    commands = reference["commands"]()
    shown = [
        line[2:]
        for text in (*TEXTS.values(), reference["pages"]()["reference/cli.md"])
        for language, options, code in FENCE.findall(text)
        if language == "console" and " run" not in options
        for line in code.replace("\\\n", " ").splitlines()
        if line.startswith("$ fullrank ")
    ]
    assert len(shown) > len(commands)
    for line in shown:
        name, *words = shlex.split(line, comments=True)[1:]
        if name.startswith("--"):
            continue
        assert name in commands, line
        section = reference["pages"]()["reference/cli.md"].partition(f"## {name} ")[2]
        known = section.partition("\n## ")[0]
        for word in words:
            if word.startswith("-"):
                assert f"`{word.partition('=')[0]}`" in known, line


def test_commands_of_the_studies_have_the_options_they_show() -> None:
    shown = [
        line
        for text in TEXTS.values()
        for line in re.findall(r"[$`] ?(python -m reproduction[^`\n]*)", text)
    ]
    assert len(shown) > 4
    for line in shown:
        # a name that stands for any of the data sets
        words = shlex.split(line.replace("NAME", "ml-1m"), comments=True)[3:]
        if words[:1] != ["run"]:
            assert words in ([], ["list"]), line
            continue
        study = registry.get(words[1])
        module = importlib.import_module(f"reproduction.{study.module}")
        try:
            runner._parsed(study, module, words[2:])
        except SystemExit as end:  # argparse's, which has said why
            if end.code:
                pytest.fail(line)


def test_every_command_and_public_name_has_its_place(reference: Any) -> None:
    import fullrank

    pages = reference["pages"]()
    for command in reference["commands"]():
        assert f"## {command} " in pages["reference/cli.md"]
    for name in reference["present"]():
        for one, value in reference["public"](name).items():
            page = pages[f"reference/{name}.md"]
            assert f".{getattr(value, '__qualname__', one)}" in page, f"{name}.{one}"
    index = pages["reference/index.md"]
    for name in fullrank.__all__:
        if not name.startswith("__") and name != "datasets":
            assert re.search(rf"`fr\.{name}[`.]", index), name


def test_every_promise_names_a_test_that_exists() -> None:
    rows = [line for line in TEXTS["promises.md"].splitlines() if line.startswith("| ")]
    promises = [row for row in rows if "Shown by" not in row and "---" not in row]
    assert len(promises) >= 25
    for row in promises:
        named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", row)
        assert named, row
        for file, test in named:
            assert f"def {test}(" in (ROOT / file).read_text(encoding="utf-8"), f"{file}::{test}"


def test_images_are_small_and_described() -> None:
    used = set()
    for page, text in TEXTS.items():
        for words, target in re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", text):
            assert len(words.split()) >= 8, f"{page}: say what {target} shows"
            used.add((DOCS / page).parent.joinpath(target).resolve())
    assert len(used) >= 4
    for path in used:
        assert path.is_file()
        assert path.stat().st_size < 150_000, path.name


@pytest.mark.slow
def test_the_images_are_what_the_script_draws(
    tmp_path: Path, need: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    need("matplotlib")
    monkeypatch.setattr(sys, "argv", ["make_images.py", str(tmp_path)])
    runpy.run_path(str(DOCS / "make_images.py"), run_name="__main__")
    drawn = sorted(tmp_path.iterdir())
    assert [path.name for path in drawn] == [
        "blind-spot.png", "rendle-1.png", "rendle-2.png", "rendle-3.png"
    ]  # fmt: skip
    for path in drawn:
        assert (DOCS / "images" / path.name).is_file()
        assert path.read_bytes().startswith(b"\x89PNG")


def test_the_citation_names_the_papers() -> None:
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    for title in (
        "Evaluation Metrics for Item Recommendation under Sampling",
        "On Sampled Metrics for Item Recommendation",
        "On Sampling Top-K Recommendation Evaluation",
        "On Estimating Recommendation Evaluation Metrics under Sampling",
        "Towards Reliable Item Sampling for Recommendation Evaluation",
    ):
        assert f"title: {title}\n" in text
