"""Data sets by name: what is looked for, where, and in which order."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fullrank.data import DATASETS, info, load, load_split, simulate
from fullrank.data.sets import cache as _cache
from fullrank.data.sets import datasets, formats
from fullrank.errors import InputError


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.delenv("FULLRANK_DATA", raising=False)
    monkeypatch.setenv("FULLRANK_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    made = tmp_path / "data"
    made.mkdir()
    monkeypatch.setenv("FULLRANK_DATA", str(made))
    return made


def test_unknown_names_are_answered_from_the_registry() -> None:
    names = ", ".join(map(repr, DATASETS))
    for ask in (load, info, datasets.download):
        with pytest.raises(InputError, match=rf"`name`.*{names}.*'ml-2m'"):
            ask("ml-2m")


def test_splits_only_where_there_is_one() -> None:
    with pytest.raises(InputError, match=r"`name`.*'ml-1m'.*'ml-100k'"):
        load_split("ml-100k")


def test_the_registry_holds_what_it_should() -> None:
    wanted = (
        "ml-100k ml-1m ml-20m ml-latest-small pinterest-20 yelp citeulike-a book-crossing netflix "
        "msd gowalla yelp2018 amazon-books lastfm-2k amazon-video-games yelp-diffnet "
        "pinterest-20-part simulated"
    )
    assert set(DATASETS) == set(wanted.split())
    for name, dataset in DATASETS.items():
        assert dataset.name == name
        assert set(dataset.formats) <= set(formats.FORMATS)
        assert all(url.startswith("https://") for url in dataset.urls)
        assert dataset.md5 is None or (len(dataset.urls) == 1 and len(dataset.md5) == 32)
        assert dataset.simulated or dataset.citation
        assert not dataset.urls or (dataset.formats and dataset.page.startswith("https://"))


def test_the_registry_prints_a_line_for_each() -> None:
    lines = str(DATASETS).splitlines()
    assert len(lines) == len(DATASETS)
    assert lines[0] == (
        "ml-latest-small     MovieLens, the small edition of October 2016: 671 users, 9,066 films"
    )
    assert repr(DATASETS).startswith("Registry(ml-latest-small, simulated, ")


def test_what_is_known_of_one() -> None:
    assert str(info("gowalla")).splitlines()[:4] == [
        "gowalla: Gowalla: 29,858 users, 40,981 places, 1,027,370 interactions",
        "  split     LightGCN's, 80/20 at random for each user",
        "  files     train.txt + test.txt",
        "  download  https://raw.githubusercontent.com/gusye1234/LightGCN-PyTorch/master/data/"
        "gowalla/train.txt, https://raw.githubusercontent.com/gusye1234/LightGCN-PyTorch/master/"
        "data/gowalla/test.txt",
    ]
    assert "  download  no: Netflix has withdrawn it" in str(info("netflix"))
    assert "  files     lastfm-2k.parquet, prepared" in str(info("lastfm-2k"))


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
    file = tmp_path / "lib/a/fullrank/data/sets/datasets.py"
    monkeypatch.setattr(datasets, "__file__", str(file))
    with pytest.raises(
        InputError,
        match=r"`name`.*ml-latest-small.*FULLRANK_DATA.*ml-latest-small\.parquet.*ratings\.csv.*'simulated'",
    ):
        load("ml-latest-small")


def test_a_data_set_that_is_not_there() -> None:
    with pytest.raises(
        InputError,
        match=r"`name`.*gowalla.*download=True.*FULLRANK_DATA.*gowalla\.parquet.*train\.txt.*test\.txt.*'simulated'",
    ):
        load("gowalla")
    with pytest.raises(InputError, match=r"`name`.*lastfm-2k\.parquet.*'simulated'"):
        load("lastfm-2k")


def test_a_folder_that_is_not_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FULLRANK_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(InputError, match=r"`name`.*gowalla is not.*FULLRANK_DATA"):
        load("gowalla")


def test_the_catalogue_is_larger_than_the_file(folder: Path) -> None:
    columns = {"user": [0, 0], "item": [2, 5], "split": ["train", "test"]}
    pq.write_table(pa.table(columns), folder / "pinterest-20-part.parquet")
    assert load("pinterest-20-part").n_items == 9_916
    assert load_split("pinterest-20-part").test.n_items == 9_916


# ---- the order ----


def raw(place: Path, train: str = "0 1 2\n1 2\n", test: str = "0 3\n") -> Path:
    place.mkdir(parents=True, exist_ok=True)
    (place / "train.txt").write_text(train)
    (place / "test.txt").write_text(test)
    return place


def test_prepared_files_come_first(folder: Path, cache: Path) -> None:
    raw(folder / "gowalla")
    pq.write_table(pa.table({"user": [1], "item": [2]}), folder / "gowalla.parquet")
    assert load("gowalla").n_interactions == 1
    assert not cache.exists()


def test_raw_files_are_read_once_and_kept(
    folder: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw(folder / "gowalla")
    first = load_split("gowalla")
    assert [path.name for path in cache.iterdir()] == ["gowalla.parquet"]
    assert first.train.n_interactions == 3
    assert first.test.n_interactions == 1
    assert pq.read_schema(cache / "gowalla.parquet").field("user").type == pa.int32()
    monkeypatch.setattr(formats, "read", None)  # it is not called again
    assert load("gowalla").n_interactions == 4
    for name in ("train.txt", "test.txt"):
        (folder / "gowalla" / name).unlink()
    (folder / "gowalla").rmdir()
    assert load("gowalla").n_interactions == 4  # what was prepared is enough


def test_other_raw_files_are_read_anew(folder: Path, cache: Path) -> None:
    raw(folder / "gowalla")
    assert load("gowalla").n_interactions == 4
    raw(folder / "gowalla", train="0 1 2 4 5\n1 2\n")
    assert load("gowalla").n_interactions == 6


def test_a_prepared_file_of_another_version_is_made_anew(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw(folder / "gowalla")
    load("gowalla")
    monkeypatch.setattr(_cache, "_VERSION", 2)
    assert load("gowalla").n_interactions == 4
    for name in ("train.txt", "test.txt"):
        (folder / "gowalla" / name).unlink()
    monkeypatch.setattr(_cache, "_VERSION", 3)
    with pytest.raises(InputError, match=r"`name`.*gowalla is not.*FULLRANK_DATA"):
        load("gowalla")


def test_a_damaged_prepared_file_is_made_anew(folder: Path, cache: Path) -> None:
    raw(folder / "gowalla")
    cache.mkdir()
    (cache / "gowalla.parquet").write_bytes(b"PAR1 and then nothing")
    assert load("gowalla").n_interactions == 4


def test_raw_files_before_those_in_the_cache(folder: Path, cache: Path) -> None:
    raw(cache / "gowalla")
    assert load("gowalla").n_interactions == 4
    raw(folder / "gowalla", train="0 9\n")
    assert load("gowalla").n_interactions == 2


def test_a_cache_that_cannot_be_written_to(folder: Path, cache: Path) -> None:
    raw(folder / "gowalla")
    cache.write_text("a file where the folder should be")
    split = load_split("gowalla")
    assert split.test.n_interactions == 1
    assert load("gowalla").n_interactions == 4


def test_files_without_the_split(folder: Path) -> None:
    (folder / "ml-1m").mkdir()
    (folder / "ml-1m" / "ratings.dat").write_text("1::2::3::4\n1::3::4::5\n")
    assert load("ml-1m").n_interactions == 2
    with pytest.raises(InputError, match=r"`name`.*split.*ml-1m"):
        load_split("ml-1m")


def test_a_published_split_by_users(folder: Path) -> None:
    (folder / "msd").mkdir()
    files = {"train": "0,0\n0,1\n", "validation_tr": "1,0\n", "validation_te": "1,1\n"}
    files |= {"test_tr": "2,1\n", "test_te": "2,0\n"}
    for name, rows in files.items():
        (folder / "msd" / f"{name}.csv").write_text(f"uid,sid\n{rows}")
    split = load_split("msd")
    assert list(split.parts()) == ["train", "valid_fold_in", "valid", "fold_in", "test"]
    np.testing.assert_array_equal(split.fold_in.user_counts(), [0, 0, 1])
    np.testing.assert_array_equal(split.history.indices, [1])


def test_a_validation_part_for_a_split_without(folder: Path) -> None:
    raw(folder / "gowalla", train="0 1 2 4 5 6\n1 2 3\n", test="0 3\n")
    split = load_split("gowalla", valid=0.2, rng=0)
    np.testing.assert_array_equal(split.valid.user_counts(), [1, 0])
    assert split.train.n_interactions == 6


@pytest.mark.parametrize("place", ["ml-1m.zip", "ml-1m/ml-1m.zip"])
def test_archives_in_the_folder(folder: Path, place: str) -> None:
    import zipfile

    (folder / place).parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(folder / place, "w") as archive:
        archive.writestr("ml-1m/ratings.dat", "1::2::3::4\n1::3::4::5\n")
    data = load("ml-1m")
    np.testing.assert_array_equal(data.values, [3, 4])
    np.testing.assert_array_equal(data.timestamps, [4, 5])


def test_a_file_where_a_folder_should_be(folder: Path) -> None:
    (folder / "gowalla").write_text("0 1 2")
    with pytest.raises(InputError, match=r"`name`.*gowalla is not.*FULLRANK_DATA"):
        load("gowalla")


def test_the_name_that_a_publisher_gives(folder: Path) -> None:
    import tarfile

    text = folder / "mv_0000007.txt"
    text.write_text("7:\n5,3,1970-01-02\n6,4,1970-01-03\n")
    with tarfile.open(folder / "training_set.tar", "w") as archive:
        archive.add(text, "training_set/mv_0000007.txt")
    text.unlink()
    data = load("netflix")
    assert (data.n_users, data.n_items) == (2, 1)
    np.testing.assert_array_equal(data.item_ids, [7])


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {"XDG_CACHE_HOME": "/x"}, Path("/x/fullrank")),
        ("linux", {"XDG_CACHE_HOME": ""}, Path.home() / ".cache" / "fullrank"),
        ("darwin", {}, Path.home() / "Library" / "Caches" / "fullrank"),
        ("win32", {"LOCALAPPDATA": "/local"}, Path("/local/fullrank/Cache")),
    ],
)
def test_where_the_cache_is(
    monkeypatch: pytest.MonkeyPatch, platform: str, variables: dict[str, str], expected: Path
) -> None:
    monkeypatch.delenv("FULLRANK_CACHE")
    monkeypatch.setattr(sys, "platform", platform)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert _cache.folder() == expected


def test_nothing_of_the_network_is_imported_to_load() -> None:
    code = (
        "import sys\n"
        "from fullrank import datasets\n"
        "datasets.load('simulated')\n"
        "print(sorted({'ssl', 'http.client', 'tarfile', 'zipfile'} & set(sys.modules)))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, env=os.environ
    )
    assert run.stdout == "[]\n"
