"""Factors from files: every form alike, and what is refused."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from safetensors.numpy import save_file

from fullrank._lib import memory
from fullrank.data import Interactions, Split
from fullrank.engines.shared import Published
from fullrank.errors import InputError
from fullrank.evaluation import evaluate
from fullrank.ranking import rank
from fullrank.scorers import FactorFiles, FactorScorer, MissingIdsError
from fullrank.tables.packed_ids import pack_ids

random = np.random.default_rng(0)
USERS = random.normal(size=(4, 3)).astype(np.float32)
ITEMS = random.normal(size=(5, 3)).astype(np.float32)


@pytest.fixture
def small() -> Split:
    data = Interactions.from_arrays(
        ["b", "b", "a", "a", "d", "d", "c", "c"],
        [10, 20, 10, 30, 50, 40, 20, 30],
    )
    return data.split("leave-one-out", rng=0)


def write(path: Path, array: Any, name: str = "factors") -> Path:
    if path.suffix == ".npy":
        np.save(path, array)
    elif path.suffix == ".npz":
        np.savez(path, **{name: array})
    elif path.suffix == ".safetensors":
        save_file({name: array}, path)
    else:
        pq.write_table(pa.table({f"f{i}": column for i, column in enumerate(array.T)}), path)
    return path


USER_IDS, ITEM_IDS = ["d", "a", "c", "b"], [50, 40, 10, 30, 20]


def lines(path: Path, ids: Any) -> Path:
    path.write_text("".join(f"{one}\n" for one in ids), encoding="utf-8")
    return path


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".safetensors", ".parquet"])
def test_two_files_with_ids_beside_them(small: Split, tmp_path: Path, suffix: str) -> None:
    files = FactorFiles(
        users=write(tmp_path / f"u{suffix}", USERS),
        items=write(tmp_path / f"i{suffix}", ITEMS),
        user_ids=lines(tmp_path / "u.txt", USER_IDS),
        item_ids=lines(tmp_path / "i.txt", ITEM_IDS),
    )
    scorer = files.scorer()
    assert np.array_equal(scorer.user_factors, USERS)
    assert np.array_equal(scorer.item_factors, ITEMS)
    assert scorer.user_ids is not None
    assert scorer.user_ids.tolist() == USER_IDS
    assert scorer.item_ids is not None
    assert scorer.item_ids.tolist() == ITEM_IDS
    found = evaluate({"f": files}, small)
    sorted_rows = np.argsort(USER_IDS), np.argsort(ITEM_IDS)
    direct = FactorScorer(
        USERS[sorted_rows[0]], ITEMS[sorted_rows[1]],
        user_ids=small.test.user_ids, item_ids=small.test.item_ids,
    )  # fmt: skip
    expected = rank(direct, small.test, exclude=small.history)
    assert found.samples["f"].metrics("rr") == expected.metrics("rr")


@pytest.mark.parametrize("suffix", [".npy", ".parquet"])
def test_without_ids_rows_are_refused(small: Split, tmp_path: Path, suffix: str) -> None:
    files = FactorFiles(
        users=write(tmp_path / f"u{suffix}", USERS), items=write(tmp_path / f"i{suffix}", ITEMS)
    )
    assert files.scorer().user_ids is None
    with pytest.raises(MissingIdsError, match=r"`f`.*user_ids.*0 … 3"):
        evaluate({"f": files}, small)


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet", ".npy"])
@pytest.mark.parametrize("ids", [USER_IDS, [7, 3, 2**60 + 1, 9], ["007", "7", "a", "b"]])
def test_files_of_ids(tmp_path: Path, suffix: str, ids: list[Any]) -> None:
    path = tmp_path / f"ids{suffix}"
    table = pa.table({"who": ids, "n": [1, 2, 3, 4]})
    if suffix == ".parquet":
        pq.write_table(table, path)
    elif suffix == ".npy":
        np.save(path, np.array(ids))
    else:
        opened = gzip.open if suffix == ".csv.gz" else open
        with opened(path, "wb") as file:
            pa.csv.write_csv(table, file)
    factors = {
        "users": write(tmp_path / "u.npy", USERS), "items": write(tmp_path / "i.npy", ITEMS)
    }  # fmt: skip
    found = FactorFiles(**factors, user_ids=path).scorer().user_ids
    assert found is not None
    assert found.tolist() == ids
    if suffix != ".npy":
        found = FactorFiles(**factors, user_ids=path, columns={"user": "n"}).scorer().user_ids
        assert found is not None
        assert found.tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a\nb\nc\n", r"`user_ids`.*4 rows of .*u\.npy; .*ids\.txt has 3"),
        ("a\n\nc\nd\n", r"`user_ids`.*line 2 of .*ids\.txt is empty"),
        ("a\nb\na\nd\n", r"`user_ids of .*ids\.txt`.*once; 1 of 4.*\ba\b"),
        ("-1\n2\n3\n4\n", r"`user_ids of .*ids\.txt`.*at least 0"),
        ("\udcff\n", r"`user_ids`.*UTF-8.*ids\.txt"),
        ("", r"`user_ids`.*line 1 of .*ids\.txt is empty"),
    ],
)
def test_files_of_ids_that_are_refused(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "ids.txt").write_bytes(content.encode("utf-8", "surrogateescape"))
    files = FactorFiles(
        users=write(tmp_path / "u.npy", USERS),
        items=write(tmp_path / "i.npy", ITEMS),
        user_ids=tmp_path / "ids.txt",
    )
    with pytest.raises(InputError, match=message):
        files.scorer()


def test_text_files_keep_text_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "ids.txt").write_bytes("\ufeff007\r\nü \r\na\u2028b\r\n7".encode())
    files = FactorFiles(
        users=write(tmp_path / "u.npy", USERS),
        items=write(tmp_path / "i.npy", ITEMS),
        user_ids=tmp_path / "ids.txt",
    )
    found = files.scorer().user_ids
    assert found is not None
    assert found.tolist() == ["007", "ü ", "a\u2028b", "7"]


def test_row_numbers_of_a_frame_are_not_ids(tmp_path: Path) -> None:
    (tmp_path / "ids.csv").write_text(",name\n0,d\n1,a\n2,c\n3,b\n")
    factors = {
        "users": write(tmp_path / "u.npy", USERS), "items": write(tmp_path / "i.npy", ITEMS)
    }  # fmt: skip
    with pytest.raises(InputError, match=r"`user_ids`.*ids\.csv.*`columns=\{'user': 'NAME'\}`"):
        FactorFiles(**factors, user_ids=tmp_path / "ids.csv").scorer()
    files = FactorFiles(**factors, user_ids=tmp_path / "ids.csv", columns={"user": "name"})
    assert np.array_equal(files.scorer().user_ids, USER_IDS)  # type: ignore[arg-type]


@pytest.mark.parametrize("ids", [USER_IDS, [3, 2**60 + 1, 5, 1]])
@pytest.mark.parametrize("how", ["npz", "tensors", "metadata"])
def test_ids_within_one_file(tmp_path: Path, ids: list[Any], how: str) -> None:
    arrays = {"user_factors": USERS, "item_factors": ITEMS}
    path = tmp_path / ("both.npz" if how == "npz" else "both.safetensors")
    if how == "npz":
        np.savez(path, **arrays, user_ids=ids, item_ids=ITEM_IDS)
    elif how == "tensors":
        packed = pack_ids("user_ids", np.array(ids)) | pack_ids("item_ids", np.array(ITEM_IDS))
        save_file(arrays | packed, path)
    else:
        save_file(arrays, path, {"user_ids": json.dumps(ids), "item_ids": json.dumps(ITEM_IDS)})
    scorer = FactorFiles(users=path, items=path).scorer()
    assert scorer.user_ids is not None
    assert scorer.user_ids.tolist() == ids
    assert scorer.item_ids is not None
    assert scorer.item_ids.tolist() == ITEM_IDS
    same = FactorFiles(users=path, items=path, user_ids=lines(tmp_path / "u.txt", ids))
    assert np.array_equal(same.scorer().user_ids, ids)  # type: ignore[arg-type]
    other = FactorFiles(users=path, items=path, user_ids=lines(tmp_path / "u.txt", ids[::-1]))
    with pytest.raises(InputError, match=r"`user_ids`.*both.*row 0"):
        other.scorer()


def test_metadata_that_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "both.safetensors"
    save_file({"user_factors": USERS, "item_factors": ITEMS}, path, {"user_ids": "a, b"})
    with pytest.raises(InputError, match=r"`user_ids`.*JSON list.*both\.safetensors"):
        FactorFiles(users=path, items=path).scorer()


@pytest.mark.parametrize("suffix", [".npz", ".safetensors"])
def test_one_file_with_biases(tmp_path: Path, suffix: str) -> None:
    arrays = {"user_factors": USERS, "item_factors": ITEMS, "item_bias": np.arange(5.0)}
    path = tmp_path / f"both{suffix}"
    np.savez(path, **arrays) if suffix == ".npz" else save_file(arrays, path)
    name, files = FactorFiles.of(f"mine={path}")
    assert name == "mine"
    scorer = files.scorer()
    assert np.array_equal(scorer.item_factors, ITEMS)
    assert scorer.item_bias is not None
    assert scorer.item_bias.tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(("user", "item"), [("user", "movieId"), ("customer_no", "sku")])
def test_parquet_with_ids_in_any_order(tmp_path: Path, user: str, item: str) -> None:
    table = pa.table({user: [*"dacb"], "vector": pa.array(USERS.tolist(), pa.list_(pa.float32()))})
    pq.write_table(table, tmp_path / "u.parquet")
    lists = pa.FixedSizeListArray.from_arrays(pa.array(ITEMS.ravel()), 3)
    pq.write_table(pa.table({item: ITEM_IDS, "v": lists}), tmp_path / "i.parquet")
    files = FactorFiles(
        users=tmp_path / "u.parquet",
        items=tmp_path / "i.parquet",
        columns={} if user == "user" else {"user": user, "item": item},
    )
    scorer = files.scorer()
    assert np.array_equal(scorer.user_factors, USERS)
    assert np.array_equal(scorer.item_factors, ITEMS)
    assert scorer.user_ids is not None
    assert scorer.user_ids.tolist() == [*"dacb"]
    assert scorer.item_ids is not None
    assert scorer.item_ids.tolist() == ITEM_IDS


@pytest.mark.parametrize("ids", [[*"abcd"], [4, 5, 6, 7]])
@pytest.mark.parametrize("wide", [True, False])
def test_ids_under_a_name_that_nobody_gave_are_no_factor(
    tmp_path: Path, ids: list[Any], wide: bool
) -> None:
    columns = {f"f{at}": column for at, column in enumerate(USERS.T)}
    columns = columns if wide else {"v": pa.array(USERS.tolist(), pa.list_(pa.float32()))}
    pq.write_table(pa.table({"kdnr": ids, **columns}), tmp_path / "u.parquet")
    files = FactorFiles(users=tmp_path / "u.parquet", items=write(tmp_path / "i.npy", ITEMS))
    with pytest.raises(InputError, match=r"`factors`.*'kdnr'.*`columns=\{'user': 'kdnr'\}`"):
        files.scorer()
    told = replace(files, columns={"user": "kdnr"}).scorer()
    assert told.user_ids is not None
    assert told.user_ids.tolist() == ids
    assert np.array_equal(told.user_factors, USERS)


def test_ids_that_come_twice(tmp_path: Path) -> None:
    table = {"user": [*"abcdb"], "v": [*USERS.tolist(), [9.0] * 3]}
    pq.write_table(pa.table(table), tmp_path / "u.parquet")
    files = FactorFiles(users=tmp_path / "u.parquet", items=write(tmp_path / "i.npy", ITEMS))
    with pytest.raises(InputError, match=r"`user_ids of .*u\.parquet`.*once; 1 of 5.*\bb\b"):
        files.scorer()


def test_files_that_change_during_a_run(tmp_path: Path) -> None:
    files = FactorFiles(
        users=write(tmp_path / "u.npy", USERS), items=write(tmp_path / "i.npy", ITEMS)
    )
    write(tmp_path / "new.npy", USERS + 1).replace(tmp_path / "u.npy")
    with pytest.raises(InputError, match=r"`factors`.*u\.npy.*changed"):
        files.scorer()


def test_parquet_that_unpacks_to_more_than_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pq.write_table(pa.table({"v": pa.array([0.0] * 10_000)}), tmp_path / "u.parquet")
    files = FactorFiles(users=tmp_path / "u.parquet", items=write(tmp_path / "i.npy", ITEMS))
    monkeypatch.setattr(memory, "limit", lambda: 50_000)
    with pytest.raises(InputError, match=r"u\.parquet.*79\.3 KiB"):
        files.scorer()


def test_npy_is_mapped(tmp_path: Path) -> None:
    files = FactorFiles(
        users=write(tmp_path / "u.npy", USERS), items=write(tmp_path / "i.npy", ITEMS)
    )
    assert isinstance(files.scorer().user_factors.base, np.memmap) or isinstance(
        files.scorer().user_factors, np.memmap
    )


def test_workers_map_npy_files_themselves(tmp_path: Path) -> None:
    files = FactorFiles(
        users=write(tmp_path / "u.npy", np.ones((9000, 3), np.float32)),
        items=write(tmp_path / "i.npy", ITEMS),
    )
    published = Published(files.scorer())
    published.close()
    assert published.handle.size < 3000  # the users alone would be 108,000


@pytest.mark.parametrize(
    ("users", "message"),
    [
        (
            np.where(np.arange(12).reshape(4, 3) == 7, np.nan, 1.0),
            r"nan in row 2, column 1",
        ),
        (np.full((4, 3), np.inf), r"inf in row 0, column 0"),
        (np.ones((4, 2)), r"columns.*\b2\b.*\b3\b"),
        (np.ones(4), r"float64 of shape \(4,\)"),
        (np.array([["a"] * 3] * 4), r"numbers"),
    ],
)
def test_arrays_that_are_refused(tmp_path: Path, users: Any, message: str) -> None:
    files = FactorFiles(
        users=write(tmp_path / "u.npy", users), items=write(tmp_path / "i.npy", ITEMS)
    )
    with pytest.raises(InputError, match=rf"`factors`.*{message}"):
        files.scorer()


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".safetensors", ".parquet"])
@pytest.mark.parametrize("content", [b"", b"nonsense", b"PK\x03\x04 and no more", b"\x93NUMPY\x01"])
def test_broken_files(tmp_path: Path, suffix: str, content: bytes) -> None:
    (tmp_path / f"u{suffix}").write_bytes(content)
    files = FactorFiles(users=tmp_path / f"u{suffix}", items=write(tmp_path / "i.npy", ITEMS))
    kind = "Parquet" if suffix == ".parquet" else rf"\{suffix}"
    with pytest.raises(InputError, match=rf"`factors`.*{kind} file;.*is not: "):
        files.scorer()


def test_a_member_that_is_no_array(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "u.npz", "w") as archive:
        archive.writestr("user_factors.npy", b"nonsense")
    files = FactorFiles(users=tmp_path / "u.npz", items=write(tmp_path / "i.npy", ITEMS))
    with pytest.raises(InputError, match=r"`factors`.*u\.npz.*'user_factors' is not an array"):
        files.scorer()


@pytest.mark.parametrize("suffix", [".npy", ".npz"])
def test_nothing_is_unpickled(tmp_path: Path, suffix: str) -> None:
    objects = np.array([[print]], dtype=object)
    buffer = io.BytesIO()
    np.save(buffer, objects) if suffix == ".npy" else np.savez(buffer, user_factors=objects)
    (tmp_path / f"u{suffix}").write_bytes(buffer.getvalue())
    files = FactorFiles(users=tmp_path / f"u{suffix}", items=write(tmp_path / "i.npy", ITEMS))
    with pytest.raises(InputError, match=r"`factors`.*is not: .*([Pp]ickle|Python obj)"):
        files.scorer()


def test_an_archive_larger_than_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "u.npz"
    np.savez_compressed(path, user_factors=np.zeros((4, 100_000)))
    files = FactorFiles(users=path, items=write(tmp_path / "i.npy", ITEMS))
    monkeypatch.setattr(memory, "limit", lambda: 10**6)
    with pytest.raises(InputError, match=r"`factors`.*u\.npz.*unpacked"):
        files.scorer()


def test_files_that_are_refused(tmp_path: Path) -> None:
    items = write(tmp_path / "i.npy", ITEMS)
    with pytest.raises(InputError, match=r"`factors`.*none\.npy.*exist"):
        FactorFiles(users=tmp_path / "none.npy", items=items)
    (tmp_path / "u.pkl").write_bytes(b"x")
    with pytest.raises(InputError, match=r"`factors`.*\.npy.*u\.pkl"):
        FactorFiles(users=tmp_path / "u.pkl", items=items)
    with pytest.raises(InputError, match=r"`factors`.*two files"):
        FactorFiles(users=items, items=items)
    np.savez(tmp_path / "two.npz", a=USERS, b=USERS)
    with pytest.raises(InputError, match=r"`factors`.*user_factors.*'a', 'b'"):
        FactorFiles(users=tmp_path / "two.npz", items=items).scorer()


def test_parquet_that_is_refused(tmp_path: Path) -> None:
    items = write(tmp_path / "i.npy", ITEMS)
    path = tmp_path / "u.parquet"
    pq.write_table(pa.table({"v": [[1.0, 2.0, 3.0], [1.0]]}), path)
    with pytest.raises(InputError, match=r"`factors`.*length"):
        FactorFiles(users=path, items=items).scorer()
    pq.write_table(pa.table({"x": [1.0, None, 2.0, 3.0]}), path)
    with pytest.raises(InputError, match=r"`factors`.*missing.*\bx\b"):
        FactorFiles(users=path, items=items).scorer()
