"""Columns of CSV and Parquet files, found by name or by a guess at the name."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fullrank import _files
from fullrank.errors import InputError

AUTO = "auto"

# What each column is usually called, the likeliest first. Case and punctuation do not count.
GUESSES: Mapping[str, tuple[str, ...]] = {
    "user": ("user", "userid", "uid", "useridx", "customer", "customerid", "reviewerid"),
    "item": (
        "item", "itemid", "iid", "itemidx", "movie", "movieid", "product", "productid", "asin",
        "book", "bookid", "isbn", "artist", "artistid", "track", "trackid", "business",
        "businessid", "article", "articleid", "location", "locationid",
    ),
    "value": ("value", "rating", "ratings", "score", "weight", "stars", "count", "plays"),
    "timestamp": ("timestamp", "time", "ts", "unixtime", "datetime", "date", "position"),
    "split": ("split", "fold", "subset"),
}  # fmt: skip
OPTIONAL = frozenset({"value", "timestamp"})

Columns = dict[str, Any]


def resolve(found: Sequence[str], asked: Mapping[str, str | None]) -> dict[str, str]:
    """The column of each role: as asked, or guessed; roles asked as None are left out."""
    plain = {re.sub(r"[^a-z0-9]", "", name.lower()): name for name in reversed(found)}
    chosen: dict[str, str] = {}
    for role, name in asked.items():
        if name is None and role in OPTIONAL:
            continue
        if name == AUTO:
            name = next((plain[guess] for guess in GUESSES[role] if guess in plain), None)
            if name is None and role in OPTIONAL:
                continue
        if name is None or name not in found:
            got = "no such column" if name is None else repr(name)
            raise InputError(
                f"`{role}` must name a column of the file; got {got}, where the columns are "
                f"{', '.join(map(repr, found))}."
            )
        chosen[role] = name
    return chosen


def read_parquet(path: _files.PathLike, asked: Mapping[str, str | None]) -> Columns:
    import pyarrow as pa
    import pyarrow.parquet as pq

    source = _files.existing(path)
    try:
        with pq.ParquetFile(source) as file:
            chosen = resolve(file.schema_arrow.names, asked)
            table = file.read(columns=list(dict.fromkeys(chosen.values())))
    except (pa.ArrowInvalid, OSError) as error:  # OSError: damaged inside
        raise InputError(f"`path` must name a Parquet file; {source} is not one.") from error
    return _columns(table, chosen)


def read_csv(
    path: _files.PathLike,
    asked: Mapping[str, str | None],
    *,
    delimiter: str = ",",
    names: Sequence[str] | None = None,
) -> Columns:
    import pyarrow as pa
    from pyarrow import csv

    source = _files.existing(path)
    if not isinstance(delimiter, str) or len(delimiter) != 1:
        raise InputError(f"`delimiter` must be one character, not {delimiter!r}.")
    reading = csv.ReadOptions(column_names=None if names is None else list(names))
    parsing = csv.ParseOptions(delimiter=delimiter)
    try:
        with csv.open_csv(source, read_options=reading, parse_options=parsing) as stream:
            chosen = resolve(stream.schema.names, asked)
        # Ids are read as text: Arrow would guess their type from the first block alone, and
        # make 7 of "007". Where all of them are plain whole numbers, `_numbers` says so.
        ids = {chosen[role]: pa.string() for role in chosen if role not in OPTIONAL}
        converting = csv.ConvertOptions(
            include_columns=list(dict.fromkeys(chosen.values())),
            column_types=ids,
            strings_can_be_null=True,
        )
        table = csv.read_csv(
            source, read_options=reading, parse_options=parsing, convert_options=converting
        )
    except pa.ArrowInvalid as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise InputError(f"`path` must name a CSV file; {source.name} gave: {reason}.") from error
    columns = _columns(table, chosen)
    return {role: _numbers(column) for role, column in columns.items()}


def _columns(table: Any, chosen: Mapping[str, str]) -> Columns:
    """Ids and split labels stay in Arrow, where text is cheap; the rest becomes numpy."""
    return {
        role: table[name].to_numpy() if role in OPTIONAL else table[name]
        for role, name in chosen.items()
    }


def _numbers(column: Any) -> Any:
    """A text column as whole numbers, if that is what every word of it spells."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(column, np.ndarray) or column.null_count or not len(column):
        return column
    padded = pc.and_(pc.starts_with(column, "0"), pc.greater(pc.binary_length(column), 1))
    if pc.any(padded).as_py():
        return column
    try:
        return column.cast(pa.int64())
    except pa.ArrowInvalid:
        return column
