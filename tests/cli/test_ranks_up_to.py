"""``--design exact:K`` on the command line, and what the other commands make of such ranks."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
CSV = "user,item\n" + "\n".join(f"{u},{(u * 7 + i) % 23}" for u in range(40) for i in range(6))
MODELS = ("--model", "popularity", "--model", "e=ease:regularization=5")


@pytest.fixture
def plays(tmp_path: Path) -> Path:
    path = tmp_path / "plays.csv"
    path.write_text(CSV + "\n", encoding="utf-8")
    return path


@pytest.mark.slow
def test_a_run_and_what_is_made_of_it(fullrank: Run, plays: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    done = fullrank("evaluate", plays, *MODELS, "--design", "exact:4", "--out", run)
    assert done.code == 0, done.err
    assert "recall@4" in done.out
    assert re.search(r"pairs scored: [\d.]+ % \(popularity\), [\d.]+ % \(e\)\.", done.out)
    assert (run / "report.html").stat().st_size > 0
    full = fullrank("evaluate", plays, *MODELS, "-m", "recall@4", "-m", "ndcg@4", "--json")
    values = [
        [(one["metric"], one["estimate"], one["low"]) for one in model["metrics"]]
        for model in json.loads(full.out)["models"]
    ]
    results = json.loads((run / "results.json").read_text("utf-8"))
    assert values == [
        [(one["metric"], one["estimate"], one["low"]) for one in model["metrics"]]
        for model in results["models"]
    ]
    for command in (("report", run, "--out", tmp_path / "page.html"),
                    ("compare", run, "-m", "recall@3"),
                    ("estimate", run, "-m", "ndcg@4"),
                    ("estimate", run / "ranks" / "e.parquet", "-m", "ndcg@4")):  # fmt: skip
        done = fullrank(*command)
        assert done.code == 0, done.err
    for command in (("report", run, "--out", tmp_path / "page.html"), ("compare", run),
                    ("estimate", run)):  # fmt: skip
        done = fullrank(*command, "-m", "recall@5")
        assert done.code == 2
        assert re.search(
            r"`--metric`.*at most 4.*recall@5.*`fullrank evaluate --design exact:5`", done.err
        )
        assert done.err.count("\n") == 1
    pilot = ("plan", "-m", "recall@4", "--pilot", run / "ranks" / "e.parquet", "--users", 40)
    done = fullrank(*pilot, "--margin", "5%")
    assert done.code == 2
    assert re.search(r"`--pilot`.*a limit.*`fullrank evaluate --design exact`.*up to 4", done.err)


@pytest.mark.parametrize(
    ("metric", "says"), [("recall@5", "`--design exact:5`"), ("auc", "`--design exact`")]
)
def test_metrics_beyond_are_refused_first(
    fullrank: Run, plays: Path, metric: str, says: str
) -> None:
    done = fullrank("evaluate", plays, *MODELS, "--design", "exact:4", "-m", metric)
    assert done.code == 2
    assert re.search(rf"`--metric`.*at most 4.*exact:4.*{metric}.*{says}", done.err)


def test_files_of_others(fullrank: Run, tmp_path: Path) -> None:
    path = tmp_path / "top.csv"
    path.write_text("user,rank,more_than\na,1,\nb,,50\nc,4,\n", encoding="utf-8")
    done = fullrank("estimate", path, "--n-items", 1000, "-m", "recall@5", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["metrics"][0]["estimate"] == pytest.approx(2 / 3)
    path.write_text("user,rank\na,1\nb,>50\n", encoding="utf-8")
    done = fullrank("estimate", path, "--n-items", 1000, "--sample-size", 1000)
    assert done.code == 2
    assert re.search(r"'rank' column.*line 3.*'>50'.*more_than", done.err)


def test_default_metrics_end_where_all_models_are_known(fullrank: Run, tmp_path: Path) -> None:
    mixed = tmp_path / "mixed.csv"
    mixed.write_text("user,rank,more_than,model\n1,3,,a\n2,,5,a\n1,3,,b\n2,19,,b\n")
    page = tmp_path / "page.html"
    for command in (("estimate", mixed), ("estimate", mixed, "--report", page), ("compare", mixed)):
        done = fullrank(*command, "--n-items", 100)
        assert done.code == 0, done.err
        assert "recall@5" in done.out
        assert "recall@10" not in done.out
    assert page.stat().st_size > 0


def test_a_design_says_that_ranks_are_complete(fullrank: Run, tmp_path: Path) -> None:
    ranks, top = tmp_path / "ranks.csv", tmp_path / "top.csv"
    ranks.write_text("user,rank\n1,3\n2,9\n3,1\n")
    top.write_text("user,rank,more_than\n1,3,\n2,,10\n")
    done = fullrank("estimate", ranks, "--n-items", 100, "--design", "exact")
    assert done.code == 0, done.err
    assert done.out.startswith("exact ranks for 3 targets")
    done = fullrank("estimate", top, "--n-items", 100, "--design", "exact:20")
    assert done.code == 2
    assert "`--design` must be exact:10, as in the 'more_than' column" in done.err


def test_an_order_that_a_model_does_not_have(fullrank: Run, plays: Path) -> None:
    done = fullrank("evaluate", plays, *MODELS, "--design", "exact:4,order=norms")
    assert done.code == 2
    assert "order must not be 'norms' for ItemItemScorer, which has no factors." in done.err
    assert done.err.startswith("`--design` must not be 'exact:4,order=norms'")
