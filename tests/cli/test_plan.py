"""`fullrank plan`."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullrank.inference import plan
from fullrank.samples import simulate

pytest.importorskip("pyarrow")

DESIGNS = ["sampled:100", "adaptive:25,limit=800", "exact"]
TRY = tuple(word for design in DESIGNS for word in ("--try", design))
TRUE = np.random.default_rng(0).integers(1, 45, 400) ** 2
PILOT = simulate(TRUE, n_items=2000, design="sampled:300,replacement=true,excluded=true", rng=0)


@pytest.fixture
def pilot(tmp_path: Path) -> Path:
    path = tmp_path / "pilot.parquet"
    PILOT.write(path)
    return path


def test_from_a_pilot(fullrank: Any, pilot: Path) -> None:
    words = ("plan", "--pilot", pilot, "--n-items", "2_000", "--users", "5_000", "-m", "recall@20")
    words = (*words, *TRY)
    expected = plan("recall@20", pilot=PILOT, n_users=5000, margin="10%", designs=DESIGNS)
    done = fullrank(*words, "--margin", "10%")
    assert done.out == f"{expected}\n"
    content = json.loads(fullrank(*words, "--margin", "10%", "--json").out)
    assert content == {**expected.to_dict(), "assumed": []}
    other = fullrank(*words[:3], "--n-items", "2_001")
    assert other.code == 2
    assert re.search(r"`--n-items`.*agree", other.err)


def test_as_many_users_as_it_takes_if_nothing_is_said(fullrank: Any, pilot: Path) -> None:
    words = ("plan", "--pilot", pilot, "--margin", "20%", "--json", *TRY)
    assert json.loads(fullrank(*words).out)["n_users"] is None
    assert json.loads(fullrank(*words, "--interval-for", "users").out)["n_users"] == 400


def test_an_assumed_shape_is_told(fullrank: Any) -> None:
    words = ("plan", "--n-items", "2_000", "--users", "500", "-m", "recall@20", *TRY)
    words = (*words, "--margin", "0.02")
    done = fullrank(*words)
    assert done.out.startswith("No pilot: Recall@K = (K/N)^0.35 is assumed ")
    assert "recall@20 is about 0.2; goal: 95 % interval of ± 0.02" in done.out
    assert "(K/N)^0.5 is assumed" in fullrank(*words, "--shape", "0.5").out


def test_two_models_plan_for_their_difference(fullrank: Any, tmp_path: Path) -> None:
    path = tmp_path / "two.csv"
    assert PILOT.rows is not None
    worse = np.minimum(PILOT.rows.rank + 20, 300)
    lines = [f"a,{u},{r}" for u, r in enumerate(PILOT.rows.rank)]
    lines += [f"b,{u},{r}" for u, r in enumerate(worse)]
    path.write_text("model,user,rank\n" + "\n".join(lines) + "\n")
    words = ("--sample-size", "300", "--n-items", "2_000", "-m", "recall@100", *TRY)
    done = fullrank("plan", "--pilot", path, *words)
    assert done.code == 0, done.err
    assert "with power 0.8" in done.out
    third = tmp_path / "third.csv"
    third.write_text(path.read_text() + "c,0,1\nc,1,1\n")
    many = fullrank("plan", "--pilot", third, *words)
    assert many.code == 2
    assert re.search(r"`--pilot`.*\b3\b", many.err)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--n-items", "100", "--interval-for", "users"), r"`--users`.*pilot"),
        (("--users", "9"), r"`--n-items`.*pilot"),
        (
            ("--users", "9", "--n-items", "100", "--try", "some"),
            r"`--try`.*'some'",
        ),
        (
            ("--users", "9", "--n-items", "100", "--design", "sampled:9"),
            r"`--design`.*`--pilot`.*`--try sampled:100`",
        ),
        (
            ("--users", "9", "--n-items", "100", "--sample-size", "9"),
            r"`--sample-size`.*`--pilot`.*`--try sampled:100`",
        ),
        (
            ("--users", "x", "--n-items", "100"),
            r"`--users`.*'x'",
        ),
        (
            ("--users", "9", "--n-items", "100", "--margin", "x"),
            r"`--margin`.*'x'",
        ),
        (
            ("--users", "9", "--n-items", "100", "--margin", "2%", "--budget", "9"),
            r"Exactly one of `--margin`, `--budget` and `--difference`.*",
        ),
    ],
)
def test_errors(fullrank: Any, words: tuple[str, ...], says: str) -> None:
    done = fullrank("plan", *words)
    assert (done.code, done.out) == (2, "")
    assert re.fullmatch(rf"{says}.*\n", done.err), done.err


def test_what_was_assumed_of_the_pilot_is_told(fullrank: Any, tmp_path: Path) -> None:
    path = tmp_path / "grown.csv"
    sample = simulate(TRUE, n_items=2000, design="adaptive:25,limit=100", rng=0)
    assert sample.rows is not None
    pairs = zip(sample.rows.rank, sample.rows.sample_size, strict=True)
    path.write_text("rank,sample_size\n" + "".join(f"{r},{n}\n" for r, n in pairs))
    words = ("plan", "--pilot", path, "--n-items", "2_000", "--margin", "20%", "--try", "exact")
    told = [
        "Sampling without replacement is assumed. If an item could be drawn twice, give "
        "`--design adaptive:25,limit=100,replacement=true`.",
        "An adaptive design with levels 25, 50, 100 is assumed, because rank 1 occurs only at the "
        "largest of the sample "
        "sizes.",
    ]
    assert fullrank(*words).out.startswith("\n".join(told) + "\n\nndcg@10 is about ")
    assert json.loads(fullrank(*words, "--json").out)["assumed"] == told
