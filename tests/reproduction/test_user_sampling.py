"""The study of sampled users: the quick form, its figures another way, its page."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "benchmarks" / "studies"
PAGES = ROOT / "docs" / "reproduction"


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> Any:
    return lambda name: importlib.import_module(f"reproduction.{name}")


def test_how_many_users_are_drawn(load: Any) -> None:
    study, ranks = load("user_sampling.study"), load("common.exact").Ranks
    assert study.drawn(ranks(np.ones(37_501, int), 100)) == [1000, 5000, 10_000]
    assert study.drawn(ranks(np.ones(6040, int), 100)) == [1000]
    assert study.drawn(ranks(np.ones(671, int), 100)) == [335]


def test_what_a_published_error_is_held_to(load: Any) -> None:
    expected = load("user_sampling.page").expected
    content = {"sizes": {"pinterest-20-part": {"n_users": 37_501}}}
    assert expected("pinterest-20", content, "100 items, MN_MES") == pytest.approx(
        (55_187 / 37_501) ** 0.5
    )
    share = (1 - 10_000 / 37_501) / (1 - 10_000 / 55_187)
    assert expected("pinterest-20", content, "10,000 users") == pytest.approx(share**0.5)
    whole = {"sizes": {"pinterest-20": {"n_users": 55_187}}}
    assert expected("pinterest-20", whole, "10,000 users") == 1.0
    assert expected("ml-20m", content, "1,000 users") == 1.0


@pytest.mark.slow
def test_the_quick_form(tmp_path: Path, load: Any) -> None:
    command = [sys.executable, SCRIPTS / "user_sampling.py", "--quick", "--out", tmp_path]
    run = subprocess.run(
        [*command, "--cache", tmp_path / "kept"], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    content = json.loads((tmp_path / "user_sampling.json").read_text("utf-8"))
    known = load("common.bank").bank("ml-latest-small")["EASE"]
    by_design = {one["design"]: one for one in content["rows"] if one["model"] == "EASE"}
    users = by_design["335 users"]
    assert users["scored_millions"] == pytest.approx(335 * known.n_items / 1e6, abs=1e-3)
    assert users["recall"]["mean"] == pytest.approx(_recall_error(known, 335, load), rel=1e-3)
    assert by_design["100 items, MN_MES"]["averaged"]["recall"]["mean"] > 0
    assert all(one["state"] == "not here" for one in content["tables"])


def _recall_error(known: Any, n_users: int, load: Any) -> float:
    """The mean relative error of Recall@1..50 of the same users, from the ranks themselves."""
    from fullrank.ranking import sample_users

    cuts = np.array(load("common.exact").KS)
    exact = (known.ranks[:, None] <= cuts).mean(axis=0)
    errors = []
    for seed in range(2):
        rows = sample_users(known.ranks.size, n_users, rng=seed).user_rows
        found = (known.ranks[rows][:, None] <= cuts).mean(axis=0)
        errors.append(
            100 * np.mean((np.abs(found - exact) / np.where(exact > 0, exact, 1))[exact > 0])
        )
    return float(np.mean(errors))
