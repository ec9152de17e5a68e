"""Data frames of every kind come in through Arrow's PyCapsule protocol."""

import subprocess
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from fullrank.data import Interactions
from fullrank.errors import DataWarning, InputError

COLUMNS: dict[str, list[Any]] = {
    "title": ["x", "y", "x", "z"],
    "userId": ["ann", "bob", "ann", "cat"],
    "rating": [1.5, 2.0, 3.0, 4.0],
    "movieId": [30, 10, 10, 30],
    "timestamp": [4, 3, 2, 1],
}
Need = Callable[[str], ModuleType]


class Stream:
    """A frame that can do nothing but speak the protocol."""

    def __init__(self, table: Any) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)


class Batch:
    def __init__(self, columns: dict[str, Any]) -> None:
        self.batch = pa.RecordBatch.from_pydict(columns)

    def __arrow_c_array__(self, requested_schema: object = None) -> object:
        return self.batch.__arrow_c_array__(requested_schema)


def check(data: Interactions) -> None:
    np.testing.assert_array_equal(data.user_ids, ["ann", "bob", "cat"])
    np.testing.assert_array_equal(data.item_ids, [10, 30])
    np.testing.assert_array_equal(data.indptr, [0, 2, 3, 4])
    np.testing.assert_array_equal(data.indices, [0, 1, 0, 1])
    np.testing.assert_array_equal(data.values, [3, 1.5, 2, 4])
    np.testing.assert_array_equal(data.timestamps, [2, 4, 3, 1])


@pytest.mark.parametrize(
    "frame",
    [
        pa.table(COLUMNS),
        pa.RecordBatch.from_pydict(COLUMNS),
        pa.concat_tables([pa.table(COLUMNS).slice(0, 1), pa.table(COLUMNS).slice(1)]),
        Stream(pa.table(COLUMNS)),
        Batch(COLUMNS),
    ],
    ids=["table", "batch", "chunks", "stream", "array"],
)
def test_arrow(frame: Any) -> None:
    check(Interactions.from_frame(frame))


def test_pandas(need: Need) -> None:
    pd = need("pandas")
    frame = pd.DataFrame(COLUMNS)
    check(Interactions.from_frame(frame))
    frame["title"] = [1, "mixed", None, object()]  # what Arrow could not hold is not looked at
    frame["userId"] = frame["userId"].astype("category")
    frame["movieId"] = frame["movieId"].astype("Int64")
    frame.index = [5, 5, 6, 6]
    check(Interactions.from_frame(frame))


def test_pandas_with_numbers_for_names(need: Need) -> None:
    frame = need("pandas").DataFrame({0: [1, 2], 1: [3, 4]})
    assert Interactions.from_frame(frame, user="0", item="1").n_interactions == 2


def test_polars(need: Need) -> None:
    pl = need("polars")
    frame = pl.DataFrame(COLUMNS)
    check(Interactions.from_frame(frame))
    check(Interactions.from_frame(frame.with_columns(pl.col("userId").cast(pl.Categorical))))
    with pytest.raises(InputError, match=r"`frame`.*LazyFrame"):
        Interactions.from_frame(frame.lazy())


def test_duckdb(need: Need) -> None:
    duckdb = need("duckdb")
    with duckdb.connect() as connection:
        connection.register("frame", pa.table(COLUMNS))
        check(Interactions.from_frame(connection.sql("select * from frame")))
        counted = connection.sql(
            "select userId, movieId, sum(rating::decimal(5, 1)) as plays, max(timestamp) as time "
            "from frame group by all"
        )
        check(Interactions.from_frame(counted))


def test_no_library_is_imported_for_it() -> None:
    code = (
        "import io, sys, pyarrow.csv as csv\n"
        "from fullrank.data import Interactions\n"
        "table = csv.read_csv(io.BytesIO(b'user,item,rating\\na,2,3\\n'))\n"
        "Interactions.from_frame(table)\n"
        "print(sorted({'pandas', 'polars', 'duckdb', 'numba', 'scipy'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert run.stdout == "[]\n"


def test_dates_and_times() -> None:
    days = pa.array([18262, 18263], pa.date32())
    zoned = pa.array([10**6, 2 * 10**6], pa.timestamp("us", "Europe/Paris"))
    for column, expected in ((days, [18262, 18263]), (zoned, [10**6, 2 * 10**6])):
        frame = pa.table({"user": [1, 1], "item": [1, 2], "date": column})
        np.testing.assert_array_equal(Interactions.from_frame(frame).timestamps, expected)


def test_chosen_columns() -> None:
    frame = pa.table({"u": [1, 2], "i": [3, 4], "rating": [5, 6]})
    data = Interactions.from_frame(frame, user="u", item="i", value=None, item_ids=range(9))
    assert data.values is None
    assert data.n_items == 9


def test_missing_entries() -> None:
    frame = pa.table(
        {"user": [1, None, 3, 4], "item": ["a", "b", None, "d"], "rating": [1.0, 2.0, 3.0, None]}
    )
    with pytest.raises(InputError, match=r"`user`.*1 of 4"):
        Interactions.from_frame(frame)
    with pytest.warns(DataWarning) as caught:
        data = Interactions.from_frame(frame, missing="drop")
    assert str(caught[0].message) == (
        "3 of 4 interactions lack an id, a value or a time and were dropped, which leaves 1."
    )
    assert caught[0].filename == __file__
    np.testing.assert_array_equal(data.user_ids, [1])
    with pytest.warns(DataWarning, match="2 of 4 interactions"):
        assert Interactions.from_frame(frame, value=None, missing="drop").n_interactions == 2


def test_not_a_number_is_missing_too() -> None:
    frame = pa.table({"user": [1, 2], "item": [1, 2], "rating": [np.nan, 1.0]})
    with pytest.warns(DataWarning, match="1 of 2 interactions"):
        np.testing.assert_array_equal(Interactions.from_frame(frame, missing="drop").values, [1])


def test_null_and_not_a_number_in_one_column() -> None:
    values = pa.array([np.nan, None, 1.0], from_pandas=False)
    assert values.null_count == 1
    frame = pa.table({"user": [1, 2, 3], "item": [1, 2, 3], "rating": values})
    with pytest.warns(DataWarning, match="2 of 3 interactions"):
        data = Interactions.from_frame(frame, missing="drop")
    assert data.user_ids.tolist() == [3]
    np.testing.assert_array_equal(data.values, [1])


def test_nothing_missing_says_nothing() -> None:
    assert Interactions.from_frame(pa.table(COLUMNS), missing="drop").n_interactions == 4


def test_repeats_may_be_added_up() -> None:
    frame = pa.table({"user": [1, 1, 1, 2], "item": [7, 7, 8, 7], "time": [5, 3, 1, 1]})
    data = Interactions.from_frame(frame, repeats="sum")
    np.testing.assert_array_equal(data.values, [2, 1, 1])
    np.testing.assert_array_equal(data.timestamps, [5, 1, 1])
    frame = frame.append_column("plays", pa.array([0.5, 0.25, 3.0, 4.0]))
    np.testing.assert_array_equal(
        Interactions.from_frame(frame, repeats="sum").values, [0.75, 3, 4]
    )


@pytest.mark.parametrize(
    ("frame", "settings", "message"),
    [
        (
            {"user": [1]},
            {},
            r"`frame`.*Arrow.*\bdict\b",
        ),
        (
            pa.table({"a": [1], "b": [2]}),
            {},
            r"`user`.*'a', 'b'.*`user='NAME'`",
        ),
        (
            pa.table({"user": [1], "item": [2]}),
            {"missing": "ignore"},
            r"`missing`.*'error', 'drop'.*'ignore'",
        ),
        (
            pa.table({"user": [1], "item": [2]}),
            {"repeats": "mean"},
            r"`repeats`.*'last', 'sum'.*'mean'",
        ),
        (
            pa.table({"user": pa.array([], pa.int64()), "item": pa.array([], pa.string())}),
            {},
            r"`frame`.*at least one interaction.*has no rows",
        ),
        (
            pa.table({"user": [[1]], "item": [2]}),
            {},
            r"`user`.*\blist<item: int64>",
        ),
        (
            pa.Table.from_arrays([pa.array([1])] * 3, ["user", "item", "item"]),
            {},
            r"once.*'item'",
        ),
        (
            pa.table({"user": pa.array([b"\xff"]).cast(pa.string(), safe=False), "item": [2]}),
            {},
            r"`user`.*Unicode.*b'\\xff'",
        ),
    ],
)
def test_bad_frames(frame: Any, settings: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Interactions.from_frame(frame, **settings)


def test_pandas_columns_that_arrow_cannot_hold(need: Need) -> None:
    frame = need("pandas").DataFrame({"user": [1, "a"], "item": [1, 2]})
    with pytest.raises(InputError, match=r"`frame`.*Arrow"):
        Interactions.from_frame(frame)


def test_pandas_columns_of_one_name(need: Need) -> None:
    frame = need("pandas").DataFrame([[1, 2, 3, 4, 5]], columns=["user", "item", "item", "x", "x"])
    with pytest.raises(InputError, match=r"once.*'item'"):
        Interactions.from_frame(frame)
    assert Interactions.from_frame(frame.iloc[:, [0, 1, 3, 4]]).n_interactions == 1
    frame.columns = ["user", "item", "y", 7, 7]  # not all text: Arrow gets the whole frame
    with pytest.raises(InputError, match=r"`frame`.*once.*\b7\b"):
        Interactions.from_frame(frame)


def test_pandas_text_that_is_none(need: Need) -> None:
    ids = need("pandas").Series(["a", "\ud800"], dtype=object)
    with pytest.raises(InputError, match=r"`frame`.*Unicode.*'\\ud800'"):
        Interactions.from_frame(need("pandas").DataFrame({"user": ids, "item": [1, 2]}))
