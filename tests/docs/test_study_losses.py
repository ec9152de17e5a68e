"""The study of losses runs in its quick form, chooses on held-out items, and can be resumed."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "benchmarks" / "studies"
KEPT = ROOT / "docs" / "reproduction"
CASES = ["mine-plus", "bpr", "debiased-ccl, as published"]


def run(folder: Path, *options: str) -> str:
    made = subprocess.run(
        [sys.executable, FOLDER / "gowalla_losses.py", "--out", folder, "--cache", folder,
         "--device", "cpu", *options],
        capture_output=True, text=True, encoding="utf-8",
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    return made.stdout


def read(folder: Path) -> dict[str, Any]:
    content = json.loads((folder / "gowalla_losses.json").read_text(encoding="utf-8"))
    assert isinstance(content, dict)
    return content


@pytest.mark.slow
def test_gowalla_losses(tmp_path: Path, need: Callable[[str], ModuleType]) -> None:
    need("torch")
    quick = ("--quick", "--cases", *CASES)
    run(tmp_path, *quick)
    content = read(tmp_path)
    assert list(content["cases"]) == CASES
    for name, case in content["cases"].items():
        best = max(case["search"], key=lambda one: one["recall@20"] + one["ndcg@20"])
        assert case["settings"] == best["settings"]
        assert case["seeds"] == [0, 1]
        assert len(set(case["test"]["recall@20"])) == 2, name  # seeds are different runs
    assert content["cases"]["mine-plus"]["published"] == {"recall@20": 18.13, "ndcg@20": 15.31}
    page = (tmp_path / "gowalla_losses.md").read_text(encoding="utf-8")
    mean = np.mean(content["cases"]["bpr"]["test"]["recall@20"])
    assert f"| BPR | 15.90 | {mean:.2f} ± " in page
    with np.load(tmp_path / "gowalla_losses" / "mine-plus-0.npz") as kept:
        ranks = kept["ranks"]
    assert ranks.shape == (content["n_targets"],)
    assert ranks.min() >= 1
    assert ranks.max() <= content["n_items"]
    curve = content["sweeps"]["temperature"]["curves"]["mine-plus"]
    assert curve["chosen"] == content["cases"]["mine-plus"]["settings"]["temperature"]
    assert [at for at, _ in curve["points"]] == [0.05, 0.1]
    assert len({value for _, value in curve["points"]}) == 2
    told = run(tmp_path, *quick).splitlines()
    counts = [line for line in told if line.endswith("runs to do")]
    assert [line.split()[0] for line in counts] == ["0"] * 3  # nothing is done a second time
    assert read(tmp_path)["cases"] == content["cases"]


@pytest.mark.slow
def test_no_run_begins_once_the_time_is_up(
    tmp_path: Path, need: Callable[[str], ModuleType]
) -> None:
    need("torch")
    run(tmp_path, "--quick", "--parts", "search", "--budget", "0")
    assert not (tmp_path / "gowalla_losses" / "runs.jsonl").exists()
    assert read(tmp_path)["cases"] == {}


def test_tables_say_what_the_cases_hold() -> None:
    content = read(KEPT)
    tables = {one["item"]: one for one in content["tables"]}
    numbered = [f"Table {n}" for n in (11, 12, 13, 19, 20)] + ["Figure 13", "Figure 14"]
    assert list(tables) == [f"003 {name}" for name in numbered]
    cases = content["cases"]
    trained = [name for name, one in cases.items() if one["seeds"] and not one["as_published"]]
    assert len(trained) == 9
    near = sum(
        abs(np.mean(cases[name]["test"][metric]) / published - 1) <= 0.15
        for name in trained
        if name != "bpr"  # stands in Table 13
        for metric, published in cases[name]["published"].items()
    )
    assert (tables["003 Table 12"]["cells"], tables["003 Table 12"]["within"]) == (16, near)


def test_kept_ranks_give_the_metrics_of_the_page() -> None:
    content = read(KEPT)
    with np.load(KEPT / "ranks" / "gowalla-losses.npz") as kept:
        counts, levels = kept["user_counts"].astype(int), kept["levels"]
        users = np.repeat(np.arange(counts.size), counts)
        for name, case in content["cases"].items():
            hits = np.bincount(users, weights=levels[kept[name]] <= 20, minlength=counts.size)
            recall = 100 * np.mean(hits[counts > 0] / counts[counts > 0])
            assert recall == pytest.approx(case["test"]["recall@20"][0], abs=0.0006), name
