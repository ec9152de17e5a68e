"""The study of sampled users: its errors computed a second way, and its outcomes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fullrank.data import sample_users
from reproduction.common.bank import bank
from reproduction.common.exact import KS, Ranks
from reproduction.user_sampling import outcome, study


def test_how_many_users_are_drawn() -> None:
    assert study.drawn(Ranks(np.ones(37_501, int), 100)) == [1000, 5000, 10_000]
    assert study.drawn(Ranks(np.ones(6040, int), 100)) == [1000]
    assert study.drawn(Ranks(np.ones(671, int), 100)) == [335]


def test_published_errors_are_scaled_to_the_users_of_a_part() -> None:
    content = {"sizes": {"pinterest-20-part": {"n_users": 37_501}}}
    assert outcome.expected("pinterest-20", content, "100 items, MN_MES") == pytest.approx(
        (55_187 / 37_501) ** 0.5
    )
    share = (1 - 10_000 / 37_501) / (1 - 10_000 / 55_187)
    assert outcome.expected("pinterest-20", content, "10,000 users") == pytest.approx(share**0.5)
    whole = {"sizes": {"pinterest-20": {"n_users": 55_187}}}
    assert outcome.expected("pinterest-20", whole, "10,000 users") == 1.0
    assert outcome.expected("ml-20m", content, "1,000 users") == 1.0


def test_outcomes(stored: Any) -> None:
    content = stored("user_sampling")
    assert outcome.tables(content) == content["tables"]
    assert study._matched(content) == content["matched"]


def test_errors_of_sampled_users_are_those_of_theory(stored: Any) -> None:
    """√(2 (1 - p) (1 - n/M) / (π n p)), averaged over K, from the stored ranks."""
    content = stored("user_sampling")
    rows = [one for one in content["rows"] if "users_drawn" in one]
    assert len(rows) == 35
    for one in rows:
        ranks, n = bank(one["data"])[one["model"]].ranks, one["users_drawn"]
        shares = np.array([np.mean(ranks <= k) for k in KS])
        p = shares[shares > 0]
        error = 100 * np.sqrt(2 * (1 - p) * (1 - n / ranks.size) / (np.pi * n * p)).mean()
        assert one["theory"] == pytest.approx(error, rel=1e-5)
        assert one["recall"]["mean"] == pytest.approx(error, rel=0.2)


@pytest.mark.slow
@pytest.mark.verify
def test_quick(quick: Any) -> None:
    content = quick("user_sampling")
    known = bank("ml-latest-small")["EASE"]
    by_design = {one["design"]: one for one in content["rows"] if one["model"] == "EASE"}
    users = by_design["335 users"]
    assert users["scored_millions"] == pytest.approx(335 * known.n_items / 1e6, abs=1e-3)
    assert users["recall"]["mean"] == pytest.approx(_recall_error(known, 335), rel=1e-3)
    assert by_design["100 items, MN_MES"]["averaged"]["recall"]["mean"] > 0
    assert all(one["state"] == "not here" for one in content["tables"])


def _recall_error(known: Any, n_users: int) -> float:
    """The mean relative error of Recall@1..50 of the same users, from the ranks themselves."""
    cuts = np.array(KS)
    exact = (known.ranks[:, None] <= cuts).mean(axis=0)
    errors = []
    for seed in range(2):
        rows = sample_users(known.ranks.size, n_users, rng=seed).user_rows
        found = (known.ranks[rows][:, None] <= cuts).mean(axis=0)
        errors.append(
            100 * np.mean((np.abs(found - exact) / np.where(exact > 0, exact, 1))[exact > 0])
        )
    return float(np.mean(errors))
