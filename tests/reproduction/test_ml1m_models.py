"""The study of the linear models runs in its quick form, and chooses on validation items alone."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "studies" / "ml1m_models.py"


@pytest.mark.slow
def test_quick(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, SCRIPT, "--quick", "--out", tmp_path, "--cache", tmp_path],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
    )
    assert run.returncode == 0, run.stderr
    content = json.loads((tmp_path / "ml1m_models.json").read_text(encoding="utf-8"))
    names = [one["model"] for one in content["models"]]
    assert names == ["Popularity", "ItemKNN", "PureSVD", "MF", "LRR", "SLIM", "EASE"]
    page = (tmp_path / "ml1m_models.md").read_text(encoding="utf-8")
    for one in content["models"]:
        best = max(one["validation"], key=lambda tried: tried["metrics"]["recall@10"])
        assert one["best"] == best["settings"]
        assert 0 < one["test"]["recall@10"] < 1000
        assert f"| {one['model']} | {len(one['validation'])} |" in page
    (knn,) = [one for one in content["models"] if one["model"] == "ItemKNN"]
    assert knn["goal"]["met"] == (knn["test"]["recall@10"] >= 0.9 * 42.72)
