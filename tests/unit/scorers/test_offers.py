"""Scorers by what they offer: no base class, one method."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import fullrank as fr
from fullrank.data import Interactions
from fullrank.errors import InputError
from fullrank.ranking.capabilities import offer
from fullrank.scorers import CallableScorer, FactorScorer, ItemItemScorer, as_scorer

RANDOM = np.random.default_rng(0)
USERS, ITEMS = RANDOM.normal(size=(30, 5)), RANDOM.normal(size=(80, 5))
BIAS = RANDOM.normal(size=80)
HISTORY = csr_array((RANDOM.random((30, 80)) < 0.1).astype(float))
WEIGHTS = RANDOM.normal(size=(80, 80))
TARGETS = (np.arange(30), RANDOM.integers(80, size=30))
SCORES = FactorScorer(USERS, ITEMS).scores(np.arange(30))


class Sizes:
    n_users, n_items = 30, 80


class Factors(Sizes):
    def factors(self) -> Any:
        return USERS, ITEMS


class Biased(Sizes):
    def factors(self) -> Any:
        return {"user_factors": USERS, "item_factors": ITEMS, "item_bias": BIAS}


class Matrix(Sizes):
    def item_item(self) -> Any:
        return HISTORY, WEIGHTS


class Block(Sizes):
    def block(self, users: Any) -> Any:
        return SCORES[users]


class Pairs(Sizes):
    def pairs(self, users: Any, items: Any) -> Any:
        return SCORES[users, items]


class Shared(Sizes):
    def item_scores(self) -> Any:
        return BIAS


OURS = {
    Factors: FactorScorer(USERS, ITEMS),
    Biased: FactorScorer(USERS, ITEMS, item_bias=BIAS),
    Matrix: ItemItemScorer(HISTORY, WEIGHTS),
    Block: FactorScorer(USERS, ITEMS),
    Pairs: FactorScorer(USERS, ITEMS),
    Shared: FactorScorer(np.ones((30, 1)), BIAS[:, None]),
}


@pytest.mark.parametrize("kind", OURS)
def test_ranks_are_those_of_our_own_scorers(kind: Any) -> None:
    ours = OURS[kind]
    np.testing.assert_array_equal(fr.rank(kind(), TARGETS).ranks, fr.rank(ours, TARGETS).ranks)
    for design in ("sampled:20", "adaptive:5,limit=40"):
        first, second = (
            fr.sample_ranks(one, TARGETS, design=design, rng=0) for one in (kind(), ours)
        )
        assert first.rows is not None
        assert second.rows is not None
        np.testing.assert_array_equal(first.rows.rank, second.rows.rank)


@pytest.mark.parametrize(
    ("kind", "capability"),
    [
        (Factors, "factors"),
        (Matrix, "item_item"),
        (Shared, "item_scores"),
        (Block, "scores"),
        (Pairs, "scores"),
    ],
)
def test_what_is_offered_decides_the_count(kind: Any, capability: str) -> None:
    assert offer(as_scorer(kind()))[0] == capability


def test_the_first_offer_counts() -> None:
    class Both(Factors, Pairs):
        def scores(self, users: Any, items: Any = None) -> Any:
            raise AssertionError("factors come first")

    assert isinstance(as_scorer(Both()), FactorScorer)


def test_scores_come_before_blocks_and_pairs() -> None:
    class Own(Block):
        def scores(self, users: Any, items: Any = None) -> Any:
            return SCORES[np.asarray(users)] if items is None else SCORES[users][:, items]

    own = Own()
    assert as_scorer(own) is own


def test_ids_are_carried() -> None:
    class Named(Pairs):
        user_ids = tuple(f"u{u}" for u in range(30))
        item_ids = tuple(f"i{i}" for i in range(80))

    class NamedFactors(Factors):
        user_ids, item_ids = Named.user_ids, Named.item_ids

    data = Interactions.from_arrays(["u3", "u7"], ["i5", "i70"], item_ids=Named.item_ids)
    ranks = [fr.rank(one(), data).ranks for one in (Named, NamedFactors)]
    np.testing.assert_array_equal(*ranks)
    np.testing.assert_array_equal(ranks[0], fr.rank(Factors(), ([3, 7], [5, 70])).ranks)


def test_threads_only_where_it_says_so() -> None:
    class Safe(Pairs):
        thread_safe = True

    assert as_scorer(Safe()).thread_safe is True  # type: ignore[attr-defined]
    assert as_scorer(Pairs()).thread_safe is False  # type: ignore[attr-defined]


def test_many_pairs_are_scored_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fullrank.scorers.offers.PAIRS", 70)
    np.testing.assert_array_equal(as_scorer(Pairs()).scores(np.arange(30)), SCORES)


def test_a_method_of_another_meaning_is_no_offer() -> None:
    data = Interactions.from_arrays([0, 1], [1, 0])
    with pytest.raises(InputError, match=r"`scorer`.*not Interactions"):
        as_scorer(data)


@pytest.mark.parametrize(
    ("kind", "method", "value", "message"),
    [
        (Factors, "factors", USERS, r"`factors`.*\(user_factors, item_factors\)"),
        (Factors, "factors", (USERS, ITEMS[:, :3]), "`user_factors` and `item_factors`"),
        (Factors, "factors", (USERS[:4], ITEMS), r"`n_users`.*4, not 30"),
        (Matrix, "item_item", WEIGHTS, "`item_item`.*history"),
        (Block, "block", SCORES[:, :3], r"`scorer`.*\(30, 80\)"),
        (Pairs, "pairs", [1.0], r"`pairs`.*2400 pairs"),
        (Pairs, "pairs", ["a"] * 2400, r"`pairs`.*2400 pairs"),
    ],
)
def test_what_is_offered_wrongly_is_told(
    kind: Any, method: str, value: Any, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = {"pairs": lambda self, users, items: value, "block": lambda self, users: value}
    monkeypatch.setattr(kind, method, given.get(method, lambda self: value))
    with pytest.raises(InputError, match=message):
        as_scorer(kind()).scores(np.arange(30))


def test_functions_keep_their_place() -> None:
    scorer = as_scorer(lambda users: SCORES[users], n_items=80)
    assert isinstance(scorer, CallableScorer)
