"""Tables in files, piece by piece: CSV, TSV, RecBole's atomic files and Parquet."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fullrank._lib.text import because
from fullrank.errors import InputError

TABLES = (".parquet", ".csv", ".tsv", ".inter")
_PACKED = (".gz", ".bz2")
_ROWS = 1 << 18  # of a piece of Parquet
_BYTES = 1 << 24  # of a piece of text
_SEEN = 1 << 16  # bytes of text that the header is looked for in


@dataclass(frozen=True, kw_only=True)
class Table:
    """A file that is open for reading: its columns, and where each is found.

    `names` maps a column's name to what the file calls it: RecBole writes ``rank:float``.
    """

    path: Path
    names: Mapping[str, str]
    metadata: Mapping[bytes, bytes]

    def pieces(self, wanted: Mapping[str, str]) -> Iterator[Any]:
        """Pyarrow tables with one column for each role; `wanted` maps roles to names."""
        import pyarrow as pa

        inside = {role: self.names[name] for role, name in wanted.items()}
        read = _parquet_pieces if kind(self.path) == ".parquet" else _text_pieces
        try:
            for piece in read(self.path, inside):
                yield pa.table({role: piece.column(name) for role, name in inside.items()})
        except (pa.ArrowException, OSError, UnicodeError) as error:
            raise unreadable(self.path, error) from error

    def find(self, role: str, name: str) -> str:
        """The name of a column that must be there."""
        if name in self.names:
            return name
        near = difflib.get_close_matches(name.lower(), [one.lower() for one in self.names], 1)
        close = next((one for one in self.names if [one.lower()] == near), None)
        hint = f" Is it {close!r}?" if close else ""
        if self.names and all(one.replace(".", "").isdigit() for one in self.names):
            hint = " The first line must name the columns."
        has = ", ".join(map(repr, self.names)) or "none"
        raise InputError(
            f"`{role}` must name a column of {self.path}; {name!r} is none of them: {has}.{hint}"
        )


def kind(path: Path) -> str:
    """The suffix that says what a file is; ``.csv.gz`` is ``.csv``."""
    suffixes = [one.lower() for one in path.suffixes]
    if suffixes and suffixes[-1] in _PACKED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def open_table(path: Path) -> Table:
    """Read the head of a file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        if kind(path) == ".parquet":
            with pq.ParquetFile(path) as file:
                schema = file.schema_arrow
        else:
            with _open_text(path, {}) as file:
                schema = file.schema
        found = schema.names  # as text: this is where it may turn out to be none
    except (pa.ArrowException, OSError, UnicodeError) as error:
        raise unreadable(path, error) from error
    twice = [name for name in found if found.count(name) > 1]
    if twice:
        raise InputError(f"`path` must name each column once; {path} has {twice[0]!r} again.")
    return Table(
        path=path,
        names={_untyped(name): name for name in found},
        metadata=schema.metadata or {},
    )


def unreadable(path: Path, error: Exception) -> InputError:
    """The error for a file that its reader rejects."""
    what = "Parquet" if kind(path) == ".parquet" else "CSV"
    return InputError(f"`path` must be a {what} file; {path} is not: {because(error)}.")


def numbers(role: str, column: Any, start: int = 0) -> Any:
    """A column of a piece as numpy numbers; `start` is the piece's first row in the file."""
    if column.null_count:
        first = int(np.argmax(column.is_null().to_numpy()))
        raise InputError(
            f"`{role}` must have no missing values; {column.null_count} of {len(column)} are "
            f"missing, the first in row {start + first + 1}."
        )
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_decimal(column.type):  # what sums are in DuckDB
        column = column.cast(pa.float64())
    values = column.to_numpy()
    if values.dtype.kind not in "iuf":
        raise InputError(
            f"`{role}` must hold numbers, not {column.type}; {role}[{start}] is "
            f"{str(values[0])[:40]!r}."
        )
    return values


def whole(role: str, column: Any, start: int = 0) -> Any:
    """A column of whole numbers, as int64."""
    values = numbers(role, column, start)
    if values.dtype.kind == "f":
        values = values.astype(np.float64)  # float16 cannot hold 2^63
        broken = ~((values == np.floor(values)) & (np.abs(values) < 2.0**63))
        if broken.any():
            first = int(np.argmax(broken))
            raise InputError(
                f"`{role}` must hold whole numbers; {role}[{start + first}] = {values[first]}."
            )
    return values.astype(np.int64, copy=False)


def _parquet_pieces(path: Path, inside: Mapping[str, str]) -> Iterator[Any]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = None
    if "model" in inside:  # few of them, often repeated
        kind = pq.read_schema(path).field(inside["model"]).type
        names = [inside["model"]] if pa.types.is_string(kind) else None
    with pq.ParquetFile(path, read_dictionary=names) as file:
        yield from file.iter_batches(batch_size=_ROWS, columns=list(inside.values()))


def _text_pieces(path: Path, inside: Mapping[str, str]) -> Iterator[Any]:
    with _open_text(path, inside) as file:
        yield from file


def _open_text(path: Path, inside: Mapping[str, str]) -> Any:
    """A CSV reader; users, items and models are names, even where they look like numbers."""
    import pyarrow as pa
    import pyarrow.csv as csv

    ids = {inside[role]: pa.string() for role in ("user", "item", "model") if role in inside}
    return csv.open_csv(
        path,
        read_options=csv.ReadOptions(block_size=_BYTES),
        parse_options=csv.ParseOptions(delimiter=_delimiter(path)),
        convert_options=csv.ConvertOptions(
            column_types=ids, include_columns=list(dict.fromkeys(inside.values()))
        ),
    )


def _delimiter(path: Path) -> str:
    """A tab by the file's name, else whatever the header has most of."""
    if kind(path) in (".tsv", ".inter"):
        return "\t"
    import pyarrow as pa

    with pa.input_stream(str(path)) as stream:  # unpacks .gz and .bz2
        head = stream.read(_SEEN).split(b"\n")[0]
    counts = {delimiter: head.count(delimiter.encode()) for delimiter in (",", "\t", ";")}
    return max(counts, key=lambda one: counts[one])


def _untyped(name: str) -> str:
    """RecBole's ``user_id:token`` is a column user_id."""
    head, colon, kind_ = name.rpartition(":")
    return head if colon and kind_ in _RECBOLE else name


_RECBOLE: Sequence[str] = ("token", "token_seq", "float", "float_seq")
