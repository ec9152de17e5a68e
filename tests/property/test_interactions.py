"""Whatever the ids and whatever their order, the table is the same."""

import warnings

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fullrank.data import Interactions
from fullrank.errors import DataWarning

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
