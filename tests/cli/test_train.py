"""``fullrank train``: a file that ``fullrank evaluate`` takes."""

from __future__ import annotations

import json
import re
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
    assert content["metrics"] == {"recall@10": 0.041}
    shown = fullrank(*command)
    assert "\nSplit: leave-one-out, last item by time\n" in shown.out
    assert content["split"] == "leave-one-out, last item by time"
    assert "recall@10 on the test part: 0.0410" in shown.out
    judged = fullrank("evaluate", "simulated", "--model", f"p={out}", "-m", "recall@10", "--json")
    assert judged.err == ""
    assert json.loads(judged.out)["models"][0]["metrics"][0]["estimate"] == pytest.approx(0.041)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["simulated", "--model", "easy", "--out", "OUT"], r"`--model`.*'popularity'.*'easy'"),
        (["none.csv", "--model", "ease", "--out", "OUT"], r"`DATA`.*none\.csv.*exist"),
        (["simulated", "--model", "ease", "--out", "."], r"`--out`.*folder"),
        (["simulated", "--model", "ease", "--out", "no/x"], r"`--out`.*folder.*\bno\b"),
        (
            ["simulated", "--model", "popularity", "--out", "OUT", "--split", "none", "-m", "auc"],
            r"`--metric`.*split",
        ),
    ],
)
def test_mistakes(fullrank: Run, tmp_path: Path, arguments: list[str], message: str) -> None:
    out = str(tmp_path / "m.safetensors")
    done = fullrank("train", *(out if one == "OUT" else one for one in arguments))
    assert done.code == 2
    assert re.search(message, done.err)
    assert done.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
