"""``fullrank evaluate``: a folder of ranks and results, and one sentence for every mistake."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullrank.evaluation import Evaluation

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
    assert lines[1] == "Split: leave-one-out, random item (the data have no timestamps), seed 0"
    assert lines[3].split() == ["model", "recall@5", "ndcg@5", "P(best)"]
    assert lines[-1] == f"Written to {out}."
    assert sorted(path.name for path in out.iterdir()) == ["ranks", "results.json", "run.json"]
    head = json.loads((out / "run.json").read_text("utf-8"))
    assert head["models"][1]["settings"] == {"regularization": 5.0}
    page = Evaluation.read(out).to_markdown()
    assert page.endswith(f" {lines[1]}.")
    results = json.loads((out / "results.json").read_text("utf-8"))
    again = fullrank(*command, "--json")
    assert json.loads(again.out) == results
    assert f"Split: {results['split']}" == lines[1]
    refused = fullrank(*command, "--seed", 1)
    assert refused.code == 2
    assert re.search(r"`--out`.*seed", refused.err)
    assert refused.err.count("\n") == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "words", [("--design", "sampled:8"), ("--design", "adaptive:4"), ("--users", "20")]
)
def test_how_much_is_ranked(fullrank: Run, plays: Path, words: tuple[str, str]) -> None:
    done = fullrank("evaluate", plays, "--model", "item-knn", *words, "--json")
    assert done.code == 0, done.err
    content = json.loads(done.out)
    assert content["format"] == 1
    (model,) = content["models"]
    assert [one["metric"] for one in model["metrics"]] == ["recall@10", "ndcg@10"]
    assert all(one["low"] <= one["estimate"] <= one["high"] for one in model["metrics"])


@pytest.mark.slow
def test_the_borrowed_shape(fullrank: Run, plays: Path, tmp_path: Path) -> None:
    command = ("evaluate", plays, "--model", "e=ease:regularization=5", "--model", "popularity",
               "--design", "sampled:8", "-m", "recall@2", "--no-report")  # fmt: skip
    out = tmp_path / "run"
    done = fullrank(*command, "--out", out)
    assert done.code == 0, done.err
    found = Evaluation.read(out)
    assert found.borrowed is not None
    assert "PureSVD and ItemKNN" in found.borrowed
    assert found.borrowed in done.out
    # popularity, whose ranks have another shape, borrows nothing
    assert [one.anchor is not None for one in found.samples.values()] == [True, False]
    value = found.estimates["e"]["recall@2"]
    ranks = out / "ranks" / "e.parquet"
    estimated = json.loads(fullrank("estimate", ranks, "-m", "recall@2", "--json").out)
    assert estimated["metrics"][0]["estimate"] == value
    for option in ("--no-anchor", "--keep-seen"):
        content = json.loads(fullrank(*command, option, "--json").out)
        assert content["borrowed"] is None
        assert content["models"][0]["metrics"][0]["estimate"] != value
    refused = fullrank(*command, "--no-anchor", "--out", out)
    assert refused.code == 2
    assert re.search(r"`--out`.*anchor \(then: auto; now: none\)", refused.err)


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
    assert re.search(r"`--factors`.*\.npz", done.err)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.csv", "--model", "ease"], r"`DATA`.*none\.csv.*exist"),
        (["PLAYS"], r"`--model`.*`--factors`"),
        (["PLAYS", "--model", "easy"], r"`--model`.*'popularity'.*'easy'"),
        (["PLAYS", "--model", "ease:l=1"], r"`--model`.*regularization.*'l'"),
        (["netflics", "--model", "ease"], r"`DATA`.*'ml-latest-small'.*'netflics'"),
        (["PLAYS", "--model", "ease", "--design", "all"], r"`--design`.*'exact'.*'all'"),
        (["PLAYS", "--model", "ease", "-m", "ndgc@10"], r"`--metric`.*recall.*'ndgc@10'"),
        (["PLAYS", "--model", "ease", "--engine", "gpu"], r"`--engine`.*'serial'.*'gpu'"),
        (["PLAYS", "--model", "ease", "--split", "half"], r"`--split`.*'auto'.*'half'"),
        (["PLAYS", "--model", "ease", "--column", "user=who"], r"The 'user' column.*'who'"),
        (["PLAYS", "--model", "m.safetensors"], r"`--model`.*m\.safetensors.*exist"),
        (["PLAYS", "--model", "ease", "--out", "PLAYS"], r"`--out`.*folder.*plays\.csv"),
        (["PLAYS", "--model", "ease", "--out", "PLAYS/x"], r"`--out`.*writable.*plays\.csv"),
        (["PLAYS", "--model", "ease", "--level", "95"], r"`--level`.*not 95\b"),
    ],
)
def test_mistakes(fullrank: Run, plays: Path, arguments: list[str], message: str) -> None:
    done = fullrank("evaluate", *(one.replace("PLAYS", str(plays)) for one in arguments))
    assert done.code == 2
    assert re.search(message, done.err)
    assert done.err.count("\n") == 1
    assert done.out == ""
    assert [path.name for path in plays.parent.iterdir()] == ["plays.csv"]


def test_an_interrupted_run_says_what_is_kept_and_that_it_resumed(
    fullrank: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fullrank.evaluation import run_folder

    keep, folder = run_folder.RunFolder.keep, tmp_path / "run"
    words = ("evaluate", "simulated", "--model", "popularity", "--out", folder, "--shard-size", 100)

    def stopped(self: Any, model: int, shard: int, sample: Any) -> None:
        if shard == 3:
            raise KeyboardInterrupt
        keep(self, model, shard, sample)

    with monkeypatch.context() as patch:
        patch.setattr(run_folder.RunFolder, "keep", stopped)
        done = fullrank(*words)
        assert (done.code, done.out) == (130, "")
        assert done.err == (
            f"Interrupted: {folder} contains 3 finished shards; run the same command to resume.\n"
        )
        alone = fullrank("evaluate", "simulated", "--model", "popularity")
        assert alone.code == 0  # which keeps nothing
    done = fullrank(*words)
    assert done.code == 0
    assert done.err == "Note: The run resumed after 3 finished shards.\n"
    assert f"Written to {folder}." in done.out
