import gzip
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fullrank.data import Interactions
from fullrank.errors import InputError


@pytest.fixture
def write(tmp_path: Path):
    def write(text: str, name: str = "data.csv") -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_csv_with_usual_names(write) -> None:
    path = write("userId,movieId,rating,timestamp\n7,31,2.5,100\n7,10,3,90\n1,31,4,80\n")
    data = Interactions.from_csv(path)
    np.testing.assert_array_equal(data.user_ids, [1, 7])
    np.testing.assert_array_equal(data.item_ids, [10, 31])
    np.testing.assert_array_equal(data.indices, [1, 0, 1])
    np.testing.assert_array_equal(data.values, [4, 3, 2.5])
    np.testing.assert_array_equal(data.timestamps, [80, 90, 100])


@pytest.mark.parametrize("header", ["user,item", "USER_ID,Item-ID", "uid,asin", "user id,track.id"])
def test_guesses_ignore_case_and_punctuation(write, header: str) -> None:
    assert Interactions.from_csv(write(f"{header}\n1,2\n")).n_interactions == 1


def test_named_columns_and_none(write) -> None:
    path = write("who,what,rating\nann,x,5\nbob,y,4\n")
    data = Interactions.from_csv(path, user="who", item="what", value=None)
    np.testing.assert_array_equal(data.user_ids, ["ann", "bob"])
    assert data.values is None


def test_csv_without_a_header(write) -> None:
    path = write("196\t242\t3\t881250949\n186\t302\t3\t891717742\n", "u.data")
    names = ["user", "item", "rating", "timestamp"]
    data = Interactions.from_csv(path, delimiter="\t", names=names)
    np.testing.assert_array_equal(data.user_ids, [186, 196])
    np.testing.assert_array_equal(data.timestamps, [891717742, 881250949])


def test_csv_ids_with_leading_zeros_stay_text(write) -> None:
    data = Interactions.from_csv(write("user,isbn\n0,0195153448\n10,034545104X\n"))
    np.testing.assert_array_equal(data.user_ids, [0, 10])
    np.testing.assert_array_equal(data.item_ids, ["0195153448", "034545104X"])
    padded = Interactions.from_csv(write("user,item\n007,1\n7,2\n"))
    np.testing.assert_array_equal(padded.user_ids, ["007", "7"])


def test_csv_ids_that_turn_to_text_late(write) -> None:
    """Arrow alone decides a column's type on the first megabyte."""
    rows = "\n".join(f"{number},1" for number in range(200_000))
    data = Interactions.from_csv(write(f"user,item\n{rows}\nx9,1\n"))
    assert data.n_users == 200_001
    assert data.user_ids[-1] == "x9"


def test_compressed_csv(tmp_path: Path) -> None:
    path = tmp_path / "data.csv.gz"
    path.write_bytes(gzip.compress(b"user,item\n1,2\n"))
    assert Interactions.from_csv(path).n_items == 1


def test_csv_dates(write) -> None:
    data = Interactions.from_csv(write("user,item,date\n1,1,2020-01-02\n1,2,2020-01-01\n"))
    assert data.timestamps is not None
    assert data.timestamps[0] > data.timestamps[1]


def test_csv_equals_parquet_equals_arrays(write, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    pairs = np.unique(rng.integers(0, 50, size=(500, 2)), axis=0)
    users, items = rng.permutation(pairs).T
    rows = "\n".join(f"{u},{i}" for u, i in zip(users, items, strict=True))
    pq.write_table(pa.table({"user": users, "item": items}), tmp_path / "data.parquet")
    expected = Interactions.from_arrays(users, items)
    for data in (
        Interactions.from_csv(write(f"user,item\n{rows}\n")),
        Interactions.from_parquet(tmp_path / "data.parquet"),
    ):
        for name in ("user_ids", "item_ids", "indptr", "indices"):
            np.testing.assert_array_equal(getattr(data, name), getattr(expected, name))


def test_parquet_text_types_and_unused_categories(tmp_path: Path) -> None:
    table = pa.table(
        {
            "user": pa.chunked_array([["b", "a"], ["c"]]).cast(pa.large_string()),
            "item": pa.array(["y", "x", "y"]).dictionary_encode(),
        }
    ).slice(0, 1)
    path = tmp_path / "text.parquet"
    pq.write_table(table, path)
    data = Interactions.from_parquet(path)
    np.testing.assert_array_equal(data.user_ids, ["b"])
    np.testing.assert_array_equal(data.item_ids, ["y"])


def test_universe_from_outside(write) -> None:
    data = Interactions.from_csv(write("user,item\n1,2\n"), item_ids=np.arange(5))
    assert data.n_items == 5
    np.testing.assert_array_equal(data.indices, [2])


@pytest.mark.parametrize(
    ("text", "settings", "message"),
    [
        (
            "a,b\n1,2\n",
            {},
            (r"`user`.*'a', 'b'.*`user='NAME'`"),
        ),
        (
            "user,item\n1,2\n",
            {"item": "film"},
            (r"`item`.*'user', 'item'.*'film'"),
        ),
        (
            "user,item\n1,2\n",
            {"value": "stars"},
            (r"`value`.*'user', 'item'.*'stars'"),
        ),
        ("", {}, r"`path`.*data\.csv.*empty"),
        ("user,item\n", {}, r"`path`.*at least one interaction.*has no rows"),
        (
            "user,item\n1,\n2,3\n",
            {},
            r"`item`.*1 of 2.*line 2 of",
        ),
        (
            "user,item\n1,5\n-1,5\n",
            {},
            (r"`user`.*1 of 2.*user\[1\] = -1\b"),
        ),
        (
            "user,item,rating\n1,5,good\n",
            {},
            r"`value`.*\btext\b.*line 2 of .*'good'",
        ),
        ("user,item\n1,2\n", {"delimiter": "::"}, r"`delimiter`.*'::'"),
    ],
)
def test_bad_csv(write, text: str, settings: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Interactions.from_csv(write(text), **settings)


def test_ragged_csv(write) -> None:
    with pytest.raises(InputError, match=r"`path`.*CSV.*data\.csv.*CSV parse"):
        Interactions.from_csv(write("user,item\n1,2\n1,2,3\n"))


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"`path`.*none\.csv.*exist"):
        Interactions.from_csv(tmp_path / "none.csv")


def test_not_a_parquet_file(write) -> None:
    with pytest.raises(InputError, match=r"`path`.*Parquet.*data\.csv"):
        Interactions.from_parquet(write("user,item\n1,2\n"))


def test_a_damaged_parquet_file(tmp_path: Path) -> None:
    path = tmp_path / "damaged.parquet"
    columns = {"user": list(range(2000)), "item": list(range(2000))}
    pq.write_table(pa.table(columns), path, compression="zstd")
    content = bytearray(path.read_bytes())
    content[100:3000] = bytes(2900)
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"`path`.*Parquet.*damaged\.parquet"):
        Interactions.from_parquet(path)
