"""The figures in the documentation are those of the stored results."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.etree import ElementTree

import pytest

from reproduction.registry import STUDIES

DOCS = Path(__file__).parents[2] / "docs"
SVG = "{http://www.w3.org/2000/svg}"
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")
PAGES = {
    "reproduction_index": "index",
    "hundred_sealed": "hundred",
}  # whose name is not that of the study


def _folder(name: str) -> Path:
    return DOCS / ("studies" if STUDIES[name].own else "reproduction")


def _drawn(path: Path) -> tuple[list[str], list[float]]:
    """The text of a figure, and the positions of its marks in points of 1/72 inch."""
    root = ElementTree.fromstring(path.read_text(encoding="utf-8"))
    text = ["".join(one.itertext()).strip() for one in root.iter(f"{SVG}text")]
    assert text, f"{path.name} has no text"
    marks = [one.get("d", "") for one in root.iter(f"{SVG}path")]
    return text, [float(number) for mark in marks for number in NUMBER.findall(mark)]


@pytest.mark.slow
@pytest.mark.parametrize("name", STUDIES)
def test_figures_are_drawn_from_the_results(
    name: str, stored: Any, need: Callable[[str], ModuleType], tmp_path: Path
) -> None:
    module = importlib.import_module(f"reproduction.{STUDIES[name].module}")
    kept = sorted(path.name for path in _folder(name).glob(f"{name}-*.svg"))
    assert bool(kept) == hasattr(module, "figures")
    if not kept:
        return
    need("matplotlib")
    module.figures(stored(name), tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == kept
    for figure in kept:
        text, marks = _drawn(tmp_path / figure)
        kept_text, kept_marks = _drawn(_folder(name) / figure)
        assert text == kept_text, figure
        assert marks == pytest.approx(kept_marks, abs=1.0), figure


@pytest.mark.parametrize("name", STUDIES)
def test_figures_are_small_described_and_shown(name: str) -> None:
    folder = _folder(name)
    page = (folder / f"{PAGES.get(name, name)}.md").read_text(encoding="utf-8")
    shown = re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", page)
    for words, target in shown:
        assert len(words.split()) >= 8, f"say what {target} shows"
        assert (folder / target).stat().st_size < 150_000, target
    assert {path.name for path in folder.glob(f"{name}-*.svg")} <= {target for _, target in shown}


def test_a_run_that_was_over_before_its_memory_was_read_has_figures_too(
    stored: Any, need: Callable[[str], ModuleType], tmp_path: Path
) -> None:
    need("matplotlib")
    content = stored("scale")
    content["runs"][-1] |= {"memory": [], "left": []}
    importlib.import_module("reproduction.own.scaling.scale").figures(content, tmp_path)
    assert len(list(tmp_path.iterdir())) == 2
