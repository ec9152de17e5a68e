"""``fullrank train``: a file that ``fullrank evaluate`` takes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


def test_trained_and_evaluated(fullrank: Run, tmp_path: Path) -> None:
    out = tmp_path / "popular.safetensors"
    command = ("train", "simulated", "--model", "popularity", "--out", out, "-m", "recall@10")
    done = fullrank(*command, "--json")
    assert done.code == 0, done.err
    content = json.loads(done.out)
    assert content["format"] == 1
    assert content["metrics"] == {"recall@10": 0.059}
    shown = fullrank(*command)
    assert "recall@10 on the test part: 0.0590" in shown.out
    judged = fullrank("evaluate", "simulated", "--model", f"p={out}", "-m", "recall@10", "--json")
    assert judged.err == ""
    assert json.loads(judged.out)["models"][0]["metrics"][0]["estimate"] == pytest.approx(0.059)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["simulated", "--model", "easy", "--out", "OUT"], "`model` must be one of 'popularity', "),
        (["none.csv", "--model", "ease", "--out", "OUT"], "`path` must name a file; none.csv does"),
        (["simulated", "--model", "ease", "--out", "."], "`--out` must name a file; . is a folder"),
        (["simulated", "--model", "ease", "--out", "no/x"], "`--out` must lie in a folder that is"),
        (
            ["simulated", "--model", "popularity", "--out", "OUT", "--split", "none", "-m", "auc"],
            "`metrics` must not be asked for without a split: nothing is left.",
        ),
    ],
)
def test_mistakes(fullrank: Run, tmp_path: Path, arguments: list[str], message: str) -> None:
    out = str(tmp_path / "m.safetensors")
    done = fullrank("train", *(out if one == "OUT" else one for one in arguments))
    assert done.code == 2
    assert done.err.startswith(message)
    assert done.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
