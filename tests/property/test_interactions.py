"""Whatever the ids and whatever their order, the table is the same."""

import warnings

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from fullrank.data import Interactions
from fullrank.errors import DataWarning, InputError

numbers = st.integers(0, 2**63 - 1)
words = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8)
ids = st.one_of(st.lists(numbers, min_size=1, max_size=6), st.lists(words, min_size=1, max_size=6))


@st.composite
def tables(draw: st.DrawFn, unique: bool = True) -> tuple[list, list, list]:
    users, items = draw(ids), draw(ids)
    pair = st.tuples(st.sampled_from(users), st.sampled_from(items))
    pairs = draw(st.lists(pair, min_size=1, max_size=30, unique=unique))
    times = draw(st.lists(st.integers(0, 5), min_size=len(pairs), max_size=len(pairs)))
    return [user for user, _ in pairs], [item for _, item in pairs], times


def same(left: Interactions, right: Interactions) -> None:
    for name in ("user_ids", "item_ids", "indptr", "indices", "timestamps"):
        np.testing.assert_array_equal(getattr(left, name), getattr(right, name))


@settings(deadline=None)
@given(tables(), st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing(table, random) -> None:
    users, items, times = table
    order = list(range(len(users)))
    random.shuffle(order)
    data = Interactions.from_arrays(users, items, timestamp=times)
    again = Interactions.from_arrays(
        *([column[row] for row in order] for column in (users, items)),
        timestamp=[times[row] for row in order],
    )
    same(data, again)
    if data.user_counts().max() >= 2:
        for by in ("random", "last"):
            same(data.split(by=by, rng=1).test, again.split(by=by, rng=1).test)


@settings(deadline=None)
@given(tables())
def test_ids_come_back(table) -> None:
    users, items, times = table
    data = Interactions.from_arrays(users, items, timestamp=times)
    user_rows, item_rows = data.pairs()
    found = zip(
        data.user_ids[user_rows].tolist(),
        data.item_ids[item_rows].tolist(),
        data.timestamps.tolist(),
        strict=True,
    )
    assert sorted(found) == sorted(zip(users, items, times, strict=True))
    assert data.user_ids.tolist() == sorted(set(users))
    assert data.user_ids[data.user_rows(users)].tolist() == users
    assert data.item_ids[data.item_rows(items)].tolist() == items


@settings(deadline=None)
@given(tables(unique=False))
def test_repeats_leave_the_latest(table) -> None:
    users, items, times = table
    kept: dict = {}
    for user, item, time in zip(users, items, times, strict=True):
        kept[user, item] = max(time, kept.get((user, item), 0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        data = Interactions.from_arrays(users, items, timestamp=times)
    assert data.timestamps.tolist() == [kept[pair] for pair in sorted(kept)]


@settings(deadline=None)
@given(tables())
def test_a_split_takes_one_item_of_each_user_with_two(table) -> None:
    data = Interactions.from_arrays(*table[:2], timestamp=table[2])
    counts = data.user_counts()
    if counts.max() < 2:
        return
    for by in ("random", "last"):
        split = data.split("leave-one-out", by=by, rng=0)
        np.testing.assert_array_equal(split.test.user_counts(), counts >= 2)
        assert split.n_skipped == np.count_nonzero(counts < 2)
        together = split.train.matrix() + split.test.matrix()
        assert (together != data.matrix()).nnz == 0


@settings(deadline=None)
@given(tables(unique=False), st.sampled_from(["last", "sum"]))
def test_a_frame_is_its_columns(table, repeats) -> None:
    users, items, times = table
    frame = pa.table({"user": users, "item": items, "timestamp": times})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        same(
            Interactions.from_frame(frame, repeats=repeats),
            Interactions.from_arrays(users, items, timestamp=times, repeats=repeats),
        )


@settings(deadline=None)
@given(tables(unique=False))
def test_sums_lose_nothing(table) -> None:
    users, items, _ = table
    data = Interactions.from_arrays(users, items, repeats="sum")
    assert data.values.sum() == len(users)


@settings(deadline=None)
@given(
    tables(),
    st.sampled_from(["random", "last"]),
    st.sampled_from(["user", "all"]),
    st.integers(1, 6),
    st.integers(0, 3),
)
def test_shares_part_what_there_is(table, by, per, test, valid) -> None:
    data = Interactions.from_arrays(*table[:2], timestamp=table[2])
    try:
        split = data.split("ratio", test=test / 10, valid=valid / 10, by=by, per=per, rng=0)
    except InputError:  # nothing on one of the sides
        counts = data.user_counts() if per == "user" else np.array([data.n_interactions])
        may_be_one_moment = by == "last" and per == "all"
        assert may_be_one_moment or not (test * counts // 10).any()
        return
    together = sum(part.matrix() for part in split.parts().values())
    assert (together != data.matrix()).nnz == 0
    if per == "user":
        counts = data.user_counts()
        np.testing.assert_array_equal(split.test.user_counts(), test * counts // 10)
    if by == "last" and per == "all":
        assert split.train.timestamps.max() < split.test.timestamps.min()


@settings(deadline=None)
@given(tables(), st.integers(1, 3), st.integers(0, 2), st.integers(1, 9))
def test_users_held_out_are_not_trained_on(table, test, valid, fold_in) -> None:
    data = Interactions.from_arrays(*table[:2], timestamp=table[2])
    chosen = {"fold_in": fold_in / 10, "min_interactions": 2, "items": "all", "rng": 0}
    try:
        split = data.split("strong", test=test, valid=valid, **chosen)
    except InputError:
        return
    together = sum(part.matrix() for part in split.parts().values())
    assert (together != data.matrix()).nnz == 0
    trained = split.train.user_counts() > 0
    held = sum(part.user_counts() for part in split.parts().values() if part is not split.train)
    assert not (trained & (held > 0)).any()
    asked = split.test.user_counts()
    shown = split.fold_in.user_counts()
    of = (asked + shown)[asked > 0]
    np.testing.assert_array_equal(asked[asked > 0], (10 - fold_in) * of // 10)


@settings(deadline=None)
@given(tables(), st.integers(1, 3), st.integers(1, 3))
def test_the_core_is_one(table, items_per_user, users_per_item) -> None:
    data = Interactions.from_arrays(*table[:2])
    try:
        core = data.k_core(items_per_user=items_per_user, users_per_item=users_per_item)
    except InputError:
        return
    assert core.user_counts().min() >= items_per_user
    assert core.item_counts().min() >= users_per_item
    again = core.k_core(items_per_user=items_per_user, users_per_item=users_per_item)
    assert again.n_interactions == core.n_interactions
