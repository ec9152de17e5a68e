"""Files of ids, which hold the id of each row of another file, in the same order."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fullrank._lib import checks, files
from fullrank.errors import InputError
from fullrank.tables import ids as _ids
from fullrank.tables.ids import Ids
from fullrank.tables.names import NAMES
from fullrank.tables.table import Table, numbered, open_table, plain

SUFFIXES = (".txt", ".csv", ".csv.gz", ".csv.bz2", ".parquet", ".npy")
_INDEX = re.compile(r"|unnamed.*|index|__index_level_\d+__")  # what pandas calls its row numbers


def read_ids(
    path: files.PathLike, role: str, *, column: str | None = None, argument: str | None = None
) -> Ids:
    """Read the ids in a file, each at most once.

    Parameters
    ----------
    path : ``.txt`` with one id per line; ``.csv`` (with a header; packed too) or ``.parquet``; or
        ``.npy`` with an array of ids
    role : "user" or "item"
    column : name of the column in a CSV or Parquet file. Without such a column, one with a usual
        name is read, or the first.

    Notes
    -----
    Ids of text files are numbers if every one of them is a plain whole number, and text otherwise
    ("007" stays what it is), as in files of interactions.
    """
    called = f"{role}_ids" if argument is None else argument
    source = files.existing(path)
    name = source.name.lower()
    if not name.endswith(SUFFIXES):
        raise InputError(
            f"`{called}` must be a file that ends in {', '.join(SUFFIXES[:-1])} or "
            f"{SUFFIXES[-1]}; {checks.printable(source)} does not."
        )
    found = _read(source, name, role, column, called)
    return _ids.unique(f"{called} of {checks.printable(source)}", found)


def id_column(found: Sequence[str], role: str, column: str | None) -> str | None:
    """Return the column that holds the ids: the named one, or one with a usual name."""
    if column is not None and column in found:
        return column
    by_plain = {plain(name): name for name in reversed(found)}
    return next((by_plain[guess] for guess in NAMES[role] if guess in by_plain), None)


def _read(source: Path, name: str, role: str, column: str | None, called: str) -> Any:
    if name.endswith(".txt"):
        return _lines(source, called)
    if name.endswith(".npy"):
        return _array(source, called)
    with open_table(source) as table:
        names = list(table.names)
        chosen = id_column(names, role, column)
        found = _ids_of(table, role, chosen or _first(names, source, role, called))
    if chosen is None and len(names) > 1 and _counts_rows(found):
        raise _row_numbers(source, role, called)
    return found


def _ids_of(table: Table, role: str, name: str) -> Any:
    found = table.whole({role: name}).column(role)
    return found if table.typed else numbered(found)


def _counts_rows(found: Any) -> bool:
    """Whether a column is 0, 1, 2, …: beside others it numbers the rows."""
    values = np.asarray(found)
    return values.dtype.kind in "iu" and bool((values == np.arange(values.size)).all())


def _row_numbers(source: Path, role: str, called: str) -> InputError:
    named = f"name the column of ids with `columns={{{role!r}: 'NAME'}}`"
    if called != f"{role}_ids":  # `columns` is for other files
        named = f"put the ids into the first column, or name their column {role}_id"
    return InputError(
        f"`{called}` must not be the first column of {checks.printable(source)}, which holds "
        f"row numbers: {named}."
    )


def _first(names: Sequence[str], source: Path, role: str, called: str) -> str:
    if not names:
        raise InputError(f"`{called}` must have a column; {checks.printable(source)} has none.")
    if len(names) > 1 and _INDEX.fullmatch(names[0].lower()):
        raise _row_numbers(source, role, called)
    return names[0]


def _lines(source: Path, called: str) -> Any:
    import pyarrow as pa

    try:
        text = source.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"`{called}` must be UTF-8 text with one id per line; "
            f"{checks.printable(source)} is not."
        ) from error
    # a file's lines, not those of str.splitlines, which ends them at signs that an id may have
    lines = text.removesuffix("\n").removesuffix("\r").replace("\r\n", "\n").split("\n")
    empty = next((at for at, line in enumerate(lines, 1) if not line.strip()), None)
    if empty is not None:
        raise InputError(
            f"`{called}` must have an id on every line; line {empty} of "
            f"{checks.printable(source)} is empty."
        )
    return numbered(pa.chunked_array([pa.array(lines, pa.string())]))


def _array(source: Path, called: str) -> Any:
    try:
        found = np.load(source, allow_pickle=False)
    except Exception as error:  # of whatever the header says
        raise InputError(
            f"`{called}` must be an .npy file of numbers or text; {checks.printable(source)} is "
            f"not: {checks.because(error)}."
        ) from error
    return found
