"""One small function for each form of file: a name and an open stream in, an Arrow table out."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from fullrank._lib.checks import because, printable
from fullrank.errors import InputError
from fullrank.tables import arrow

Table = Any  # a pyarrow.Table
_RATED = {"user": "int64", "item": "int64", "rating": "float32", "timestamp": "int64"}
_BARE = {"user": "int64", "item": "int64"}


def u_data(name: str, stream: IO[bytes]) -> Table:
    """MovieLens 100K: user, item, rating and time, with tabs between."""
    return _csv(name, stream, _RATED, delimiter="\t")


def ratings_dat(name: str, stream: IO[bytes]) -> Table:
    """MovieLens 1M: user::item::rating::time; between two colons lies an empty field."""
    columns = {"user": "int64", "_1": "null", "item": "int64", "_2": "null"}
    columns |= {"rating": "float32", "_3": "null", "timestamp": "int64"}
    return _csv(name, stream, columns, delimiter=":").select(list(_RATED))


def ratings_csv(name: str, stream: IO[bytes]) -> Table:
    """MovieLens 20M and later: userId,movieId,rating,timestamp under a header."""
    return _csv(name, stream, _RATED, header=True)


def ncf(name: str, stream: IO[bytes]) -> Table:
    """NCF and APR: user, item, rating and perhaps time, with tabs between."""
    content = stream.read()
    n_columns = len(content.split(b"\n", 1)[0].split(b"\t"))
    columns = dict(list(_RATED.items())[: max(n_columns, 3)])
    return _csv(name, io.BytesIO(content), columns, delimiter="\t")


def uid_sid(name: str, stream: IO[bytes]) -> Table:
    """MultiVAE: uid,sid under a header, both from 0 on."""
    return _csv(name, stream, _BARE, header=True)


def triplets(name: str, stream: IO[bytes]) -> Table:
    """Million Song Data, Taste Profile: user, song and number of plays, with tabs between."""
    columns = {"user": "string", "item": "string", "rating": "float32"}
    return _csv(name, stream, columns, delimiter="\t")


def book_crossing(name: str, stream: IO[bytes]) -> Table:
    """Book-Crossing: "User-ID";"ISBN";"Book-Rating" in Latin-1; 0 is use without a rating."""
    columns = {"user": "int64", "item": "string", "rating": "float32"}
    return _csv(name, stream, columns, delimiter=";", header=True, encoding="latin1", escape="\\")


def user_lines(name: str, stream: IO[bytes]) -> Table:
    """LightGCN and NGCF: on each line a user and the user's items; a user may have none."""
    first, rest, counts = _ragged(name, stream)
    return _table(np.repeat(first, counts), rest)


def counted_lines(name: str, stream: IO[bytes]) -> Table:
    """CiteULike: line u, from 0 on, says how many articles user u has, and then which."""
    first, rest, counts = _ragged(name, stream)
    if not np.array_equal(first, counts):
        line = int(np.argmax(first != counts))
        raise InputError(
            f"{printable(name)} must state on each line how many items follow; line {line + 1} "
            f"states {first[line]}, but {counts[line]} follow."
        )
    return _table(np.repeat(np.arange(counts.size), counts), rest)


def netflix(name: str, stream: IO[bytes]) -> Table:
    """Netflix: a line "film:" precedes lines of user,rating,date."""
    import pyarrow as pa

    heads: list[tuple[int, str]] = []

    def head(row: Any) -> str:
        film = row.text.strip().removesuffix(":")
        if row.actual_columns != 1 or not re.fullmatch("[0-9]{1,9}", film):
            return "error"
        heads.append((row.number, film))
        return "skip"

    columns = {"user": "int32", "rating": "float32", "date": "date32[day]"}
    # as Latin-1 every byte is a character: what is not text reaches `head`, which refuses it
    table = _csv(name, stream, columns, odd_row=head, encoding="latin1")
    films = np.array([film for _, film in heads], np.int32)
    # head h stands in line `number`, counted from 1: number − 1 − h ratings come before it
    starts = np.array([number for number, _ in heads]) - 1 - np.arange(films.size)
    if films.size == 0 or starts[0] != 0:
        raise InputError(f"{printable(name)} must begin with a film number and a colon.")
    return pa.table(
        {
            "user": table["user"],
            "item": np.repeat(films, np.diff(starts, append=table.num_rows)),
            "rating": table["rating"],
            "timestamp": table["date"].cast(pa.timestamp("s")).cast(pa.int64()),
        }
    )


def _csv(
    name: str,
    stream: IO[bytes],
    columns: Mapping[str, str],
    *,
    delimiter: str = ",",
    header: bool = False,
    encoding: str = "utf8",
    escape: str | None = None,
    odd_row: Callable[[Any], str] | None = None,
) -> Table:
    import pyarrow as pa
    from pyarrow import csv

    types = {column: pa.type_for_alias(kind) for column, kind in columns.items()}
    reading = csv.ReadOptions(
        column_names=list(columns),
        skip_rows=int(header),
        encoding=encoding,
        use_threads=odd_row is None,  # line numbers are known only to a single thread
    )
    parsing = csv.ParseOptions(
        delimiter=delimiter, escape_char=escape or False, invalid_row_handler=odd_row
    )
    converting = csv.ConvertOptions(column_types=types)
    try:
        return csv.read_csv(
            stream, read_options=reading, parse_options=parsing, convert_options=converting
        )
    except (pa.ArrowInvalid, pa.ArrowKeyError, UnicodeDecodeError) as error:
        raise InputError(
            f"{printable(name)} must be in the format that its publisher distributes; it is not: "
            f"{because(error)}."
        ) from error


def _ragged(
    name: str, stream: IO[bytes]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Lines of whole numbers: the first of each line, all others, and how many others each has."""
    import pyarrow as pa
    import pyarrow.compute as pc

    lines = pa.array(stream.read().decode("ascii", "replace").rstrip().split("\n"))
    words = pc.ascii_split_whitespace(pc.ascii_trim_whitespace(lines))
    try:
        numbers = arrow.to_numpy(pc.list_flatten(words).cast(pa.int64()))
    except pa.ArrowInvalid as error:
        raise InputError(
            f"{printable(name)} must hold lines of whole numbers; it does not: {because(error)}."
        ) from error
    sizes = arrow.to_numpy(pc.list_value_length(words)).astype(np.int64)
    is_first = np.zeros(numbers.size, bool)
    is_first[np.cumsum(sizes) - sizes] = True
    return numbers[is_first], numbers[~is_first], sizes - 1


def _table(user: NDArray[np.int64], item: NDArray[np.int64]) -> Table:
    import pyarrow as pa

    return pa.table({"user": user, "item": item})
