"""Markdown tables from stored results."""

from __future__ import annotations

from typing import Any

import pytest

from reproduction import tables
from reproduction.outcome import STATES

CONTENT: dict[str, Any] = {
    "rows": [
        {"model": "A", "design": "x", "error": {"mean": 1.25, "sd": 0.5}, "ends": [0.1, 0.2]},
        {"model": "A", "design": "y", "error": {"mean": 2.5, "sd": None}, "ends": [0.3, 0.4]},
        {"model": "B", "design": "x", "error": None, "ends": [0.5, 0.6]},
    ],
    "models": {"A": {"best": {"k": 5, "rate": 0.5}}, "B": {"best": {}}},
    "cells": [
        {"row": "r", "column": "c", "published": 1.0, "measured": 1.5, "measured_sd": 0.1},
        {"row": "r", "column": "d", "published": 2.0, "measured": None},
    ],
    "tables": [{"item": "004 Table 2", "state": "not here", "why": "no data"}],
}


@pytest.fixture(autouse=True)
def _stored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "stored", lambda name: CONTENT)


def test_records() -> None:
    text = tables.records(
        "x",
        "rows",
        {"model": "model", "error": "{error[mean]:.1f} ± {error[sd]:.1f}", "low": "{ends[0]}"},
    )
    assert text.splitlines() == [
        "| model | error | low |",
        "| --- | ---: | ---: |",
        "| A | 1.2 ± 0.5 | 0.1 |",
        "| A | 2.5 | 0.3 |",
        "| B | – | 0.5 |",
    ]
    one = tables.records("x", "rows", ["design"], where={"model": "A", "error/mean": [2.5]})
    assert one.splitlines()[2:] == ["| y |"]


def test_a_mapping_has_keys_and_settings_are_listed() -> None:
    text = tables.records("x", "models", {"model": "key", "settings": "best"})
    assert text.splitlines()[2:] == ["| A | k 5, rate 0.5 |", "| B | – |"]


def test_pivot() -> None:
    text = tables.pivot("x", "rows", rows="model", columns="design", cell="{ends[1]:.1f}")
    assert text.splitlines() == [
        "|  | x | y |", "| --- | ---: | ---: |", "| A | 0.2 | 0.4 |", "| B | 0.6 | – |"
    ]  # fmt: skip
    chosen = tables.pivot("x", "rows", rows="model", columns="design", cell="model", order=["y"])
    assert chosen.splitlines()[2] == "| A | A |"


def test_published_values_are_in_brackets() -> None:
    text = tables.published("x", "cells", spec=".1f")
    assert text.splitlines()[2] == "| r | 1.5 ± 0.1 (1.0) | – (2.0) |"


def test_numbers_and_columns() -> None:
    assert tables.number("x", "rows/0/error/mean", ".1f") == "1.2"
    assert tables.column("x", "rows", "ends/0", {"design": "x"}) == [0.1, 0.5]


def test_outcomes_name_the_paper() -> None:
    assert tables.outcomes("x").splitlines()[2] == (
        "| Jin et al. 2021, Table 2 | not possible here | no data |"
    )


@pytest.mark.parametrize("wrong", ["rows/0/nothing", "nothing"])
def test_a_path_that_leads_nowhere(wrong: str) -> None:
    with pytest.raises(KeyError, match=f"has nothing at {wrong}"):
        tables.number("x", wrong)


def test_a_field_that_no_record_has() -> None:
    with pytest.raises(KeyError, match="nothing at rows for head"):
        tables.records("x", "rows", {"model": "model", "head": "{typo:.1f}"})


def test_every_state_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    items = [{"item": "004 Table 2", "state": state, "in_part": False} for state in STATES]
    monkeypatch.setattr(tables, "stored", lambda name: {"items": items})
    assert tables.states().startswith("Of 6 tables and figures, 1 are reproduced (0 of them in")
    assert tables.counts().splitlines()[-1] == f"| all | {'1 | ' * 6}6 |"
