"""Everything that reads bytes: files of samples, interactions, negatives, models and scores."""

from __future__ import annotations

import functools
import gzip
import io
import json
import random
import struct
import tarfile
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from harness import folder, target, written
from mutation import NAMES, NUMBERS, anything, mutated, spoiled, spoiled_array

from fullrank import models
from fullrank.data import Interactions, read_split
from fullrank.data.sets import datasets, formats
from fullrank.designs import Negatives, draw_negatives
from fullrank.ranking import rank
from fullrank.samples import (
    ExactRanks,
    RankDistribution,
    RankSample,
    read_ranks,
    sample_files,
    simulate,
)
from fullrank.scorers import as_scorer

Seeds = list[bytes]


def _some(source: random.Random, seeds: Seeds) -> bytes:
    """A seed, changed nine times out of ten."""
    one = source.choice(seeds)
    return one if source.random() < 0.1 else mutated(source, one, seeds)


def _bytes_of(write: Callable[[Path], Any], name: str) -> bytes:
    path = folder() / name
    write(path)
    return path.read_bytes()


# ---- samples ----


@functools.cache
def _samples() -> list[RankSample | ExactRanks]:
    fixed = {"sample_size": 10, "n_items": 50}
    return [
        RankSample.from_ranks([1, 3, 1, 10], **fixed),
        RankSample.from_ranks([1, 3, 2], **fixed, user=["a", "b", "ü"], weight=[1, 2, 0.5]),
        RankSample.from_counts([1, 2, 5], [7, 2, 1], n_items=99,
                               design="sampled:5,replacement=true"),
        simulate([1, 50, 90], n_items=99, design="adaptive:levels=5/10/20", rng=0, user=[3, 4, 5]),
        RankSample.from_ranks([1, 2, 2], sample_size=4, n_items=30, user=[1, 1, 2],
                              n_targets=[2, 2, 1], offset=[0, 1, 0]),
        RankSample.from_ranks([1, 2], sample_size=4, n_items=[30, 20]),
        ExactRanks.from_ranks([1, np.nan, 3.5], n_items=50, max_rank=10, user=["a", "b", "ü"]),
        ExactRanks.from_ranks([2, np.nan, 4], n_items=30, max_rank=5, user=[1, 1, 2],
                              n_targets=[2, 2, 1], offset=[0, 1, 0]),
    ]  # fmt: skip


@functools.cache
def _json_texts() -> Seeds:
    return [sample_files.to_json(one).encode() for one in _samples()]


@functools.cache
def _sample_parquets() -> Seeds:
    foreign = pa.table({"user": ["a", "b"], "rank": [1, 4], "model": ["m", "n"]})
    ours = [_bytes_of(one.write, "seed.parquet") for one in _samples()]
    plain = _bytes_of(lambda path: pq.write_table(foreign, path), "seed.parquet")
    return [*ours, plain, _bytes_of(
        lambda path: pq.write_table(foreign, path, compression="none"), "seed.parquet"
    )]  # fmt: skip


_CSV = [
    b"rank\n1\n3\n10\n",
    b"user,rank,weight\na,1,1\nb,4,0.5\nc,2,2\n",
    b"rank,sample_size,n_items\n1,10,50\n2,10,50\n",
    b"model,user,rank\nm,1,1\nn,1,2\nm,2,9\nn,2,3\n",
    b"user,rank,n_targets,offset\n1,1,2,0\n1,2,2,1\n2,5,1,0\n",
    b"user,rank,more_than\na,1,\nb,,5\nc,2.5,\n",
    b'"user","rank"\r\n"a, b",3\r\n"c ""d""",1\r\n',
]


def _settings(source: random.Random) -> dict[str, Any]:
    named: dict[str, Any] = {"design": source.choice(("sampled", "sampled:replacement=true"))}
    if source.random() < 0.8:
        named |= {"sample_size": 10, "n_items": 50}
    if source.random() < 0.2:
        named["design"] = source.choice(("adaptive:levels=5/10", "exact:5"))
    return spoiled(source, named, 0.15)


def _looked_at(sample: RankSample | ExactRanks) -> Any:
    """What a caller would do with a sample first."""
    return str(sample), sample.weight, sample.average_size, sample.n_users


@target("sample from JSON text", share=12)
def sample_json(source: random.Random) -> Any:
    if source.random() < 0.5:
        content = json.loads(source.choice(_json_texts()))
        _spoil_json(source, content)
        text = json.dumps(content)
    else:
        text = _some(source, _json_texts()).decode("utf-8", "surrogateescape")
    return _looked_at(sample_files.from_json(text))


def _spoil_json(source: random.Random, content: Any) -> None:
    """Change a value somewhere inside."""
    place = content
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        if not keys:
            return
        key = source.choice(keys)
        if isinstance(place[key], dict | list) and source.random() < 0.7:
            place = place[key]
            continue
        deep: Any = []
        for _ in range(source.choice((1, 1, 1, 60))):
            deep = [deep]
        place[key] = source.choice(
            (None, True, -1, 0.5, 1e400, 10**30, "x", "a\nb", [], {}, deep, [[1], [1, 2]], [1, "a"])
        )
        if source.random() < 0.2:
            del place[key]
        return


@target("sample from a JSON file", share=4)
def sample_json_file(source: random.Random) -> Any:
    path = written("sample.json", _some(source, _json_texts()))
    return _looked_at(RankSample.read(path))


@target("sample from CSV", share=12)
def sample_csv(source: random.Random) -> Any:
    path = written("sample.csv", _some(source, _CSV))
    found = read_ranks(path, rows=source.random() < 0.7, **_settings(source))
    return [_looked_at(one) for one in found.values()]


@target("sample from Parquet, bytes changed", share=8)
def sample_parquet(source: random.Random) -> Any:
    path = written("sample.parquet", _some(source, _sample_parquets()))
    settings = _settings(source) if source.random() < 0.5 else {}
    found = read_ranks(path, rows=source.random() < 0.7, **settings)
    return [_looked_at(one) for one in found.values()]


_TYPES = (pa.int8(), pa.int32(), pa.int64(), pa.uint64(), pa.float32(), pa.float64(), pa.string(),
          pa.large_string(), pa.string_view(), pa.binary(), pa.bool_(), pa.date32(),
          pa.timestamp("us"), pa.duration("s"), pa.decimal128(20, 2), pa.list_(pa.int64()),
          pa.dictionary(pa.int32(), pa.string()), pa.null(), pa.float16(),
          pa.struct([("a", pa.int64())]))  # fmt: skip


def _column(source: random.Random, size: int) -> Any:
    """A column of a type that may be any, with values that fit it."""
    kind = source.choice(_TYPES)
    values: list[Any] = [source.choice((1, 2, 3, 0, 5, None, 10, 100)) for _ in range(size)]
    if source.random() < 0.8:
        values = [1 if one is None else one for one in values]
    if source.random() < 0.2 and size:
        values[source.randrange(size)] = source.choice(NUMBERS)
    if pa.types.is_list(kind):
        values = [None if one is None else [one, one] for one in values]
    elif pa.types.is_struct(kind):
        values = [{"a": one} for one in values]
    elif pa.types.is_boolean(kind):
        values = [None if one is None else bool(one) for one in values]
    elif pa.types.is_null(kind):
        values = [None] * size
    elif pa.types.is_binary(kind):
        values = [None if one is None else b"%d" % one for one in values]
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        words = pa.types.is_string(kind) or pa.types.is_large_string(kind)
        words = words or pa.types.is_string_view(kind) or pa.types.is_dictionary(kind)
        if words:
            wild = [one for one in NAMES if one != "\ud800"]
            values = [
                None if one is None else source.choice((str(one), str(one), source.choice(wild)))
                for one in values
            ]
        elif pa.types.is_decimal(kind):
            from decimal import Decimal

            values = [None if one is None else Decimal(one % 1000) for one in values]
        else:
            values = [None if one is None else one % 10**6 for one in values]
    elif pa.types.is_floating(kind):
        values = [None if one is None else float(one) for one in values]
        if source.random() < 0.2 and size:
            values[source.randrange(size)] = source.choice((float("nan"), float("inf"), 0.5))
        if kind == pa.float16():
            values = [
                None if one is None else np.float16(min(max(one, -9e3), 9e3)) for one in values
            ]
    try:
        array = pa.array(values, kind)
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        array = pa.array([1] * size, pa.int64())
    cut = source.randrange(size + 1)
    return pa.chunked_array([array[:cut], array[cut:]]) if source.random() < 0.3 else array


def _table(source: random.Random, names: list[str]) -> Any:
    """A table in which most columns are sound and the others are anything."""
    size = source.choice((0, 1, 3, 3, 3, 5))
    columns = {}
    for name in names:
        if source.random() < 0.12:
            continue
        if source.random() < 0.4:
            columns[name] = _column(source, size)
        else:
            columns[name] = pa.array([1 + source.randrange(9) for _ in range(size)], pa.int64())
    if source.random() < 0.1:
        columns[source.choice(NAMES[:-9])] = _column(source, size)
    return pa.table(columns)


@target("sample from a Parquet file of any columns", share=5)
def sample_columns(source: random.Random) -> Any:
    names = ["rank", "user", "model", "weight", "sample_size", "n_items", "n_targets", "offset"]
    table = _table(source, names[: 1 + source.randrange(len(names))])
    pq.write_table(table, folder() / "columns.parquet")
    found = read_ranks(
        folder() / "columns.parquet", rows=source.random() < 0.7, **_settings(source)
    )
    return [_looked_at(one) for one in found.values()]


@target("sample from an Arrow table", share=8)
def sample_arrow(source: random.Random) -> Any:
    sample = source.choice(_samples())
    table = sample_files.to_arrow(sample)
    head = json.loads(table.schema.metadata[b"fullrank"])
    if source.random() < 0.5:
        _spoil_json(source, head)
    for place, name in reversed(list(enumerate(table.column_names))):
        chance = source.random()
        if chance < 0.2:
            table = table.set_column(place, name, _column(source, len(table)))
        elif chance < 0.25:
            table = table.remove_column(place)
    if source.random() < 0.1:
        table = table.append_column(
            source.choice(("extra", "rank", "user")), _column(source, len(table))
        )
    text = json.dumps(head).encode()
    if source.random() < 0.3:
        text = mutated(source, text)
    return _looked_at(sample_files.from_arrow(table.replace_schema_metadata({b"fullrank": text})))


@target("distribution from a dict", share=6)
def distribution_dict(source: random.Random) -> Any:
    content = json.loads(
        '{"format": 1, "kind": "RankDistribution", "method": "MLE", "edges": [0, 1, 2, 5, 9], '
        '"mass": [0.25, 0.25, 0.25, 0.25]}'
    )
    if source.random() < 0.9:
        _spoil_json(source, content)
    found = RankDistribution.from_dict(content)
    return str(found), found.metrics("recall@3, ndcg"), found.quantile([0.0, 0.5, 1.0])


# ---- interactions ----

_RATINGS = [
    b"userId,movieId,rating,timestamp\n1,31,2.5,12\n1,1029,3.0,15\n2,31,4.0,9\n",
    b"user,item\na,x\nb,y\na,y\n",
    b"user;item;split\n1;2;train\n1;3;test\n2;2;train\n2;5;test\n",
    b"uid,sid,count\n007,1,3\n008,2,1\n",
    b"user,item,timestamp\n1,2,2020-01-01\n1,3,2021-01-01 10:00:00\n",
]


def _of(data: Interactions) -> Any:
    return repr(data), data.values, data.user_counts(), data.item_counts(), str(data.summary())


@target("interactions from CSV", share=10)
def interactions_csv(source: random.Random) -> Any:
    path = written("ratings.csv", _some(source, _RATINGS))
    named: dict[str, Any] = {}
    if source.random() < 0.3:
        named = {
            "delimiter": source.choice((",", ";", "\t", "\n", "", ";;", "é", "\x00")),
            "missing": source.choice(("error", "drop")),
            "repeats": source.choice(("last", "sum")),
            "names": source.choice((None, ["user", "item"], ["user", "item", "x", "y"])),
        }
    return _of(Interactions.from_csv(path, **spoiled(source, named, 0.2)))


@target("interactions from a packed CSV", share=3)
def interactions_csv_packed(source: random.Random) -> Any:
    packed = gzip.compress(_some(source, _RATINGS), 1, mtime=0)
    if source.random() < 0.6:
        packed = mutated(source, packed)
    return _of(Interactions.from_csv(written("ratings.csv.gz", packed)))


@functools.cache
def _rating_parquets() -> Seeds:
    made = []
    for name, kind in (("zstd", pa.int64()), ("snappy", pa.int32()), ("none", pa.string())):
        table = pa.table(
            {"user": pa.array([1, 1, 2]).cast(kind), "item": [3, 4, 3], "rating": [1.0, 2.0, 5.0]}
        )
        made.append(
            _bytes_of(
                lambda path, t=table, n=name: pq.write_table(t, path, compression=n), "s.parquet"
            )
        )
    return made


@target("interactions from Parquet, bytes changed", share=8)
def interactions_parquet(source: random.Random) -> Any:
    path = written("ratings.parquet", _some(source, _rating_parquets()))
    return _of(Interactions.from_parquet(path))


@target("interactions from frames of any columns", share=10)
def interactions_frame(source: random.Random) -> Any:
    table = _table(source, ["user", "item", "rating", "timestamp"])
    frame: Any = table
    if source.random() < 0.15:
        frame = table.to_batches()[0] if len(table) and table.to_batches() else table
    named = {"missing": source.choice(("error", "drop")), "repeats": source.choice(("last", "sum"))}
    if source.random() < 0.2:
        named["item_ids"] = [1, 2, 3, 4, 5]
    return _of(Interactions.from_frame(frame, **spoiled(source, named, 0.2)))


@target("interactions from arrays", share=12)
def interactions_arrays(source: random.Random) -> Any:
    size = source.randrange(8)
    named: dict[str, Any] = {
        "user": np.array([source.randrange(5) for _ in range(size)]),
        "item": np.array([source.randrange(5) for _ in range(size)]),
    }
    if source.random() < 0.3:
        named["value"] = np.array([source.random() for _ in range(size)])
    if source.random() < 0.3:
        named["timestamp"] = np.array([source.randrange(10**9) for _ in range(size)])
    if source.random() < 0.2:
        named |= {"user_ids": np.arange(5), "item_ids": np.arange(6)}
    data = Interactions.from_arrays(**spoiled(source, named))
    return _of(data), data.user_rows(data.user_ids), data.to_arrow().num_rows


@target("ids looked up", share=6)
def ids(source: random.Random) -> Any:
    data = _known()[source.randrange(2)]
    wanted = source.choice((data.user_ids, data.item_ids[:1]))
    if source.random() < 0.8:
        wanted = spoiled_array(source, wanted) if source.random() < 0.7 else anything(source)
    return data.user_rows(wanted) if source.random() < 0.5 else data.item_rows(wanted)


@functools.cache
def _known() -> list[Interactions]:
    return [
        Interactions.from_arrays(["a", "a", "b"], [1, 2, 2]),
        Interactions.from_arrays([3, 7, 3, 9], ["x", "y", "y", "z"]),
    ]


@target("split from CSV and frames", share=5)
def split_files(source: random.Random) -> Any:
    if source.random() < 0.5:
        text = _RATINGS[2].replace(b";", b",")
        given: Any = written("split.csv", _some(source, [text]))
    else:
        labels = ["train", "test", "valid", "fold_in", "valid_fold_in"]
        given = _table(source, ["user", "item", "rating"])
        if source.random() < 0.9:
            names = [source.choice((*labels[:3], *labels[:2], source.choice([*labels, "x"])))
                     for _ in range(len(given))]  # fmt: skip
            given = given.append_column("split", pa.array(names, pa.string()))
    split = read_split(given, **spoiled(source, {"valid": source.choice((0, 0.5)), "rng": 1}, 0.2))
    return str(split), repr(split)


# ---- the files of publishers ----

_PUBLISHED: dict[str, tuple[str, bytes]] = {
    "u.data": ("u.data", b"1\t2\t3\t881250949\n2\t2\t5\t881250950\n"),
    "ratings.dat": ("ratings.dat", b"1::1193::5::978300760\n1::661::3::978302109\n"),
    "ratings.csv": ("ratings.csv", b"userId,movieId,rating,timestamp\n1,31,2.5,12\n2,31,4.0,9\n"),
    "ncf": ("x.train.rating", b"0\t32\t4\t978824330\n1\t34\t4\t978824330\n"),
    "lightgcn": ("train.txt", b"0 1 2 3\n1 2\n2\n3 4 5\n"),
    "users.dat": ("users.dat", b"2 1 5\n1 3\n0\n3 1 2 3\n"),
    "book-crossing": (
        "BX-Book-Ratings.csv",
        b'"User-ID";"ISBN";"Book-Rating"\n"276725";"034545104X";"0"\n"27";"0\\"1";"5"\n',
    ),
    "netflix": ("combined_data_1.txt", b"1:\n1488844,3,2005-09-06\n2:\n822109,5,2005-05-13\n"),
    "triplets": ("train_triplets.txt", b"b80\tSOA\t1\nb80\tSOB\t2\nc1\tSOA\t1\n"),
    "vae": ("train.csv", b"uid,sid\n0,1\n0,2\n1,1\n"),
}


@target("parsers of published files", share=16)
def parsers(source: random.Random) -> Any:
    name = source.choice(list(_PUBLISHED))
    file, seed = _PUBLISHED[name]
    content = _some(source, [seed])
    table = formats.FORMATS[name].read(file, io.BytesIO(content))
    return _of(Interactions.from_frame(table))


def _tar(members: dict[str, bytes], kinds: dict[str, bytes] | None = None) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, content in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            if kinds and name in kinds:
                entry.type, entry.linkname, entry.size = kinds[name], "/etc/passwd", 0
            archive.addfile(entry, io.BytesIO(content if entry.size else b""))
    return out.getvalue()


def _zip(members: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        warnings.simplefilter("ignore")  # of names that come twice
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return out.getvalue()


_PATHS = (
    *("ml/u.data", "u.data", "../u.data", "/u.data", "a/../../u.data", "C:/u.data", "\\u.data"),
    *("x/.u.data", "u.data/", "a" * 300 + "/u.data", "é/u.data", "a\nb/u.data", "inner.tar"),
)


@target("archives", share=10)
def archives(source: random.Random) -> Any:
    data = _PUBLISHED["u.data"][1]
    names = [source.choice(_PATHS[:2]) if source.random() < 0.7 else source.choice(_PATHS)]
    if source.random() < 0.4:
        names.append(source.choice(_PATHS))
    members = {name: source.choice((data, data * 50, b"", b"0" * 5000)) for name in names}
    if "inner.tar" in members:
        members["inner.tar"] = _tar({"u.data": data})
    suffix = source.choice((".zip", ".tar", ".tar.gz", ".tgz"))
    if suffix == ".zip":
        packed = _zip(members)
    else:
        kinds = None
        if source.random() < 0.2:
            kinds = {names[0]: source.choice((tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE))}
        packed = _tar(members, kinds)
        if suffix != ".tar" and source.random() < 0.5:  # bytes changed inside
            packed = mutated(source, packed) if source.random() < 0.7 else packed
            packed = gzip.compress(packed, 1, mtime=0)
        elif suffix != ".tar":
            packed = gzip.compress(packed, 1, mtime=0)
    if source.random() < 0.6:
        packed = mutated(source, packed)
    path = written("archive" + suffix, packed)
    form = formats.find(path, ["u.data"])
    return None if form is None else _of(Interactions.from_frame(formats.read(path, form)))


@target("checksums noted beside downloads", share=4)
def checksums(source: random.Random) -> Any:
    seed = b"".join(b"%064x  file%d.zip\n" % (i, i) for i in range(3))
    path = written("SHA256SUMS", _some(source, [seed]))
    datasets.note_checksum(
        path, source.choice(("file1.zip", "new.zip")), f"{source.randrange(3):064x}"
    )
    return path.read_text("utf-8")


@functools.cache
def _ranks_in(suffix: str) -> Seeds:
    """A small file of ranks in each other format."""
    import bz2
    import lzma

    from pyarrow import feather

    table = pa.table({"user": ["a", "b", "c"], "rank": [1, 4, 9], "seed": [1, 1, 1]})
    records = [{"user": "a", "rank": 3, "model": "x"}, {"user": "b", "rank": 4, "model": "y"}]
    plain = b'user;rank\n"a";3\nb;4\n'
    array = io.BytesIO()
    np.save(array, np.array([3, 1, 7]))
    made: dict[str, Any] = {
        ".jsonl": "\n".join(map(json.dumps, records)).encode(),
        ".json": json.dumps(records).encode(),
        ".npy": array.getvalue(),
        ".csv.bz2": bz2.compress(plain),
        ".csv.xz": lzma.compress(plain),
        ".csv.zst": bytes(pa.compress(plain, codec="zstd", asbytes=True)),
        ".tsv": plain.replace(b";", b"\t"),
        ".txt": plain.decode().encode("utf-16"),
    }
    if suffix == ".feather":
        return [_bytes_of(lambda path: feather.write_feather(table, path), "r.feather")]
    return [made[suffix]]


_OTHERS = (".jsonl", ".json", ".npy", ".feather", ".csv.bz2", ".csv.xz", ".csv.zst", ".tsv", ".txt")


@target("ranks in any format", share=12)
def ranks_in_any_format(source: random.Random) -> Any:
    suffix = source.choice(_OTHERS)
    path = written(f"ranks{suffix}", _some(source, _ranks_in(suffix)))
    how: dict[str, Any] = {"sample_size": 10, "n_items": 50}
    if source.random() < 0.2:
        how["encoding"] = source.choice(("latin-1", "utf-16", "nonsense"))
    found = read_ranks(path, rows=source.choice((True, None)), **spoiled(source, how, 0.1))
    return [list(one) if isinstance(one, dict) else str(one) for one in found.values()]


# ---- negatives, models, scores ----


@target("negatives from NCF files", share=10)
def negatives_ncf(source: random.Random) -> Any:
    seed = b"(0,25)\t1064\t174\t2791\n(1,133)\t1072\t3154\n(2,7)\t1\n"
    path = written("x.test.negative", _some(source, [seed]))
    named: dict[str, Any] = {}
    if source.random() < 0.2:
        named = {"item_ids": np.arange(4000), "user_ids": np.arange(3)}
    return Negatives.read_ncf(path, **spoiled(source, named, 0.3)).items


@functools.cache
def _negative_parquets() -> Seeds:
    drawn = draw_negatives(([0, 1, 1], [5, 3, 2]), 8, design="sampled:4", rng=1)
    flat = pa.table({"user": [0, 0, 1], "negative": [3, 4, 5]})
    return [
        _bytes_of(drawn.write, "n.parquet"),
        _bytes_of(lambda path: pq.write_table(flat, path), "n.parquet"),
    ]


@target("negatives from Parquet", share=6)
def negatives_parquet(source: random.Random) -> Any:
    if source.random() < 0.5:
        path = written("n.parquet", _some(source, _negative_parquets()))
    else:
        path = folder() / "n.parquet"
        table = _table(source, ["user", "negative", "target"])
        if source.random() < 0.4:
            kinds = (pa.list_(pa.int64()), pa.list_(pa.string()), pa.large_list(pa.int32()),
                     pa.list_(pa.float64()), pa.list_(pa.int64(), 2))  # fmt: skip
            column = pa.array([[1, 2]] * len(table)).cast(source.choice(kinds))
            names = [n for n in table.column_names if n != "negative"]
            table = table.select(names).append_column("negative", column)
        if source.random() < 0.3:
            text = mutated(source, b'{"format": 1, "replacement": true, "pool": "all", "seed": 3}')
            table = table.replace_schema_metadata({b"fullrank.negatives": text})
        pq.write_table(table, path)
    return Negatives.read(path).items


@functools.cache
def _saved() -> Seeds:
    numbers = Interactions.from_arrays([0, 0, 1, 2, 2], [0, 1, 1, 2, 3])
    words = Interactions.from_arrays(["a", "a", "b", "ü"], ["x", "y", "y", "z"], value=[1, 2, 3, 4])
    fitted = [models.Popularity().fit(numbers), models.EASE(regularization=5).fit(words),
              models.ItemKNN(n_neighbors=2).fit(numbers), models.PureSVD(n_factors=1).fit(words),
              models.IALS(n_factors=2, epochs=1).fit(numbers)]  # fmt: skip
    return [_bytes_of(one.save, "m.safetensors") for one in fitted]


@target("models from safetensors, bytes changed", share=12)
def model_bytes(source: random.Random) -> Any:
    return _scored(written("m.safetensors", _some(source, _saved())))


@target("models from safetensors, headers changed", share=12)
def model_headers(source: random.Random) -> Any:
    content = source.choice(_saved())
    size = struct.unpack("<Q", content[:8])[0]
    head, body = json.loads(content[8 : 8 + size]), bytearray(content[8 + size :])
    if source.random() < 0.4:
        inside = json.loads(head["__metadata__"]["fullrank"])
        _spoil_json(source, inside)
        head["__metadata__"]["fullrank"] = json.dumps(inside)
    if source.random() < 0.4:
        _spoil_json(source, head)
    if source.random() < 0.3 and isinstance(head, dict):
        names = [one for one in head if one != "__metadata__"]
        one, two = source.choice(names), source.choice(names)
        head[one], head[two] = head[two], head[one]
    if source.random() < 0.5 and body:
        for _ in range(1 + source.randrange(3)):
            at = 8 * source.randrange(max(1, len(body) // 8))
            kind = source.choice("qid")
            value = source.choice((0, 1, -1, 2**31 - 1, 3)) if kind != "d" else source.choice(
                (float("nan"), float("inf"), 0.0))  # fmt: skip
            piece = struct.pack(f"<{kind}", value)
            body[at : at + len(piece)] = piece
            del body[len(content) - 8 - size :]
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 8)
    return _scored(written("m.safetensors", struct.pack("<Q", len(text)) + text + bytes(body)))


def _scored(path: Path) -> Any:
    """A model that loads must give a scorer that can rank."""
    model = models.load(path)
    scorer = as_scorer(model)
    return rank(scorer, ([0], [0])).ranks


@functools.cache
def _arrays() -> Seeds:
    made = []
    for array in (np.arange(12.0).reshape(3, 4), np.arange(6, dtype="f4").reshape(2, 3)):
        out = io.BytesIO()
        np.save(out, array)
        made.append(out.getvalue())
    hostile = io.BytesIO()
    np.save(hostile, np.array([[object]]), allow_pickle=True)
    return [*made, hostile.getvalue()]


@target("scores from npy", share=10)
def scores_npy(source: random.Random) -> Any:
    path = written("scores.npy", _some(source, _arrays()))
    return rank(str(path), ([0, 1], [1, 2])).ranks
