"""`fullrank compare`: files and run folders."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullrank.inference import compare
from fullrank.samples import RankSample, simulate

pytest.importorskip("pyarrow")

BASE = np.random.default_rng(1).integers(1, 40, 500) ** 2
SAMPLES = {
    name: simulate(
        np.clip(BASE + shift, 1, 2000), n_items=2000, sample_size=200, replacement=True, rng=seed
    )
    for seed, (name, shift) in enumerate({"ease": 0, "ials": 150}.items())
}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    (folder / "ranks").mkdir(parents=True)
    models: list[Any] = []
    for name, sample in SAMPLES.items():
        sample.write(folder / "ranks" / f"{name}.parquet")
        models.append({"name": name, "ranks": f"ranks/{name}.parquet"})
    content: dict[str, Any] = {
        "format": 1,
        "kind": "Evaluation",
        "models": models,
        "metrics": ["recall@50"],
    }
    content["confidence_level"] = 0.95
    (folder / "run.json").write_text(json.dumps(content))
    return folder


def table(path: Path, sample: RankSample) -> Path:
    assert sample.rows is not None
    path.write_text("rank\n" + "\n".join(map(str, sample.rows.rank)) + "\n")
    return path


SIZES = ("--sample-size", "200", "--n-items", "2000")


def test_run_folder(fullrank: Any, run: Path) -> None:
    content = json.loads(fullrank("compare", run, "-m", "recall@50", "--json", "--seed", 3).out)
    expected = compare(SAMPLES, "recall@50", rng=3).to_dict()
    assert content == {**expected, "assumed": []}


def test_files(fullrank: Any, tmp_path: Path) -> None:
    files = [table(tmp_path / f"{name}.csv", one) for name, one in SAMPLES.items()]
    done = fullrank("compare", *files, *SIZES, "-m", "recall@50")
    assert done.code == 0
    assert "ease − ials  recall@50  +" in done.out
    assert "P(best) 1.00" in done.out
    assert done.out.endswith("Assuming sampling with replacement.\n")


def test_options(fullrank: Any, run: Path) -> None:
    words = ("-m", "recall@50", "--test", "z", "--correction", "none", "--unpaired", "--json")
    content = json.loads(fullrank("compare", run, *words, "--baseline", "ials").out)
    assert (content["test"], content["correction"], content["paired"]) == ("z", None, False)
    assert content["baseline"] == "ials"


@pytest.mark.parametrize("content", [None, "{", '{"format": 1, "kind": "Evaluation"}'])
def test_bad_runs(fullrank: Any, tmp_path: Path, content: str | None) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    if content is not None:
        (folder / "run.json").write_text(content)
    done = fullrank("compare", folder)
    assert done.code == 2
    assert re.search(r"`folder`.*\brun\b", done.err)
    assert done.err.count("\n") == 1


def test_models_of_one_name(fullrank: Any, run: Path) -> None:
    done = fullrank("compare", run, run)
    assert done.code == 2
    assert re.search(r"`FILES`.*'ease'", done.err)


def test_one_model_is_not_enough(fullrank: Any, tmp_path: Path) -> None:
    done = fullrank("compare", table(tmp_path / "a.csv", SAMPLES["ease"]), *SIZES)
    assert done.code == 2
    assert re.search(r"`FILES`.*'a'", done.err)
