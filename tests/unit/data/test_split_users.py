"""Whole users held out: who is in which part, and what is known of them."""

import numpy as np
import pytest

from fullrank.data import Interactions, Split, simulate, strong
from fullrank.errors import InputError


@pytest.fixture(scope="module")
def whole() -> Interactions:
    return simulate(n_users=200, n_items=80, mean_interactions=15)


def users_of(part: Interactions) -> set[int]:
    return set(np.flatnonzero(part.user_counts()).tolist())


def test_users_are_in_one_group_each(whole: Interactions) -> None:
    split = strong(whole, test=0.1, valid=0.2, rng=0)
    groups = [users_of(split.train), users_of(split.test), users_of(split.valid)]
    assert [len(group) for group in groups] == [140, 20, 40]
    assert set.union(*groups) == set(range(200))
    assert users_of(split.fold_in) == groups[1]
    assert users_of(split.valid_fold_in) == groups[2]
    assert split.history is split.fold_in
    assert split.valid_history is split.valid_fold_in


def test_parts_make_up_the_whole(whole: Interactions) -> None:
    split = strong(whole, test=0.1, valid=0.2, items="all", rng=0)
    together = sum(part.matrix().toarray() for part in split.parts().values())
    np.testing.assert_array_equal(together, whole.matrix().toarray())
    for part in split.parts().values():
        assert part.user_ids is whole.user_ids
        assert part.item_ids is whole.item_ids
    assert split.n_dropped == 0


def test_a_fifth_is_asked_about(whole: Interactions) -> None:
    split = strong(whole, test=50, items="all", rng=0)
    held = split.test.user_counts() > 0
    assert np.count_nonzero(held) == 50
    counts = whole.user_counts()[held]
    np.testing.assert_array_equal(split.test.user_counts()[held], counts // 5)
    np.testing.assert_array_equal(split.fold_in.user_counts()[held], counts - counts // 5)


def test_the_latest_are_asked_about(whole: Interactions) -> None:
    split = strong(whole, by="last", items="all", rng=0)
    for user in users_of(split.test):
        known, asked = (
            part.timestamps[part.indptr[user] : part.indptr[user + 1]]
            for part in (split.fold_in, split.test)
        )
        assert known.max() <= asked.min()


def test_items_that_no_training_user_has_are_dropped() -> None:
    """Nine users have items 0..5; the tenth, if held out, brings items 10..14 of its own."""
    users = np.append(np.repeat(np.arange(9), 6), np.repeat(9, 11))
    items = np.concatenate([np.tile(np.arange(6), 9), np.arange(6), np.arange(10, 15)])
    data = Interactions.from_arrays(users, items)
    for seed in range(100):
        split = strong(data, test=1, rng=seed)
        if users_of(split.test) == {9}:
            break
    np.testing.assert_array_equal(split.train.item_ids, np.arange(6))
    assert split.n_dropped == 5
    assert split.test.n_interactions == 1  # a fifth of the six that are left, rounded down
    says = "5 interactions were dropped, because their items are not in the training part"
    assert says in str(split)
    for part in split.parts().values():
        assert part.n_items == 6


def test_users_with_too_little_to_ask_about() -> None:
    counts = [4, 4, 4, 4, 8, 8]
    data = Interactions.from_arrays(
        np.repeat(np.arange(6), counts), np.concatenate([np.arange(n) for n in counts])
    )
    split = strong(data, test=5, items="all", rng=0)
    tested = split.test.user_counts()
    assert set(tested[:4]) == {0}
    assert split.n_skipped == 5 - np.count_nonzero(tested)
    assert split.n_skipped > 0
    assert split.fold_in.n_interactions + split.test.n_interactions > 0


def test_users_without_interactions_are_in_no_part() -> None:
    data = Interactions.from_arrays(
        np.repeat(np.arange(4), 5), np.tile(np.arange(5), 4), user_ids=range(10)
    )
    split = strong(data, test=0.5, rng=0)
    assert len(users_of(split.train)) == 2
    assert len(users_of(split.test)) == 2


def test_the_same_seed_and_the_same_test_users_with_and_without_validation(
    whole: Interactions,
) -> None:
    one, two, other = (strong(whole, rng=seed, items="all") for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.test.indices, two.test.indices)
    assert users_of(one.test) != users_of(other.test)
    assert users_of(strong(whole, valid=0.3, rng=1).test) == users_of(one.test)


def test_folded_in_histories_feed_item_item_models(whole: Interactions) -> None:
    """What a test user did and a matrix of items make scores: no training of that user."""
    split = strong(whole, rng=0)
    train = split.train.matrix(np.float64)
    weights = (train.T @ train).toarray()
    np.fill_diagonal(weights, 0)
    scores = split.fold_in.matrix(np.float64) @ weights
    users = np.flatnonzero(split.test.user_counts())
    assert scores.shape == (200, split.test.n_items)
    assert (scores[users].max(axis=1) > 0).all()
    assert (scores[np.flatnonzero(split.train.user_counts())] == 0).all()


def test_test_users_are_ranked_without_having_been_trained_on(whole: Interactions) -> None:
    from fullrank import ItemItemScorer, rank

    split = strong(whole, rng=0)
    train = split.train.matrix(np.float64)
    weights = (train.T @ train).toarray()
    np.fill_diagonal(weights, 0)
    ranks = rank(ItemItemScorer(split.history, weights), targets=split.test, exclude=split.history)
    np.testing.assert_array_equal(ranks.item, split.test.item_ids[split.test.indices])
    # far above the middle, which is where items drawn at random would stand
    assert np.median(ranks.ranks) < split.test.n_items / 4


def test_validation_users_can_be_trained_on_in_the_end(whole: Interactions) -> None:
    split = strong(whole, valid=0.2, items="all", rng=0)
    last = split.without_valid()
    assert users_of(last.train) == users_of(split.train) | users_of(split.valid)
    assert last.fold_in is split.fold_in
    assert last.train.n_interactions == sum(
        part.n_interactions for part in (split.train, split.valid_fold_in, split.valid)
    )


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"test": 0.5, "valid": 0.5},
            r"`test`.*`valid`.*\b10\b.*\b5\b.*\b5\b",
        ),
        (
            {"test": 0.01},
            r"`test`.*`valid`.*\b10\b.*\b0\b.*\b0\b",
        ),
        ({"test": 11}, r"`test`.*\b11\b"),
        ({"test": 1.5}, r"`test`.*\b1\.5\b"),
        ({"valid": -1}, r"`valid`.*-1\b"),
        ({"fold_in": 2}, r"`fold_in`.*\b2\b"),
        (
            {"fold_in": 0.9},
            r"`fold_in`.*the only test user has none.*\b0\.9\b.*`min_interactions`.*\b5\b",
        ),
        ({"fold_in": 0.9, "test": 0.3}, r"`fold_in`.*none of the 3 test users has any.*\b0\.9\b"),
        ({"by": "first"}, r"`by`.*'random', 'last'.*'first'"),
        ({"items": "some"}, r"`items`.*'train', 'all'.*'some'"),
        ({"min_interactions": 1}, r"`min_interactions`.*\b1\b"),
        ({"by": "last"}, r"`by`.*'random'.*'last'"),
    ],
)
def test_bad_settings(settings: dict[str, object], message: str) -> None:
    data = Interactions.from_arrays(np.repeat(np.arange(10), 6), np.tile(np.arange(6), 10))
    with pytest.raises(InputError, match=message):
        data.split("strong", **settings)


def test_a_split_of_users_tells_what_it_is(whole: Interactions) -> None:
    split = whole.split("strong", test=20, valid=10, rng=0)
    assert isinstance(split, Split)
    assert split.kind == "strong"
    assert split.settings == {
        "test": 20,
        "valid": 10,
        "fold_in": 0.8,
        "by": "random",
        "items": "train",
        "min_interactions": 5,
        "rng": 0,
    }
