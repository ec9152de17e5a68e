"""What fuzzing found, one test for each: the input, and the sentence that it gets."""

from __future__ import annotations

import errno
import gzip
import io
import json
import os
import re
import struct
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.sparse import csr_array

from fullrank import inference, metrics, models
from fullrank._lib import checks, files, memory
from fullrank.data import Interactions, sample_users, simulate
from fullrank.data.sets import datasets, formats
from fullrank.designs import (
    Adaptive,
    Negatives,
    RankGrid,
    Uniform,
    draw_negatives,
    expected_metric,
)
from fullrank.errors import DataWarning, DownloadError, InputError, WriteError
from fullrank.ranking import rank, sample_ranks
from fullrank.samples import RankDistribution, RankSample, consistency
from fullrank.scorers import FactorScorer, ItemItemScorer, ScoreArray, as_scorer

HUGE = Uniform(10**12, replacement=True)
FIXED = {"sample_size": 10, "n_items": 50}


def says(call, *given, **named) -> str:
    """The sentence of the error of ours that a call ends with."""
    with pytest.raises(InputError) as caught:
        call(*given, **named)
    return str(caught.value)


@pytest.fixture
def small_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "limit", lambda: 8 * 2**30)


# ---- text that cannot be printed ----


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("EASE (λ = 500) 🙂", "EASE (λ = 500) 🙂"),
        ("two\nlines\t", r"two\nlines\t"),
        ("\x1b[31mred\x1b[0m", r"\x1b[31mred\x1b[0m"),
        ("\u202eback", r"\u202eback"),
        ("half \ud800", r"half \ud800"),
        ("نام\u200cها 👩\u200d💻", "نام\u200cها 👩\u200d💻"),  # joiners belong to words and emoji
        ("line\u2028separator", r"line\u2028separator"),
    ],
)
def test_printable(text: str, shown: str) -> None:
    assert checks.printable(text) == shown


def test_because_is_one_short_line() -> None:
    assert checks.because(ValueError("first\x07.\nsecond")) == r"first\x07"
    assert checks.because(ValueError()) == "ValueError"
    assert len(checks.because(ValueError("x" * 999))) == 200


def test_names_of_models_cannot_break_a_table() -> None:
    random = np.random.default_rng(0)
    given = {name: {"ndcg@10": random.random(50)} for name in ("a\nb", "\x1b[31mc", "d|e")}
    for found in (
        inference.compare(given, "ndcg@10", baseline="a\nb", rng=0),
        inference.compare(given, "ndcg@10", test="z", rng=0),
    ):
        assert found.models == (r"a\nb", r"\x1b[31mc", "d|e")
        for text in (str(found), found.to_markdown(), found._repr_html_()):
            assert all(line.isprintable() for line in text.splitlines())
    clash = {"a\n": given["d|e"], r"a\n": given["d|e"]}
    assert re.search(r"`ranks`.*distinct", says(inference.compare, clash, "ndcg@10"))


def test_what_another_library_says_is_made_printable(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_bytes(b"user,item\n1,2\n1,\x1b[31m,3\n")
    found = says(Interactions.from_csv, path)
    assert re.search(r"`path`.*r\.csv.*1,\\x1b\[31m,3", found)


# ---- numbers that are none, or too large ----


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (10**400, rf"`n`.*\b1{'0' * 56}\.\.\."),
        (np.array([3]), r"`n`.*array\(\[3\]\)"),
        (np.ma.masked, r"`n`.*\bmasked\b"),
        (np.complex128(3), r"`n`.*\bnp\.complex128\(3\+0j\)"),
    ],
)  # fmt: skip
def test_whole_numbers(value, message: str) -> None:
    assert re.search(message, says(checks.integer, "n", value))


def test_a_number_too_long_to_be_written_out() -> None:
    assert re.search(r"`n`.*this int", says(checks.integer, "n", 10**5000))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (10**400, rf"`x`.*\b1{'0' * 56}\.\.\."),
        (np.complex128(3), r"`x`.*\bnp\.complex128\(3\+0j\)"),
        (np.array([0.5, 1]), r"`x`.*array\(\[0\.5, 1\. \]\)"),
    ],
)  # fmt: skip
def test_real_numbers(value, message: str) -> None:
    assert re.search(message, says(checks.real, "x", value))


def test_vectors() -> None:
    masked = np.ma.masked_array([1, 2, 3], [True, False, False])
    assert re.search(r"`r`.*masked", says(checks.integers, "r", masked))
    ragged = r"`r`.*length"
    assert re.search(ragged, says(checks.integers, "r", [[1], [1, 2]]))
    assert checks.integers("r", np.array([1, 2], np.float16)).tolist() == [1, 2]
    assert re.search(
        r"`r`.*2 of 2.*r\[0\] = inf\b",
        says(checks.reals, "r", np.array([1, 9], np.longdouble) * np.longdouble("1e400")),
    )
    assert re.search(r"`r`.*1 of 2.*r\[1\] = 1e\+200\b", says(checks.reals, "r", [1.0, 1e200]))


def test_labels_must_be_numbers_or_text() -> None:
    assert re.search(
        r"`user`.*only numbers or only text",
        says(metrics.evaluate, [1, 2], "ndcg", n_items=9, user=np.array([1j, 2])),
    )


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 0, 1], [1, 2, 0]])
def test_counts_stay_with_their_ranks_in_any_order(order: list[int]) -> None:
    rank, count = np.array([1, 2, 5])[order], np.array([70, 20, 10])[order]
    sample = RankSample.from_counts(
        rank, count, sample_size=5, n_items=99, design="sampled:replacement=true"
    )
    assert (sample.rank.tolist(), sample.count.tolist()) == ([1, 2, 5], [70, 20, 10])
    twice = RankSample.from_counts(
        [5, 1, 5], [1, 2, 3], sample_size=5, n_items=9, design="sampled:replacement=true"
    )
    assert (twice.rank.tolist(), twice.count.tolist()) == ([1, 5], [2, 4])


def test_users_of_a_sample_are_text_that_files_can_hold() -> None:
    assert re.search(
        r"`user`.*Unicode", says(RankSample.from_ranks, [1, 2], user=["a", "\ud800"], **FIXED)
    )
    read = RankSample.from_ranks([1, 2], user=np.array([b"a", "ü".encode()]), **FIXED)
    assert read.rows.user.tolist() == ["a", "ü"]
    swapped = RankSample.from_ranks([1, 2], user=np.array([7, 8], ">i4"), **FIXED)
    assert swapped.to_arrow()["user"].to_pylist() == [7, 8]


def test_levels_that_are_ragged_or_none() -> None:
    assert re.search(r"`levels`.*length", says(Adaptive, levels=[[1], [1, 2]]))
    assert re.search(r"`levels`.*increasing.*\[\]", says(Adaptive, levels=[]))
    assert re.search(r"`sample_size`.*\[2, 3\]", says(Uniform, [2, 3]))
    assert re.search(
        r"`refine_rank`.*\barray\(\[1, 2\]\)",
        says(Adaptive, levels=[5, 9], refine_rank=np.array([1, 2])),
    )


def test_a_design_keeps_what_json_can_hold() -> None:
    design = Adaptive(replacement=np.bool_(True), levels=[5, 9], refine_rank=np.int32(2))
    assert json.dumps(design.to_dict())


def test_a_distribution_of_ragged_edges() -> None:
    content = {"format": 1, "kind": "RankDistribution", "method": "x", "edges": [[0], [0, 1]]}
    assert re.search(
        r"`edges`.*length", says(RankDistribution.from_dict, content | {"mass": [1.0]})
    )


def test_values_that_float32_cannot_hold() -> None:
    assert re.search(
        r"`value`.*1 of 1.*value\[0\] = 1e\+39\b",
        says(Interactions.from_arrays, [1], [1], value=[1e39]),
    )
    large = {"value": [3e38, 3e38], "repeats": "sum"}
    assert re.search(
        r"`value`.*float32.*\b6e\+38\b", says(Interactions.from_arrays, [1, 1], [1, 1], **large)
    )


def test_ids_that_are_ragged() -> None:
    data = Interactions.from_arrays(["a", "b"], [1, 2])
    assert re.search(r"`ids`.*text", says(data.item_rows, [[1], [1, 2]]))
    assert data.item_rows(np.array(2)).tolist() == [1]
    assert data.user_rows("b").tolist() == [1]


def test_a_metric_that_is_named_twice_counts_once() -> None:
    assert metrics.parse_all(["recall@2", "Recall@2", "ndcg"]) == metrics.parse_all("recall@2,ndcg")
    ranks = [1, 2, 3, 1]
    found = inference.estimate(
        ranks, n_items=50, design="sampled:5,replacement=true", metrics="recall@2,recall@2"
    )
    assert list(found.values) == ["recall@2"]


def test_statistics_of_absurd_numbers() -> None:
    assert re.search(
        r"`first_sd`.*\b1e\+200\b", says(inference.two_means, 0.1, 1e200, 9, 0.1, 1, 9)
    )
    assert re.search(r"`n`.*\b4\.94066e-324\b", says(inference.wilson, 0, 5e-324))
    assert re.search(
        r"`differences`.*1 of 2.*differences\[0\] = 1e\+200\b",
        says(inference.paired_test, [1e200, 0.0]),
    )
    assert inference.users_needed(0.1, spread=0.0, population=1).n_users == 1
    empty = {"a": {"ndcg": []}, "b": {"ndcg": []}}
    assert re.search(r"`ranks\['a'\]`.*empty", says(inference.compare, empty, "ndcg"))


def test_the_interval_of_a_metric_next_to_nothing() -> None:
    from fullrank.inference.estimation.uncertainty import interval

    low, high = interval(1e-300, 1e-200, 0.95)
    assert low == 0.0
    assert 1e-300 < high < 1e-190


# ---- sizes that no machine has ----


@pytest.mark.usefixtures("small_machine")
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: RankGrid.dense(10**12),
         r"`n_items`.*\b1,000,000,000,000\b.*21\.8 TiB.*8\.0 GiB"),
        (lambda: RankGrid.default(10**12, max_k=10**11),
         r"`max_k`.*\b200,000,000,000\b.*5\.8 TiB.*8\.0 GiB"),
        (lambda: RankGrid.default(2**60), r"`n_items`.*\b1152921504606846976\b"),
        (lambda: expected_metric([1], "ndcg", n_items=10**13, design=HUGE),
         r"`sample_size`.*\b1,000,000,000,000\b.*58\.2 TiB.*8\.0 GiB"),
        (lambda: consistency([1], [2], "ndcg", n_items=10**12, design="sampled:replacement=true"),
         r"`sample_sizes`.*\b1,000,000,000,000\b"),
        (lambda: Adaptive(replacement=True, levels=[5, 2**60]).possible(10**18),
         r"`levels`.*\b1,152,921,504,606,846,976\b.*32 EiB"),
        (lambda: simulate(n_users=10**6, n_items=10**6, mean_interactions=10),
         r"`n_users`.*\b1,000,000\b.*\b1,000,000\b.*\b20\b.*36\.4 TiB.*8\.0 GiB"),
        (lambda: sample_users(10**12, 3),
         r"`users`.*\b1,000,000,000,000\b.*14\.6 TiB.*8\.0 GiB"),
        (lambda: draw_negatives(([0], [1]), 9, design=HUGE),
         r"`sample_size`.*\b1\b.*\b999,999,999,999\b.*7\.3 TiB"),
        (lambda: sample_ranks(np.ones((1, 9)), ([0], [1]), design=HUGE),
         r"`sample_size`.*\b1,000,000,000,000\b"),
        (lambda: inference.paired_test([0.1, 0.2], test="bootstrap", n_resamples=10**12),
         r"`n_resamples`.*\b1,000,000,000,000\b"),
        (lambda: inference.dominance([1, 2], [2, 3], depth=10**12),
         r"`depth`.*\b1,000,000,000,000\b.*72\.8 TiB"),
    ],
)  # fmt: skip
def test_memory_is_refused_by_the_number(call, message: str) -> None:
    assert re.search(message, says(call))


@pytest.mark.usefixtures("small_machine")
def test_a_file_of_billions_of_equal_rows_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "bomb.parquet"
    table = pa.table({"user": np.zeros(200_000, np.int64), "item": np.zeros(200_000, np.int64)})
    pq.write_table(table, path)
    assert path.stat().st_size < 3000
    monkeypatch.setattr(memory, "limit", lambda: 2**20)
    assert re.search(
        rf"`path`.*\b200,000\b.*{path}.*3\.1 MiB.*1\.0 MiB", says(Interactions.from_parquet, path)
    )
    pq.write_table(table.rename_columns(["user", "negative"]), path)
    assert re.search(
        rf"`path`.*\b200,000\b.*{path}.*3\.1 MiB.*1\.0 MiB", says(Negatives.read, path)
    )


def test_a_cut_off_beyond_the_catalogue_costs_nothing() -> None:
    beyond, none = (RankGrid.for_metrics(10**9, metrics.parse_all(one)) for one in
                    ("recall@999999999999", "recall"))  # fmt: skip
    assert beyond.n_bins == none.n_bins < 500


def test_the_memory_of_this_machine() -> None:
    memory.limit.cache_clear()
    assert 2**27 < memory.limit() < 2**50
    assert [memory.shown(n) for n in (12, 2**10, 3 * 2**40, 2**70)] == [
        "12 bytes", "1.0 KiB", "3.0 TiB", "1.02e+03 EiB",
    ]  # fmt: skip


# ---- files ----


def test_an_arrow_stream_that_claims_terabytes(tmp_path: Path) -> None:
    path = tmp_path / "claims.arrow"
    table = pa.table({"user": range(1000), "item": range(1000)})
    with pa.ipc.new_stream(path, table.schema) as stream:
        stream.write_table(table)
    length = (16_000).to_bytes(8, "little")  # of both columns together
    content = path.read_bytes()
    assert content.count(length) == 1
    path.write_bytes(content.replace(length, (2**45).to_bytes(8, "little")))
    assert re.search(r"`path`.*fits in memory.*claims\.arrow", says(Interactions.read, path))


def test_a_packed_file_that_unpacks_to_too_much(tmp_path: Path) -> None:
    path = tmp_path / "bomb.csv.gz"
    path.write_bytes(gzip.compress(b"user,item\n" + b"1,2\n" * 2_000_000))
    assert re.search(r"bomb\.csv\.gz.*unpacks", says(Interactions.from_csv, path))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"user,item\n1,2\n", "Not a gzipped file (b'us')"),
        (
            gzip.compress(b"user,item\n1,2\n" * 99, mtime=0)[:-12],
            "Compressed file ended before the end-of-stream marker was reached",
        ),
    ],
    ids=["not packed", "cut short"],
)
def test_a_packed_file_that_is_damaged(content: bytes, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "x.csv.gz"
    path.write_bytes(content)
    assert re.search(rf"`path`.*x\.csv\.gz.*{re.escape(reason)}", says(Interactions.from_csv, path))


def test_columns_of_a_csv_file(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(b"user,item\n1,2\n")
    assert re.search(r"`delimiter`.*ASCII.*'é'", says(Interactions.from_csv, path, delimiter="é"))
    assert re.search(
        r"`names`.*names\[1\].*int", says(Interactions.from_csv, path, names=["user", 3])
    )
    assert re.search(r"`names`.*\b7\b", says(Interactions.from_csv, path, names=7))
    path.write_bytes(b"us\xffer,item\n1,2\n")
    assert re.search(r"`user`.*x\.csv.*'usÿer'.*user='usÿer'", says(Interactions.from_csv, path))
    path.write_bytes(b"user,item\n\xff,2\n")
    with pytest.warns(DataWarning, match=r"x\.csv.*not UTF-8.*Latin-1"):
        assert Interactions.from_csv(path).user_ids.tolist() == ["ÿ"]


def test_a_coded_column_without_any_value() -> None:
    codes = pa.DictionaryArray.from_arrays(
        pa.array([None, None], pa.int32()), pa.array([], pa.string())
    )
    frame = pa.table({"user": [1, 2], "item": [1, 2], "rating": codes})
    assert re.search(r"`value`.*\bobject\b", says(Interactions.from_frame, frame))
    coded = frame.set_column(2, "rating", pa.array([3, 3]).dictionary_encode())
    assert Interactions.from_frame(coded).values.tolist() == [3.0, 3.0]


def test_text_views_with_missing_entries() -> None:
    frame = pa.table({"user": pa.array(["a", None, "b"], pa.string_view()), "item": [1, 2, 3]})
    with pytest.warns(UserWarning, match="1 of 3 interactions"):
        assert Interactions.from_frame(frame, missing="drop").user_ids.tolist() == ["a", "b"]


def test_a_parquet_file_of_numbers_that_arrow_has_not(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"user": ["a"], "item": ["b"]}), path)
    content = path.read_bytes()
    path.write_bytes(content.replace(b"user", b"us\xffr"))
    assert re.search(rf"`path`.*Parquet.*{path}", says(Interactions.from_parquet, path))


def test_an_archive_whose_sizes_point_before_its_beginning(tmp_path: Path) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("u.data", b"1\t2\t3\t4\n")
    content = bytearray(out.getvalue())
    place = content.rindex(b"PK\x05\x06")
    content[place + 16 : place + 20] = struct.pack("<I", 2**32 - 9)  # where the directory begins
    path = tmp_path / "a.zip"
    path.write_bytes(content)
    assert re.search(r"a\.zip.*damaged", says(formats.find, path, ["u.data"]))


def test_a_film_number_that_is_none() -> None:
    for film in (b"99999999999:", "٣:".encode(), b"\xff:"):
        text = says(
            formats.FORMATS["netflix"].read, "c.txt", io.BytesIO(film + b"\n1,3,2005-09-06\n")
        )
        assert re.search(r"c\.txt.*form", text)


def test_checksums_that_were_damaged_are_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "SHA256SUMS"
    path.write_bytes(b"\xff\x00\nno\n" + b"a" * 64 + b"  old.zip\n")
    datasets.note_checksum(path, "new.zip", "b" * 64)
    assert path.read_text() == f"{'a' * 64}  old.zip\n{'b' * 64}  new.zip\n"


def test_negatives_beyond_every_row(tmp_path: Path) -> None:
    path = tmp_path / "x.test.negative"
    path.write_text(f"(0,1)\t2\t{2**32 + 5}\n")
    assert re.search(r"`items`.*\b4294967301\b", says(Negatives.read_ncf, path))
    path.write_text(f"(0,1)\t{10**30}\n")
    assert re.search(r"`path`.*\(user,item\)", says(Negatives.read_ncf, path))
    path.write_text("(0,1)\t2\n")
    assert re.search(
        r"`item_ids`.*\bint64 of shape \(2, 1\)",
        says(Negatives.read_ncf, path, item_ids=[[1], [2]]),
    )
    assert re.search(
        r"`path`.*item.*`item_ids`", says(Negatives.read_ncf, path, item_ids=["a", "b"])
    )


@pytest.mark.parametrize(
    ("columns", "metadata", "message"),
    [
        ({"user": ["a"], "negative": [1]}, None, r"`user`.*\bstring\b"),
        ({"user": [1], "negative": pa.array(["a"]).dictionary_encode()}, None,
         r"`negative`.*\bdictionary<values=string, indices=int32, ordered=0>"),
        ({"user": [1], "negative": [0.5]}, None, r"`negative`.*1 of 1.*negative\[0\] = 0\.5\b"),
        ({"user": [1], "negative": [3]}, b"{", r"`path`.*drawn.*n\.parquet"),
        ({"user": [1], "negative": [3]}, b"[" * 99999, r"`path`.*drawn.*n\.parquet"),
    ],
)  # fmt: skip
def test_negatives_in_parquet(columns, metadata, message: str, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    table = pa.table(columns)
    if metadata is not None:
        table = table.replace_schema_metadata({b"fullrank.negatives": metadata})
    pq.write_table(table, "n.parquet")
    assert re.search(message, says(Negatives.read, "n.parquet"))


@pytest.mark.parametrize(
    "header",
    [
        "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4)",  # never ends
        "{'descr': '<f8', 'fortran_order': False, 'shape': (9223372036854775807, 9), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999, 9), }",
        "{'descr': '|O', 'fortran_order': False, 'shape': (1, 1), }",  # would be unpickled
    ],
)
def test_scores_in_a_file_that_is_no_array(header: str, tmp_path: Path) -> None:
    path = tmp_path / "s.npy"
    text = header.ljust(117).encode() + b"\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + b"\0" * 96)
    assert re.search(rf"`scorer`.*\.npy.*{path}", says(as_scorer, path))


def test_factors_and_matrices_that_are_none() -> None:
    bad = np.ones((3, 2))
    bad[1, 0] = np.inf
    assert re.search(
        r'`user_factors`.*similarity="cosine".*user_factors\[1, 0\].*inf',
        says(FactorScorer, bad, np.ones((4, 2)), similarity="cosine"),
    )
    bad[1, 0] = np.nan
    scorer = FactorScorer(bad, np.ones((4, 2)))
    assert re.search(r"`scorer`.*row 1.*row 0.*NaN", says(rank, scorer, ([0, 1], [0, 0])))
    assert re.search(
        r"`item_item`.*length", says(ItemItemScorer, csr_array(np.ones((1, 2))), [[1], [1, 2]])
    )
    masked = np.ma.masked_array(np.ones((1, 2)), [[True, False]])
    assert re.search(r"`array`.*masked", says(ScoreArray, masked))


def test_a_model_with_nan_in_its_weights(tmp_path: Path) -> None:
    path = tmp_path / "m.safetensors"
    data = Interactions.from_arrays([0, 0, 1], [0, 1, 1])
    model = models.EASE(regularization=1.0).fit(data)
    model.weights_ = np.full((2, 2), np.nan, np.float32)
    model.save(path)
    assert re.search(rf"`path`.*{path}.*weights_.*NaN", says(models.load, path))


def test_a_header_that_claims_terabytes(tmp_path: Path) -> None:
    path = tmp_path / "m.safetensors"
    head = b'{"x": {"dtype": "F32", "shape": [1099511627776], "data_offsets": [0, 4398046511104]}}'
    path.write_bytes(struct.pack("<Q", len(head)) + head)
    assert re.search(rf"`path`.*{path}.*read", says(models.load, path))
    path.write_bytes(struct.pack("<Q", 2**62) + head)
    assert "cannot be read" in says(models.load, path)


# ---- writing ----


def test_paths_that_are_none(tmp_path: Path) -> None:
    for use in (files.existing, lambda path: files.replacing(path).__enter__()):
        assert re.search(r"`path`.*\bint\b", says(use, 3))
        long = tmp_path / ("x" * 300)
        assert re.search(rf"`path`.*{long}.*too long", says(use, long))
    assert re.search(
        r"`path`.*a\\x00b.*null byte", says(lambda: files.replacing("a\0b").__enter__())
    )
    assert re.search(r"`path`.*a\\nb.*exist", says(files.existing, "a\nb"))


def test_a_link_is_replaced_and_what_it_points_to_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "precious.json").write_text("precious")
    link = tmp_path / "out.json"
    link.symlink_to("precious.json")
    sample = RankSample.from_ranks([1, 2], **FIXED)
    sample.write(link)
    assert not link.is_symlink()
    assert RankSample.read(link).n_targets == 2
    assert (tmp_path / "precious.json").read_text() == "precious"
    link.unlink()
    link.symlink_to("nowhere.json")  # a link to nothing makes nothing there
    sample.write(link)
    assert sorted(os.listdir(tmp_path)) == ["out.json", "precious.json"]
    (tmp_path / "folder").mkdir()
    link.unlink()
    link.symlink_to("folder")
    assert re.search(rf"`path`.*{link}.*folder", says(sample.write, link))


def test_links_among_the_folders_are_followed(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "runs").symlink_to("disk")
    RankSample.from_ranks([1, 2], **FIXED).write(tmp_path / "runs" / "out.json")
    assert os.listdir(tmp_path / "disk") == ["out.json"]


@pytest.fixture
def full_disk(tmp_path: Path) -> Path:
    """The name of a file that cannot grow, as on a disk that is full."""
    resource = pytest.importorskip("resource")
    import signal

    # a write beyond the limit gives EFBIG, and a signal that would end the process
    before, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.getsignal(signal.SIGXFSZ)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
    yield tmp_path / "out"
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    signal.signal(signal.SIGXFSZ, handler)


def test_a_model_on_a_full_disk(full_disk: Path) -> None:
    model = models.EASE(regularization=1.0).fit(Interactions.from_arrays(range(99), range(99)))
    path = full_disk.with_suffix(".safetensors")
    with pytest.raises(WriteError) as caught:
        model.save(path)
    assert re.search(rf"{path}.*File too large", str(caught.value))
    assert os.listdir(path.parent) == []


@pytest.mark.parametrize("suffix", [".json", ".parquet"])
def test_a_sample_on_a_full_disk(suffix: str, full_disk: Path) -> None:
    path = full_disk.with_suffix(suffix)
    ranks = np.random.default_rng(0).integers(1, 1000, 9999)
    sample = RankSample.from_ranks(
        ranks, sample_size=1000, n_items=5000, design="sampled:replacement=true"
    )
    with pytest.raises(WriteError) as caught:
        sample.write(path)
    assert re.search(rf"{path}.*File too large", str(caught.value))
    assert os.listdir(path.parent) == []


def test_the_file_that_was_there_stays_when_the_disk_is_full(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    path.write_text("old")

    def fill() -> None:
        with files.replacing(path) as temporary:
            temporary.write_text("half")
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(temporary))

    with pytest.raises(WriteError) as caught:
        fill()
    assert re.search(rf"{path}.*No space left on device", str(caught.value))
    assert isinstance(caught.value, OSError)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["kept"]


def test_an_error_of_ours_passes_a_writer_unchanged(tmp_path: Path) -> None:
    with pytest.raises(DownloadError, match=r"^gone$"), files.replacing(tmp_path / "x"):
        raise DownloadError("gone")


def test_a_checksum_that_cannot_be_noted(full_disk: Path) -> None:
    with pytest.raises(WriteError) as caught:
        datasets.note_checksum(full_disk, "x" * 5000, "0" * 64)
    assert re.search(rf"{full_disk}.*File too large", str(caught.value))
