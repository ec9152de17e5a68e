"""The study of losses runs in its quick form, chooses on held-out items, and can be resumed."""

import importlib
import json
import math
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from fullrank.data import simulate
from fullrank.errors import InputError

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "benchmarks" / "studies"
KEPT = ROOT / "docs" / "reproduction"
RECORD = dict.fromkeys(("recall@20", "ndcg@20", "seconds"), 1.0) | {
    "kind": "search",
    "case": "bpr",
    "settings": {},
}
CASES = ["mine-plus", "bpr", "debiased-ccl, as published"]


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> Any:
    return lambda name: importlib.import_module(f"reproduction.{name}")


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
    need("matplotlib")
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
    # quick runs are kept apart from those of a full one
    assert not (tmp_path / "gowalla_losses").exists()
    with np.load(tmp_path / "gowalla_losses-quick" / "mine-plus-0.npz") as kept:
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
    assert not (tmp_path / "gowalla_losses-quick" / "runs.jsonl").exists()
    assert read(tmp_path)["cases"] == {}


def test_tables_say_what_the_cases_hold() -> None:
    content = read(KEPT)
    tables = {one["item"]: one for one in content["tables"]}
    numbered = [f"Table {n}" for n in (11, 12, 13, 19, 20)] + ["Figure 13", "Figure 14"]
    assert list(tables) == [f"003 {name}" for name in numbered]
    cases = content["cases"]
    trained = [name for name, one in cases.items() if one["seeds"] and not one["as_published"]]
    assert len(trained) == 9
    # the cells of the two data sets that are not here are counted as absent
    absent = {name: tables[f"003 {name}"]["absent"] for name in ("Table 12", "Table 13")}
    assert absent == {"Table 12": 2 * 16, "Table 13": 2 * 28 + 8 * 2}
    near = sum(
        abs(np.mean(cases[name]["test"][metric]) / published - 1) <= 0.15
        for name in trained
        if name != "bpr"  # stands in Table 13
        for metric, published in cases[name]["published"].items()
    )
    assert (tables["003 Table 12"]["cells"], tables["003 Table 12"]["within"]) == (16, near)


def test_published_tables_agree_with_each_other(load: Any) -> None:
    printed = load("gowalla_losses.published")
    assert {len(row) for row in (printed.TABLE_12 | printed.TABLE_13).values()} == {6}
    for name in ("ccl", "debiased-ccl", "mine-plus"):  # MINE+ by 0.01 in the last column
        assert printed.TABLE_13[name] == pytest.approx(printed.TABLE_12[name], abs=0.0101)
    # the gains that Table 12 prints, in percent
    for name, plain, printed_gains in (
        ("debiased-ccl", "ccl", (1.01, 0.71, 1.38, 2.46, 4.17, 4.27)),
        ("debiased-mse", "mse", (1.51, 1.01, 4.98, 2.02, -0.30, -2.61)),
        ("debiased-info-nce", "info-nce", (1.83, 1.68, 0.73, 2.16, 1.09, 2.81)),
        ("mine", "info-nce", (0.31, 0.19, 2.92, 6.33, 8.70, 10.39)),
        ("mine-plus", "info-nce", (8.87, 9.33, 10.21, 14.00, 12.61, 13.76)),
    ):
        rows = zip(printed.TABLE_12[name], printed.TABLE_12[plain], strict=True)
        assert [100 * (a / b - 1) for a, b in rows] == pytest.approx(printed_gains, abs=0.006)


def test_settings_that_are_not_the_published_ones_are_named(load: Any) -> None:
    unlike = load("gowalla_losses.outcome").unlike
    settings = {"n_negatives": 800, "batch_size": 512, "learning_rate": 1e-4}
    assert unlike(settings) == "all of its settings"
    assert unlike(settings | {"batch_size": 2048, "learning_rate": 0.005}) == (
        "batches of 2,048 (512), a rate of 0.005 at the start (0.0001)"
    )
    tables = {one["item"]: one for one in read(KEPT)["tables"]}
    for item in ("003 Table 19", "003 Table 20"):
        for words in ("negatives", "batches", "rate"):
            assert words in tables[item]["differs"]


def test_mse_has_to_fall_with_more_negatives(load: Any) -> None:
    content, outcome = read(KEPT), load("gowalla_losses.outcome")
    figure = "003 Figure 13"

    def state() -> str:
        return next(one["state"] for one in outcome.tables(content) if one["item"] == figure)

    points = content["sweeps"]["negatives"]["curves"]["debiased-mse"]["points"]
    assert points[-1][1] > points[-2][1]
    assert state() == "not reproduced"
    points[-1][1] = points[-2][1] - 0.1
    assert state() == "reproduced"


def test_a_torn_line_is_no_run(load: Any, tmp_path: Path) -> None:
    study = load("gowalla_losses.study")
    kept = tmp_path / "runs.jsonl"
    assert study.records(tmp_path) == []
    kept.write_text('{"key": "a"}\n{"key": "b", "rec', encoding="utf-8")
    assert study.records(tmp_path) == [{"key": "a"}]

    class Crew:
        def run(self, tasks: list[Any], deadline: float) -> list[dict[str, Any]]:
            return [{"key": task.key} | RECORD for task in tasks]

    tasks = [study.Task(kind="search", case="bpr", settings={"seed": seed}) for seed in (0, 1)]
    study.go(Crew(), tasks, tmp_path, 0.0)
    assert [one["key"] for one in study.records(tmp_path)] == ["a", *(task.key for task in tasks)]


def test_kept_ranks_give_the_metrics_of_the_page() -> None:
    content = read(KEPT)
    with np.load(KEPT / "ranks" / "gowalla-losses.npz") as kept:
        counts, levels = kept["user_counts"].astype(int), kept["levels"]
        users = np.repeat(np.arange(counts.size), counts)
        for name, case in content["cases"].items():
            hits = np.bincount(users, weights=levels[kept[name]] <= 20, minlength=counts.size)
            recall = 100 * np.mean(hits[counts > 0] / counts[counts > 0])
            assert recall == pytest.approx(case["test"]["recall@20"][0], abs=0.0006), name


def test_penalties_outside_of_the_range_are_named(load: Any) -> None:
    beyond = load("gowalla_losses.page").beyond
    cases = {name: {"settings": {"weight_decay": one}} for name, one in
             {"bpr": 1e-4, "mse": 1e-5, "ccl": 1e-9}.items()}  # fmt: skip
    assert "outside of that stands BPR (0.0001). " in beyond(cases)
    assert beyond({"mse": cases["mse"], "ccl": cases["ccl"]}) == ""


def test_only_a_loss_without_an_end_is_a_result_of_nothing(
    load: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    need: Callable[[str], ModuleType],
) -> None:
    """What this machine cannot hold may fit the next one: it is tried again."""
    need("torch")
    runs = load("gowalla_losses.runs")
    data = simulate(n_users=60, n_items=40, mean_interactions=10)
    monkeypatch.setattr(runs, "_WORLD", runs.World(train=data, test=data, learn=data, valid=data))
    settings = {"n_factors": 4, "epochs": 2, "learning_rate": 1e30}
    task = runs.Task(kind="search", case="bpr", settings=settings)
    found = runs.run(task, "cpu", tmp_path, math.inf)
    assert found["recall@20"] == 0.0
    assert "`learning_rate` must keep" in found["failed"]
    monkeypatch.setattr("fullrank._memory.limit", lambda: 1000)
    with pytest.raises(InputError, match="must be smaller"):
        runs.run(task, "cpu", tmp_path, math.inf)
