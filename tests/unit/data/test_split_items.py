import pickle
import re

import numpy as np
import pytest

from fullrank.data import SPLITS, Interactions, Split, leave_one_out, ratio, simulate
from fullrank.errors import InputError


@pytest.fixture
def data() -> Interactions:
    """User 0 is last at item 2, 1 ties at items 1 and 3, 2 has one item, 3 has none."""
    return Interactions.from_arrays(
        [0, 0, 0, 1, 1, 1, 2],
        [1, 2, 3, 0, 1, 3, 3],
        timestamp=[5, 9, 7, 1, 4, 4, 8],
        user_ids=range(4),
        item_ids=range(4),
    )


def test_last(data: Interactions) -> None:
    split = leave_one_out(data, by="last")
    users, items = split.test.pairs()
    np.testing.assert_array_equal(users, [0, 1])
    np.testing.assert_array_equal(items, [2, 3])
    np.testing.assert_array_equal(split.test.timestamps, [9, 4])
    assert split.n_skipped == 2
    assert split.valid is None


def test_users_without_items_anywhere() -> None:
    data = Interactions.from_arrays(
        [1, 1, 3, 3], [0, 1, 0, 1], timestamp=[2, 1, 1, 2], user_ids=range(5)
    )
    for by in ("last", "random"):
        split = leave_one_out(data, by=by, rng=0)
        np.testing.assert_array_equal(split.test.user_counts(), [0, 1, 0, 1, 0])
        assert split.n_skipped == 3
    np.testing.assert_array_equal(leave_one_out(data, by="last").test.indices, [0, 1])


@pytest.mark.parametrize("by", ["random", "last"])
def test_parts_make_up_the_whole(by: str) -> None:
    whole = simulate(n_users=50, n_items=60, mean_interactions=15)
    split = whole.split("leave-one-out", by=by, rng=3)
    np.testing.assert_array_equal(split.test.user_counts(), np.ones(50))
    together = split.train.matrix() + split.test.matrix()
    np.testing.assert_array_equal(together.toarray(), whole.matrix().toarray())
    assert split.train.item_ids is whole.item_ids
    assert split.test.user_ids is whole.user_ids


def test_min_interactions(data: Interactions) -> None:
    more = Interactions.from_arrays([0, 0, 1, 1, 1], [0, 1, 0, 1, 2])
    split = leave_one_out(more, min_interactions=3, rng=0)
    np.testing.assert_array_equal(split.test.user_counts(), [0, 1])
    np.testing.assert_array_equal(split.train.user_counts(), [2, 2])
    assert split.n_skipped == 1


def test_the_same_seed_gives_the_same_split(data: Interactions) -> None:
    whole = simulate(n_users=200, n_items=60, mean_interactions=15)
    first, second, other = (whole.split(by="random", rng=seed).test.indices for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, second)
    assert (first != other).mean() > 0.5


def test_random_takes_every_item_equally_often() -> None:
    """4,000 users of five items: each place is expected 800 times, sd 25."""
    data = Interactions.from_arrays(np.repeat(np.arange(4000), 5), np.tile(np.arange(5), 4000))
    counts = data.split(by="random", rng=0).test.item_counts()
    assert np.abs(counts - 800).max() < 4 * np.sqrt(4000 * 0.2 * 0.8)


def test_bad_settings(data: Interactions) -> None:
    with pytest.raises(InputError) as caught:
        data.split("leave-two-out")
    names = ", ".join(map(repr, SPLITS))
    assert re.search(rf"`name`.*{names}.*'leave-two-out'", str(caught.value))
    with pytest.raises(InputError, match=r"`by`.*'random', 'last'.*'first'"):
        data.split(by="first")
    with pytest.raises(InputError, match=r"`min_interactions`.*\b1\b"):
        data.split(min_interactions=1)
    with pytest.raises(InputError, match=r"`rng`.*'seed'"):
        data.split(rng="seed")


def test_last_needs_times() -> None:
    data = Interactions.from_arrays([1, 1], [1, 2])
    with pytest.raises(InputError, match=r"`by`.*'random'.*'last'"):
        data.split(by="last")


def test_nobody_to_hold_out() -> None:
    data = Interactions.from_arrays([1, 2], [1, 2])
    with pytest.raises(InputError, match=r"`interactions`.*\b2\b.*\b1\b"):
        data.split()


# ---- a validation part ----


def parts_of(split: Split) -> list[Interactions]:
    return list(split.parts().values())


def together(split: Split) -> np.ndarray:
    return sum(part.matrix().toarray() for part in parts_of(split))


@pytest.mark.parametrize("by", ["random", "last"])
def test_one_out_for_the_validation_too(by: str) -> None:
    whole = simulate(n_users=50, n_items=60, mean_interactions=15)
    bare = whole.split(by=by, rng=3)
    split = whole.split(by=by, rng=3, valid=1)
    assert split.valid is not None
    np.testing.assert_array_equal(split.test.indices, bare.test.indices)
    np.testing.assert_array_equal(split.valid.user_counts(), np.ones(50))
    np.testing.assert_array_equal(together(split), whole.matrix().toarray())
    assert whole.split(by=by, rng=3, valid=0.3).valid.n_interactions == 15


def test_the_last_but_one_by_time() -> None:
    data = Interactions.from_arrays([0] * 4, [5, 6, 7, 8], timestamp=[3, 1, 4, 2])
    split = leave_one_out(data, by="last", valid=1)
    np.testing.assert_array_equal(data.item_ids[split.test.indices], [7])
    np.testing.assert_array_equal(data.item_ids[split.valid.indices], [5])


def test_who_has_two_items_gives_none_for_the_validation() -> None:
    data = Interactions.from_arrays([0, 0, 1, 1, 1], [0, 1, 0, 1, 2])
    split = leave_one_out(data, valid=1, rng=0)
    np.testing.assert_array_equal(split.valid.user_counts(), [0, 1])
    np.testing.assert_array_equal(split.train.user_counts(), [1, 1])


def test_the_validation_part_can_be_put_back(data: Interactions) -> None:
    whole = simulate(n_users=20, n_items=30, mean_interactions=12)
    split = whole.split(rng=1, valid=0.5)
    last = split.without_valid()
    bare = whole.split(rng=1)
    assert last.valid is None
    assert last.kind == "leave-one-out"
    for name in ("indptr", "indices", "values", "timestamps"):
        np.testing.assert_array_equal(getattr(last.train, name), getattr(bare.train, name))


# ---- a share ----


@pytest.mark.parametrize("by", ["random", "last"])
def test_a_share_of_each_user(by: str) -> None:
    whole = simulate(n_users=50, n_items=60, mean_interactions=15)
    split = ratio(whole, test=0.2, valid=0.1, by=by, rng=0)
    counts = whole.user_counts()
    np.testing.assert_array_equal(split.test.user_counts(), counts // 5)
    np.testing.assert_array_equal(split.valid.user_counts(), counts // 10)
    np.testing.assert_array_equal(together(split), whole.matrix().toarray())
    bare = ratio(whole, test=0.2, by=by, rng=0)
    np.testing.assert_array_equal(bare.test.indices, split.test.indices)
    assert bare.valid is None


def test_shares_are_not_spoiled_by_binary_fractions() -> None:
    for n in range(1, 200):
        data = Interactions.from_arrays(np.zeros(n, int), np.arange(n))
        if n >= 10:
            split = ratio(data, test=0.1, valid=0.7, rng=0)
            assert split.test.n_interactions == n // 10
            assert split.valid.n_interactions == 7 * n // 10


def test_the_latest_share_of_each_user() -> None:
    data = Interactions.from_arrays(
        [0] * 5 + [1] * 5 + [2] * 4,
        [*range(5), *range(5), *range(4)],
        timestamp=[9, 1, 2, 3, 4, 7, 7, 7, 1, 7, 1, 2, 3, 4],
    )
    split = ratio(data, test=0.2, valid=0.2, by="last")
    np.testing.assert_array_equal(split.test.indices, [0, 4])  # of equal times the greatest item
    np.testing.assert_array_equal(split.valid.indices, [4, 2])
    assert split.n_skipped == 1


@pytest.mark.parametrize("scale", [1, 10**9, -1, -(10**9)])
def test_times_of_any_unit_and_sign(scale: int) -> None:
    whole = simulate(n_users=50, n_items=60, mean_interactions=15)
    times = whole.timestamps // 86_400 * scale
    users, items = whole.pairs()
    data = Interactions.from_arrays(users, items, timestamp=times)
    split = ratio(data, test=0.3, by="last")
    for user in range(50):
        known, asked = (
            part.timestamps[part.indptr[user] : part.indptr[user + 1]]
            for part in (split.train, split.test)
        )
        assert known.max() <= asked.min()


def test_a_share_of_all_at_random() -> None:
    whole = simulate(n_users=50, n_items=60, mean_interactions=15)
    split = ratio(whole, test=0.25, valid=0.25, per="all", rng=0)
    n = whole.n_interactions
    assert split.test.n_interactions == n // 4
    assert split.valid.n_interactions == n // 4
    np.testing.assert_array_equal(together(split), whole.matrix().toarray())
    assert len(set(split.test.user_counts() * 4 - whole.user_counts())) > 3  # not user by user


def test_a_cut_in_time_is_the_same_for_everybody() -> None:
    data = Interactions.from_arrays(
        [0, 0, 0, 1, 1, 1, 2, 2, 2, 3],
        [0, 1, 2, 0, 1, 2, 0, 1, 2, 0],
        timestamp=[1, 2, 3, 4, 5, 6, 7, 7, 8, 7],
    )
    split = ratio(data, test=0.2, valid=0.3, per="all", by="last")
    assert split.train.timestamps.max() < split.valid.timestamps.min()
    assert split.valid.timestamps.max() < split.test.timestamps.min()
    np.testing.assert_array_equal(split.test.timestamps, [7, 7, 8, 7])  # the moment is not parted
    np.testing.assert_array_equal(split.valid.timestamps, [6])
    assert split.n_skipped == 2


def test_each_interaction_falls_to_the_test_equally_often() -> None:
    """3,000 users of ten items, a fifth held out: each place is expected 600 times, sd 22."""
    data = Interactions.from_arrays(np.repeat(np.arange(3000), 10), np.tile(np.arange(10), 3000))
    for per in ("user", "all"):
        counts = ratio(data, per=per, rng=0).test.item_counts()
        assert np.abs(counts - 600).max() < 4 * np.sqrt(3000 * 0.2 * 0.8)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"test": 0}, r"`test`.*`valid`.*\b0 and 0\b"),
        (
            {"test": 0.5, "valid": 0.5},
            r"`test`.*`valid`.*\b0\.5 and 0\.5\b",
        ),
        ({"test": 1.5}, r"`test`.*\b1\.5\b"),
        ({"valid": -0.1}, r"`valid`.*-0\.1\b"),
        ({"by": "first"}, r"`by`.*'random', 'last'.*'first'"),
        ({"per": "item"}, r"`per`.*'user', 'all'.*'item'"),
        (
            {"test": 0.1},
            r"`test`.*\b5\b.*\b0\b.*\b0\b",
        ),
        ({"by": "last"}, r"`by`.*'random'.*'last'"),
    ],
)
def test_bad_shares(settings: dict[str, object], message: str) -> None:
    data = Interactions.from_arrays([0] * 5, range(5))
    with pytest.raises(InputError, match=message):
        ratio(data, **settings)


def test_bad_share_of_users_for_the_validation(data: Interactions) -> None:
    with pytest.raises(InputError, match=r"`valid`.*\b2\b"):
        leave_one_out(data, valid=2)


# ---- what a split knows of itself ----


def test_a_split_tells_what_it_is() -> None:
    data = Interactions.from_arrays([1] * 5 + [2] * 4, [*range(5), *range(4)])
    split = data.split("ratio", rng=np.int64(7))
    assert repr(split) == "Split(ratio: train 8, test 1)"
    assert str(split).splitlines() == [
        "ratio split (test=0.2, valid=0.0, by='random', per='user', rng=7)",
        "                    users      items  interactions",
        "train                   2          5             8",
        "test                    1          1             1",
        "all                     2          5",
        "1 user has no test item",
    ]
    assert data.split("ratio", rng=np.random.default_rng(7)).settings["rng"] is None


def test_the_history_of_a_split_of_interactions_is_the_training_part(data: Interactions) -> None:
    split = data.split(rng=0)
    assert split.history is split.train
    assert split.valid_history is split.train


def test_a_split_can_be_pickled(data: Interactions) -> None:
    split = pickle.loads(pickle.dumps(data.split(rng=0)))
    assert split.kind == "leave-one-out"
    assert not split.train.indices.flags.writeable
