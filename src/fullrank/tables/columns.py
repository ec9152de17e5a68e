"""Columns of CSV and Parquet files and of data frames, found by name or by a guess at the name."""

from __future__ import annotations

import re
import warnings
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fullrank._lib import checks, files, memory
from fullrank._lib.checks import because, printable, shown
from fullrank._lib.text import listed
from fullrank.errors import DataWarning, InputError
from fullrank.tables import arrow
from fullrank.tables import ids as _ids

AUTO = "auto"
MISSING = ("error", "drop")

# What each column is usually called, the likeliest first. Case and punctuation do not count.
GUESSES: Mapping[str, tuple[str, ...]] = {
    "user": ("user", "userid", "uid", "useridx", "customer", "customerid", "reviewerid"),
    "item": (
        "item", "itemid", "iid", "itemidx", "movie", "movieid", "product", "productid", "asin",
        "book", "bookid", "isbn", "artist", "artistid", "track", "trackid", "song", "songid", "sid",
        "business", "businessid", "article", "articleid", "location", "locationid",
    ),
    "value": ("value", "rating", "ratings", "score", "weight", "stars", "count", "plays"),
    "timestamp": ("timestamp", "time", "ts", "unixtime", "datetime", "date", "position"),
    "split": ("split", "fold", "subset"),
}  # fmt: skip
OPTIONAL = frozenset({"value", "timestamp"})

Columns = dict[str, Any]
Asked = Mapping[str, str | None]


def plain(name: str) -> str:
    """A column's name as `GUESSES` has it: without its case and punctuation."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def resolve(found: Sequence[str], asked: Asked, holder: str = "the file") -> dict[str, str]:
    """The column of each role: as asked, or guessed; roles asked as None are left out."""
    by_plain = {plain(name): name for name in reversed(found)}
    chosen: dict[str, str] = {}
    for role, name in asked.items():
        if name is None and role in OPTIONAL:
            continue
        if name == AUTO:
            name = next((by_plain[guess] for guess in GUESSES[role] if guess in by_plain), None)
            if name is None and role in OPTIONAL:
                continue
        if name is None or name not in found:
            got = "no such column" if name is None else repr(name)
            raise InputError(
                f"`{role}` must name a column of {holder}; got {got}, where the columns are "
                f"{listed(found)}."
            )
        if found.count(name) > 1:
            raise InputError(
                f"`{role}` must name one column of {holder}; {found.count(name)} are called "
                f"{name!r}."
            )
        chosen[role] = name
    return chosen


def read_frame(frame: Any, asked: Asked, *, missing: str = "error") -> Columns:
    """Columns of whatever speaks Arrow's PyCapsule protocol, and of no other kind of frame."""
    import pyarrow as pa

    if not (hasattr(frame, "__arrow_c_stream__") or hasattr(frame, "__arrow_c_array__")):
        raise InputError(
            f"`frame` must be a data frame that speaks the Arrow PyCapsule protocol, such as one "
            f"of pandas (2.2 or newer), polars or pyarrow, or a DuckDB relation; "
            f"{type(frame).__name__} does not. A lazy frame must be collected first."
        )
    if hasattr(frame, "iloc") and all(isinstance(name, str) for name in frame.columns):
        # pandas converts every column before it hands over the first: leave out what is not needed
        wanted = resolve(list(frame.columns), asked, "the frame")
        frame = frame[list(dict.fromkeys(wanted.values()))]
    elif hasattr(frame, "iloc") and not frame.columns.is_unique:
        name = frame.columns[frame.columns.duplicated()][0]
        raise InputError(f"`frame` must name each column once; {name!r} is there again.")
    try:
        table = _table(frame, asked)
    except UnicodeError as error:
        raise arrow.not_text("frame", error) from None
    except pa.ArrowException as error:
        raise InputError(
            f"`frame` must hold what Arrow can hold; it says: {because(error)}."
        ) from error
    chosen = resolve(table.column_names, asked, "the frame")
    return _columns(table, chosen, missing)


def _table(frame: Any, asked: Asked) -> Any:
    """A table of the chosen columns; of a stream, no more than one batch of the others is held."""
    import pyarrow as pa

    if not hasattr(frame, "__arrow_c_stream__"):
        batches = [pa.record_batch(frame)]
        schema = batches[0].schema
    else:
        batches = pa.RecordBatchReader.from_stream(frame)
        schema = batches.schema
    names = list(dict.fromkeys(resolve(schema.names, asked, "the frame").values()))
    kept = [batch.select(names) for batch in batches]
    return pa.Table.from_batches(kept, pa.schema([schema.field(name) for name in names]))


def read_parquet(path: files.PathLike, asked: Asked, *, missing: str = "error") -> Columns:
    """The requested columns of a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    source = files.existing(path)
    try:
        with pq.ParquetFile(source) as file:
            chosen = resolve(file.schema_arrow.names, asked)
            names = list(dict.fromkeys(chosen.values()))
            _ask_for_room(file.metadata, len(names), source)
            table = file.read(columns=names)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:  # OSError: damaged inside
        raise InputError(
            f"`path` must name a Parquet file; {printable(source)} is not one."
        ) from error
    return _columns(table, chosen, missing)


def _ask_for_room(metadata: Any, n_columns: int, source: Path) -> None:
    """A few bytes can stand for billions of equal rows: look at their number first."""
    n_rows = metadata.num_rows
    what = f"{n_rows:,} rows of {n_columns} columns in {printable(source)}"
    memory.ask("path", 8 * n_rows * n_columns, what)


def read_csv(
    path: files.PathLike,
    asked: Asked,
    *,
    delimiter: str = ",",
    names: Sequence[str] | None = None,
    missing: str = "error",
) -> Columns:
    """The requested columns of a file of delimited text."""
    import pyarrow as pa
    from pyarrow import csv

    source = files.existing(path)
    if not isinstance(delimiter, str) or len(delimiter) != 1:
        raise InputError(f"`delimiter` must be one character, not {delimiter!r}.")
    if not delimiter.isascii():
        raise InputError(f"`delimiter` must be an ASCII character, not {delimiter!r}.")
    reading = csv.ReadOptions(column_names=None if names is None else _texts("names", names))
    try:
        parsing = csv.ParseOptions(delimiter=delimiter)
        with csv.open_csv(_opened(source), read_options=reading, parse_options=parsing) as stream:
            chosen = resolve(stream.schema.names, asked)
        # Ids are read as text: Arrow would guess their type from the first block alone, and
        # make 7 of "007". Where all of them are plain whole numbers, `numbers` says so.
        ids = {chosen[role]: pa.string() for role in chosen if role not in OPTIONAL}
        converting = csv.ConvertOptions(
            include_columns=list(dict.fromkeys(chosen.values())),
            column_types=ids,
            strings_can_be_null=True,
        )
        table = csv.read_csv(
            _opened(source), read_options=reading, parse_options=parsing, convert_options=converting
        )
    except InputError:  # of the columns, or of a packed file that unpacks to too much
        raise
    # EOFError and OSError: a packed file that is damaged
    except (pa.ArrowException, OSError, EOFError, ValueError, zlib.error) as error:
        raise InputError(
            f"`path` must name a CSV file; {printable(source.name)} gave: {because(error)}."
        ) from error
    columns = _columns(table, chosen, missing)
    return {role: numbers(column) for role, column in columns.items()}


def csv_names(source: Path) -> list[str]:
    """The names of a CSV file's columns."""
    import pyarrow as pa
    from pyarrow import csv

    try:
        with csv.open_csv(_opened(source)) as stream:
            return list(stream.schema.names)
    except (pa.ArrowException, OSError, EOFError, ValueError, zlib.error) as error:
        raise InputError(
            f"`path` must name a CSV file; {printable(source.name)} gave: {because(error)}."
        ) from error


def parquet_names(source: Path) -> list[str]:
    """The names of a Parquet file's columns."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return list(pq.read_schema(source).names)
    except (pa.ArrowException, OSError) as error:
        raise InputError(
            f"`path` must name a Parquet file; {printable(source)} is not one."
        ) from error


def _opened(source: Path) -> Any:
    """A file as it is, or the content of a packed one, which Arrow would unpack without a limit."""
    if source.suffix not in (".gz", ".bz2"):
        return source
    from fullrank.tables import archives  # with it come the packers

    return archives.unpacked(source)


def _texts(name: str, values: Any) -> list[str]:
    if isinstance(values, str) or not isinstance(values, Sequence):
        raise InputError(f"`{name}` must be a sequence of column names, not {shown(values)}.")
    for place, one in enumerate(values):
        if not isinstance(one, str):
            raise InputError(f"`{name}` must hold text; {name}[{place}] is {type(one).__name__}.")
    return list(values)


def _columns(table: Any, chosen: Mapping[str, str], missing: str) -> Columns:
    """Ids and split labels stay in Arrow, where text is cheap; the rest becomes numpy."""
    if checks.choice("missing", missing, MISSING) == "drop":
        table = _complete(table, chosen)
    return {
        role: _numeric(table[name]) if role in OPTIONAL else table[name]
        for role, name in chosen.items()
    }


def _numeric(column: Any) -> Any:
    import pyarrow as pa

    if pa.types.is_decimal(column.type):  # what sums are in DuckDB
        column = column.cast(pa.float64())
    return arrow.to_numpy(column)


def _complete(table: Any, chosen: Mapping[str, str]) -> Any:
    """The rows in which no chosen column is missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    keep = np.ones(table.num_rows, bool)
    for name in chosen.values():
        if table[name].null_count:
            keep &= table[name].is_valid().to_numpy()
        if table[name].type in ("float", "double"):
            keep &= ~pc.fill_null(pc.is_nan(table[name]), False).to_numpy()
    n_kept = int(np.count_nonzero(keep))
    if n_kept == keep.size:
        return table
    warnings.warn(
        f"{keep.size - n_kept} of {keep.size} interactions lack an id, a value or a time; "
        f"they were dropped, which leaves {n_kept}.",
        DataWarning,
        stacklevel=5,
    )
    for place, name in enumerate(table.column_names):
        if pa.types.is_string_view(table[name].type):  # Arrow cannot filter these
            table = table.set_column(place, name, _ids.without_views(table[name]))
    return table.filter(keep)


def numbers(column: Any) -> Any:
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
