"""When a table counts as reproduced, and how figures of the studies are drawn."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

STUDIES = Path(__file__).parents[2] / "benchmarks" / "studies"
ITEM = "004 Table 2"


@pytest.fixture
def outcome(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(STUDIES))
    return importlib.import_module("_outcome")


def row(name: str, published: list[float], measured: list[float | None]) -> list[dict[str, Any]]:
    both = zip(published, measured, strict=True)
    return [
        {"row": name, "column": at, "published": one, "measured": other}
        for at, (one, other) in enumerate(both)
    ]


def test_within_fifteen_percent(outcome: Any) -> None:
    found = outcome.compare(ITEM, row("a", [10.0, 20.0], [11.5, 17.0]), differs="another fit")
    assert found == {
        "item": ITEM,
        "state": "reproduced",
        "cells": 2,
        "within": 2,
        "tolerance": 0.15,
        "absent": 0,
        "pairs": 1,
        "order": 1.0,
        "median_percent": 15.0,
        "differs": "another fit",
    }
    assert outcome.compare(ITEM, row("a", [10.0, 20.0], [11.6, 16.9]))["within"] == 0
    assert outcome.compare(ITEM, row("a", [10.0], [11.6]), within=0.2)["within"] == 1


def test_two_published_deviations_if_they_are_wider(outcome: Any) -> None:
    (cell,) = row("a", [10.0], [14.0])
    assert outcome.compare(ITEM, [cell])["within"] == 0
    assert outcome.compare(ITEM, [cell | {"published_sd": 2.0}])["within"] == 1
    assert outcome.compare(ITEM, [cell | {"published_sd": 1.9}])["within"] == 0
    assert outcome.compare(ITEM, [cell | {"published_sd": None}])["within"] == 0
    # ours may be as wide as it likes
    assert outcome.compare(ITEM, [cell | {"measured_sd": 9.0}])["within"] == 0


def test_nine_of_ten_cells(outcome: Any) -> None:
    published = [10.0] * 10
    nine = outcome.compare(ITEM, row("a", published, [10.0] * 9 + [99.0]))
    assert (nine["state"], nine["within"], nine["pairs"]) == ("reproduced", 9, 0)
    eight = outcome.compare(ITEM, row("a", published, [10.0] * 8 + [99.0] * 2))
    assert (eight["state"], eight["order"]) == ("not reproduced", None)


def test_the_order_within_a_row(outcome: Any) -> None:
    found = outcome.compare(ITEM, row("a", [1.0, 2.0, 3.0], [10.0, 20.0, 30.0]))
    assert (found["state"], found["pairs"], found["order"]) == ("in order", 3, 1.0)
    turned = outcome.compare(ITEM, row("a", [1.0, 2.0, 3.0], [10.0, 30.0, 20.0]))
    assert (turned["state"], turned["order"]) == ("not reproduced", 0.6667)
    equal = outcome.compare(ITEM, row("a", [1.0, 2.0], [10.0, 10.0]))
    assert equal["order"] == 0.0
    # no order between rows, nor between values that are nearly the same
    rows = row("a", [1.0, 1.03], [10.0, 9.0]) + row("b", [5.0], [2.0])
    assert outcome.compare(ITEM, rows)["pairs"] == 0
    assert outcome.compare(ITEM, row("a", [1.0, 1.04], [10.0, 9.0]))["pairs"] == 1


def test_cells_that_are_absent_or_zero(outcome: Any) -> None:
    found = outcome.compare(ITEM, row("a", [0.0, 0.0, 4.0], [0.0, 0.1, None]))
    assert (found["cells"], found["within"], found["absent"]) == (2, 1, 1)
    assert found["median_percent"] is None
    with pytest.raises(ValueError, match="has no measured cell"):
        outcome.compare(ITEM, row("a", [1.0], [None]))


def test_figures_reasons_and_claims(outcome: Any) -> None:
    assert outcome.shown("001 Figure 4", "errors grow", True)["state"] == "reproduced"
    assert outcome.shown("001 Figure 4", "errors grow", False)["state"] == "not reproduced"
    assert outcome.missing(ITEM, "no data")["state"] == "not here"
    assert outcome.nothing(ITEM, "notation")["state"] == "nothing to reproduce"
    assert outcome.claim("004", "MLE is best", None, "on 2 of 4")["holds"] is None
    states = {"reproduced", "in order", "not reproduced", "not here", "nothing to reproduce"}
    assert set(outcome.STATES) == states


def test_mistakes(outcome: Any) -> None:
    for item in ("005 Table 2", "Table 2", "004 table 2"):
        with pytest.raises(ValueError, match="an item is like '004 Table 2'"):
            outcome.missing(item, "why")
    for function in (outcome.missing, outcome.nothing):
        with pytest.raises(ValueError, match="say why 004 Table 2 is not here"):
            function(ITEM, "")
    with pytest.raises(ValueError, match="say what was found about: MLE is best"):
        outcome.claim("004", "MLE is best", True, "")
    with pytest.raises(ValueError, match="an item is like"):
        outcome.claim("MLE", "is best", True, "always")


@pytest.mark.slow
def test_a_drawing_is_the_same_file_each_time(
    tmp_path: Path, need: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    need("matplotlib")
    monkeypatch.syspath_prepend(str(STUDIES))
    figures = importlib.import_module("_figures")
    drawn = []
    for at, top in enumerate((2.0, 2.0, 2.5)):
        path = tmp_path / f"{at}.svg"
        with figures.drawing(path, columns=2) as axes:
            axes[0].plot([0, 1], [1.0, top], **figures.line("EASE"))
            axes[1].set_title("MLE & MES")
        drawn.append(path.read_text("utf-8"))
    assert drawn[0] == drawn[1] != drawn[2]
    assert ">MLE &amp; MES</text>" in drawn[0]
    assert "<dc:date>" not in drawn[0]
    lines = [figures.line(name) for name in ("exact", *figures._NAMES)]
    assert len({(one["color"], one["linestyle"]) for one in lines}) == len(lines)
