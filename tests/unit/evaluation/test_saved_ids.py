"""Saved models meet data with other rows: users and items are found by their ids."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullrank.data import Interactions, Split, simulate
from fullrank.errors import DataWarning, InputError
from fullrank.evaluation import evaluate
from fullrank.models import EASE, IALS, load


def _renamed(data: Interactions, users: Any, items: Any, order: int | None = None) -> Interactions:
    """The same interactions under these names, the rows in another order if one is given."""
    user_rows, item_rows = data.pairs()
    ids = {"user_ids": users, "item_ids": items}
    if order is not None:
        random = np.random.default_rng(order)
        ids = {side: random.permutation(names) for side, names in ids.items()}
    return Interactions.from_arrays(users[user_rows], items[item_rows], **ids)


@pytest.fixture
def split() -> Split:
    data = simulate(n_users=60, n_items=40, mean_interactions=10)
    users = np.array([f"u{at}" for at in range(data.n_users)])
    items = np.array([f"i{at}" for at in range(data.n_items)])
    return _renamed(data, users, items).split("leave-one-out", rng=0)


@pytest.mark.parametrize("model", [EASE(regularization=5), IALS(n_factors=4, epochs=2)])
def test_rows_in_another_order(split: Split, tmp_path: Path, model: Any) -> None:
    train, path = split.train, tmp_path / "m.safetensors"
    model.fit(_renamed(train, train.user_ids, train.item_ids, order=1)).save(path)
    found = evaluate({"m": path}, split, metrics="rr")
    scorer = load(path).scorer()
    row = {one: at for at, one in enumerate(scorer.user_ids.tolist())}
    column = {one: at for at, one in enumerate(scorer.item_ids.tolist())}
    users = [row[one] for one in train.user_ids.tolist()]
    items = [column[one] for one in train.item_ids.tolist()]
    scores = scorer.scores(users)[:, items]
    ranks = []
    for user, item in zip(*split.test.pairs(), strict=True):
        seen = train.indices[train.indptr[user] : train.indptr[user + 1]]
        others = np.setdiff1d(np.arange(train.n_items), np.append(seen, item))
        ranks.append(1 + (scores[user, others] > scores[user, item]).sum())
    assert found.samples["m"].metrics("rr")["rr"] == pytest.approx(np.mean(1 / np.array(ranks)))


def test_a_leak_is_found_by_id(split: Split, tmp_path: Path) -> None:
    whole = split.train.union(split.test)
    path = tmp_path / "m.safetensors"
    EASE(regularization=5).fit(_renamed(whole, whole.user_ids, whole.item_ids, order=2)).save(path)
    with pytest.warns(DataWarning, match=rf"\bm\b.*{split.test.n_interactions} of the"):
        evaluate({"m": path}, split, metrics="rr")
    swapped = _renamed(whole, np.roll(whole.user_ids, 1), whole.item_ids)
    EASE(regularization=5).fit(swapped).save(path)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        evaluate({"m": path}, split, metrics="rr")
    assert not [one for one in told if f" {split.test.n_interactions} of the" in str(one.message)]


def test_numbers_and_text_do_not_meet(split: Split, tmp_path: Path) -> None:
    path = tmp_path / "m.safetensors"
    train = split.train
    numbers = _renamed(train, np.arange(train.n_users), np.arange(train.n_items))
    EASE(regularization=5).fit(numbers).save(path)
    with pytest.raises(InputError, match=r"`m`.*are text.*not numbers"):
        evaluate({"m": path}, split, metrics="rr")
