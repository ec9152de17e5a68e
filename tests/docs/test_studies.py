"""The studies run in their quick form, and their pages hold what their JSON says."""

from __future__ import annotations

import json
import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "benchmarks" / "studies"
PAGES = ROOT / "docs" / "studies"
STUDIES = sorted(path.stem for path in SCRIPTS.glob("[!_]*.py"))
METRICS = ["recall", "ndcg", "ap"]
AT_10 = ["recall@10", "ndcg@10", "ap@10"]


def _run(study: str, folder: Path, *options: str) -> dict[str, Any]:
    command = [sys.executable, SCRIPTS / f"{study}.py", "--out", folder, "--cache", folder]
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    run = subprocess.run(
        [*command, *options], capture_output=True, text=True, encoding="utf-8", env=environment
    )
    assert run.returncode == 0, run.stderr
    content = json.loads((folder / f"{study}.json").read_text(encoding="utf-8"))
    assert isinstance(content, dict)
    return content


def _quick(study: str, folder: Path) -> dict[str, Any]:
    content = _run(study, folder, "--quick")
    assert content["study"] == study
    assert content["quick"] is True
    assert content["seconds"] > 0
    assert content["peak_megabytes"] > 0
    page = (folder / f"{study}.md").read_text(encoding="utf-8")
    assert page.startswith("# ")
    assert page.endswith(f"Written by `benchmarks/studies/{study}.py`.\n")
    return content


def test_there_are_studies() -> None:
    assert STUDIES == [
        "bounds",
        "demo_models",
        "gowalla_ease",
        "gowalla_models",
        "intervals",
        "ml1m_ials",
        "ml1m_models",
        "ml1m_neural",
        "pinterest",
        "plan",
        "scale",
        "several_targets",
        "shapes",
        "sizing",
        "smoothing",
        "table2",
        "user_sampling",
        "winners",
    ]


@pytest.mark.slow
def test_table2(tmp_path: Path) -> None:
    content = _quick("table2", tmp_path)
    named = {(cell["estimator"], cell["metric"]) for cell in content["cells"]}
    estimators = ["BV 0.1", "BV 0.01", "MLE", "WMLE", "MES", "CLS"]
    assert named == {(name, metric) for name in estimators for metric in AT_10}
    for cell in content["cells"]:
        assert cell["measured"]["sd"] > 0
        assert cell["held_to"] == (cell["estimator"] != "WMLE")
        ratio = cell["measured"]["sd"] / cell["published"]["sd"]
        assert cell["spread_within_quarter"] == (abs(ratio - 1) <= 0.25)


@pytest.mark.slow
def test_pinterest(tmp_path: Path) -> None:
    content = _quick("pinterest", tmp_path)
    assert [row["em_steps"] for row in content["rows"]] == [100, 50, 50]
    assert content["rows"][0]["average_size"] == 100
    for row in content["rows"]:
        assert list(row["measured"]) == METRICS
        assert all(error["mean"] > 0 for error in row["measured"].values())


@pytest.mark.slow
def test_smoothing(tmp_path: Path) -> None:
    content = _quick("smoothing", tmp_path)
    assert [one["design"] for one in content["summary"]] == ["adaptive", "fixed 100"]
    for one in content["summary"]:
        cells = [cell for cell in content["cells"] if cell["design"] == one["design"]]
        ratios = [cell["errors"][m]["ratio"] for cell in cells for m in METRICS]
        assert one["cells"] == len(ratios)
        assert one["worst_ratio"] == max(ratios)
        assert one["share_won"] == pytest.approx(sum(r < 1 for r in ratios) / len(ratios), abs=1e-4)
    by_fall = {cell["fall"]: cell for cell in content["fall"]}
    assert list(by_fall) == [0.3, 0.5, 0.7]
    # c = 0.5 is the estimator as it is, so that its cell comes again, and the others differ
    assert by_fall[0.5]["errors"] == content["cells"][0]["errors"]
    assert by_fall[0.3]["errors"] != by_fall[0.5]["errors"] != by_fall[0.7]["errors"]


@pytest.mark.slow
def test_several_targets(tmp_path: Path) -> None:
    content = _quick("several_targets", tmp_path)
    assert content["exhausted"]["largest_relative_difference"] < 1e-12
    assert [one["method"] for one in content["adaptive"]] == ["MLE", "smoothed"]
    for one in content["adaptive"]:
        assert list(one["metrics"]) == list(content["exact"])
        for metric, cell in one["metrics"].items():
            assert cell["standard_error"] > 0
            distance = abs(cell["estimate"] - content["exact"][metric])
            assert cell["within_two"] == (distance <= 2 * cell["standard_error"])


@pytest.mark.slow
def test_intervals(tmp_path: Path) -> None:
    content = _quick("intervals", tmp_path)
    assert len(content["cells"]) == 16  # eight metrics, two questions
    for cell in content["cells"]:
        assert 0.0 <= cell["coverage"] <= 1.0
        assert cell["method"] == "smoothed"
    again = _run("intervals", tmp_path, "--quick")  # from what was kept
    assert again["cells"] == content["cells"]


@pytest.mark.slow
def test_plan(tmp_path: Path) -> None:
    content = _quick("plan", tmp_path)
    assert content["of"] == len(content["rows"]) >= 12
    for row in content["rows"]:
        ratio = row["predicted"] / row["measured"]
        assert row["ratio"] == pytest.approx(ratio, abs=0.02)
        assert row["within_quarter"] == (abs(row["ratio"] - 1.0) <= 0.25)


@pytest.mark.slow
@pytest.mark.parametrize(
    "study",
    [
        "bounds",
        "demo_models",
        "gowalla_ease",
        "gowalla_models",
        "ml1m_ials",
        "ml1m_models",
        "scale",
        "shapes",
        "sizing",
        "user_sampling",
        "winners",
    ],
)
def test_the_quick_form_runs(study: str, tmp_path: Path) -> None:
    _quick(study, tmp_path)


def test_the_page_of_the_gpu_is_written_from_its_results() -> None:
    """It is a benchmark, for it needs a GPU, but its page stands among the studies."""
    page = runpy.run_path(str(ROOT / "benchmarks" / "_gpu_page.py"))["page"]
    content = json.loads((PAGES / "gpu.json").read_text(encoding="utf-8"))
    assert page(content) == (PAGES / "gpu.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("study", STUDIES)
def test_the_page_is_written_from_the_results(study: str, tmp_path: Path) -> None:
    stored = PAGES / f"{study}.json"
    assert stored.is_file(), f"run benchmarks/studies/{study}.py"
    shutil.copy(stored, tmp_path)
    content = _run(study, tmp_path, "--render")
    assert content["quick"] is False
    again = (tmp_path / f"{study}.md").read_text(encoding="utf-8")
    assert again == (PAGES / f"{study}.md").read_text(encoding="utf-8")
