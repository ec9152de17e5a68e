"""The study of linear models: its parts computed a second way, and its outcomes."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from fullrank.data import simulate
from fullrank.models import LRR, LambdaSearch
from fullrank.models.low_rank.spectrum import spectrum
from fullrank.ranking import rank
from reproduction.linear_models import fits, gaps, grids, nearby, published, search, study, tables
from reproduction.linear_models.data import Problem

DATA = simulate(n_users=300, n_items=80, mean_interactions=15)


@pytest.fixture
def problem(tmp_path: Path) -> Problem:
    split = DATA.split("strong", test=60, valid=60, rng=0)
    return Problem("ml-1m", split, tmp_path / "kept")


def test_published_tables_agree_with_each_other() -> None:
    for table in published.SEARCHES.values():
        assert {len(row) for row in table["values"]} == {len(table["penalties"])}
        assert len(table["values"]) == len(table["ranks"])
        # the settings of Tables 8 and 9 are the best of Tables 14 to 17
        row, column = search.published_best(table)
        k, penalty = table["ranks"][row], table["penalties"][column]
        assert published.BASIC[table["data"]][table["model"]][0] == f"k {k}, λ {penalty:,}"
    for data, models in published.BASIC.items():
        for model in ("EASE", "WMF"):  # Table 10 repeats them with three digits
            assert published.COMPARED[data][model] == pytest.approx(models[model][1], abs=0.001)
    assert set(published.COMPARED["MSD"]) < set(published.COMPARED["ML-20M"])


def test_users_are_judged_by_their_own_lists(problem: Problem) -> None:
    model = LRR(n_factors=20, regularization=30.0).fit(problem.split.train)
    found = problem.judged(model)
    scores = model.scorer(problem.split.history).scores(range(DATA.n_users)).astype(float)
    shown = problem.split.history.matrix().toarray() > 0
    targets = problem.split.test.matrix().toarray() > 0
    scores[shown] = -np.inf
    expected = []
    for user in np.flatnonzero(targets.any(axis=1)):
        order = np.argsort(-scores[user], kind="stable")
        hits, n = targets[user][order], int(targets[user].sum())
        gains = 1 / np.log2(np.arange(2, 102))
        best = gains[: min(n, 100)].sum()
        expected.append(
            (
                hits[:20].sum() / min(20, n),
                hits[:50].sum() / min(50, n),
                (hits[:100] * gains[: hits[:100].size]).sum() / best,
            )
        )
    np.testing.assert_allclose(found["test"], expected, rtol=1e-6)
    valid = rank(
        model.scorer(problem.split.valid_history),
        problem.split.valid,
        exclude=problem.split.valid_history,
    ).metrics("ndcg@100")
    assert found["valid"][:, 2].mean() == pytest.approx(valid["ndcg@100"])


def test_a_lambda_for_each_vector_is_that_of_the_library() -> None:
    found = spectrum(DATA)
    settings: dict[str, Any] = {
        "n_factors": 30,
        "regularization": 50.0,
        "epochs": 2,
        "learning_rate": 0.05,
    }
    ours = nearby.rescaled(found, DATA, head_tail=False, own_item=False, batch_size=256, **settings)
    theirs = LambdaSearch(batch_size=256, **settings).fit_from(found, DATA)
    assert np.abs(theirs.penalties_ - 50.0).max() > 1.0
    np.testing.assert_allclose(ours.penalties, theirs.penalties_, rtol=1e-3)
    np.testing.assert_allclose(
        ours.scorer(DATA).scores(range(10)), theirs.scorer().scores(range(10)), rtol=1e-3, atol=1e-5
    )


def test_nearby_models_start_at_the_closed_form_and_the_diagonal_matters() -> None:
    found = spectrum(DATA)
    settings = {"n_factors": 30, "regularization": 50.0, "learning_rate": 0.05, "batch_size": 256}
    start = nearby.rescaled(found, DATA, head_tail=True, own_item=True, epochs=0, **settings)
    closed = LRR(n_factors=30, regularization=50.0).fit_from(found, DATA)
    np.testing.assert_allclose(
        start.scorer(DATA).scores(range(10)), closed.scorer().scores(range(10)), atol=1e-6
    )
    own, without = (
        nearby.rescaled(found, DATA, head_tail=True, own_item=flag, epochs=1, **settings)
        for flag in (True, False)
    )
    assert np.ptp(own.head) > 0.1
    assert np.abs(own.tail - without.tail).max() > 0.01


def test_what_was_tried_is_kept(problem: Problem) -> None:
    made: list[float] = []

    def fit(regularization: float) -> LRR:
        made.append(regularization)
        return LRR(n_factors=20, regularization=regularization).fit(problem.split.train)

    grid = [{"regularization": 10.0}, {"regularization": 100.0}]
    first = [fits.tried(problem, "LRR + λ", one, fit) for one in grid]
    again = [fits.tried(problem, "LRR + λ", one, fit) for one in grid]
    assert made == [10.0, 100.0]
    for one, other in zip(first, again, strict=True):
        assert one.score == other.score
        np.testing.assert_array_equal(one.test, other.test)
    assert fits.best_of(first).score == max(one.score for one in first)
    told = fits.summary(first, "training users")
    assert told["tried"] == 2
    assert told["test"]["Recall@50"]["se"] == pytest.approx(
        fits.best_of(first).test[:, 1].std(ddof=1) / 60**0.5, abs=1e-5
    )


def test_the_published_grid_is_laid_around_the_best(problem: Problem) -> None:
    grid = search._grid(problem, published.SEARCHES["Table 14"], 20.0)
    assert grid["penalties"] == [0, 4, 20, 40, 80, 200, 400]
    assert not grid["exact"]
    split = problem.split
    theirs = Problem("ml-20m", split, problem.folder)
    grid = search._grid(theirs, published.SEARCHES["Table 14"], 20.0)
    assert grid["penalties"] == published.SEARCHES["Table 14"]["penalties"]
    assert not search._fits("ml-20m", "Netflix")


def test_differences_of_models_are_paired() -> None:
    rng = np.random.default_rng(0)
    base = rng.random((400, 3))
    tests = {"a": base + 0.01, "b": base}
    (first, *_) = gaps.gap(tests, "a", "b")
    assert first["percent"] == pytest.approx(1 / base[:, 0].mean(), abs=0.01)
    assert first["se"] == 0.0
    printed = {"a": (0.5, 0.5, 0.5), "b": (0.6, 0.4, 0.499)}
    assert gaps._pairs(printed, tests) == {
        "pairs": 2,
        "same": 1,
        "clearly_against": 1,
        "lost": [["Recall@20", "b", "a"]],
    }


def test_values_on_other_data_are_never_compared_with_the_published_ones(stored: Any) -> None:
    """The stored results as they are, and as if they had been measured on ML-20M."""
    kept = stored("linear_models")
    found = {one["item"]: one for one in tables.tables_of(kept)["tables"]}
    assert list(found.values()) == kept["tables"]
    for item, one in found.items():
        other = ("not here", None) if item == "003 Table 18" else ("on other data", "ml-1m")
        assert (one["state"], one.get("data")) == other
        assert "cells" not in one
    ours = kept["data"]["ml-1m"] | {"published_as": "ML-20M"}
    own = {one["item"]: one for one in tables.tables_of({"data": {"ml-20m": ours}})["tables"]}
    assert own["003 Table 8"]["cells"] == 12
    assert own["003 Table 10"]["absent"] == 45  # Netflix
    assert own["003 Table 14"]["cells"] == 35
    assert own["003 Table 9"]["state"] == own["003 Table 15"]["state"] == "on other data"
    assert own["003 Figure 11"]["state"] == "reproduced"


def test_grids_are_read_by_their_best() -> None:
    printed = published.SEARCHES
    for table in ("Table 14", "Table 15"):
        assert grids.falling(printed[table]) == (4, 4)
        assert len(set(grids.at_twice(printed[table], printed[table]))) == 1
    assert grids.lost(printed["Table 16"], printed["Table 16"]) == pytest.approx(
        100 * (1 - 0.41063 / 0.41533)
    )
    # a quarter and a half of the best λ are left out
    assert grids.lost(printed["Table 17"], printed["Table 17"]) == pytest.approx(
        100 * (1 - 0.37601 / 0.37949)
    )
    assert tables.all_of([True, None, False]) is False
    assert tables.all_of([True, None]) is None


@pytest.mark.slow
@pytest.mark.verify
def test_quick(quick: Any, tmp_path: Path, need: Callable[[str], ModuleType]) -> None:
    for module in ("torch", "matplotlib"):
        need(module)
    content = quick("linear_models", OMP_NUM_THREADS="1")
    (found,) = content["data"].values()
    assert [one["item"] for one in content["tables"]] == [
        *(f"003 Table {n}" for n in (8, 9, 10, 14, 15, 16, 17, 18)),
        "003 Figure 11",
        "003 Figure 12",
    ]
    # a difference of means is the mean difference
    models = found["models"]
    for one in found["differences"]:
        a, b = (models[one[key]]["test"]["Recall@50"]["mean"] for key in ("model", "over"))
        assert one["Recall@50"]["percent"] == pytest.approx(100 * (a / b - 1), abs=0.02)
    for one in found["models"].values():
        for cell in one["test"].values():
            assert 0 < cell["mean"] < 1
            assert 0 < cell["se"] < 0.1
    # λ above every singular value leaves nothing of MF
    spectra = found["spectra"]
    assert spectra["LRR"][0] < spectra["values"][0]
    assert spectra["mf_left"] <= spectra["mf_settings"]["n_factors"]
    assert len(list(tmp_path.glob("*.svg"))) == 4
    # a second run fits nothing again
    asked = argparse.Namespace(quick=True, cache=tmp_path, out=tmp_path, data=None)
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.npz")}
    assert study.study(asked)["data"] == content["data"]
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.npz")} == kept
