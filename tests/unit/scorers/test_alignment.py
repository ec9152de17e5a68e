"""Scorers in the order of the data: scores follow the ids, whatever the order of the rows."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array, random_array

from fullrank.data import Interactions
from fullrank.errors import InputError
from fullrank.scorers import (
    CallableScorer,
    FactorScorer,
    ItemItemScorer,
    MissingIdsError,
    ScoreArray,
    aligned,
    as_scorer,
)

KINDS = ("factors", "cosine", "dense", "sparse", "array", "function", "items", "foreign")
N_USERS, N_ITEMS = 7, 11


class Foreign:
    """A scorer of somebody else's class."""

    thread_safe = True

    def __init__(self, scores):
        self.table, self.n_users, self.n_items = scores, *scores.shape

    def scores(self, user_rows, item_rows=None):
        return ScoreArray(self.table).scores(user_rows, item_rows)


def make(kind, seed=0, **ids):
    rng = np.random.default_rng(seed)
    if kind in ("factors", "cosine"):
        return FactorScorer(
            rng.normal(size=(N_USERS, 5)), rng.normal(size=(N_ITEMS, 5)).astype(np.float32),
            item_bias=rng.normal(size=N_ITEMS), user_bias=rng.normal(size=N_USERS),
            similarity="dot" if kind == "factors" else kind, **ids,
        )  # fmt: skip
    if kind in ("dense", "sparse"):
        history = random_array((N_USERS, N_ITEMS), density=0.6, rng=rng)
        weights = rng.normal(size=(N_ITEMS, N_ITEMS))
        weights = weights if kind == "dense" else csr_array(weights * (weights > 0))
        return ItemItemScorer(history, weights, **ids)
    table = rng.normal(size=(N_USERS, N_ITEMS))
    if kind == "array":
        return ScoreArray(table, **ids)
    if kind == "function":
        return CallableScorer(lambda users: table[users], n_users=N_USERS, n_items=N_ITEMS, **ids)
    if kind == "items":
        scores = ScoreArray(table).scores
        return CallableScorer(lambda u, i=None: scores(u, i), n_items=N_ITEMS, **ids)
    return as_scorer(Foreign(table), **ids)


def named(n, sign):
    return np.array([f"{sign}{at:02d}" for at in range(n)])


@settings(max_examples=25, deadline=None)
@given(kind=st.sampled_from(KINDS), seed=st.integers(0, 2**31), numbers=st.booleans())
def test_scores_follow_the_ids(kind, seed, numbers):
    rng = np.random.default_rng(seed)
    user_ids, item_ids = named(N_USERS, "u"), named(N_ITEMS, "i")
    if numbers:
        user_ids, item_ids = np.arange(N_USERS) * 3 + 2**60, np.arange(N_ITEMS) + 5
    user_ids, item_ids = rng.permutation(user_ids), rng.permutation(item_ids)
    scorer = make(kind, user_ids=user_ids, item_ids=item_ids)
    users = rng.permutation(N_USERS)[: rng.integers(1, N_USERS + 1)]
    items = rng.permutation(N_ITEMS)[: rng.integers(1, N_ITEMS + 1)]
    found = aligned(scorer, user_ids=user_ids[users], item_ids=item_ids[items])
    catalogue = np.concatenate(
        [items, sorted(set(range(N_ITEMS)) - set(items), key=item_ids.__getitem__)]
    )
    catalogue = catalogue.astype(int)
    asked = np.arange(users.size)
    expected = scorer.scores(users)[:, catalogue]
    assert np.array_equal(found.scores(asked), expected)
    some = rng.integers(0, N_ITEMS, 4)
    assert np.array_equal(found.scores(asked, some), scorer.scores(users, catalogue[some]))
    own = rng.integers(0, N_ITEMS, (users.size, 3))
    assert np.array_equal(found.scores(asked, own), scorer.scores(users, catalogue[own]))
    assert np.array_equal(found.user_ids, user_ids[users])
    assert np.array_equal(found.item_ids, item_ids[catalogue])
    assert (found.n_users, found.n_items) == (users.size, N_ITEMS)
    assert getattr(found, "thread_safe", False) == getattr(scorer, "thread_safe", False)


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_order_is_the_scorer_itself(kind):
    user_ids, item_ids = named(N_USERS, "u"), named(N_ITEMS, "i")
    scorer = make(kind, user_ids=user_ids, item_ids=item_ids)
    assert aligned(scorer, user_ids=user_ids.copy(), item_ids=item_ids) is scorer
    assert aligned(scorer, user_ids=user_ids, item_ids=item_ids[:4]) is scorer
    plain = make(kind)
    assert aligned(plain, user_ids=np.arange(N_USERS), item_ids=np.arange(N_ITEMS)) is plain
    with pytest.raises(InputError, match=rf"items of the data.*\b{N_ITEMS}\b"):
        aligned(plain, user_ids=np.arange(N_USERS), item_ids=np.arange(5))
    assert aligned(plain, user_ids=None, item_ids=None) is plain
    numbered = make(kind, user_ids=range(N_USERS), item_ids=range(N_ITEMS))
    assert aligned(numbered, user_ids=None, item_ids=None) is numbered


def test_ids_of_the_data_are_kept_as_they_are():
    data = Interactions.from_arrays(["b", "a"], [5, 9])
    scorer = FactorScorer(np.ones((2, 1)), np.ones((2, 1)), user_ids=data.user_ids)
    assert scorer.user_ids is data.user_ids
    assert ItemItemScorer(data, np.eye(2)).item_ids is data.item_ids


@pytest.mark.parametrize("kind", ["factors", "array", "function"])
@pytest.mark.parametrize("side", ["user", "item"])
def test_ids_that_are_not_row_numbers_need_ids(kind, side):
    ids = {"user_ids": np.arange(N_USERS), "item_ids": np.arange(N_ITEMS)}
    for wrong in (
        ids[f"{side}_ids"] + 1,
        ids[f"{side}_ids"][::-1],
        named(5, "x"),
        np.array([0, 2]),
    ):
        with pytest.raises(MissingIdsError, match=f"must have {side}_ids") as found:
            aligned(make(kind), **ids | {f"{side}_ids": wrong})
        assert found.value.side == side
    with pytest.raises(InputError, match=f"{side}_ids of the scorer are not 0"):
        aligned(
            make(kind, **{f"{side}_ids": ids[f"{side}_ids"][::-1]}), user_ids=None, item_ids=None
        )


def test_more_users_than_rows_are_refused():
    with pytest.raises(InputError, match="row for each of the 8 users of the data; it has 7"):
        aligned(make("factors"), user_ids=np.arange(8), item_ids=None)


def test_numbers_and_text_are_two_ids():
    scorer = make("factors", user_ids=[str(at) for at in range(N_USERS)])
    with pytest.raises(
        InputError, match="user_ids that are numbers, like those of the data, not t"
    ):
        aligned(scorer, user_ids=np.arange(N_USERS), item_ids=None)


def test_users_without_targets_may_be_unknown():
    scorer = make("dense", user_ids=named(N_USERS, "u"))
    wanted = np.array(["new", "u03", "u01"])
    found = aligned(scorer, user_ids=wanted, item_ids=None, users=[1, 2, 2])
    assert np.array_equal(found.scores([1, 2]), scorer.scores([3, 1]))
    with pytest.raises(InputError, match=r"`old`.*1 of them is not in its user_ids: 'new"):
        aligned(scorer, user_ids=wanted, item_ids=None, name="old")


@pytest.mark.parametrize(
    ("kind", "advice"),
    [
        ("factors", "FactorScorer(…, user_ids=…)"),
        ("array", "fr.as_scorer(model, user_ids=…, item_ids=…)"),
        ("items", "fr.as_scorer(model, user_ids=…, item_ids=…)"),
        ("foreign", "fr.as_scorer(model, user_ids=…, item_ids=…)"),
    ],
)
def test_the_advice_is_what_the_caller_can_write(kind, advice):
    with pytest.raises(MissingIdsError, match=re.escape(f": use {advice}.") + "$"):
        aligned(make(kind), user_ids=named(N_USERS, "u"), item_ids=None)


def test_the_advice_for_modules(need):
    torch = need("torch")
    by_factors = torch.nn.Module()
    by_factors.user_factors, by_factors.item_factors = torch.ones(7, 2), torch.ones(11, 2)
    for module in (by_factors, torch.nn.Embedding(N_USERS, N_ITEMS)):
        with pytest.raises(MissingIdsError, match=r": use fr\.as_scorer\(model, user_ids=…"):
            aligned(as_scorer(module), user_ids=named(N_USERS, "u"), item_ids=None)


def test_items_must_be_known():
    scorer = make("sparse", item_ids=named(N_ITEMS, "i"))
    with pytest.raises(InputError, match=r"2 of them are not in its item_ids \(first: 'j0'\)"):
        aligned(scorer, user_ids=None, item_ids=np.array(["i01", "j0", "j1"]))


def test_ids_are_unique_and_as_many_as_rows():
    with pytest.raises(InputError, match="`user_ids` must have one id for each of the 7 user rows"):
        make("factors", user_ids=["a"])
    with pytest.raises(InputError, match="`item_ids` must hold each id once"):
        make("array", item_ids=["a"] * N_ITEMS)


def test_given_ids_must_be_those_of_the_history():
    data = Interactions.from_arrays(["b", "a"], [5, 9])
    with pytest.raises(InputError, match="row 0 has the id 'a' there, not 'b'"):
        ItemItemScorer(data, np.eye(2), user_ids=["b", "a"])
    with pytest.raises(InputError, match="row 0 has the id 5 there, not '5'"):
        ItemItemScorer(data, np.eye(2), item_ids=["5", "9"])
    with pytest.raises(InputError, match="`user_ids` must be omitted"):
        as_scorer(make("factors", user_ids=range(N_USERS)), user_ids=range(1, N_USERS + 1))


def test_a_module_on_pairs(need):
    torch = need("torch")

    class Pairs(torch.nn.Module):
        n_users, n_items = N_USERS, N_ITEMS

        def __init__(self):
            super().__init__()
            self.users = torch.nn.Embedding(N_USERS, 4)
            self.items = torch.nn.Embedding(N_ITEMS, 4)

        def forward(self, users, items):
            return (self.users(users) * self.items(items)).sum(1)

    rng = np.random.default_rng(1)
    users, items = rng.permutation(N_USERS), rng.permutation(N_ITEMS)
    user_ids, item_ids = named(N_USERS, "u"), named(N_ITEMS, "i")
    scorer = as_scorer(Pairs(), user_ids=user_ids, item_ids=item_ids)
    found = aligned(scorer, user_ids=user_ids[users], item_ids=item_ids[items])
    assert np.array_equal(found.scores(range(N_USERS)), scorer.scores(users)[:, items])
    own = rng.integers(0, N_ITEMS, (N_USERS, 3))
    assert np.array_equal(found.scores(range(N_USERS), own), scorer.scores(users, items[own]))
    with torch.no_grad():  # what a GPU calls
        pairs = found.module(torch.arange(N_USERS), torch.arange(N_USERS))
    expected = scorer.scores(users, items[:N_USERS, None])[:, 0]
    assert np.array_equal(pairs.numpy(), expected)
