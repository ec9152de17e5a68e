"""The columns of interactions by role: ids in Arrow, values and times in numpy."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fullrank._lib import checks
from fullrank._lib.checks import shown
from fullrank.errors import DataWarning, InputError
from fullrank.tables import arrow
from fullrank.tables import ids as _ids
from fullrank.tables.table import (
    AUTO,
    FRAME,
    TEXT,
    Asked,
    Table,
    frame_table,
    kind,
    numbered,
    open_table,
)

MISSING = ("error", "drop")
OPTIONAL = frozenset({"value", "timestamp"})
KEYWORD = "{role}='{name}'"  # how a column is named in a call

Columns = dict[str, Any]


def read(
    source: Any,
    asked: Asked,
    *,
    missing: str = "error",
    delimiter: str | None = None,
    names: Sequence[str] | None = None,
    encoding: str | None = None,
    suffix: str | None = None,
    naming: str = KEYWORD,
) -> Columns:
    """Read the requested columns of a file, or of a data frame, by role.

    Ids and split labels stay in Arrow, where text is cheap; values and times become numpy.
    """
    how = {"delimiter": delimiter, "names": names, "encoding": encoding, "suffix": suffix}
    with opened(source, **how) as table:
        table.naming = table.naming if isinstance(source, Table) else naming
        wanted = _resolved(table, asked)
        found = table.whole(wanted)
        if not len(found):
            raise table.empty("interaction")
        if checks.choice("missing", missing, MISSING) == "drop":
            found = _complete(found)
        guessed = {role for role, name in asked.items() if name == AUTO}
        columns = {role: _column(table, role, found[role], guessed) for role in wanted}
    for note in table.notes:
        warnings.warn(note, DataWarning, stacklevel=3)
    return {role: column for role, column in columns.items() if column is not None}


def read_parts(sources: Mapping[str, Any], asked: Asked, *, encoding: str | None = None) -> Columns:
    """Read the columns of several files one after the other, with the part of each row in "split".

    Ids of text files are numbers if those of all files are, as in a single file.
    """
    import pyarrow as pa

    tables, found = {}, {}
    for part, source in sources.items():  # a path is open while it is read; then `read` closes it
        tables[part] = opened(source, encoding=encoding, argument=part)
        if not isinstance(source, Table):
            tables[part].naming = KEYWORD
        found[part] = read(tables[part], asked)
    roles = [role for role in asked if all(role in one for one in found.values())]
    for part, one in found.items():
        for role in (role for role in one if role not in roles):
            warnings.warn(
                f"The column {role!r} of the {part!r} part was ignored, because another part does "
                "not have it.",
                DataWarning,
                stacklevel=4,
            )
    sizes = {part: len(one["user"]) for part, one in found.items()}
    columns: Columns = {
        role: np.concatenate([one[role] for one in found.values()])
        if role in OPTIONAL
        else _joined(role, {part: one[role] for part, one in found.items()}, tables)
        for role in roles
    }
    labels = [pa.array([part] * size, pa.string()) for part, size in sizes.items()]
    return columns | {"split": pa.chunked_array(labels)}


def _joined(role: str, parts: Mapping[str, Any], tables: Mapping[str, Table]) -> Any:
    """Ids of several files, of one type: those of text files adapt, 7 and "7" stay two ids."""
    import pyarrow as pa

    texts = {part: not pa.types.is_integer(column.type) for part, column in parts.items()}
    if len(set(texts.values())) > 1:
        strict = [part for part, text in texts.items() if not text and tables[part].typed]
        if strict:
            other = next(part for part, text in texts.items() if text)
            raise InputError(
                f"`{role}` must hold numbers in every file or text in every file; it holds "
                f"numbers in {tables[strict[0]].path} and text in {tables[other].path}."
            )
    kind = pa.large_string() if any(texts.values()) else pa.int64()
    chunks = [
        chunk for column in parts.values() for chunk in _ids.plain_text(column).cast(kind).chunks
    ]
    return pa.chunked_array(chunks, kind)


def opened(source: Any, **settings: Any) -> Table:
    """Open a file, a data frame, or a table that is already open."""
    if isinstance(source, Table):
        return source
    if not isinstance(source, str | os.PathLike):
        return frame_table(source)
    _check_delimiter(settings.get("delimiter"))
    names = settings.get("names")
    settings["names"] = None if names is None else _texts("names", names)
    return open_table(source, **settings)


def text_suffix(path: Any) -> str:
    """Return the suffix of a text file by its name; ".csv" for any other name."""
    suffix = kind(Path(path)) if isinstance(path, str | os.PathLike) else ""
    return suffix if suffix in TEXT else ".csv"


def _check_delimiter(delimiter: Any) -> None:
    if delimiter is None:
        return
    if not isinstance(delimiter, str) or len(delimiter) != 1:
        raise InputError(f"`delimiter` must be one character, not {delimiter!r}.")
    if not delimiter.isascii():
        raise InputError(f"`delimiter` must be an ASCII character, not {delimiter!r}.")


def _texts(name: str, values: Any) -> list[str]:
    if isinstance(values, str) or not isinstance(values, Sequence):
        raise InputError(f"`{name}` must be a sequence of column names, not {shown(values)}.")
    for place, one in enumerate(values):
        if not isinstance(one, str):
            raise InputError(
                f"`{name}` must hold text; {name}[{place}] has type {type(one).__name__}."
            )
    return list(values)


def _resolved(table: Table, asked: Asked) -> dict[str, str]:
    needed = [role for role in asked if role not in OPTIONAL]
    for role in needed:
        if asked[role] is None:
            raise table.missing(role)
    return table.resolve(asked, needed=needed)


def _column(table: Table, role: str, column: Any, guessed: set[str]) -> Any:
    """A column as the rest takes it; None for a column of times that nobody asked for."""
    if table.path is not FRAME:
        _check(table, role, column)
    if role not in OPTIONAL:
        return column if table.typed else numbered(column)
    values = _numeric(column)
    if role != "timestamp" or values.dtype.kind not in "OUS" or not values.size:
        return values
    times = _parsed(column)
    if times is None and role not in guessed:
        table.numbers(role, column)  # which says where it holds text
    if times is None and role in guessed:
        warnings.warn(
            f"The times in {table.path} were ignored, because they are text that is not a date, "
            f"such as {str(values[0])[:40]!r}.",
            DataWarning,
            stacklevel=5,
        )
        return None
    return values if times is None else arrow.to_numpy(times)


def _check(table: Table, role: str, column: Any) -> None:
    """Say where in a file something is missing, or is not the number that it must be."""
    import pyarrow as pa

    if role == "split" and column.null_count:
        first = int(np.argmax(column.is_null().to_numpy()))
        raise InputError(
            "The split column must have no missing values; the first is "
            f"{table.where(first)} of {table.path}."
        )
    table.present(role, column)
    if role == "value":
        values = table.numbers(role, column)
        table.reject(role, values, ~np.isfinite(values), "be finite")
    elif role not in OPTIONAL and pa.types.is_floating(column.type):
        values = column.to_numpy()
        table.reject(role, values, values != np.floor(values), "be whole numbers or text")


def _parsed(column: Any) -> Any:
    """Dates that are written as text, as a CSV file has them; None where they are not."""
    import pyarrow as pa

    text = _ids.plain_text(column)
    for kind_ in (pa.date32(), pa.timestamp("s"), pa.timestamp("ns")):
        try:
            return text.cast(kind_)
        except pa.ArrowException:
            continue
    return None


def _numeric(column: Any) -> Any:
    import pyarrow as pa

    if pa.types.is_decimal(column.type):  # what sums are in DuckDB
        column = column.cast(pa.float64())
    return arrow.to_numpy(column)


def _complete(table: Any) -> Any:
    """The rows in which no column is missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    keep = np.ones(table.num_rows, bool)
    for name in table.column_names:
        if table[name].null_count:
            keep &= table[name].is_valid().to_numpy()
        if table[name].type in ("float", "double"):
            keep &= ~pc.fill_null(pc.is_nan(table[name]), False).to_numpy()
    n_kept = int(np.count_nonzero(keep))
    if n_kept == keep.size:
        return table
    lack, were = ("lacks", "was") if keep.size - n_kept == 1 else ("lack", "were")
    warnings.warn(
        f"{keep.size - n_kept} of {keep.size} interactions {lack} an id, a value or a time and "
        f"{were} dropped, which leaves {n_kept}.",
        DataWarning,
        stacklevel=4,
    )
    for place, name in enumerate(table.column_names):
        if pa.types.is_string_view(table[name].type):  # Arrow cannot filter these
            table = table.set_column(place, name, _ids.without_views(table[name]))
    return table.filter(keep)
