"""When a table counts as reproduced, and how figures of the studies are drawn."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from reproduction import outcome

ITEM = "004 Table 2"


def row(name: str, published: list[float], measured: list[float | None]) -> list[dict[str, Any]]:
    both = zip(published, measured, strict=True)
    return [
        {"row": name, "column": at, "published": one, "measured": other}
        for at, (one, other) in enumerate(both)
    ]


def test_within_fifteen_percent() -> None:
    found = outcome.compare(ITEM, row("a", [10.0, 20.0], [11.5, 17.0]), differs="another fit")
    assert found == {
        "item": ITEM,
        "state": "reproduced",
        "cells": 2,
        "within": 2,
        "tolerance": 0.15,
        "two_sd": None,
        "absent": 0,
        "pairs": 1,
        "order": 1.0,
        "median_percent": 15.0,
        "differs": "another fit",
    }
    assert outcome.compare(ITEM, row("a", [10.0, 20.0], [11.6, 16.9]))["within"] == 0
    assert outcome.compare(ITEM, row("a", [10.0], [11.6]), within=0.2)["within"] == 1


def test_two_standard_errors_of_both_means_if_they_are_wider() -> None:
    (cell,) = row("a", [10.0], [14.0])

    def near(repeats: int, **spread: float | None) -> int:
        return int(outcome.compare(ITEM, [cell | spread], repeats=repeats)["within"])

    assert near(100) == 0
    assert near(100, published_sd=20.0) == 1  # 2 · 20 / √100 = 4
    assert near(101, published_sd=20.0) == 0
    assert near(100, published_sd=19.9) == 0
    assert near(100, published_sd=None) == 0
    # both spreads count: 2 · √(12² + 16²) / 10 = 4
    assert near(100, published_sd=12.0, measured_sd=16.0) == 1
    assert near(100, published_sd=12.0, measured_sd=15.9) == 0
    # a single draw has its whole spread
    assert near(1, published_sd=2.0) == 1
    assert near(2, published_sd=2.0) == 0


def test_a_wide_spread_of_single_repeats_passes_no_mean() -> None:
    cells = [one | {"published_sd": 8.0} for one in row("a", [10.0, 11.0], [25.0, 6.0])]
    found = outcome.compare(ITEM, cells, repeats=100)
    assert (found["two_sd"], found["within"], found["state"]) == (2, 0, "not reproduced")
    part = outcome.compare(ITEM, [cells[0], *row("b", [1.0], [1.0])], repeats=100)
    assert (part["two_sd"], part["within"]) == (1, 1)


@pytest.mark.parametrize("key", ["published_sd", "measured_sd"])
@pytest.mark.parametrize("repeats", [None, 0])
def test_deviations_without_repeats(key: str, repeats: int | None) -> None:
    cells = [one | {key: 8.0} for one in row("a", [10.0], [25.0])]
    expected = f"say over how many repeats {ITEM} has its means; got {repeats}"
    with pytest.raises(ValueError, match=expected):
        outcome.compare(ITEM, cells, repeats=repeats)


def test_nine_of_ten_cells() -> None:
    published = [10.0] * 10
    nine = outcome.compare(ITEM, row("a", published, [10.0] * 9 + [99.0]))
    assert (nine["state"], nine["within"], nine["pairs"]) == ("reproduced", 9, 0)
    eight = outcome.compare(ITEM, row("a", published, [10.0] * 8 + [99.0] * 2))
    assert (eight["state"], eight["order"]) == ("not reproduced", None)


def test_the_order_within_a_row() -> None:
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


def test_cells_that_are_absent_or_zero() -> None:
    found = outcome.compare(ITEM, row("a", [0.0, 0.0, 4.0], [0.0, 0.1, None]))
    assert (found["cells"], found["within"], found["absent"]) == (2, 1, 1)
    assert found["median_percent"] is None
    with pytest.raises(ValueError, match="has no measured cell"):
        outcome.compare(ITEM, row("a", [1.0], [None]))


def test_figures_and_reasons() -> None:
    assert outcome.shown("001 Figure 4", "errors grow", True)["state"] == "reproduced"
    assert outcome.shown("001 Figure 4", "errors grow", False)["state"] == "not reproduced"
    assert outcome.missing(ITEM, "no data")["state"] == "not here"
    assert outcome.nothing(ITEM, "notation")["state"] == "nothing to reproduce"
    states = {"reproduced", "in order", "not reproduced", "on other data", "not here"}
    assert set(outcome.STATES) == states | {"nothing to reproduce"}


def test_a_statement_on_other_data_counts_no_cells() -> None:
    item = "003 Table 8"
    for holds in (True, None, False):
        assert outcome.elsewhere(item, "EASE is first", holds, data="ml-1m", differs="small") == {
            "item": item,
            "state": "on other data",
            "says": "EASE is first",
            "holds": holds,
            "data": "ml-1m",
            "differs": "small",
        }
    with pytest.raises(ValueError, match="say what it says: 003 Table 8"):
        outcome.elsewhere(item, "", True, data="ml-1m")
    with pytest.raises(ValueError, match="say on which data: 003 Table 8"):
        outcome.elsewhere(item, "EASE is first", True, data="")
    with pytest.raises(ValueError, match="an item is like"):
        outcome.elsewhere("Table 8", "EASE is first", True, data="ml-1m")


@pytest.mark.parametrize(
    ("n", "of", "holds"),
    [(9, 10, True), (10, 10, True), (89, 100, None), (5, 10, None), (4, 10, False), (0, 1, False)],
)
def test_a_claim_of_so_many_cases(n: int, of: int, holds: bool | None) -> None:
    assert outcome.holds_for(n, of) is holds


@pytest.mark.parametrize(("n", "of"), [(0, 0), (3, 2), (-1, 2)])
def test_cases_that_cannot_be(n: int, of: int) -> None:
    with pytest.raises(ValueError, match=f"counted out of one or more; got {n} of {of}"):
        outcome.holds_for(n, of)


def test_mistakes() -> None:
    for item in ("005 Table 2", "Table 2", "004 table 2"):
        with pytest.raises(ValueError, match="an item is like '004 Table 2'"):
            outcome.missing(item, "why")
    for function in (outcome.missing, outcome.nothing):
        with pytest.raises(ValueError, match="say why 004 Table 2 is not here"):
            function(ITEM, "")


@pytest.mark.slow
def test_a_drawing_is_the_same_file_each_time(
    tmp_path: Path, need: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    need("matplotlib")
    figures = importlib.import_module("reproduction.common.figures")  # needs matplotlib
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
