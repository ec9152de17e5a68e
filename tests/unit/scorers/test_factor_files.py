"""Factors from files: every form alike, and what is refused."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from safetensors.numpy import save_file

from fullrank._lib import memory
from fullrank.data import Interactions, Split
from fullrank.engines.shared import Published
from fullrank.errors import InputError
from fullrank.evaluation import evaluate
from fullrank.scorers import FactorFiles, FactorScorer

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


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".safetensors", ".parquet"])
def test_two_files(small: Split, tmp_path: Path, suffix: str) -> None:
    files = FactorFiles(
        users=write(tmp_path / f"u{suffix}", USERS), items=write(tmp_path / f"i{suffix}", ITEMS)
    )
    scorer = files.scorer(small)
    assert np.array_equal(scorer.user_factors, USERS)
    assert np.array_equal(scorer.item_factors, ITEMS)
    found = evaluate({"f": files}, small)
    direct = evaluate({"f": FactorScorer(USERS, ITEMS)}, small)
    assert np.array_equal(found.samples["f"].rank, direct.samples["f"].rank)


@pytest.mark.parametrize("suffix", [".npz", ".safetensors"])
def test_one_file_with_biases(small: Split, tmp_path: Path, suffix: str) -> None:
    arrays = {"user_factors": USERS, "item_factors": ITEMS, "item_bias": np.arange(5.0)}
    path = tmp_path / f"both{suffix}"
    np.savez(path, **arrays) if suffix == ".npz" else save_file(arrays, path)
    name, files = FactorFiles.of(f"mine={path}")
    assert name == "mine"
    scorer = files.scorer(small)
    assert np.array_equal(scorer.item_factors, ITEMS)
    assert scorer.item_bias is not None
    assert scorer.item_bias.tolist() == [0, 1, 2, 3, 4]


def test_parquet_with_ids_in_any_order(small: Split, tmp_path: Path) -> None:
    order = [3, 0, 2, 1]
    table = pa.table(
        {
            "user": [*"dacb", "zoe"],
            "vector": pa.array([*USERS[order].tolist(), [9.0, 9.0, 9.0]], pa.list_(pa.float32())),
        }
    )
    pq.write_table(table, tmp_path / "u.parquet")
    flat = pa.array(ITEMS[::-1].ravel())
    lists = pa.FixedSizeListArray.from_arrays(flat, 3)
    pq.write_table(pa.table({"item": [50, 40, 30, 20, 10], "v": lists}), tmp_path / "i.parquet")
    files = FactorFiles(users=tmp_path / "u.parquet", items=tmp_path / "i.parquet")
    scorer = files.scorer(small)
    assert np.array_equal(scorer.user_factors, USERS)
    assert np.array_equal(scorer.item_factors, ITEMS)


def test_ids_are_not_cut_to_the_length_of_the_data(small: Split, tmp_path: Path) -> None:
    """ "apple" is no user of ours, and is not user "a"."""
    table = {"user": ["apple", *"abcd"], "v": [[9.0] * 3, *USERS.tolist()]}
    pq.write_table(pa.table(table), tmp_path / "u.parquet")
    files = FactorFiles(users=tmp_path / "u.parquet", items=write(tmp_path / "i.npy", ITEMS))
    assert np.array_equal(files.scorer(small).user_factors, USERS)


def test_ids_that_come_twice(small: Split, tmp_path: Path) -> None:
    table = {"user": [*"abcdb"], "v": [*USERS.tolist(), [9.0] * 3]}
    pq.write_table(pa.table(table), tmp_path / "u.parquet")
    files = FactorFiles(users=tmp_path / "u.parquet", items=write(tmp_path / "i.npy", ITEMS))
    with pytest.raises(InputError, match=r"for 1,.*\bb\b"):
        files.scorer(small)


def test_files_that_change_during_a_run(small: Split, tmp_path: Path) -> None:
    files = FactorFiles(
        users=write(tmp_path / "u.npy", USERS), items=write(tmp_path / "i.npy", ITEMS)
    )
    write(tmp_path / "new.npy", USERS + 1).replace(tmp_path / "u.npy")
    with pytest.raises(InputError, match=r"`factors`.*u\.npy.*changed"):
        files.scorer(small)


def test_parquet_that_unpacks_to_more_than_memory(
    small: Split, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pq.write_table(pa.table({"v": pa.array([0.0] * 10_000)}), tmp_path / "u.parquet")
    files = FactorFiles(users=tmp_path / "u.parquet", items=write(tmp_path / "i.npy", ITEMS))
    monkeypatch.setattr(memory, "limit", lambda: 50_000)
    with pytest.raises(InputError, match=r"u\.parquet.*78\.1 KiB"):
        files.scorer(small)


def test_npy_is_mapped(small: Split, tmp_path: Path) -> None:
    files = FactorFiles(
        users=write(tmp_path / "u.npy", USERS), items=write(tmp_path / "i.npy", ITEMS)
    )
    assert isinstance(files.scorer(small).user_factors.base, np.memmap) or isinstance(
        files.scorer(small).user_factors, np.memmap
    )


def test_workers_map_npy_files_themselves(tmp_path: Path) -> None:
    files = FactorFiles(
        users=write(tmp_path / "u.npy", np.ones((9000, 3), np.float32)),
        items=write(tmp_path / "i.npy", ITEMS),
    )
    published = Published(files.scorer(None))
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
        (np.ones((3, 3)), r"\b4 users.*\b3\b"),
        (np.ones((4, 2)), r"columns.*\b2\b.*\b3\b"),
        (np.ones(4), r"float64 of shape \(4,\)"),
        (np.array([["a"] * 3] * 4), r"numbers"),
    ],
)
def test_arrays_that_are_refused(small: Split, tmp_path: Path, users: Any, message: str) -> None:
    files = FactorFiles(
        users=write(tmp_path / "u.npy", users), items=write(tmp_path / "i.npy", ITEMS)
    )
    with pytest.raises(InputError, match=rf"`factors`.*{message}"):
        files.scorer(small)


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".safetensors", ".parquet"])
@pytest.mark.parametrize("content", [b"", b"nonsense", b"PK\x03\x04 and no more", b"\x93NUMPY\x01"])
def test_broken_files(small: Split, tmp_path: Path, suffix: str, content: bytes) -> None:
    (tmp_path / f"u{suffix}").write_bytes(content)
    files = FactorFiles(users=tmp_path / f"u{suffix}", items=write(tmp_path / "i.npy", ITEMS))
    with pytest.raises(InputError, match=rf"`factors`.*\{suffix} file;.*is not: "):
        files.scorer(small)


@pytest.mark.parametrize("suffix", [".npy", ".npz"])
def test_nothing_is_unpickled(small: Split, tmp_path: Path, suffix: str) -> None:
    objects = np.array([[print]], dtype=object)
    buffer = io.BytesIO()
    np.save(buffer, objects) if suffix == ".npy" else np.savez(buffer, user_factors=objects)
    (tmp_path / f"u{suffix}").write_bytes(buffer.getvalue())
    files = FactorFiles(users=tmp_path / f"u{suffix}", items=write(tmp_path / "i.npy", ITEMS))
    with pytest.raises(InputError, match=r"`factors`.*is not: .*([Pp]ickle|Python obj)"):
        files.scorer(small)


def test_an_archive_larger_than_memory(
    small: Split, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "u.npz"
    np.savez_compressed(path, user_factors=np.zeros((4, 100_000)))
    files = FactorFiles(users=path, items=write(tmp_path / "i.npy", ITEMS))
    monkeypatch.setattr(memory, "limit", lambda: 10**6)
    with pytest.raises(InputError, match=r"`factors`.*u\.npz.*unpacked"):
        files.scorer(small)


def test_files_that_are_refused(small: Split, tmp_path: Path) -> None:
    items = write(tmp_path / "i.npy", ITEMS)
    with pytest.raises(InputError, match=r"`path`.*none\.npy.*exist"):
        FactorFiles(users=tmp_path / "none.npy", items=items)
    (tmp_path / "u.pkl").write_bytes(b"x")
    with pytest.raises(InputError, match=r"`factors`.*\.npy.*u\.pkl"):
        FactorFiles(users=tmp_path / "u.pkl", items=items)
    with pytest.raises(InputError, match=r"`factors`.*two files"):
        FactorFiles(users=items, items=items)
    np.savez(tmp_path / "two.npz", a=USERS, b=USERS)
    with pytest.raises(InputError, match=r"`factors`.*user_factors.*'a', 'b'"):
        FactorFiles(users=tmp_path / "two.npz", items=items).scorer(small)


def test_parquet_that_is_refused(small: Split, tmp_path: Path) -> None:
    items = write(tmp_path / "i.npy", ITEMS)
    path = tmp_path / "u.parquet"
    pq.write_table(pa.table({"v": [[1.0, 2.0, 3.0], [1.0]]}), path)
    with pytest.raises(InputError, match=r"`factors`.*length"):
        FactorFiles(users=path, items=items).scorer(small)
    pq.write_table(pa.table({"x": [1.0, None, 2.0, 3.0]}), path)
    with pytest.raises(InputError, match=r"`factors`.*missing.*\bx\b"):
        FactorFiles(users=path, items=items).scorer(small)
    pq.write_table(pa.table({"user": ["a", "b", "c"], "x": [1.0, 2.0, 3.0]}), path)
    with pytest.raises(InputError, match=r"lacks 1,.*\bd\b"):
        FactorFiles(users=path, items=items).scorer(small)
