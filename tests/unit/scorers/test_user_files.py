"""Users in Parquet: the same numbers as from memory, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fullrank.errors import InputError
from fullrank.evaluation import evaluate
from fullrank.scorers import FactorScorer, UserFactors, UserFile, write_users

random = np.random.default_rng(3)
N_ITEMS = 70
ROWS = np.sort(random.choice(5000, 90, replace=False))
FACTORS = random.normal(size=(90, 5)).astype(np.float32)
ITEMS = random.normal(size=(N_ITEMS, 5)).astype(np.float32)
TARGETS = [np.sort(random.choice(N_ITEMS, 1 + u % 3, replace=False)) for u in range(90)]
NONE = pa.array([], pa.int64())
SEEN = [np.sort(random.choice(N_ITEMS, u % 6, replace=False)) for u in range(90)]


def blocks(size: int, **extra: Any) -> list[dict[str, Any]]:
    return [
        {
            "user": ROWS[a : a + size],
            "target": [one.tolist() for one in TARGETS[a : a + size]],
            "seen": [one.tolist() for one in SEEN[a : a + size]],
            "factors": FACTORS[a : a + size],
        }
        for a in range(0, 90, size)
    ]


@pytest.fixture
def users(tmp_path: Path) -> UserFile:
    write_users(tmp_path / "users.parquet", blocks(20))
    return UserFile(path=tmp_path / "users.parquet", n_items=N_ITEMS)


@pytest.mark.parametrize(
    "design", ["exact", "sampled:15", "sampled:15,pool=unseen", "adaptive:start=5"]
)
@pytest.mark.parametrize("size", [1, 45, 1000])
def test_the_same_as_from_memory(users: UserFile, design: str, size: int) -> None:
    table = np.zeros((5000, 5), np.float32)
    table[ROWS] = FACTORS
    from scipy.sparse import csr_array

    rows = np.repeat(ROWS, [one.size for one in SEEN])
    seen = csr_array((np.ones(rows.size), (rows, np.concatenate(SEEN))), (5000, N_ITEMS))
    targets = np.repeat(ROWS, [one.size for one in TARGETS]), np.concatenate(TARGETS)
    known = evaluate({"m": FactorScorer(table, ITEMS)}, targets, exclude=seen, design=design, rng=4)
    found = evaluate(
        {"m": UserFactors(item_factors=ITEMS)}, users, design=design, shard_size=size, rng=4
    )
    one, two = (evaluation.samples["m"].to_arrow() for evaluation in (found, known))
    assert one.equals(two, check_metadata=True)


def test_shards_are_row_groups(users: UserFile) -> None:
    assert users.n_users == 90
    assert [shard.stop for shard in users.shards(1)] == [20, 40, 60, 80, 90]
    assert [shard.stop for shard in users.shards(45)] == [40, 80, 90]
    assert [shard.stop for shard in users.shards(1000)] == [90]


def test_a_run_goes_on_only_with_the_same_file(users: UserFile, tmp_path: Path) -> None:
    models = {"m": UserFactors(item_factors=ITEMS)}
    settings: dict[str, Any] = {"design": "sampled:15", "out": tmp_path / "run", "report": False}
    evaluate(models, users, **settings)
    write_users(users.path, blocks(30))
    again = UserFile(path=users.path, n_items=N_ITEMS)
    with pytest.raises(InputError, match=r"`out`.*data fingerprint"):
        evaluate(models, again, **settings)


def test_a_file_that_changes_during_a_run(users: UserFile) -> None:
    write_users(users.path, blocks(20)[:-1])
    with pytest.raises(InputError, match=r"`path`.*changed"):
        users.part(users.shards(1)[0])


def test_what_is_refused(users: UserFile, tmp_path: Path) -> None:
    models = {"m": UserFactors(item_factors=ITEMS)}
    for settings in ({"n_users": 5}, {"budget": 1e5}, {"exclude": [1]}):
        with pytest.raises(InputError, match=r"`data`.*UserFile"):
            evaluate(models, users, **settings)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"`column`.*'user'.*'other'"):
        evaluate({"m": UserFactors(item_factors=ITEMS, column="other")}, users)
    with pytest.raises(InputError, match=r"`blocks`.*none"):
        write_users(tmp_path / "none.parquet", [])
    assert not (tmp_path / "none.parquet").exists()


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"user": [1]}, r"`path`.*user and target"),
        ({"user": NONE, "target": NONE}, r"`path`.*empty"),
        ({"user": ["a"], "target": [1]}, r"`user`.*statistics"),
    ],
)  # fmt: skip
def test_files_that_are_none(tmp_path: Path, columns: Any, message: str) -> None:
    pq.write_table(pa.table(columns), tmp_path / "u.parquet")
    with pytest.raises(InputError, match=message):
        UserFile(path=tmp_path / "u.parquet", n_items=9)


def test_broken_content(tmp_path: Path) -> None:
    path = tmp_path / "u.parquet"
    models = {"m": UserFactors(item_factors=ITEMS)}
    path.write_bytes(b"no")
    with pytest.raises(InputError, match=r"`path`.*Parquet"):
        UserFile(path=path, n_items=9)
    one = {"target": [1, 2], "factors": np.ones((2, 5), np.float32)}
    for users, message in (
        ([3, 3], r"`user`.*once"),
        ([-1, 3], r"`user`.*row group 0"),
    ):
        write_users(path, [{"user": users, **one}])
        with pytest.raises(InputError, match=message):
            evaluate(models, UserFile(path=path, n_items=N_ITEMS))
    write_users(path, [{"user": [5], "target": [0]}, {"user": [4], "target": [0]}])
    with pytest.raises(InputError, match=r"`user`.*row group 1"):
        UserFile(path=path, n_items=9)
    wild = np.ones((2, 5), np.float32)
    wild[1, 2] = np.nan
    write_users(path, [{"user": [0, 7], "target": [1, 2], "factors": wild}])
    with pytest.raises(InputError, match=r"`factors`.*row 7"):
        evaluate(models, UserFile(path=path, n_items=N_ITEMS))
    write_users(path, [{"user": [0, 7], "target": [1, None], "factors": np.ones((2, 5))}])
    with pytest.raises(InputError, match=r"`target`.*missing"):
        evaluate(models, UserFile(path=path, n_items=N_ITEMS))
    write_users(path, [{"user": [0, 7], "target": [1, 2], "factors": [[1.0], [1.0, 2.0]]}])
    with pytest.raises(InputError, match=r"`factors`.*length"):
        evaluate(models, UserFile(path=path, n_items=N_ITEMS))
