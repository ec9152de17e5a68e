"""Scores of items that all users share."""

from __future__ import annotations

import numpy as np
import pytest

from fullrank import models
from fullrank.data import Interactions
from fullrank.errors import InputError
from fullrank.ranking import rank, sample_ranks
from fullrank.scorers import FactorScorer, ItemScorer, aligned, as_scorer
from fullrank.testing import check_scorer

SCORES = np.array([3.0, 1.0, 2.0, 1.0, 0.0], np.float32)


def test_every_user_has_the_same_scores():
    scorer = ItemScorer(SCORES, n_users=3)
    check_scorer(scorer)
    assert scorer.scores([2, 0], [0, 4]).tolist() == [[3.0, 0.0], [3.0, 0.0]]
    assert repr(scorer) == "ItemScorer(3 users × 5 items, float32)"
    assert scorer.item_scores() is scorer
    assert scorer.values.tolist() == SCORES.tolist()


def test_ranks_by_hand():
    train = Interactions.from_arrays([0, 0, 1], [0, 1, 2], user_ids=[0, 1, 2], item_ids=range(5))
    result = rank(ItemScorer(SCORES, n_users=3), ([0, 1, 2], [3, 3, 4]), exclude=train)
    assert result.above.tolist() == [1, 1, 4]
    assert result.equal.tolist() == [0, 1, 0]
    assert result.candidates.tolist() == [3, 4, 5]


def test_whole_numbers_are_kept_as_they_are():
    scorer = ItemScorer([2**53 - 1, 2**53 - 2, 7], n_users=1)
    assert scorer.values.dtype == np.float64
    assert rank(scorer, ([0], [1])).ranks.tolist() == [2.0]


def test_rows_in_another_order():
    scorer = ItemScorer(SCORES, n_users=2, user_ids=["a", "b"], item_ids=list("vwxyz"))
    other = aligned(scorer, user_ids=np.array(["b", "a"]), item_ids=np.array(list("zyxwv")))
    assert other.item_scores().values.tolist() == SCORES[::-1].tolist()
    assert other.scores([0]).tolist() == [SCORES[::-1].tolist()]


def test_a_class_from_outside_offers_its_scores():
    class Newest:
        n_users, n_items, item_ids = 2, 3, ("a", "b", "c")

        def item_scores(self):
            return [2021, 2024, 2019]

    scorer = as_scorer(Newest())
    assert isinstance(scorer, ItemScorer)
    assert scorer.item_ids.tolist() == ["a", "b", "c"]
    check_scorer(Newest())
    Newest.n_users = None
    with pytest.raises(InputError, match=r"`n_users`.*None"):
        as_scorer(Newest())
    Newest.n_users, Newest.n_items = 2, 4
    with pytest.raises(InputError, match=r"`n_items`.*3.*4"):
        as_scorer(Newest())


@pytest.mark.parametrize("wrong", [[[1.0, 2.0]], [], ["a"], [True]])
def test_scores_that_are_not_one_number_for_each_item(wrong):
    with pytest.raises(InputError, match="`item_scores` must have one number for each item"):
        ItemScorer(wrong, n_users=2)


@pytest.mark.parametrize("n_users", [0, 1.5, None])
def test_a_number_of_users_that_is_none(n_users):
    with pytest.raises(InputError, match=rf"`n_users`.*{n_users}"):
        ItemScorer(SCORES, n_users=n_users)


@pytest.mark.parametrize("ties", ["mean", "best", "worst", "random"])
def test_popularity_ranks_as_the_factor_model_that_it_is(ties):
    random = np.random.default_rng(0)
    users, items = np.divmod(random.choice(40 * 60, 700, replace=False), 60)
    ids = {"user_ids": np.arange(40), "item_ids": np.arange(60)}
    train = Interactions.from_arrays(users[100:], items[100:], **ids)
    test = Interactions.from_arrays(users[:100], items[:100], **ids)
    shared = models.Popularity().fit(train).scorer()
    factors = FactorScorer(shared.user_factors, shared.item_factors, **ids)
    for seen in (None, train):
        ranks = [rank(one, test, exclude=seen, ties=ties, rng=3) for one in (shared, factors)]
        assert ranks[0].to_dict() == ranks[1].to_dict()
        if ties != "mean":
            how = {"exclude": seen, "ties": ties, "rng": 3, "design": "sampled:10"}
            drawn = [sample_ranks(one, test, **how) for one in (shared, factors)]
            assert drawn[0].to_dict() == drawn[1].to_dict()
