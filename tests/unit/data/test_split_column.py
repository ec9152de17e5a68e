"""Splits that the data come with."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fullrank.data import Interactions, read_split, simulate
from fullrank.errors import DataWarning, InputError

GIVEN = {
    "user": [5, 5, 5, 6, 7],
    "item": [1, 2, 3, 1, 4],
    "rating": [1, 2, 3, 4, 5],
    "split": ["train", "valid", "test", "train", "train"],
}


def test_a_given_split(tmp_path: Path) -> None:
    path = tmp_path / "given.parquet"
    pq.write_table(pa.table(GIVEN), path)
    split = read_split(path)
    assert split.kind == "given"
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


def test_from_a_frame_and_from_csv(tmp_path: Path) -> None:
    from_frame = read_split(pa.table(GIVEN))
    path = tmp_path / "given.csv"
    rows = zip(*GIVEN.values(), strict=True)
    path.write_text("\n".join([",".join(GIVEN), *(",".join(map(str, row)) for row in rows)]))
    from_csv = read_split(path)
    for name, part in from_frame.parts().items():
        np.testing.assert_array_equal(part.indices, from_csv.parts()[name].indices)
        np.testing.assert_array_equal(part.values, from_csv.parts()[name].values)


@pytest.mark.parametrize("name", ["leave-one-out", "ratio", "strong"])
def test_a_split_comes_back(tmp_path: Path, name: str) -> None:
    whole = simulate(n_users=40, n_items=60, mean_interactions=15)
    split = whole.split(name, valid=0.25, rng=0)
    pq.write_table(split.to_arrow(), tmp_path / "split.parquet")
    again = read_split(
        tmp_path / "split.parquet", user_ids=whole.user_ids, item_ids=split.train.item_ids
    )
    assert list(again.parts()) == list(split.parts())
    for part, found in again.parts().items():
        for column in ("indptr", "indices", "values", "timestamps"):
            np.testing.assert_array_equal(
                getattr(found, column), getattr(split.parts()[part], column)
            )
    assert again.n_skipped == split.n_skipped


def test_pairs_in_two_parts_are_told() -> None:
    columns = {
        "user": [1, 1, 1, 2, 1, 2],
        "item": [1, 2, 1, 2, 1, 2],
        "split": ["train", "train", "valid", "valid", "test", "test"],
    }
    with pytest.warns(DataWarning) as caught:
        split = read_split(pa.table(columns))
    assert [str(warning.message) for warning in caught] == [
        f"The {other!r} part also contains {both} interactions of the {part!r} part; nothing was "
        "removed."
        for both, part, other in (
            ("1 of 2", "valid", "train"),
            ("1 of 2", "test", "train"),
            ("2 of 2", "test", "valid"),
        )
    ]
    assert {warning.filename for warning in caught} == {__file__}
    assert split.test.n_interactions == 2


def test_a_validation_part_from_the_training_part() -> None:
    users = np.repeat(np.arange(30), 11)
    items = np.tile(np.arange(11), 30)
    labels = np.where(items == 10, "test", "train")
    frame = pa.table({"user": users, "item": items, "split": labels})
    split = read_split(frame, valid=0.2, rng=0)
    np.testing.assert_array_equal(split.train.user_counts(), np.full(30, 8))
    np.testing.assert_array_equal(split.valid.user_counts(), np.full(30, 2))
    np.testing.assert_array_equal(split.test.user_counts(), np.ones(30))
    assert split.settings == {"valid": 0.2, "rng": 0}
    again = read_split(frame, valid=0.2, rng=0)
    np.testing.assert_array_equal(split.valid.indices, again.valid.indices)


def test_no_second_validation_part() -> None:
    with pytest.raises(InputError, match=r"`valid`.*\b0\b"):
        read_split(pa.table(GIVEN), valid=0.1)


@pytest.mark.parametrize(
    "labels", [["train", "dev"], ["train", "train"], ["train", "test", "valid_fold_in"]]
)
def test_a_column_that_says_something_else(labels: list[str]) -> None:
    said = ", ".join(map(repr, sorted(set(labels))))
    frame = pa.table({"user": [1] * len(labels), "item": range(len(labels)), "split": labels})
    with pytest.raises(
        InputError,
        match=rf"The split column.*'train', 'test'.*'valid'.*{said}.*'fold_in'.*'valid_fold_in'",
    ):
        read_split(frame)


def test_no_split_column(tmp_path: Path) -> None:
    path = tmp_path / "bare.parquet"
    pq.write_table(pa.table({"user": [1], "item": [1]}), path)
    with pytest.raises(InputError, match=r"`split`.*'user', 'item'"):
        read_split(path)
    with pytest.raises(InputError, match=r"`split`.*'user', 'item'"):
        read_split(pa.table({"user": [1], "item": [1]}))
