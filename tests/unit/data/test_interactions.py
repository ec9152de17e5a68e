import pickle
import warnings
from collections.abc import Callable
from types import ModuleType

import numpy as np
import pytest

from fullrank.data import Interactions
from fullrank.errors import DataWarning, InputError


@pytest.fixture
def data() -> Interactions:
    """Items 10, 20, 40; ann has 40 and 10, bob 10, cat 20 and 40."""
    return Interactions.from_arrays(
        ["cat", "ann", "bob", "ann", "cat"],
        [40, 40, 10, 10, 20],
        value=[1, 2, 3, 4, 5],
        timestamp=[11, 12, 13, 14, 15],
    )


def test_the_layout(data: Interactions) -> None:
    assert (data.n_users, data.n_items, data.n_interactions) == (3, 3, 5)
    np.testing.assert_array_equal(data.user_ids, ["ann", "bob", "cat"])
    np.testing.assert_array_equal(data.item_ids, [10, 20, 40])
    np.testing.assert_array_equal(data.indptr, [0, 2, 3, 5])
    np.testing.assert_array_equal(data.indices, [0, 2, 0, 1, 2])
    np.testing.assert_array_equal(data.values, [4, 2, 3, 5, 1])
    np.testing.assert_array_equal(data.timestamps, [14, 12, 13, 15, 11])
    assert data.indptr.dtype == np.int64
    assert data.indices.dtype == np.int32
    assert data.values is not None
    assert data.values.dtype == np.float32


def test_counts_and_pairs(data: Interactions) -> None:
    np.testing.assert_array_equal(data.user_counts(), [2, 1, 2])
    np.testing.assert_array_equal(data.item_counts(), [2, 1, 2])
    users, items = data.pairs()
    np.testing.assert_array_equal(users, [0, 0, 1, 2, 2])
    np.testing.assert_array_equal(items, data.indices)


def test_matrix(data: Interactions) -> None:
    ones = data.matrix()
    assert ones.dtype == np.float32
    np.testing.assert_array_equal(ones.toarray(), [[1, 0, 1], [1, 0, 0], [0, 1, 1]])
    values = data.matrix(np.float64, binary=False)
    assert values.dtype == np.float64
    np.testing.assert_array_equal(values.toarray(), [[4, 0, 2], [3, 0, 0], [0, 5, 1]])


def test_a_matrix_is_the_callers_to_change(data: Interactions) -> None:
    matrix = data.matrix(binary=False)
    matrix.data[0] = 0
    matrix.eliminate_zeros()
    np.testing.assert_array_equal(data.indices, [0, 2, 0, 1, 2])
    assert data.matrix(binary=False)[0, 0] == 4


def test_matrix_without_values() -> None:
    with pytest.raises(InputError, match=r"`binary`.*True"):
        Interactions.from_arrays([1], [1]).matrix(binary=False)


def test_arrays_are_read_only_even_after_pickling(data: Interactions) -> None:
    for each in (data, pickle.loads(pickle.dumps(data))):
        for name in ("user_ids", "item_ids", "indptr", "indices", "values", "timestamps"):
            assert not getattr(each, name).flags.writeable, name


def test_inputs_stay_writable_and_apart() -> None:
    users, items = np.array([1, 2]), np.array([3, 4])
    ids = np.array([3, 4])
    data = Interactions.from_arrays(users, items, item_ids=ids)
    users[0] = items[0] = ids[0] = 9
    np.testing.assert_array_equal(data.user_ids, [1, 2])
    np.testing.assert_array_equal(data.item_ids, [3, 4])


def test_repr(data: Interactions) -> None:
    assert (
        repr(data) == "Interactions(3 users × 3 items, 5 interactions, with values and timestamps)"
    )
    big = Interactions.from_arrays(np.zeros(1234, int), np.arange(1234))
    assert repr(big) == "Interactions(1 users × 1,234 items, 1,234 interactions)"


@pytest.mark.parametrize(
    "ids",
    [
        [5, 7, 5],
        (5, 7, 5),
        np.array([5, 7, 5], np.uint8),
        np.array([5.0, 7.0, 5.0]),
        np.array([5, 7, 5], object),
        range(5, 8),
    ],
)
def test_whole_number_ids_of_any_type(ids: object) -> None:
    data = Interactions.from_arrays(ids, [1, 2, 3])
    assert data.user_ids.dtype == np.int64
    np.testing.assert_array_equal(data.user_ids, sorted(set(ids)))


@pytest.mark.parametrize("ids", [["b", "ä", "b"], np.array(["b", "ä", "b"]), ("b", "ä", "b")])
def test_text_ids_of_any_type(ids: object) -> None:
    data = Interactions.from_arrays(ids, [1, 2, 3])
    np.testing.assert_array_equal(data.user_ids, ["b", "ä"])
    np.testing.assert_array_equal(data.indptr, [0, 2, 3])


def test_pandas_columns_of_text(need: Callable[[str], ModuleType]) -> None:
    pd = need("pandas")
    frame = pd.DataFrame({"u": ["b", "a"], "i": [4, 3]})
    data = Interactions.from_arrays(frame["u"], frame["i"])
    np.testing.assert_array_equal(data.user_ids, ["a", "b"])
    np.testing.assert_array_equal(data.indices, [0, 1])


def test_huge_and_sparse_ids_need_no_table() -> None:
    data = Interactions.from_arrays([2**62, 3, 2**62], [2**40, 2**40, 0])
    np.testing.assert_array_equal(data.user_ids, [3, 2**62])
    np.testing.assert_array_equal(data.item_ids, [0, 2**40])
    np.testing.assert_array_equal(data.indices, [1, 0, 1])


def test_sorting_where_key_and_position_do_not_fit_in_one_number() -> None:
    from fullrank.data.rows import stable_argsort

    keys = np.array([5, 2, 5, 0, 2])
    for bound in (6, 2**62):
        np.testing.assert_array_equal(stable_argsort(keys, bound), [3, 1, 4, 0, 2])


def test_fixed_id_maps_keep_their_order_and_their_unused_ids() -> None:
    data = Interactions.from_arrays(
        ["a", "b"], [3, 1], user_ids=["z", "b", "a"], item_ids=[3, 2, 1]
    )
    np.testing.assert_array_equal(data.user_ids, ["z", "b", "a"])
    np.testing.assert_array_equal(data.item_ids, [3, 2, 1])
    np.testing.assert_array_equal(data.indptr, [0, 0, 1, 2])
    np.testing.assert_array_equal(data.indices, [2, 0])
    np.testing.assert_array_equal(data.user_rows(["a", "z"]), [2, 0])


def test_datetimes() -> None:
    times = np.array(["2020-01-02", "2020-01-01"], "datetime64[D]")
    data = Interactions.from_arrays([1, 1], [1, 2], timestamp=times)
    np.testing.assert_array_equal(data.timestamps, [18263, 18262])


def test_repeats_without_times_keep_the_last() -> None:
    message = (
        "2 of 4 interactions repeat a user–item pair; the last interaction of each pair was kept, "
        "which leaves 2."
    )
    with pytest.warns(DataWarning) as caught:
        data = Interactions.from_arrays([1, 1, 1, 2], [7, 7, 7, 7], value=[1, 3, 2, 9])
    assert [str(warning.message) for warning in caught] == [message]
    assert caught[0].filename == __file__
    np.testing.assert_array_equal(data.values, [2, 9])


def test_repeats_with_times_keep_the_latest_and_of_equal_times_the_last() -> None:
    with pytest.warns(DataWarning, match="3 of 6.*timestamp"):
        data = Interactions.from_arrays(
            [1, 1, 1, 2, 2, 3],
            [7, 7, 7, 7, 7, 7],
            value=[1, 2, 3, 4, 5, 6],
            timestamp=[10, 30, 20, 5, 5, 1],
        )
    np.testing.assert_array_equal(data.values, [2, 5, 6])
    np.testing.assert_array_equal(data.timestamps, [30, 5, 1])


def test_no_warning_without_repeats() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Interactions.from_arrays([1, 1, 2], [1, 2, 1])


def test_rows_of_ids(data: Interactions) -> None:
    np.testing.assert_array_equal(data.user_rows(np.array(["cat", "ann", "cat"])), [2, 0, 2])
    np.testing.assert_array_equal(data.item_rows([40, 10]), [2, 0])
    np.testing.assert_array_equal(data.user_rows("bob"), [1])
    assert data.item_rows([40]).dtype == np.int32


def test_select(data: Interactions) -> None:
    part = data.select(np.array([False, True, True, False, False]))
    np.testing.assert_array_equal(part.indptr, [0, 1, 2, 2])
    np.testing.assert_array_equal(part.indices, [2, 0])
    np.testing.assert_array_equal(part.values, [2, 3])
    np.testing.assert_array_equal(part.timestamps, [12, 13])
    assert part.item_ids is data.item_ids


def test_select_needs_one_truth_each(data: Interactions) -> None:
    with pytest.raises(InputError, match=r"`keep`.*True.*False.*\b5\b.*\bint64 of shape \(2,\)"):
        data.select(np.array([0, 1]))


# ---- fewer of them, more of them, all of them ----


def test_k_core_by_rounds() -> None:
    """Item 3 has one user; without it user 2 has one item; without that item 2 has one user."""
    data = Interactions.from_arrays(
        [0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 2, 3], value=[1, 2, 3, 4, 5, 6], user_ids=range(4)
    )
    core = data.k_core(items_per_user=2, users_per_item=2)
    np.testing.assert_array_equal(core.user_ids, [0, 1])
    np.testing.assert_array_equal(core.item_ids, [0, 1])
    np.testing.assert_array_equal(core.indptr, [0, 2, 4])
    np.testing.assert_array_equal(core.values, [1, 2, 3, 4])
    one = data.k_core(items_per_user=1, users_per_item=1)
    np.testing.assert_array_equal(one.user_ids, [0, 1, 2])
    assert one.n_interactions == 6


def test_k_core_may_stop_early() -> None:
    """A chain of users: each round takes its ends, one filter only the first of them."""
    users = np.repeat(np.arange(6), 2)
    items = users + np.tile([0, 1], 6)
    data = Interactions.from_arrays(np.append(users, [0, 5]), np.append(items, [9, 9]))
    once = data.k_core(items_per_user=2, users_per_item=2, rounds=1)
    assert (once.n_users, once.n_items) == (6, 6)
    chain = Interactions.from_arrays(users, items)
    assert chain.k_core(items_per_user=2, users_per_item=2, rounds=1).n_users == 4
    assert chain.k_core(items_per_user=2, users_per_item=2, rounds=2).n_users == 2
    with pytest.raises(
        InputError, match=r"`items_per_user`.*`users_per_item`.*\b12\b.*\b2\b.*\b2\b"
    ):
        chain.k_core(items_per_user=2, users_per_item=2)


@pytest.mark.parametrize("name", ["items_per_user", "users_per_item", "rounds"])
def test_k_core_needs_numbers_from_one_on(data: Interactions, name: str) -> None:
    with pytest.raises(InputError, match=rf"`{name}`.*\b0\b"):
        data.k_core(**{name: 0})


def test_union(data: Interactions) -> None:
    left = data.select(np.array([True, True, False, True, False]))
    right = data.select(np.array([False, True, True, True, True]))
    both = left.union(right)
    for name in ("indptr", "indices", "values", "timestamps"):
        np.testing.assert_array_equal(getattr(both, name), getattr(data, name))
    other = Interactions.from_arrays(["ann", "bob", "cat"], [10, 20, 40])
    assert data.union(other).values is None
    with pytest.raises(InputError, match=r"`other`.*`user_ids`"):
        data.union(Interactions.from_arrays(["ann", "bob", "dan"], [10, 20, 40]))


def test_of_two_equal_pairs_the_later_stays() -> None:
    one = Interactions.from_arrays([1, 2], [1, 1], value=[1, 2], timestamp=[5, 5])
    two = Interactions.from_arrays([1, 2], [1, 1], value=[3, 4], timestamp=[4, 6])
    np.testing.assert_array_equal(one.union(two).values, [1, 4])
    bare = [Interactions.from_arrays([1], [1], value=[value]) for value in (1, 2)]
    np.testing.assert_array_equal(bare[0].union(bare[1]).values, [2])


def test_summary() -> None:
    data = Interactions.from_arrays(
        [0] * 1200 + [1], [*range(1200), 0], user_ids=range(4), item_ids=range(1500)
    )
    summary = data.summary()
    assert (summary.users.without, summary.items.without) == (2, 300)
    assert str(summary).splitlines() == [
        "                          users   items",
        "rows                          4   1,500",
        "without interactions          2     300",
        "interactions: minimum         1       1",
        "interactions: median      600.5       1",
        "interactions: maximum     1,200       2",
        "1,201 interactions, 20.017 % of all pairs",
    ]
    assert summary.to_dict()["users"]["median"] == 600.5
    nothing = data.select(np.zeros(1201, bool)).summary()
    assert (nothing.users.without, nothing.users.least, nothing.users.most) == (4, 0, 0)


def test_to_arrow_and_back(data: Interactions) -> None:
    table = data.to_arrow()
    assert table.column_names == ["user", "item", "value", "timestamp"]
    again = Interactions.from_frame(table)
    for name in ("user_ids", "item_ids", "indptr", "indices", "values", "timestamps"):
        np.testing.assert_array_equal(getattr(again, name), getattr(data, name))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"user": [1, -2, -3], "item": [1, 2, 3]},
            r"`user`.*2 of 3.*user\[1\] = -2\b",
        ),
        (
            {"user": [1, 2], "item": np.array([1, np.nan])},
            r"`item`.*1 of 2.*item\[1\] = nan\b",
        ),
        (
            {"user": [1, 2], "item": np.array([1, 2.5])},
            r"`item`.*1 of 2.*item\[1\] = 2\.5\b",
        ),
        (
            {"user": ["a", None, None], "item": [1, 2, 3]},
            r"`user`.*2 of 3.*user\[1\]",
        ),
        (
            {"user": np.array(["a", np.nan], object), "item": [1, 2]},
            r"`user`.*1 of 2.*user\[1\]",
        ),
        (
            {"user": [1, "a"], "item": [1, 2]},
            (r"`user`.*only whole numbers"),
        ),
        (
            {"user": [(1, 2), (3, 4)], "item": [1, 2]},
            r"`user`.*\blist<item: int64>",
        ),
        (
            {"user": [True, False], "item": [1, 2]},
            r"`user`.*\bbool\b",
        ),
        (
            {"user": np.ones((2, 2), int), "item": [1, 2]},
            r"`user`.*\(2, 2\)",
        ),
        (
            {"user": np.array([["a"]]), "item": [1]},
            r"`user`.*\(1, 1\)",
        ),
        (
            {"user": [1, 2, 3], "item": [1, 2]},
            r"`item`.*`user`.*\b3, not 2\b",
        ),
        ({"user": [], "item": []}, r"`user`.*empty"),
        (
            {"user": np.array([], str), "item": np.array([], int)},
            r"`user`.*empty",
        ),
        (
            {"user": [1, 2], "item": [1, 2], "value": [1.0]},
            r"`value`.*\b2\b.*\b1\b",
        ),
        (
            {"user": [1, 2], "item": [1, 2], "value": [1.0, np.nan]},
            r"`value`.*1 of 2.*value\[1\] = nan\b",
        ),
        (
            {"user": [1, 2], "item": [1, 2], "value": ["x", "y"]},
            r"`value`.*<U1\b",
        ),
        (
            {"user": [1, 2], "item": [1, 2], "timestamp": [1, 2, 3]},
            r"`timestamp`.*\b2\b.*\b3\b",
        ),
        (
            {"user": [1, 2], "item": [1, 2], "timestamp": np.array(["2020", "NaT"], "M8[D]")},
            r"`timestamp`.*1 of 2.*timestamp\[1\] = NaT\b",
        ),
        (
            {"user": [1, 2], "item": [5, 6], "item_ids": [6, 7]},
            r"`item`.*\b2\b.*`item_ids`.*1 of 2.*item\[0\] = 5\b",
        ),
        (
            {"user": [1, 2], "item": [5, 6], "user_ids": [1, 2, 2, 1]},
            r"`user_ids`.*2 of 4.*\b1\b",
        ),
        (
            {"user": [1, 2], "item": [5, 6], "user_ids": ["a", "b"]},
            r"`user`.*\bnumbers\b",
        ),
        (
            {"user": ["a", "x\ud800"], "item": [5, 6]},
            r"`user`.*Unicode.*'x\\ud800'",
        ),
    ],
)
def test_bad_input(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Interactions.from_arrays(**arguments)


def test_half_a_surrogate_pair_in_an_array_of_text() -> None:
    with pytest.raises(InputError, match=r"`item`.*Unicode.*text"):
        Interactions.from_arrays([1, 2], np.array(["a", "\ud800"]))


def test_unknown_ids(data: Interactions) -> None:
    with pytest.raises(InputError, match=r"`ids`.*\b3\b.*2 of 3.*ids\[1\] = 30\b"):
        data.item_rows([10, 30, 50])
    with pytest.raises(InputError, match=r"`ids`.*\btext\b"):
        data.item_rows(["10"])
    with pytest.raises(InputError, match=r"`ids`.*ids\[0\] = dan"):
        data.user_rows(["dan"])
