from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fullrank.data import DATASETS, datasets, load, load_split, simulate
from fullrank.errors import InputError


@pytest.fixture(autouse=True)
def no_folder(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    if "data_file" not in request.fixturenames:
        monkeypatch.delenv("FULLRANK_DATA", raising=False)


def test_unknown_names_are_answered_from_the_registry() -> None:
    with pytest.raises(InputError) as caught:
        load("ml-2m")
    names = ", ".join(map(repr, DATASETS))
    assert str(caught.value) == f"`name` must be one of {names}, not 'ml-2m'."


def test_splits_only_where_there_is_one() -> None:
    with pytest.raises(InputError, match=r"`name` must be one of 'ml-1m', .*, not 'ml-100k'\."):
        load_split("ml-100k")


def test_the_simulated_one_is_always_there() -> None:
    np.testing.assert_array_equal(load("simulated").indices, simulate().indices)


def test_the_bundled_one(root: Path) -> None:
    if not (root / "data" / "ml-latest-small.parquet").is_file():
        pytest.skip("not in a source tree")
    data = load("ml-latest-small")
    assert (data.n_users, data.n_items, data.n_interactions) == (671, 9_066, 100_004)
    assert data.values is not None
    assert data.timestamps is not None


def test_the_bundled_one_from_a_wheel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(datasets, "__file__", str(tmp_path / "lib/a/fullrank/data/datasets.py"))
    with pytest.raises(InputError) as caught:
        load("ml-latest-small")
    assert str(caught.value) == (
        "`name` must be a data set that is here; ml-latest-small.parquet is not: it comes with the "
        "repository and the source archive but not with an installed wheel. Set FULLRANK_DATA to a "
        "folder that has the file, or use 'simulated', which works everywhere."
    )


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(InputError, match=r"gowalla.parquet is not: it is not part of fullrank\. "):
        load("gowalla")


def test_prepared_files_come_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pq.write_table(pa.table({"user": [1], "item": [2]}), tmp_path / "ml-latest-small.parquet")
    monkeypatch.setenv("FULLRANK_DATA", str(tmp_path))
    assert load("ml-latest-small").n_interactions == 1


def test_the_catalogue_is_larger_than_the_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    columns = {"user": [0, 0], "item": [2, 5], "split": ["train", "test"]}
    pq.write_table(pa.table(columns), tmp_path / "pinterest-20-part.parquet")
    monkeypatch.setenv("FULLRANK_DATA", str(tmp_path))
    assert load("pinterest-20-part").n_items == 9_916
    assert load_split("pinterest-20-part").test.n_items == 9_916


@pytest.mark.parametrize(
    ("name", "users", "items", "interactions"),
    [
        ("ml-1m", 6_040, 3_706, 1_000_209),
        ("ml-100k", 943, 1_682, 100_000),
        ("pinterest-20-part", 37_501, 9_916, 1_000_154),
        ("citeulike-a", 5_551, 16_980, 204_986),
        ("gowalla", 29_858, 40_981, 1_027_370),
        ("yelp-diffnet", 17_235, 37_378, 207_945),
        ("lastfm-2k", 1_892, 17_632, 92_834),
        ("amazon-video-games", 31_013, 23_715, 287_107),
    ],
)
def test_real_files(
    data_file: Callable[[str], Path], name: str, users: int, items: int, interactions: int
) -> None:
    data_file(f"{name}.parquet")
    data = load(name)
    assert (data.n_users, data.n_items, data.n_interactions) == (users, items, interactions)
    if DATASETS[name].split:
        split = load_split(name)
        parts = [part for part in (split.train, split.valid, split.test) if part is not None]
        assert sum(part.n_interactions for part in parts) == interactions
        assert {part.n_items for part in parts} == {items}


def test_the_last_in_time_of_ordered_data(data_file: Callable[[str], Path]) -> None:
    data_file("amazon-video-games.parquet")
    data = load("amazon-video-games")
    split = data.split("leave-one-out", by="last")
    counts = data.user_counts()
    np.testing.assert_array_equal(split.test.timestamps, counts[counts >= 2] - 1)
    assert split.n_skipped == np.count_nonzero(counts == 1)
