"""``fullrank report``: one file from runs and ranks."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from fullrank.evaluation import evaluate

Run = Callable[..., Any]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    scores = np.random.default_rng(0).random((2, 60, 30))
    targets = np.arange(60), np.arange(60) % 30
    models = {"<b>bold</b>": scores[0], "plain": scores[1]}
    evaluate(models, targets, metrics="recall@3", out=tmp_path / "run", report=False, name="toy")
    return tmp_path / "run"


@pytest.mark.slow
def test_a_report_of_a_run(
    fullrank: Run, run: Path, tmp_path: Path, need: Callable[[str], ModuleType]
) -> None:
    need("jinja2")
    out = tmp_path / "report.html"
    done = fullrank("report", run, "--out", out)
    assert (done.code, done.err) == (0, "")
    assert done.out == f"Written to {out}.\n"
    page = out.read_text("utf-8")
    assert "<b>bold</b>" not in page
    assert "&lt;b&gt;bold&lt;/b&gt;" in page
    assert "toy: 60 evaluated users" in page
    content = json.loads(fullrank("report", run, "--out", out, "--json").out)
    assert content["format"] == 1


@pytest.mark.slow
def test_the_split_of_a_run_is_no_assumption(
    fullrank: Run, tmp_path: Path, need: Callable[[str], ModuleType]
) -> None:
    need("jinja2")
    fullrank(
        "evaluate", "simulated", "--model", "popularity", "--users", 40, "--out", tmp_path / "run"
    )
    out = tmp_path / "report.html"
    done = fullrank("report", tmp_path / "run", "--out", out)
    assert "Split: leave-one-out" in done.out
    measured = json.loads(fullrank("report", tmp_path / "run", "--out", out, "--json").out)
    assert measured["measured"]["split"].startswith("leave-one-out")
    assert "assumed" not in measured["measured"]


def test_mistakes(fullrank: Run, run: Path, tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    for arguments, message in (
        (["none", "--out", out], r"`FILES`.*none.*exist"),
        ([tmp_path, "--out", out], r"`FILES`.*evaluate"),
        ([run, "--out", tmp_path], r"`--out`.*folder"),
        ([run, "--out", tmp_path / "no" / "x.html"], r"`--out`.*folder.*no"),
        ([run, run, "--out", out], r"`FILES`.*twice"),
        ([run, "--out", out, "-m", "ndgc"], r"`--metric`.*recall.*'ndgc'"),
    ):
        done = fullrank("report", *arguments)
        assert done.code == 2
        assert re.search(message, done.err)
        assert done.err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
