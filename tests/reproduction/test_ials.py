"""The studies of iALS run in their quick form, choose on validation items, and can be resumed."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks" / "studies"


def quick(study: str, folder: Path) -> tuple[dict[str, Any], str]:
    run = subprocess.run(
        [sys.executable, FOLDER / f"{study}.py", "--quick", "--out", folder, "--cache", folder],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
    )
    assert run.returncode == 0, run.stderr
    return json.loads((folder / f"{study}.json").read_text(encoding="utf-8")), run.stdout


@pytest.mark.slow
def test_ml1m_ials(tmp_path: Path) -> None:
    content, told = quick("ml1m_ials", tmp_path)
    best = max(content["validation"], key=lambda row: row["values"]["recall@10"])
    assert content["best"] == best["settings"]
    share = content["test"]["recall@10"]["mean"] / content["published"]
    assert content["share_of_published"] == pytest.approx(share, abs=1e-4)
    assert '"unobserved_weight": 0.01' in told
    again, told = quick("ml1m_ials", tmp_path)
    assert again["validation"] == content["validation"]
    assert "unobserved_weight" not in told  # nothing was tried a second time


@pytest.mark.slow
def test_gowalla_models(tmp_path: Path) -> None:
    content, _ = quick("gowalla_models", tmp_path)
    assert list(content["models"]) == ["popularity", "PureSVD 4", "iALS 4", "iALS 8"]
    for name in ("iALS 4", "iALS 8"):
        model = content["models"][name]
        best = max(model["validation"], key=lambda row: row["values"]["recall@20"])
        assert model["settings"] == best["settings"]
        assert model["test"]["recall@20"]["mean"] > 0
        assert model["test"]["recall@20"]["sd"] is not None
