from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fullrank.data import SPLITS, Interactions, leave_one_out, read_split, simulate
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
    first, second, other = (whole.split(rng=seed).test.indices for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, second)
    assert (first != other).mean() > 0.5


def test_random_takes_every_item_equally_often() -> None:
    """4,000 users of five items: each place is expected 800 times, sd 25."""
    data = Interactions.from_arrays(np.repeat(np.arange(4000), 5), np.tile(np.arange(5), 4000))
    counts = data.split(rng=0).test.item_counts()
    assert np.abs(counts - 800).max() < 4 * np.sqrt(4000 * 0.2 * 0.8)


def test_bad_settings(data: Interactions) -> None:
    with pytest.raises(InputError) as caught:
        data.split("leave-two-out")
    names = ", ".join(map(repr, SPLITS))
    assert str(caught.value) == f"`name` must be one of {names}, not 'leave-two-out'."
    with pytest.raises(InputError, match=r"`by` must be one of 'random', 'last', not 'first'\."):
        data.split(by="first")
    with pytest.raises(InputError, match=r"`min_interactions` must be at least 2, not 1\."):
        data.split(min_interactions=1)
    with pytest.raises(InputError, match="`rng` must be None, a whole number"):
        data.split(rng="seed")


def test_last_needs_times() -> None:
    data = Interactions.from_arrays([1, 1], [1, 2])
    with pytest.raises(InputError) as caught:
        data.split(by="last")
    assert str(caught.value) == (
        "`by` must be 'random' for interactions without timestamps, not 'last'."
    )


def test_nobody_to_hold_out() -> None:
    data = Interactions.from_arrays([1, 2], [1, 2])
    with pytest.raises(InputError) as caught:
        data.split()
    assert str(caught.value) == (
        "`interactions` must have a user with at least 2 interactions to hold one out; "
        "the most that any of 2 has is 1."
    )


def write(path: Path, **columns: list[object]) -> Path:
    pq.write_table(pa.table(columns), path)
    return path


def test_a_given_split(tmp_path: Path) -> None:
    path = write(
        tmp_path / "given.parquet",
        user=[5, 5, 5, 6, 7],
        item=[1, 2, 3, 1, 4],
        rating=[1, 2, 3, 4, 5],
        split=["train", "valid", "test", "train", "train"],
    )
    split = read_split(path)
    assert split.valid is not None
    for part in (split.train, split.valid, split.test):
        np.testing.assert_array_equal(part.user_ids, [5, 6, 7])
        np.testing.assert_array_equal(part.item_ids, [1, 2, 3, 4])
    np.testing.assert_array_equal(split.train.indices, [0, 0, 3])
    np.testing.assert_array_equal(split.train.values, [1, 4, 5])
    np.testing.assert_array_equal(split.valid.indptr, [0, 1, 1, 1])
    np.testing.assert_array_equal(split.test.indices, [2])
    assert split.n_skipped == 2
    assert read_split(path, item_ids=np.arange(10)).test.n_items == 10
    assert Interactions.from_parquet(path).n_interactions == 5


def test_a_split_without_a_test_part(tmp_path: Path) -> None:
    path = write(tmp_path / "bad.parquet", user=[1, 1], item=[1, 2], split=["train", "dev"])
    with pytest.raises(InputError) as caught:
        read_split(path)
    assert str(caught.value) == (
        "`split` must name a column that says 'train', 'test' and perhaps 'valid', each at least "
        "once; it says 'dev', 'train'."
    )


def test_no_split_column(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="`split` must name a column of the file; got no such"):
        read_split(write(tmp_path / "bare.parquet", user=[1], item=[1]))
