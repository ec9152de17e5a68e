"""`fullrank bounds`."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullrank.inference import bounds
from fullrank.samples import simulate

pytest.importorskip("pyarrow")
SAMPLE = simulate([1, 4, 20, 50, 120, 400] * 100, n_items=2000, design="sampled:100", rng=0)


@pytest.fixture
def ranks(tmp_path: Path) -> Path:
    assert SAMPLE.rows is not None
    path = tmp_path / "ranks.csv"
    path.write_text("rank\n" + "\n".join(map(str, SAMPLE.rows.rank)) + "\n")
    return path


def words(*more: Any) -> tuple[Any, ...]:
    return ("--sample-size", 100, "--n-items", 2000, "--design", "sampled", *more)


@pytest.mark.parametrize("shape", [None, "decreasing"])
def test_json(fullrank: Any, ranks: Path, shape: str | None) -> None:
    said = () if shape is None else ("--shape", shape)
    done = fullrank("bounds", ranks, *words("-m", "recall@10,recall@100", *said, "--json"))
    content = json.loads(done.out)
    assert content["format"] == 1
    expected = bounds(SAMPLE, "recall@10,recall@100", shape=shape)
    got = [(one["low"], one["high"]) for one in content["metrics"]]
    assert np.allclose(got, [tuple(one) for one in expected.intervals.values()])


def test_text(fullrank: Any, ranks: Path) -> None:
    done = fullrank("bounds", ranks, *words("-m", "recall@100"))
    assert done.code == 0
    assert str(bounds(SAMPLE, "recall@100")) in done.out


def test_several_models(fullrank: Any, tmp_path: Path) -> None:
    path = tmp_path / "two.csv"
    lines = [f"{m},{r}" for m in "ab" for r in (1, 2, 50)]
    path.write_text("model,rank\n" + "\n".join(lines) + "\n")
    content = json.loads(fullrank("bounds", path, *words("--json")).out)
    assert [one["model"] for one in content["models"]] == ["a", "b"]
    text = fullrank("bounds", path, *words()).out
    assert "a: 95 % bounds from 3 targets" in text
    assert "b: 95 % bounds from 3 targets" in text


def test_a_contradicted_shape_is_told_with_the_option(fullrank: Any, tmp_path: Path) -> None:
    path = tmp_path / "rising.csv"
    path.write_text("rank\n" + "50\n" * 500)
    done = fullrank("bounds", path, *words("--shape", "decreasing"))
    assert done.out.endswith("\nUse `--until` to assume the shape for the first ranks only.\n")
