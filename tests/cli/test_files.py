"""Files that people have: every format, wide files, seeds, two files; and ninety that are wrong."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fullrank as fr
from fullrank.data import Interactions, read_split
from fullrank.errors import DataWarning, InputError
from fullrank.inference import compare, estimate
from fullrank.inference.estimation.influence import pseudo_values
from fullrank.samples import RankSample, Seeds, read_ranks, simulate
from tests.cli.wrong_files import WRONG, typed

pa = pytest.importorskip("pyarrow")

N, SIZE = 2_000, 50
SIZES = ("--sample-size", SIZE, "--n-items", N)
TRUE = np.random.default_rng(0).integers(1, 45, 400) ** 2


# ---- what is wrong ----


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_file_is_answered_with_what_to_do(
    fullrank: Any, tmp_path: Path, name: str, capsys: Any
) -> None:
    wrong = WRONG[name]
    done = fullrank(*typed(wrong, tmp_path))
    with capsys.disabled():
        if "-s" in sys.argv:
            sys.stdout.write(f"{name:<40} {done.err.strip()}\n")
    assert (done.code, done.out) == (2, "")
    assert done.err.count("\n") == 1
    assert re.search(wrong.says, done.err), done.err
    for word in re.findall(r"`([^`]*)`", done.err):  # options and places, never arguments
        assert word.startswith("--") or word.isupper(), done.err
    assert {one.name for one in tmp_path.iterdir()} == {wrong.name, *wrong.beside}


def test_there_are_ninety_and_more() -> None:
    assert len(WRONG) >= 90


# ---- formats ----


@pytest.fixture(scope="module")
def ranks() -> list[int]:
    rows = simulate(TRUE, n_items=N, design=f"sampled:{SIZE}", rng=0).rows
    assert rows is not None
    return [int(one) for one in rows.rank]


def _text(ranks: list[int], sign: str, quoted: bool = False) -> bytes:
    mark = '"' if quoted else ""
    lines = [("User-ID", "Rank"), *((f"u{u}", r) for u, r in enumerate(ranks))]
    rows = [sign.join(f"{mark}{one}{mark}" for one in line) for line in lines]
    return ("\n".join(rows) + "\n").encode()


def _zst(raw: bytes) -> bytes:
    return bytes(pa.compress(raw, codec="zstd", asbytes=True))


def _stored(ranks: list[int], folder: Path, name: str) -> Path:
    import pyarrow.feather
    import pyarrow.parquet as pq

    path, users = folder / name, [f"u{u}" for u in range(len(ranks))]
    table = pa.table({"user": users, "rank": ranks})
    records = [{"user": u, "rank": r} for u, r in zip(users, ranks, strict=True)]
    plain = _text(ranks, ",")
    made: dict[str, Any] = {
        "comma.csv": lambda: plain,
        "semicolon.csv": lambda: _text(ranks, ";", quoted=True),
        "tab.csv": lambda: _text(ranks, "\t"),
        "tab.tsv": lambda: _text(ranks, "\t"),
        "bar.txt": lambda: _text(ranks, "|"),
        "bom.csv": lambda: b"\xef\xbb\xbf" + plain,
        "crlf.csv": lambda: plain.replace(b"\n", b"\r\n"),
        "latin.csv": lambda: plain.replace(b"User-ID", b"User-ID,k\xfchl").replace(b",", b",x,"),
        "packed.csv.gz": lambda: gzip.compress(plain),
        "packed.csv.bz2": lambda: bz2.compress(plain),
        "packed.csv.xz": lambda: lzma.compress(plain),
        "packed.csv.zst": lambda: _zst(plain),
        "lines.jsonl": lambda: "\n".join(map(json.dumps, records)).encode(),
        "lines.jsonl.gz": lambda: gzip.compress("\n".join(map(json.dumps, records)).encode()),
        "records.json": lambda: json.dumps(records).encode(),
        "columns.json": lambda: json.dumps({"user": users, "rank": ranks}).encode(),
        "pandas.json": lambda: json.dumps({"rank": dict(enumerate(ranks))}).encode(),
    }
    if name in made:
        path.write_bytes(made[name]())
    elif path.suffix == ".parquet":
        pq.write_table(table, path)
    elif path.suffix == ".feather":
        pyarrow.feather.write_feather(table, path)
    elif path.suffix == ".arrow":
        with pa.ipc.new_stream(path, table.schema) as stream:
            stream.write_table(table)
    else:
        np.save(path, np.array(ranks, np.int32))
    return path


FORMATS = (
    "comma.csv", "semicolon.csv", "tab.csv", "tab.tsv", "bar.txt", "bom.csv", "crlf.csv",
    "packed.csv.gz", "packed.csv.bz2", "packed.csv.xz", "packed.csv.zst", "lines.jsonl",
    "lines.jsonl.gz", "records.json", "columns.json", "pandas.json", "table.parquet",
    "table.feather", "stream.arrow", "array.npy",
)  # fmt: skip


def opens_of(path: Path, call: Any) -> int:
    """How often a call opens a file."""
    seen: list[str] = []
    watching = True

    def hook(event: str, args: Any) -> None:
        if watching and event == "open" and str(args[0]) == str(path):
            seen.append(event)

    sys.addaudithook(hook)  # for good: there is no way to remove one
    try:
        call()
    finally:
        watching = False
    return len(seen)


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_gives_the_same_and_is_opened_once(
    fullrank: Any, tmp_path: Path, ranks: list[int], name: str
) -> None:
    path = _stored(ranks, tmp_path, name)
    found = read_ranks(path, sample_size=SIZE, n_items=N)
    (sample,) = found.values()
    assert sample.rows.rank.tolist() == ranks
    if name not in ("array.npy", "pandas.json"):
        assert sample.rows.user.tolist()[:3] == ["u0", "u1", "u2"]
    assert opens_of(path, lambda: RankSample.read(path, sample_size=SIZE, n_items=N)) == 1
    done = []
    words = ("estimate", path, *SIZES, "-m", "recall@50", "--json")
    assert opens_of(path, lambda: done.append(fullrank(*words))) == 1
    expected = estimate(sample.without_rows(), metrics="recall@50")
    assert json.loads(done[0].out)["metrics"][0]["estimate"] == expected["recall@50"]


def test_text_that_is_not_utf8(fullrank: Any, tmp_path: Path) -> None:
    path = tmp_path / "latin.csv"
    path.write_bytes("user,rank\nzoë,3\nann,5\n".encode("latin-1"))
    found = read_ranks(path, sample_size=10, n_items=50)
    assert found["latin"].rows.user.tolist() == ["zoë", "ann"]
    assert found.notes[0] == "latin.csv is not UTF-8 and was read as Latin-1."
    named = read_ranks(path, sample_size=10, n_items=50, encoding="latin-1")
    assert named.notes == (
        "Sampling without replacement is assumed. If an item could be drawn twice, give "
        '`design="sampled:replacement=true"`.',
    )
    done = fullrank("estimate", path, "--sample-size", 10, "--n-items", 50)
    assert "read as Latin-1." in done.out
    late = tmp_path / "late.csv"
    late.write_bytes(b"user,rank\n" + b"ann,3\n" * 20_000 + b"zo\xeb,3\n")
    words = ("estimate", late, "--sample-size", 10, "--n-items", 50, "--column", "user=user")
    assert re.search(r"`--encoding` must be given, such as latin-1", fullrank(*words).err)


def test_a_file_whose_rows_are_needed_is_opened_once_too(tmp_path: Path) -> None:
    path = tmp_path / "weights.csv"
    path.write_text("rank,weight\n1,1\n2,3\n")
    how = {"sample_size": 10, "n_items": 50, "rows": None}
    assert opens_of(path, lambda: read_ranks(path, **how)) == 1
    assert read_ranks(path, **how)["weights"].rows is not None


# ---- frames ----


def _frames(columns: dict[str, Any]) -> list[Any]:
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    return [pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns)]


def test_a_frame_is_a_sample(ranks: list[int]) -> None:
    users = [f"u{u}" for u in range(len(ranks))]
    for frame in _frames({"userId": users, "rank": ranks}):
        sample = RankSample.from_frame(frame, n_items=N, design=f"sampled:{SIZE}")
        assert sample.rows is not None
        assert sample.rows.user is not None
        assert sample.rows.user.tolist() == users
        found = fr.estimate(frame, metrics="recall@50", n_items=N, sample_size=SIZE)
        assert found["recall@50"] == estimate(sample, metrics="recall@50")["recall@50"]
    for frame in _frames({"rank": ranks, "model": ["a", "b"] * (len(ranks) // 2)}):
        several = fr.estimate(frame, metrics="recall@50", n_items=N, sample_size=SIZE)
        assert list(several) == ["a", "b"]


def test_dates_that_are_text(tmp_path: Path) -> None:
    columns = {"user": [1, 1], "item": [2, 3], "date": ["2024-01-01", "2024-01-02"]}
    path = tmp_path / "plays.csv"
    path.write_text("user,item,date\n1,2,2024-01-01\n1,3,2024-01-02\n")
    from_csv = Interactions.from_csv(path).timestamps
    for frame in _frames(columns):
        assert np.array_equal(Interactions.from_frame(frame).timestamps, from_csv)  # type: ignore[arg-type]
    for frame in _frames(columns | {"date": ["soon", "late"]}):
        with pytest.warns(DataWarning, match=r"not a date.*'soon'"):
            assert Interactions.from_frame(frame).timestamps is None


# ---- one column per model ----


def test_a_wide_file(fullrank: Any, tmp_path: Path) -> None:
    wide, long = tmp_path / "wide.csv", tmp_path / "long.csv"
    wide.write_text("user,pop,svd\na,1,4\nb,7,2\nc,3,3\n")
    long.write_text("user,model,rank\na,pop,1\nb,pop,7\nc,pop,3\na,svd,4\nb,svd,2\nc,svd,3\n")
    how = {"sample_size": 10, "n_items": 50}
    inferred, said = read_ranks(wide, **how), read_ranks(long, **how)  # type: ignore[arg-type]
    for rows in (True, None):
        told = read_ranks(wide, columns={"rank": ["pop", "svd"]}, rows=rows, **how)  # type: ignore[arg-type]
        assert told.notes == said.notes
        assert list(told) == list(inferred) == list(said) == ["pop", "svd"]
        for name, sample in told.items():
            assert np.array_equal(sample.rank, said[name].rank)
            assert np.array_equal(sample.count, said[name].count)
    assert inferred.notes[0] == "The file has one column of ranks per model: pop, svd."
    words = ("--sample-size", 10, "--n-items", 50, "-m", "recall@5", "--json")
    one = json.loads(fullrank("estimate", wide, *words).out)
    two = json.loads(fullrank("estimate", wide, *words, "--column", "rank=pop,svd").out)
    three = json.loads(fullrank("estimate", long, *words).out)
    assert one["models"] == two["models"] == three["models"]
    alone = json.loads(fullrank("estimate", wide, *words, "--model", "svd").out)
    assert alone["model"] == "svd"


# ---- several seeds ----


def _three_seeds(path: Path, better: float = 1.0) -> Path:
    lines = ["user,item,seed,rank"]
    for seed in (1, 2, 10):
        noise = np.random.default_rng(seed).normal(0, 0.3, TRUE.size)
        true = np.clip(TRUE * np.exp(noise) / better, 1, N).astype(int)
        rows = simulate(true, n_items=N, design=f"sampled:{SIZE}", rng=seed).rows
        assert rows is not None
        lines += [f"u{u},i{u},{seed},{r}" for u, r in enumerate(rows.rank)]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_seeds_are_averaged_within_users(fullrank: Any, tmp_path: Path) -> None:
    """Against a computation by hand: seed by seed, then user by user."""
    path, metrics = _three_seeds(tmp_path / "svd.csv"), ["recall@50", "ndcg@100"]
    seeds = read_ranks(path, sample_size=SIZE, n_items=N)["svd"]
    assert isinstance(seeds, Seeds)
    assert list(seeds.samples) == ["1", "2", "10"]
    found = estimate(seeds, metrics=metrics)
    each = [estimate(one, metrics=metrics) for one in seeds.samples.values()]
    pseudo = [pseudo_values(one, metrics) for one in seeds.samples.values()]
    users = np.zeros((TRUE.size, 2))
    for u, name in enumerate(f"u{u}" for u in range(TRUE.size)):
        users[u] = np.mean([one.values[one.user.tolist().index(name)] for one in pseudo], axis=0)
    for place, name in enumerate(metrics):
        values = [one[name] for one in each]
        assert found[name] == pytest.approx(np.mean(values))
        assert found.seeds[name] == pytest.approx(np.std(values, ddof=1))
        error = users[:, place].std() / np.sqrt(TRUE.size)
        bias = np.mean([np.sqrt(np.asarray(one.bias_square)[place]) for one in pseudo])
        assert found.standard_error[name] == pytest.approx(np.hypot(error, bias))
        assert found.confidence_interval[name].low < found[name]
    assert found.n_users == TRUE.size
    done = fullrank("estimate", path, *SIZES, "-m", ",".join(metrics))
    assert "Values are averaged over 3 seeds (1, 2, 10) within users. The standard" in done.out
    content = json.loads(fullrank("estimate", path, *SIZES, "-m", metrics[0], "--json").out)
    assert content["metrics"][0]["sd_over_seeds"] == pytest.approx(found.seeds[metrics[0]])


def test_copies_of_a_seed_are_no_further_users(tmp_path: Path) -> None:
    """Three copies of one run leave the interval as wide as it was, and have no spread."""
    path = _three_seeds(tmp_path / "svd.csv")
    one = read_ranks(path, sample_size=SIZE, n_items=N)["svd"].samples["1"]
    copies = estimate(Seeds({"1": one, "2": one, "3": one}), metrics="recall@50")
    alone = estimate(one, metrics="recall@50")
    assert copies["recall@50"] == pytest.approx(alone["recall@50"])
    for got, wanted in zip(
        copies.confidence_interval["recall@50"], alone.confidence_interval["recall@50"],
        strict=True,
    ):  # fmt: skip
        assert got == pytest.approx(wanted, rel=1e-6)
    assert copies.seeds["recall@50"] == pytest.approx(0.0, abs=1e-12)
    assert estimate(
        Seeds({"1": one, "2": one}), metrics="recall@50", interval_for="users"
    ).standard_error["recall@50"] == pytest.approx(
        estimate(one, metrics="recall@50", interval_for="users").standard_error["recall@50"]
    )


def test_seeds_are_compared_user_by_user(fullrank: Any, tmp_path: Path) -> None:
    old, new = _three_seeds(tmp_path / "old.csv"), _three_seeds(tmp_path / "new.csv", better=2.0)
    how = {"sample_size": SIZE, "n_items": N}
    samples = {
        "old": read_ranks(old, **how)["old"],  # type: ignore[arg-type]
        "new": read_ranks(new, **how)["new"].samples["1"],  # type: ignore[arg-type]
    }
    found = compare(samples, "recall@50", rng=0)
    values = [
        pseudo_values(one, "recall@50").values[:, 0] for one in samples["old"].samples.values()
    ]
    other = pseudo_values(samples["new"], "recall@50").values[:, 0]
    assert found.differences[0].estimate == pytest.approx((np.mean(values, axis=0) - other).mean())
    assert any("old: values are averaged over 3 seeds within users" in note for note in found.notes)
    done = fullrank("compare", old, new, *SIZES, "-m", "recall@50")
    assert done.code == 0, done.err
    assert "400 users in common" in done.out
    assert "new: values are averaged over 3 seeds" in done.out


def test_seeds_that_are_not_of_the_same_users(tmp_path: Path) -> None:
    path = tmp_path / "gap.csv"
    path.write_text("user,seed,rank\na,1,3\nb,1,4\na,2,5\nc,2,1\n")
    found = read_ranks(path, sample_size=10, n_items=50)
    assert found.notes[0].startswith("2 of 3 users do not have the same items in every seed")
    assert found["gap"].first.n_targets == 1
    path.write_text("seed,rank\n1,3\n1,4\n2,5\n2,1\n")
    with pytest.raises(InputError, match=r"`user`.*several seeds"):
        read_ranks(path, sample_size=10, n_items=50)
    path.write_text("user,run,rank\na,1,3\na,2,5\n")
    read = read_ranks(path, sample_size=10, n_items=50, columns={"seed": "run"})
    assert isinstance(read["gap"], Seeds)


def test_other_commands_take_seeds_one_by_one(fullrank: Any, tmp_path: Path) -> None:
    path = _three_seeds(tmp_path / "svd.csv")
    content = json.loads(fullrank("bounds", path, *SIZES, "-m", "recall@50", "--json").out)
    assert [one["model"] for one in content["models"]] == [
        "svd, seed 1", "svd, seed 2", "svd, seed 10"
    ]  # fmt: skip


# ---- interactions ----

BOOKS = (
    '"User-ID";"ISBN";"Book-Rating"\n"276725";"034545104X";"0"\n"276726";"0155061224";"5"\n'
    '"276727";"0446520802";"0"\n"276727";"034545104X";"3"\n"276726";"3257224281é";"6"\n'
)


def test_the_format_of_book_crossing(fullrank: Any, tmp_path: Path) -> None:
    path = tmp_path / "BX-Book-Ratings.csv"
    path.write_bytes(BOOKS.encode("latin-1"))
    with pytest.warns(DataWarning, match="read as Latin-1"):
        data = Interactions.read(path)
    assert data.user_ids.tolist() == [276725, 276726, 276727]
    assert data.item_ids.tolist() == ["0155061224", "034545104X", "0446520802", "3257224281é"]
    assert data.values is not None
    assert data.values.tolist() == [0, 5, 6, 3, 0]
    same = Interactions.from_csv(path, encoding="latin-1")
    assert same.item_ids.tolist() == data.item_ids.tolist()
    done = fullrank("evaluate", path, "--model", "popularity", "--encoding", "latin-1")
    assert done.code == 0, done.err
    assert "Split: leave-one-out" in done.out


def test_train_and_test_in_two_files(fullrank: Any, tmp_path: Path) -> None:
    train, test = tmp_path / "train.csv", tmp_path / "test.csv"
    marked = tmp_path / "marked.csv"
    rows = [(u, i) for u in range(12) for i in range(u, u + 4)]
    learned = [f"{u},{i}" for u, i in rows if (u + i) % 4]
    held = [f"{u},{i}" for u, i in rows if (u + i) % 4 == 0]
    train.write_text("user,item\n" + "\n".join(learned) + "\n")
    test.write_text("user,item\n" + "\n".join(held) + "\n")
    marked.write_text(
        "user,item,part\n" + "".join(f"{one},train\n" for one in learned)
        + "".join(f"{one},test\n" for one in held)
    )  # fmt: skip
    words = ("--model", "popularity", "-m", "recall@3")
    two = fullrank("evaluate", "--train", train, "--test", test, *words)
    assert two.code == 0, two.err
    assert "Split: given, train train.csv, test test.csv, 15 items in the data" in two.out
    items = tmp_path / "items.txt"
    items.write_text("".join(f"{i}\n" for i in range(40)))
    all_items = fullrank("evaluate", "--train", train, "--test", test, *words, "--catalogue", items)
    assert "40 items as given" in all_items.out
    again = fullrank("evaluate", "--train", train, "--test", test, *words, "--catalogue", train)
    assert (again.code, again.out) == (2, "")
    assert re.match(r"`--catalogue` of .*train\.csv must hold each id once", again.err)
    one = fullrank("evaluate", marked, *words)
    assert "Split: given, column part" in one.out
    assert re.findall(r"0\.\d{4}", one.out) == re.findall(r"0\.\d{4}", two.out)
    assert opens_of(train, lambda: read_split({"train": train, "test": test})) == 1
    assert opens_of(marked, lambda: fullrank("evaluate", marked, *words)) == 1


@pytest.mark.filterwarnings("always:The column 'phase'")
def test_a_column_of_marks_is_named_as_an_option(fullrank: Any, tmp_path: Path) -> None:
    marked = tmp_path / "marked.csv"
    rows = "".join(f"{u},{i},{'test' if i == u else 'train'}\n" for u in range(9) for i in range(9))
    marked.write_text(f"user,item,phase\n{rows}")
    done = fullrank("evaluate", marked, "--model", "popularity", "--design", "exact")
    assert "To use it, give `--column split=phase`.\n" in done.err


def test_ids_of_two_files_meet(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    train, test = tmp_path / "train.csv", tmp_path / "test.csv"
    train.write_text("user,item\n1,7\n2,8\n")
    test.write_text("user,item\n1,007\n")
    with pytest.warns(DataWarning, match=r"training part lacks 1 of 1 items of the test"):
        split = read_split({"train": train, "test": test})
    assert split.train.item_ids.tolist() == ["007", "7", "8"]
    typed_ = tmp_path / "test.parquet"
    pq.write_table(pa.table({"user": [1], "item": ["8"]}), typed_)
    assert read_split({"train": train, "test": typed_}).test.item_ids.tolist() == ["7", "8"]
    strict = tmp_path / "train.parquet"
    pq.write_table(pa.table({"user": [1], "item": [7]}), strict)
    with pytest.raises(
        InputError, match=r"`item`.*numbers in .*train.parquet.*text in .*test\.csv"
    ):
        read_split({"train": strict, "test": test})
    with pytest.raises(InputError, match=r"`source`.*'train'.*'test'"):
        read_split({"train": train})


def test_numbers_as_people_type_them(fullrank: Any, tmp_path: Path) -> None:
    path = tmp_path / "ranks.csv"
    path.write_text("rank\n3\n5\n")
    for text in ("1e4", "1E+4", "10_000", "10,000", "1.0e4"):
        done = fullrank("estimate", path, "--sample-size", 10, "--n-items", text, "--json")
        assert json.loads(done.out)["n_items"] == 10_000


# ---- scored candidates ----

SCORES = {"a": {"x": 0.9, "y": 0.8, "z": 0.1}, "b": {"x": 0.2, "y": 0.7, "w": 0.3}}
TARGETS = {"a": "y", "b": "x"}  # ranks 2 and 3 of 3


def _scored(folder: Path) -> dict[str, tuple[Any, ...]]:
    """The same candidates and targets as people write them, and what is typed."""
    rows = [(u, i, s, int(TARGETS[u] == i)) for u, one in SCORES.items() for i, s in one.items()]
    run = "".join(f"{u} Q0 {i} 1 {s} sys\n" for u, i, s, _ in rows)
    qrels = "".join(f"{u} 0 {i} 1\n" for u, i in TARGETS.items())
    others = {u: [i for i in one if i != TARGETS[u]] for u, one in SCORES.items()}
    negative = "".join("\t".join([f"({u},{TARGETS[u]})", *others[u]]) + "\n" for u in others)
    labelled = "".join(f"{u},{i},{s},{hit}\n" for u, i, s, hit in rows)
    texts = {
        "run.trec": run,
        "run.trec.gz": run,
        "qrels.txt": qrels,
        "qrels.gz": qrels,
        "ncf.test.negative": negative,
        "ncf.test.negative.gz": negative,
        "ncf.test.rating": "".join(f"{u}\t{i}\t5\t1\n" for u, i in TARGETS.items()),
        "targets.inter": "user_id:token\titem_id:token\n"
        + "".join(f"{u}\t{i}\n" for u, i in TARGETS.items()),
        "labelled.csv": "user,item,score,label\n" + labelled,
        "named.csv": "who,what,logit,hit\n" + labelled,
        "scores.csv": "user,item,score\n" + "".join(f"{u},{i},{s}\n" for u, i, s, _ in rows),
    }
    for name, text in texts.items():
        raw = text.encode()
        (folder / name).write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
    columns = "user=who", "item=what", "score=logit", "label=hit"
    named = [word for one in columns for word in ("--column", one)]
    return {
        "a run": ("run.trec", "--qrels", "qrels.txt"),
        "a packed run": ("run.trec.gz", "--qrels", "qrels.gz"),
        "NCF's negatives": ("scores.csv", "--truth", "ncf.test.negative"),
        "packed negatives": ("scores.csv", "--truth", "ncf.test.negative.gz"),
        "NCF's ratings": ("scores.csv", "--truth", "ncf.test.rating"),
        "RecBole's targets": ("run.trec", "--truth", "targets.inter"),
        "labels": ("labelled.csv",),
        "labels by other names": ("named.csv", *named),
    }


@pytest.mark.parametrize("name", [
    "a run", "a packed run", "NCF's negatives", "packed negatives", "NCF's ratings",
    "RecBole's targets", "labels", "labels by other names",
])  # fmt: skip
def test_scored_candidates_are_ranked(fullrank: Any, tmp_path: Path, name: str) -> None:
    words = _scored(tmp_path)[name]
    paths = [tmp_path / one for one in words if "." in one]
    typed_ = [tmp_path / one if "." in one else one for one in words]
    done: list[Any] = []
    ask = ("--n-items", 50, "-m", "recall@2", "-m", "recall@1", "-m", "rr", "--json")
    opens = opens_of(paths[0], lambda: done.append(fullrank("estimate", *typed_, *ask)))
    assert done[0].code == 0, done[0].err
    naive = [one["naive"] for one in json.loads(done[0].out)["metrics"]]
    assert naive == pytest.approx([1 / 2, 0, (1 / 2 + 1 / 3) / 2])
    assert opens == 1
    for other in paths[1:]:
        assert opens_of(other, lambda: fullrank("estimate", *typed_, *ask)) == 1


# ---- ids of several files ----


def test_ids_of_text_files_meet_when_models_are_compared(fullrank: Any, tmp_path: Path) -> None:
    """All ids of one file are whole numbers, one of the other's is not: both are text."""
    one, two = tmp_path / "one.csv", tmp_path / "two.csv"
    one.write_text("user,rank\n1,3\n2,4\n3,5\n")
    two.write_text("user,rank\nann,9\n3,1\n2,1\n1,8\n")
    ask = (*SIZES, "-m", "recall@4", "--method", "naive")
    done = fullrank("compare", one, two, *ask, "--json")
    assert done.code == 0, done.err
    content = json.loads(done.out)
    assert content["paired"] is True
    (difference,) = content["differences"]
    sign = 1 if difference["first"] == "one" else -1
    assert sign * difference["estimate"] == pytest.approx((1 - 0 + 1 - 1 + 0 - 1) / 3)
    assert opens_of(one, lambda: fullrank("compare", one, two, *ask)) == 1
    seeds = tmp_path / "seeds.csv"
    seeds.write_text("user,seed,rank\n1,1,3\n2,1,4\n3,1,5\n1,2,3\n2,2,4\n3,2,5\n")
    again = fullrank("compare", seeds, two, *SIZES, "-m", "recall@4")
    assert again.code == 0, again.err
    assert "3 users in common" in again.out
    naive = fullrank("compare", seeds, two, *ask)
    assert '`--method` must not be "naive" for a model with several seeds' in naive.err


def test_users_that_the_train_part_lacks(tmp_path: Path) -> None:
    train, test = tmp_path / "train.csv", tmp_path / "test.csv"
    train.write_text("user,item\n1,7\n2,8\n")
    test.write_text("user,item\n1,8\n3,7\n")
    with pytest.warns(DataWarning, match=r"training part lacks 1 of 2 users of the test"):
        read_split({"train": train, "test": test})


def test_the_ids_of_book_crossing_find_their_factors(fullrank: Any, tmp_path: Path) -> None:
    """Two quoted Latin-1 files, factors in another order: the same as numpy."""
    rng = np.random.default_rng(0)
    users = [f"zoë {u}" for u in range(30)]
    items = [f"{i:09d}X" for i in range(40)]
    rows = {u: rng.choice(40, 6, replace=False) for u in range(30)}
    for name, part in {"train": slice(2, 6), "test": slice(0, 2)}.items():
        lines = ['"User-ID";"ISBN";"Book-Rating"']
        lines += [f'"{users[u]}";"{items[i]}";"5"' for u in rows for i in rows[u][part]]
        (tmp_path / f"{name}.csv").write_bytes("\n".join(lines).encode("latin-1"))
    left, right = rng.normal(size=(30, 3)), rng.normal(size=(40, 3))
    scores = left @ right.T
    mixed, turned = rng.permutation(30), rng.permutation(40)
    np.save(tmp_path / "u.npy", left[mixed])
    np.save(tmp_path / "i.npy", right[turned])
    (tmp_path / "u.txt").write_text("\n".join(users[u] for u in mixed), encoding="utf-8")
    (tmp_path / "i.txt").write_text("\n".join(items[i] for i in turned), encoding="utf-8")
    # a target is ranked among what the user has not seen, the other target included
    expected = []
    for u in rows:
        others = np.setdiff1d(np.arange(40), rows[u][2:])
        expected.append(
            np.mean([(scores[u, others] > scores[u, i]).sum() < 5 for i in rows[u][:2]])
        )
    done = fullrank(
        "evaluate", "--train", tmp_path / "train.csv", "--test", tmp_path / "test.csv",
        "--factors", f"mine={tmp_path / 'u.npy'},{tmp_path / 'i.npy'}",
        "--user-ids", tmp_path / "u.txt", "--item-ids", tmp_path / "i.txt",
        "-m", "recall@5", "--json", "--encoding", "latin-1",
    )  # fmt: skip
    assert done.code == 0, done.err
    (model,) = json.loads(done.out)["models"]
    assert model["metrics"][0]["estimate"] == pytest.approx(float(np.mean(expected)))


# ---- a column of ranks per model ----


def test_exact_ranks_of_several_models_side_by_side(fullrank: Any, tmp_path: Path) -> None:
    wide = tmp_path / "wide.csv"
    wide.write_text("user,ease,pop\n1,1,30\n2,2,20\n3,50,1\n")
    done = fullrank("compare", wide, "--n-items", 50, "--design", "exact", "-m", "recall@2")
    assert done.code == 0, done.err
    assert "0.6667" in done.out
    assert "0.3333" in done.out
    done = fullrank("compare", wide, "--n-items", 40, "--design", "exact", "-m", "recall@2")
    assert done.code == 2
    assert re.search(r"rank.*at most the number of items.*line 4.*'ease'", done.err), done.err


def test_a_column_of_items_beside_ranks_of_several_models(fullrank: Any, tmp_path: Path) -> None:
    wide = tmp_path / "wide.csv"
    wide.write_text("user,item,ease,pop\n1,x,1,3\n2,y,4,2\n3,x,2,1\n")
    for command in ("estimate", "bounds"):
        done = fullrank(command, wide, *SIZES)
        assert done.code == 0, done.err
