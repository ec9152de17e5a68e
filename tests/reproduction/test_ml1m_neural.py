"""The study of the neural models runs in its quick form, chooses by validation and goes on."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "benchmarks" / "studies" / "ml1m_neural.py"


def quick(folder: Path) -> tuple[dict[str, Any], list[str]]:
    """What the study found, and a line for each fit that it made."""
    run = subprocess.run(
        [sys.executable, SCRIPT, "--quick", "--out", folder, "--cache", folder],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
    )
    assert run.returncode == 0, run.stderr
    content = json.loads((folder / "ml1m_neural.json").read_text(encoding="utf-8"))
    return content, run.stdout.splitlines()[:-1]


@pytest.mark.slow
def test_quick_and_again(tmp_path: Path, need: Callable[[str], ModuleType]) -> None:
    need("torch")
    content, fits = quick(tmp_path)
    assert [one["model"] for one in content["models"]] == ["NeuMF", "MultiVAE", "MultiDAE", "CDAE"]
    assert len(fits) == 2 + 1 + 2 + 2 + 4 * 2  # settings, and two seeds of each model
    page = (tmp_path / "ml1m_neural.md").read_text(encoding="utf-8")
    for one in content["models"]:
        best = max(one["validation"], key=lambda tried: tried["metrics"]["recall@10"])
        assert one["best"] == best["settings"]
        assert one["epochs"] == len(best["rates"])
        assert 0 < one["test"]["recall@10"]["mean"] < 1000
        assert f"| {one['model']} | {len(one['validation'])} |" in page
    # stopped while a line was written: that fit alone is made again, and is the same
    lines = (tmp_path / "ml1m_neural-simulated.jsonl").read_text(encoding="utf-8").splitlines()
    cut = "\n".join([*lines[:-1], lines[-1][:40]]) + "\n"
    (tmp_path / "ml1m_neural-simulated.jsonl").write_text(cut, encoding="utf-8")
    again, fits = quick(tmp_path)
    assert len(fits) == 1
    assert [one["test"] for one in again["models"]] == [one["test"] for one in content["models"]]


def test_the_published_page_is_that_of_its_figures() -> None:
    content = json.loads((ROOT / "docs/studies/ml1m_neural.json").read_text(encoding="utf-8"))
    published = {"NeuMF": 30.96, "MultiVAE": 18.38}  # Table 2 of Jin et al. (AAAI 2021)
    for one in content["models"]:
        best = max(one["validation"], key=lambda tried: tried["metrics"]["recall@10"])
        assert one["best"] == best["settings"]
        if one["model"] in published:
            share = one["test"]["recall@10"]["mean"] / published[one["model"]]
            assert one["goal"]["share_of_published"] == pytest.approx(share, abs=1e-3)
            assert one["goal"]["met"] == (share >= 0.9)
            assert content["published"][one["model"]]["recall@10"] == published[one["model"]]
