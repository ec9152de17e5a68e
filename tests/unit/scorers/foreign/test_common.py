"""Whether factors give a model's own scores, rows where they do not, and items that rank last."""

from __future__ import annotations

import numpy as np
import pytest

import fullrank as fr
from fullrank.errors import InputError
from fullrank.scorers import CallableScorer, FactorScorer, ItemScorer
from fullrank.scorers.foreign.common import Rows, by_factors, from_library, with_items

RNG = np.random.default_rng(0)
USERS, ITEMS = RNG.normal(size=(9, 4)), RNG.normal(size=(12, 4))
IDS = {"user_ids": np.arange(9), "item_ids": np.arange(100, 112)}


def own(user, items):
    return (ITEMS @ USERS[user])[items]


def test_factors_may_leave_out_what_a_user_shares_and_rounding() -> None:
    scorer = FactorScorer(USERS, ITEMS)
    assert by_factors(scorer, own)
    assert by_factors(scorer, lambda user, items: own(user, items) + 3.5 * user)
    assert by_factors(scorer, lambda user, items: own(user, items).astype(np.float32))
    assert by_factors(scorer, own, np.array([2, 5]))


@pytest.mark.parametrize(
    "other",
    [
        lambda user, items: -own(user, items),
        lambda user, items: own(user, items) + 1e-3 * (items == 7),
        lambda user, items: np.where(items == 7, np.nan, own(user, items)),
        lambda user, items: own(user, items)[:-1],
    ],
)
def test_other_scores_are_noticed(other) -> None:
    assert not by_factors(FactorScorer(USERS, ITEMS), other)


def test_rows_ask_for_one_user_at_a_time_and_nan_ranks_last() -> None:
    asked = []

    def scores(user, items):
        asked.append(user)
        return np.where(items == 3, np.nan, own(user, items))

    scorer = CallableScorer(Rows(scores, 12, "Mine"), n_items=12, n_users=9)
    assert repr(scorer) == "CallableScorer(Mine, 12 items)"
    found = scorer.scores([4, 2])
    assert asked == [4, 2]
    assert (found[:, 3] == -np.inf).all()
    assert np.array_equal(
        np.delete(found, 3, 1), np.delete([own(user, np.arange(12)) for user in (4, 2)], 3, 1)
    )


def scorers():
    rows = Rows(own, 12, "Mine")
    return {
        "factors": FactorScorer(USERS, ITEMS, user_bias=np.arange(9.0), **IDS),
        "biases": FactorScorer(USERS, ITEMS, item_bias=np.arange(12.0), **IDS),
        "items": ItemScorer(np.arange(12.0), n_users=9, **IDS),
        "rows": CallableScorer(rows, n_items=12, **IDS),
    }


@pytest.mark.parametrize("kind", scorers())
def test_further_items_rank_last(kind) -> None:
    scorer = from_library(scorers()[kind])
    ids = np.array([7, 105, 3, 100])
    longer = fr.as_scorer(scorer, item_ids=ids)
    assert type(longer) is type(scorer)
    assert longer.item_ids.tolist() == [*range(100, 112), 7, 3]
    users = np.arange(9)
    assert np.array_equal(longer.scores(users)[:, :12], scorer.scores(users))
    assert (longer.scores(users)[:, 12:] == -np.inf).all()

    test = fr.Interactions.from_arrays(
        np.arange(9), [7, 105, 3, 100, 7, 101, 3, 102, 103], item_ids=longer.item_ids
    )
    ranks = fr.rank(longer, test)
    known = np.isin(test.pairs()[1], np.arange(12))
    assert (ranks.above[~known] == 12).all()
    assert (ranks.equal[~known] == 1).all()
    scores = scorer.scores(users)
    wanted = test.pairs()[1][known]
    above = (scores[known] > scores[known, wanted][:, None]).sum(axis=1)
    assert np.array_equal(ranks.above[known], above)

    assert with_items(longer, ids) is longer


def test_only_models_of_libraries_take_further_items() -> None:
    with pytest.raises(InputError, match=r"`n_items` must be that of the scorer, 12"):
        fr.as_scorer(FactorScorer(USERS, ITEMS, **IDS), item_ids=np.arange(100, 113))
