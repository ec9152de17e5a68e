"""The stored table of `benchmarks/frameworks.py`, which the pages show, says what they promise."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results" / "frameworks.json"
MODELS = json.loads(RESULTS.read_text("utf-8"))["models"]


def test_every_library_has_its_rows() -> None:
    found = {(one["library"].split()[0], one["model"]) for one in MODELS}
    assert found >= {("implicit", "ALS"), ("implicit", "BPR"), ("Cornac", "BPR"), ("Cornac", "MF"),
                     ("LensKit", "BiasedMF"), ("LensKit", "ImplicitMF"), ("LightFM", "WARP"),
                     ("Surprise", "SVD")}  # fmt: skip


@pytest.mark.parametrize("row", MODELS, ids=lambda row: f"{row['library']} {row['model']}")
def test_ranks_differ_by_rounding_alone_and_metrics_agree(row) -> None:
    assert row["targets"] > 600
    assert row["of them beyond rounding"] == 0
    assert row["ranks that differ from its own scores"] <= 0.01 * row["targets"]
    for pair in row.get("metrics", {}).values():
        assert abs(pair["ours"] - pair["theirs"]) < 5e-7
    if "metrics" in row:
        assert len(row["metrics"]) >= 2
        assert row["seconds"]["rank and metrics"] < row["seconds"]["its own evaluation"]
