"""Data by name or from a file, split as asked."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from fullrank.data import read_split
from fullrank.data.sets.listing import details, every, no_download
from fullrank.errors import DataWarning, InputError
from fullrank.evaluation import load_interactions, load_split
from fullrank.evaluation.train import train_model

CSV = "user,item\n" + "\n".join(f"{u},{i}" for u in range(6) for i in range(u, u + 4)) + "\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "plays.csv"
    file.write_text(CSV)
    return file


def test_a_file_is_split(path: Path) -> None:
    split = load_split(path)
    assert split.kind == "leave-one-out"
    assert split.test.n_interactions == 6
    assert load_split(path, split="ratio:test=0.5").test.n_interactions == 12
    assert load_split(path, rng=1).test.indices.tolist() != split.test.indices.tolist()


def test_a_file_with_a_split(tmp_path: Path) -> None:
    file = tmp_path / "given.csv"
    file.write_text("user,item,split\na,1,train\na,2,test\nb,1,train\n")
    assert load_split(file).kind == "given"
    assert load_split(file, split="given").test.n_interactions == 1
    with pytest.warns(DataWarning, match=r"'split'.*test, train.*not used"):
        assert load_split(file, split="leave-one-out").kind == "leave-one-out"
    assert load_interactions(file).n_interactions == 3


def test_columns_by_name(tmp_path: Path) -> None:
    file = tmp_path / "odd.csv"
    file.write_text("wer,was\na,1\na,2\nb,1\nb,2\n")
    assert load_split(file, columns={"user": "wer", "item": "was"}).test.n_interactions == 2
    with pytest.raises(InputError, match=r"`user`.*'wer', 'was'.*`columns=\{'user': 'NAME'\}`"):
        load_split(file)
    with pytest.raises(InputError, match=r"`user`.*'who'"):
        load_split(file, columns={"user": "who", "item": "was"})
    with pytest.raises(InputError, match=r"`columns`.*'user', 'item'.*'users'"):
        load_split(file, columns={"users": "wer"})


def test_a_data_set_by_name() -> None:
    assert load_split("simulated").kind == "leave-one-out"
    with pytest.raises(InputError, match=r"`split`.*'given'"):
        load_split("simulated", split="given")
    for load in (load_split, load_interactions):
        with pytest.raises(InputError, match=r"`columns`.*data set"):
            load("simulated", columns={"user": "u"})


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("simulatd", r"`data`.*'ml-latest-small'.*'simulatd'"),
        ("none.csv", r"`source`.*none\.csv.*exist"),
        (__file__, r"`source`.*\.parquet"),
    ],
)
def test_sources_that_are_refused(source: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load_split(source)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    for name, kind in (("x.parquet", "Parquet"), ("x.csv", "empty")):
        (tmp_path / name).write_bytes(b"")
        with pytest.raises(InputError, match=rf"`source`.*{kind}"):
            load_split(tmp_path / name)


@pytest.mark.parametrize(
    ("split", "message"),
    [
        ("half", r"`split`.*'auto', 'given', 'leave-one-out'.*'half'"),
        ("auto:by=last", r"`split`.*'auto:by=last'"),
        ("ratio:0.2", r"`split`.*'ratio:0\.2'"),
        ("ratio:tst=1", r"`split`.*ratio.*'tst'"),
        ("ratio:test=2", r"`test`.*\b2\b"),
    ],
)
def test_splits_that_are_refused(path: Path, split: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load_split(path, split=split)


def test_the_catalogue(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FULLRANK_CACHE", str(tmp_path))
    monkeypatch.delenv("FULLRANK_DATA", raising=False)
    here = every().here
    assert here["simulated"]
    assert not here["msd"]
    assert "msd                 –" in str(every())
    told = details("msd")
    assert told.summary is None
    hint = "FULLRANK_DATA to a folder that holds msd.parquet"
    assert f"It is not available locally. Fetch it with --download, or set {hint}" in str(told)
    by_hand = str(details("netflix"))
    assert "locally. Set FULLRANK_DATA to a folder that holds netflix.parquet, or" in by_hand
    assert details("simulated").to_dict()["summary"]["n_interactions"] == 79490
    with pytest.raises(InputError, match=r"`name`.*'ml-latest-small'.*'x'"):
        details("x")
    with pytest.raises(InputError, match=r"`NAME`.*`--download`: the data set"):
        no_download(True)


def test_training(path: Path, tmp_path: Path) -> None:
    out = tmp_path / "m.safetensors"
    found = train_model(path, "popularity", out, metrics=["recall@3"])
    assert found.part == "test"
    assert found.n_interactions == 18
    assert out.is_file()
    everything = train_model(path, "popularity", out, split="none")
    assert everything.n_interactions == 24
    assert everything.part is None
    with_valid = train_model(
        path, "popularity", out, split="leave-one-out:valid=1", metrics="recall@3"
    )
    assert with_valid.part == "valid"
    assert "recall@3 on the validation part: " in str(with_valid)
    with pytest.raises(InputError, match=r"`metrics`.*split"):
        train_model(path, "popularity", out, split="none", metrics="auc")


TIMES = "user,item,timestamp\n" + "".join(
    f"{u},{i},{(i * 7 + u) % 11}\n" for u in range(6) for i in range(u, u + 4)
)


def test_the_last_item_is_held_out_where_there_are_times(tmp_path: Path) -> None:
    file = tmp_path / "timed.csv"
    file.write_text(TIMES)
    split = load_split(file)
    last = load_split(file, split="leave-one-out:by=last")
    assert split.test.indices.tolist() == last.test.indices.tolist()
    assert split.settings["by"] == "last"
    assert split.described == "leave-one-out, last item by time"
    other = load_split(file, split="leave-one-out:by=random", rng=3)
    assert other.described == "leave-one-out, random item, seed 3"


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("auto", "leave-one-out, random item (the data have no timestamps), seed 0"),
        ("leave-one-out:valid=1", "leave-one-out, random item (the data have no timestamps), "
         "validation part 1, seed 0"),
        ("ratio:test=0.5", "ratio, 50 % of each user's interactions at random, seed 0"),
        ("ratio:test=0.5,per=all", "ratio, 50 % of all interactions at random, seed 0"),
        (
            "strong:test=0.5,min_interactions=2,fold_in=0.5",
            "strong, 50 % of the users held out, seed 0",
        ),
    ],
)  # fmt: skip
def test_a_split_says_how_it_was_made(path: Path, how: str, said: str) -> None:
    assert load_split(path, split=how).described == said


def test_equal_times_are_no_times(tmp_path: Path) -> None:
    file = tmp_path / "flat.csv"
    file.write_text("user,item,timestamp\na,1,0\na,2,0\na,3,0\nb,1,0\nb,2,0\n")
    assert load_split(file).settings["by"] == "random"


@pytest.mark.parametrize("name", ["part", "set", "fold", "phase"])
@pytest.mark.parametrize("marks", [("train", "test"), ("Training", "Validation")])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_column_of_marks_is_not_ignored_in_silence(
    tmp_path: Path, marks: tuple[str, str], kind: str, name: str
) -> None:
    file = tmp_path / f"marked.{kind}"
    rows = [(u, i, marks[i == u]) for u in range(6) for i in range(u, u + 4)]
    if kind == "csv":
        file.write_text(f"user,item,{name}\n" + "".join(f"{u},{i},{m}\n" for u, i, m in rows))
    else:
        pa = pytest.importorskip("pyarrow")
        pq = pytest.importorskip("pyarrow.parquet")
        users, items, parts = zip(*rows, strict=True)
        pq.write_table(pa.table({"user": users, "item": items, name: parts}), file)
    if marks[0] == "Training" or name == "phase":
        advice = rf"'{name}'.*not used.*give `columns={{'split': '{name}'}}`\.$"
        with pytest.warns(DataWarning, match=advice) as told:
            assert load_split(file).kind == "leave-one-out"
        assert len(told) == 1
    if marks[0] == "train":
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = load_split(file, columns={"split": "phase"} if name == "phase" else None)
        assert found.described == f"given, column {name}, 9 items in the data"
        assert found.test.n_interactions == 6


def test_other_texts_are_no_marks(tmp_path: Path) -> None:
    file = tmp_path / "notes.csv"
    file.write_text("user,item,mood,only\na,1,train,test\na,2,bus,test\nb,1,test,test\nb,2,,test\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_split(file)


def test_the_catalogue_is_what_occurs_or_what_is_given(tmp_path: Path) -> None:
    """Items that nobody interacted with are candidates too, but no interactions tell of them."""
    train, test = tmp_path / "train.csv", tmp_path / "test.csv"
    train.write_text("user,item\na,1\nb,2\n")
    test.write_text("user,item\na,2\nb,3\n")
    items = tmp_path / "items.txt"
    items.write_text("9\n8\n3\n2\n1\n")
    files = {"train": train, "test": test}
    found = load_split(files)
    assert found.train.n_items == 3
    assert found.described == "given, train train.csv, test test.csv, 3 items in the data"
    for given in (items, [9, 8, 3, 2, 1]):
        found = load_split(files, catalogue=given)
        assert found.train.item_ids.tolist() == [9, 8, 3, 2, 1]
        assert found.described.endswith("5 items as given")
        both = tmp_path / "both.csv"
        both.write_text("user,item\na,1\na,2\nb,3\n")
        assert load_split(both, catalogue=given).described.endswith("5 items as given, seed 0")
    with pytest.raises(InputError, match=r"`catalogue` must hold all items.*1 of 3.*: 3"):
        load_split(files, catalogue=[1, 2])
    with pytest.raises(InputError, match="`catalogue` must be omitted for a data set"):
        load_split("simulated", catalogue=items)


def test_a_catalogue_keeps_the_items_of_users_that_are_held_out(tmp_path: Path) -> None:
    """The strong split drops items that training does not have: they would come back as unseen."""
    path, items = tmp_path / "plays.csv", tmp_path / "items.csv"
    rows = [(u, i) for u in range(40) for i in (100 + u, *range(u % 5, u % 5 + 6))]
    path.write_text("user,item\n" + "".join(f"{u},{i}\n" for u, i in rows))
    every = sorted({i for _, i in rows} | {999})
    items.write_text("item\n" + "".join(f"{i}\n" for i in every))
    found = load_split(path, split="strong:test=0.5", catalogue=items)
    assert found.n_dropped == 0
    seen = {
        (u, i)
        for part in found.parts().values()
        for u, i in zip(
            part.user_ids[part.pairs()[0]].tolist(),
            part.item_ids[part.pairs()[1]].tolist(),
            strict=True,
        )
    }
    assert seen == set(rows)
    assert found.train.item_ids.tolist() == every
    with pytest.raises(InputError, match=r"`split` must have items=all .*not items=train"):
        load_split(path, split="strong:items=train", catalogue=items)


def test_errors_about_the_file_of_a_catalogue_name_it(tmp_path: Path) -> None:
    path, items = tmp_path / "plays.csv", tmp_path / "items.csv"
    path.write_text("user,item\na,1\na,2\nb,1\n")
    items.write_text(",name\n0,1\n1,2\n")
    with pytest.raises(InputError, match=r"`catalogue` must not .*row numbers: put the ids into"):
        load_split(path, catalogue=items)
    lines = tmp_path / "items.txt"
    lines.write_text("1\n\n2\n")
    with pytest.raises(InputError, match=r"`catalogue` must have an id on every line; line 2"):
        load_split(path, catalogue=lines)


def test_columns_are_named_as_the_caller_names_them(tmp_path: Path) -> None:
    odd = tmp_path / "odd.csv"
    odd.write_text("wer,was\na,1\n")
    files = {"train": odd, "test": odd}
    with pytest.raises(InputError, match=r"`columns=\{'user': 'NAME'\}`"):
        load_split(files)
    with pytest.raises(InputError, match=r"`user='NAME'`"):
        read_split(files)
