"""``fullrank evaluate``: a folder of ranks and results, and one sentence for every mistake."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

Run = Callable[..., Any]
CSV = "user,item\n" + "\n".join(f"{u},{(u * 7 + i) % 23}" for u in range(40) for i in range(6))


@pytest.fixture
def plays(tmp_path: Path) -> Path:
    path = tmp_path / "plays.csv"
    path.write_text(CSV + "\n")
    return path


@pytest.mark.slow
def test_a_folder_and_a_table(fullrank: Run, plays: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    command = ("evaluate", plays, "--model", "popularity", "--model", "e=ease:regularization=5",
               "--out", out, "-m", "recall@5", "-m", "ndcg@5", "--no-report")  # fmt: skip
    done = fullrank(*command)
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert lines[2].split() == ["model", "recall@5", "ndcg@5", "P(best)"]
    assert lines[-1] == f"Written to {out}."
    assert sorted(path.name for path in out.iterdir()) == ["ranks", "results.json", "run.json"]
    head = json.loads((out / "run.json").read_text("utf-8"))
    assert head["models"][1]["settings"] == {"regularization": 5.0}
    results = json.loads((out / "results.json").read_text("utf-8"))
    again = fullrank(*command, "--json")
    assert json.loads(again.out) == results
    refused = fullrank(*command, "--seed", 1)
    assert refused.code == 2
    assert refused.err.startswith("`out` must be another folder, or the same must be asked: ")
    assert refused.err.count("\n") == 1


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["sampled:8", "adaptive:start=4", "users:20"])
def test_strategies(fullrank: Run, plays: Path, strategy: str) -> None:
    done = fullrank("evaluate", plays, "--model", "item-knn", "--strategy", strategy, "--json")
    assert done.code == 0, done.err
    content = json.loads(done.out)
    assert content["format"] == 1
    (model,) = content["models"]
    assert [one["metric"] for one in model["metrics"]] == ["recall@10", "ndcg@10", "ap@10"]
    assert all(one["low"] <= one["estimate"] <= one["high"] for one in model["metrics"])


def test_factor_files(fullrank: Run, plays: Path, tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    for name, size in (("u", 40), ("i", 23)):
        np.save(tmp_path / f"{name}.npy", random.normal(size=(size, 3)).astype(np.float32))
    factors = f"mine={tmp_path / 'u.npy'},{tmp_path / 'i.npy'}"
    done = fullrank("evaluate", plays, "--factors", factors, "-m", "auc", "--keep-seen")
    assert done.code == 0, done.err
    assert "mine" in done.out
    done = fullrank("evaluate", plays, "--factors", f"mine={tmp_path / 'u.npy'}", "-m", "auc")
    assert done.code == 2
    assert done.err.startswith("`factors` must be two files, users' and items', or one .npz")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.csv", "--model", "ease"], "`path` must name a file; none.csv does not exist."),
        (["PLAYS"], "`--model` must be given, or `--factors`: there is nothing to evaluate."),
        (["PLAYS", "--model", "easy"], "`model` must be one of 'popularity', "),
        (["PLAYS", "--model", "ease:l=1"], "`model` must have settings of ease, regularization; "),
        (["netflics", "--model", "ease"], "`data` must be a file or one of 'ml-latest-small', "),
        (["PLAYS", "--model", "ease", "--strategy", "all"], "`strategy` must be one of 'exact', "),
        (["PLAYS", "--model", "ease", "-m", "ndgc@10"], "`metric` must be one of recall, "),
        (["PLAYS", "--model", "ease", "--engine", "gpu"], "`engine` must be one of 'serial', "),
        (["PLAYS", "--model", "ease", "--split", "half"], "`split` must be one of 'auto', "),
        (["PLAYS", "--model", "ease", "--column", "user=who"], "`user` must name a column of the "),
        (["PLAYS", "--model", "m.safetensors"], "`path` must name a file; m.safetensors does not "),
        (["PLAYS", "--model", "ease", "--out", "PLAYS"], "`out` must be a folder; "),
        (["PLAYS", "--model", "ease", "--out", "PLAYS/x"], "`out` must be a folder that can be "),
        (["PLAYS", "--model", "ease", "--level", "95"], "`confidence_level` must lie between "),
    ],
)
def test_mistakes(fullrank: Run, plays: Path, arguments: list[str], message: str) -> None:
    done = fullrank("evaluate", *(one.replace("PLAYS", str(plays)) for one in arguments))
    assert done.code == 2
    assert done.err.startswith(message)
    assert done.err.count("\n") == 1
    assert done.out == ""
    assert [path.name for path in plays.parent.iterdir()] == ["plays.csv"]


def test_help_has_an_example(fullrank: Run) -> None:
    done = fullrank("evaluate", "--help")
    assert done.code == 0
    assert "Example: fullrank evaluate ml-latest-small --model ease" in done.out
