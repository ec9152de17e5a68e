"""Ranks do not depend on the order of a scorer's rows, whatever the scorer and the ids."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from fullrank.data import Interactions
from fullrank.ranking import rank, sample_ranks
from fullrank.scorers import CallableScorer, FactorScorer, ItemItemScorer, ScoreArray

N_USERS, N_ITEMS = 9, 14
KINDS = ("factors", "cosine", "dense", "sparse", "array", "function")


def _scorer(kind: str, tables: Any, users: Any, items: Any, **ids: Any) -> Any:
    """The same model with its rows in these orders."""
    if kind in ("factors", "cosine"):
        how = "dot" if kind == "factors" else kind
        own = {"item_bias": tables["bias"][items], "similarity": how}
        return FactorScorer(tables["users"][users], tables["items"][items], **own, **ids)
    if kind in ("dense", "sparse"):
        weights = tables["weights"][np.ix_(items, items)]
        weights = weights if kind == "dense" else csr_array(weights)
        return ItemItemScorer(csr_array(tables["history"][np.ix_(users, items)]), weights, **ids)
    table = tables["scores"][np.ix_(users, items)]
    if kind == "array":
        return ScoreArray(table, **ids)
    return CallableScorer(lambda rows: table[rows], **ids)


def _ids(draw: str, letter: str, size: int, random: Any) -> Any:
    numbers = np.sort(random.choice(10**15, size, replace=False))
    return numbers if draw == "numbers" else np.sort([f"{letter}{one}" for one in numbers])


@settings(max_examples=40, deadline=None)
@given(
    kind=st.sampled_from(KINDS),
    seed=st.integers(0, 2**32),
    draw=st.sampled_from(["numbers", "text"]),
)
@pytest.mark.parametrize(
    "verb",
    [
        rank,
        partial(sample_ranks, design="sampled:6"),
        partial(sample_ranks, design="adaptive:3"),
    ],
    ids=["rank", "sampled", "adaptive"],
)
def test_the_order_of_rows_changes_nothing(verb: Any, kind: str, seed: int, draw: str) -> None:
    random = np.random.default_rng(seed)
    # small whole numbers: sums are exact in any order, and many scores tie
    tables = {
        "users": random.integers(-2, 3, (N_USERS, 3)).astype(np.float32),
        "items": random.integers(-2, 3, (N_ITEMS, 3)).astype(np.float32),
        "bias": random.integers(-1, 2, N_ITEMS).astype(np.float64),
        "weights": random.integers(-1, 2, (N_ITEMS, N_ITEMS)).astype(np.float32),
        "history": (random.random((N_USERS, N_ITEMS)) < 0.4).astype(np.float32),
        "scores": random.integers(0, 4, (N_USERS, N_ITEMS)).astype(np.float32),
    }
    user_ids = _ids(draw, "u", N_USERS, random)
    item_ids = _ids(draw, "i", N_ITEMS, random)
    asked = np.sort(random.permutation(N_USERS)[:5])
    targets = Interactions.from_arrays(
        user_ids[np.repeat(asked, 2)],
        item_ids[np.concatenate([random.permutation(N_ITEMS)[:2] for _ in asked])],
        user_ids=user_ids,
        item_ids=item_ids,
    )
    users, items = random.permutation(N_USERS), random.permutation(N_ITEMS)
    plain = _scorer(
        kind, tables, np.arange(N_USERS), np.arange(N_ITEMS), user_ids=user_ids, item_ids=item_ids
    )
    moved = _scorer(kind, tables, users, items, user_ids=user_ids[users], item_ids=item_ids[items])
    first, second = (verb(one, targets, ties="random", rng=3) for one in (plain, moved))
    for name, column in first.to_arrow().to_pydict().items():
        assert second.to_arrow()[name].to_pylist() == column, name
