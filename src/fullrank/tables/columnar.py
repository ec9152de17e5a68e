"""Typed tables: Parquet, Feather and Arrow, JSON, NumPy, and data frames."""

from __future__ import annotations

import codecs
import io
import json
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from fullrank._lib import memory
from fullrank._lib.text import because, printable
from fullrank.errors import InputError
from fullrank.tables import arrow

_NO_RECORD = re.compile(rb"^[ \t\r]*[^{ \t\r\n]", re.MULTILINE)  # the start of a line
_ROWS = 1 << 18  # of a piece


def open_source(path: Path, stream: Any, suffix: str) -> tuple[Any, Any]:
    """Return the reader of the columns in an open stream, and content that is not a table."""
    if suffix == ".parquet" and not stream.seekable():
        raise InputError(
            f"`path` must be a Parquet file without further compression; {printable(path)} is "
            "compressed. Unpack it first."
        )
    if suffix == ".parquet":
        return Parquet.of(path, stream), None
    if suffix == ".json":
        held, content = _json(path, stream)
        return Held.of(held), content
    read = {".jsonl": _json_lines, ".ndjson": _json_lines, ".npy": _array}.get(suffix, _arrow)
    return Held.of(read(path, stream)), None


@dataclass(kw_only=True, eq=False)
class Parquet:
    """A Parquet file from which some columns are read."""

    path: Path
    file: Any
    handle: Any
    names: Sequence[str]
    metadata: Mapping[bytes, bytes]
    typed: bool = True

    @classmethod
    def of(cls, path: Path, handle: Any) -> Parquet:
        import pyarrow.parquet as pq

        file = pq.ParquetFile(handle)
        schema = file.schema_arrow
        return cls(
            path=path, file=file, handle=handle, names=list(schema.names),
            metadata=schema.metadata or {},
        )  # fmt: skip

    @property
    def n_rows(self) -> int:
        """How many rows the footer says that there are.

        It has the number of values too, but pyarrow ends the process when a damaged one is asked.
        """
        return int(self.file.metadata.num_rows)

    def whole(self, names: Sequence[str], texts: Sequence[str]) -> Any:
        # a few bytes can stand for billions of equal rows: look at their number first
        n_rows = self.n_rows
        what = f"{n_rows:,} rows of {len(names)} columns in {printable(self.path)}"
        memory.ask("path", 8 * n_rows * len(names), what)
        return valid_codes(self._file(names, texts).read(columns=list(names)))

    def pieces(self, names: Sequence[str], texts: Sequence[str]) -> Iterator[Any]:
        file = self._file(names, texts)
        yield from map(valid_codes, file.iter_batches(batch_size=_ROWS, columns=list(names)))

    def _file(self, names: Sequence[str], texts: Sequence[str]) -> Any:
        """The file, with names of models as dictionaries: there are few, often repeated."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        schema = self.file.schema_arrow
        few = [name for name in texts if name.lower().startswith("model")]
        few = [name for name in few if pa.types.is_string(schema.field(name).type)]
        if not few:
            return self.file
        return pq.ParquetFile(self.handle, metadata=self.file.metadata, read_dictionary=few)


def valid_codes(piece: Any) -> Any:
    """The table or batch, whose dictionaries have a word for each code: a damaged file may not."""
    import pyarrow as pa

    for column in piece.columns:
        if pa.types.is_dictionary(column.type):
            column.validate(full=True)
    return piece


@dataclass(kw_only=True, eq=False)
class Held:
    """A table in memory, or a stream of which the wanted columns are kept."""

    table: Any
    names: Sequence[str]
    metadata: Mapping[bytes, bytes] = field(default_factory=dict)
    typed: bool = True

    @classmethod
    def of(cls, table: Any) -> Held:
        return cls(
            table=table, names=list(table.schema.names), metadata=table.schema.metadata or {}
        )

    def whole(self, names: Sequence[str], texts: Sequence[str]) -> Any:
        import pyarrow as pa

        if isinstance(self.table, pa.Table):
            return self.table.select(list(names))
        # of a stream, no more than one batch of the other columns is held
        kept = [batch.select(list(names)) for batch in self.table]
        fields = [self.table.schema.field(name) for name in names]
        return pa.Table.from_batches(kept, pa.schema(fields))

    def pieces(self, names: Sequence[str], texts: Sequence[str]) -> Iterator[Any]:
        yield self.whole(names, texts)


def frame_source(frame: Any) -> Any:
    """Return the reader of a frame that implements Arrow's PyCapsule protocol."""
    import pyarrow as pa

    if not (hasattr(frame, "__arrow_c_stream__") or hasattr(frame, "__arrow_c_array__")):
        raise InputError(
            f"`frame` must be a data frame that supports the Arrow PyCapsule protocol, such as one "
            f"from pandas (2.2 or newer), polars or pyarrow, or a DuckDB relation; "
            f"{type(frame).__name__} does not. A lazy frame must be collected first."
        )
    if hasattr(frame, "iloc") and not _is_pandas(frame) and not frame.columns.is_unique:
        name = frame.columns[frame.columns.duplicated()][0]
        raise InputError(f"`frame` must name each column once; {name!r} occurs more than once.")
    if _is_pandas(frame):
        return Pandas.of(frame)
    try:
        if hasattr(frame, "__arrow_c_stream__"):
            return Held.of(pa.RecordBatchReader.from_stream(frame))
        return Held.of(pa.Table.from_batches([pa.record_batch(frame)]))
    except Exception as error:
        raise frame_error(error) from error


def frame_error(error: Exception) -> Exception:
    """Return the error for a frame that Arrow rejects; any other error unchanged."""
    import pyarrow as pa

    if isinstance(error, UnicodeError):
        return arrow.not_text("frame", error)
    if isinstance(error, pa.ArrowException):
        return InputError(
            f"`frame` must hold data that Arrow can represent; Arrow reports: {because(error)}."
        )
    return error


def is_frame(value: Any) -> bool:
    """Return whether a value is a data frame, and not a column of one."""
    speaks = hasattr(value, "__arrow_c_stream__") or hasattr(value, "__arrow_c_array__")
    return speaks and (hasattr(value, "columns") or hasattr(value, "column_names"))


def _is_pandas(frame: Any) -> bool:
    return hasattr(frame, "iloc") and all(isinstance(name, str) for name in frame.columns)


@dataclass(kw_only=True, eq=False)
class Pandas:
    """A pandas frame, which converts every column before it hands over the first."""

    frame: Any
    names: Sequence[str]
    metadata: Mapping[bytes, bytes] = field(default_factory=dict)
    typed: bool = True

    @classmethod
    def of(cls, frame: Any) -> Pandas:
        return cls(frame=frame, names=list(frame.columns))

    def whole(self, names: Sequence[str], texts: Sequence[str]) -> Any:
        import pyarrow as pa

        stream = pa.RecordBatchReader.from_stream(self.frame[list(names)])
        return stream.read_all().select(list(names))

    def pieces(self, names: Sequence[str], texts: Sequence[str]) -> Iterator[Any]:
        yield self.whole(names, texts)


def _arrow(path: Path, stream: Any) -> Any:
    try:
        found = _unchecked(stream)
    except MemoryError as error:  # a damaged file may claim any length
        raise InputError(
            f"`path` must hold a table that fits in memory; {printable(path)} claims a larger one."
        ) from error
    found.validate(full=True)  # Arrow takes the word of whoever made the file
    return found


def _unchecked(stream: Any) -> Any:
    import pyarrow as pa
    from pyarrow import feather, ipc

    if hasattr(stream, "seek") and stream.seekable():
        begins = stream.read(6)
        stream.seek(0)
        if begins == b"ARROW1":
            return ipc.open_file(stream).read_all()
        if begins[:4] == b"FEA1":
            return feather.read_table(stream)
    return ipc.open_stream(pa.PythonFile(stream, mode="r")).read_all()


def _json_lines(path: Path, stream: Any) -> Any:
    import pyarrow.json as lines

    raw = stream.read()
    if not raw.strip():
        raise InputError(f"`path` must hold a table; {printable(path)} is empty.")
    if raw.lstrip()[:1] == b"[":
        raise InputError(
            f"`path` must hold one record per line; {printable(path)} holds a list. Change its "
            "suffix to .json."
        )
    other = _NO_RECORD.search(raw.removeprefix(codecs.BOM_UTF8))
    if other is not None:  # at which pyarrow may end the process
        line = 1 + other.string.count(b"\n", 0, other.end())
        raise InputError(
            f"`path` must hold one record per line; line {line} of {printable(path)} does not "
            "begin with a brace."
        )
    found = lines.read_json(io.BytesIO(raw))
    found.validate(full=True)  # as text, halves of surrogate pairs are none
    return found


def _array(path: Path, stream: Any) -> Any:
    """A plain array of ranks."""
    import pyarrow as pa

    raw = stream.read()
    head = io.BytesIO(raw)
    try:
        with warnings.catch_warnings():  # of headers that Python 2 wrote, or nobody
            warnings.simplefilter("ignore")
            version = np.lib.format.read_magic(head)
            read = {(1, 0): np.lib.format.read_array_header_1_0}
            shape, _, kind = read.get(version, np.lib.format.read_array_header_2_0)(head)
        found = np.frombuffer(raw, kind, offset=head.tell()) if kind.kind in "iuf" else None
    except Exception as error:  # of whatever the header says
        raise InputError(
            f"`path` must be a NumPy file; {printable(path)} is not: {because(error)}."
        ) from error
    if found is None or shape != found.shape:
        raise InputError(
            f"`path` must hold a one-dimensional array of ranks; {printable(path)} holds {kind} of "
            f"shape {shape}."
        )
    return pa.table({"rank": np.ascontiguousarray(found, kind.newbyteorder("="))})


def _json(path: Path, stream: Any) -> tuple[Any, Any]:
    """The table that a JSON file holds, and what it holds where that is not a table."""
    import pyarrow as pa

    try:
        raw = stream.read()
        content = json.loads(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        lines = raw.lstrip()[:1] == b"{"
        raise InputError(
            f"`path` must be a JSON file in UTF-8; {printable(path)} is not: {because(error)}."
            f"{' If it holds one record per line, change its suffix to .jsonl.' if lines else ''}"
        ) from error
    try:
        if isinstance(content, list) and content and isinstance(content[0], dict):
            names = list(dict.fromkeys(name for one in content for name in one))
            return pa.table({name: [one.get(name) for one in content] for name in names}), None
        if isinstance(content, dict) and "data" in content and {"columns", "schema"} & set(content):
            raise ValueError("it has a different layout")
        if isinstance(content, dict) and content and "kind" not in content:
            columns = {name: _listed(values) for name, values in content.items()}
            if all(isinstance(values, list) for values in columns.values()):
                return pa.table(columns), None
    except (pa.ArrowException, TypeError, ValueError, AttributeError, OverflowError) as error:
        why = "" if isinstance(error, TypeError | AttributeError) else f": {because(error)}"
        raise InputError(
            f"`path` must hold a list of records, as pandas writes them with orient='records', in "
            f"which each field has one type; {printable(path)} does not{why}."
        ) from error
    return pa.table({}), content if content is not None else ()


def _listed(values: Any) -> Any:
    """Pandas writes a column as an object from row numbers to values."""
    return list(values.values()) if isinstance(values, dict) else values
