"""A file of columns, opened once: its content, and its columns by role.

`open_table` reads the head of a file, `Table.resolve` assigns columns to roles, and `Table.whole`
or `Table.pieces` read them. Delimited text is read here, and typed formats (Parquet, Arrow, JSON,
NumPy, data frames) in `columnar`.

Text is UTF-8. A file that is not is read as Latin-1, in which every byte is a character of its own:
ids stay different and no metric depends on the guess; a note says so, and `encoding` replaces it.
"""

from __future__ import annotations

import csv as plain_csv
import difflib
import io
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np

from fullrank._lib import files
from fullrank._lib.checks import failing
from fullrank._lib.text import because, listed, printable
from fullrank.errors import FullrankError, InputError
from fullrank.tables.names import IDS, NAMES

AUTO = "auto"
FRAME = Path("the frame")  # stands for the path of a data frame
TEXT = (".csv", ".tsv", ".inter", ".txt")
TYPED = (".parquet", ".feather", ".arrow", ".ipc", ".jsonl", ".ndjson", ".json", ".npy")
SUFFIXES = (*TEXT, *TYPED)
PACKED = (".gz", ".bz2", ".zst", ".xz")
_RECBOLE = ("token", "token_seq", "float", "float_seq")
_BYTES = 1 << 24  # of a piece of text
_HEAD = 1 << 16  # bytes in which the header is looked for
_LINES = 2_000_000  # lines that are counted to say where something is wrong
_WIDE = ("utf-16", "utf-16-le", "utf-16-be", "utf-32")

Asked = Mapping[str, str | None]


class Source(Protocol):
    """The interface of a format: it names its columns and reads some of them."""

    names: Sequence[str]
    metadata: Mapping[bytes, bytes]
    typed: bool  # whether 7 and "7" are different in it

    def whole(self, names: Sequence[str], texts: Sequence[str]) -> Any:
        """A pyarrow table of these columns; `texts` are ids, which are text if nothing is typed."""

    def pieces(self, names: Sequence[str], texts: Sequence[str]) -> Iterator[Any]:
        """The same in pieces."""


@dataclass(kw_only=True, eq=False)
class Table:
    """A file, or a data frame, that is open for reading.

    Attributes
    ----------
    path : the file; for a data frame, its name in messages
    names : mapping from a column's name to that in the file: RecBole writes ``rank:float``
    metadata : metadata of the schema, if the format has any
    content : content of a JSON file that is not a table
    notes : assumptions about the file
    """

    path: Path
    source: Any  # a Source, which may know more
    metadata: Mapping[bytes, bytes]
    content: Any = None
    notes: list[str] = field(default_factory=list)
    handle: Any = None
    # how the caller names a column; None if only the file can name it
    naming: str | None = "columns={{'{role}': '{name}'}}"
    argument: str = "path"  # what the caller calls the file
    names: Mapping[str, str] = field(init=False)

    def __post_init__(self) -> None:
        self.names = {_untyped(name): name for name in self.source.names}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.handle is not None:
            self.handle.close()

    @property
    def typed(self) -> bool:
        return bool(self.source.typed)

    # ---- which column plays which role ----

    def guess(self, role: str) -> str | None:
        """Return the column with a usual name of this role."""
        by_plain = {plain(name): name for name in reversed(list(self.names))}
        return next((by_plain[name] for name in NAMES[role] if name in by_plain), None)

    def resolve(
        self, asked: Asked, *, needed: Sequence[str] = (), without: Sequence[str] = ()
    ) -> dict[str, str]:
        """Map roles to columns: as requested, or guessed for "auto"; None omits a role."""
        given = {role: name for role, name in asked.items() if name not in (None, AUTO)}
        found = {role: self.find(role, str(name)) for role, name in given.items()}
        taken = {*found.values(), *without}
        self._one_role_each(found)
        for role, name in asked.items():
            if name != AUTO:
                continue
            guess = self.guess(role)
            if guess is not None and guess not in taken:
                found[role] = guess
                taken.add(guess)
            elif role in needed:
                raise self.missing(role, taken)
        for name in found.values():
            if len(self.names) < len(self.source.names):
                self._once(name)
        return {role: found[role] for role in asked if role in found}

    def _one_role_each(self, found: Mapping[str, str]) -> None:
        """Refuse a column that was named for two roles."""
        roles: dict[str, str] = {}
        for role, name in found.items():
            if roles.setdefault(name, role) != role:
                raise InputError(
                    f"`columns` must assign each column to one role; {name!r} of "
                    f"{printable(self.path)} is assigned to both {roles[name]} and {role}."
                )

    def _once(self, name: str) -> None:
        number = [_untyped(one) for one in self.source.names].count(name)
        if number > 1:
            raise InputError(
                f"`{self.argument}` must name each column once; "
                f"{printable(self.path)} has {number} columns called {printable(name)!r}."
            )

    def find(self, role: str, name: str) -> str:
        """Return a column that was named and must exist."""
        if name in self.names:
            return name
        near = difflib.get_close_matches(name.lower(), [one.lower() for one in self.names], 1)
        close = next((one for one in self.names if [one.lower()] == near), None)
        raise InputError(
            f"`{role}` must be one of the columns of {printable(self.path)} "
            f"({listed(self.names) or 'it has none'}), not {name!r}."
            f"{f' Did you mean {close!r}?' if close else ''}"
        )

    def missing(self, role: str, taken: Collection[str] = ()) -> InputError:
        """Return the error for a role without a column of a usual name."""
        free = [one for one in self.names if one not in taken]
        near = difflib.get_close_matches(role, [plain(one) for one in free], 1, 0.7)
        close = next((one for one in free if [plain(one)] == near), "NAME")
        advice = f"rename it to {role!r}"
        if self.naming is not None:
            advice = f"give `{self.naming.format(role=role, name=close)}`"
        hint = f"if it has another name, {advice}"
        usual = self.guess(role)
        if usual is not None:
            return InputError(
                f"`columns` must not assign {printable(usual)!r} to another role: "
                f"{printable(self.path)} has no other {role} column."
            )
        (only,) = self.names if len(self.names) == 1 else ("",)
        if self.headless():
            hint = "the first line must name the columns"
        elif isinstance(self.source, Text) and re.search(r"\S\s", only):
            hint = "a comma, semicolon, tab or bar must separate columns, not spaces"
        elif isinstance(self.source, Text) and re.search(r"[,;|]", only):
            hint = f"tabs must separate columns in a file that ends in {kind(self.path)}"
        return self.without(role, hint)

    def without(self, role: str, hint: str) -> InputError:
        """Return the error for a file without the column of a role; the hint says what to do."""
        must = f"The `{role}` column must be in {printable(self.path)}"
        if not self.names:
            return InputError(f"{must}, which has no columns.")
        columns = "only column is" if len(self.names) == 1 else "columns are"
        return InputError(f"{must}, whose {columns} {listed(self.names)}: {hint}.")

    def headless(self) -> bool:
        """Return whether the first line looks like data: one of the names is a number."""
        return any(_is_number(name) for name in self.names)

    # ---- reading ----

    def whole(self, wanted: Mapping[str, str]) -> Any:
        """Return a pyarrow table with one column for each role; `wanted` maps roles to names."""
        import pyarrow as pa

        names, texts = self._inside(wanted)
        try:
            table = self.source.whole(names, texts)
            return pa.table({role: table.column(self.names[name]) for role, name in wanted.items()})
        except Exception as error:
            raise unreadable(self.path, error, argument=self.argument) from error

    def pieces(self, wanted: Mapping[str, str]) -> Iterator[Any]:
        """Yield the table of `whole` in pieces, none of which is kept."""
        import pyarrow as pa

        names, texts = self._inside(wanted)
        try:
            for piece in self.source.pieces(names, texts):
                yield pa.table(
                    {role: piece.column(self.names[name]) for role, name in wanted.items()}
                )
        except Exception as error:
            raise unreadable(self.path, error, argument=self.argument) from error

    def _inside(self, wanted: Mapping[str, str]) -> tuple[list[str], list[str]]:
        names = list(dict.fromkeys(self.names[name] for name in wanted.values()))
        return names, [self.names[wanted[role]] for role in IDS if role in wanted]

    # ---- what is wrong with it ----

    def empty(self, what: str) -> InputError:
        """Return the error for a table without rows."""
        bare = "has no rows" if self.names else "is empty"
        return InputError(
            f"`{self.argument}` must hold at least one {what}; {printable(self.path)} {bare}."
        )

    def where(self, row: int) -> str:
        """Return where a row is: on a line of a text file, otherwise in a row, counted from 1."""
        place = self._place(row)
        return f"{'on' if place.startswith('line') else 'in'} {place}"

    def _place(self, row: int) -> str:
        line = self.source.line(row) if isinstance(self.source, Text) else None
        return f"row {row + 1}" if line is None else f"line {line}"

    def reject(
        self, role: str, values: Any, bad: Any, must: str, hint: str = "", start: int = 0
    ) -> None:
        """Raise if any entry is invalid; the error says how many are, and shows the first."""
        if not bad.any():
            return
        number, first = int(np.count_nonzero(bad)), int(np.argmax(bad))
        raise self.wrong(role, must, number, len(bad), start + first, values[first], hint)

    def wrong(
        self, role: str, must: str, number: int, size: int, row: int, value: Any, hint: str = ""
    ) -> InputError:
        """Return the error for invalid entries."""
        first = f"{self._place(row)} of {printable(self.path)} has {printable(value)[:40]}"
        said = failing(must, number, size, first)
        return InputError(f"`{role}` must {must}; {said}.{' ' if hint else ''}{hint}")

    def present(self, role: str, column: Any, start: int = 0) -> Any:
        """Return a column without missing values; `start` is its first row in the file."""
        if column.null_count:
            first, one = int(np.argmax(column.is_null().to_numpy())), column.null_count == 1
            raise InputError(
                f"`{role}` must have no missing values; {column.null_count:,} of {len(column):,} "
                f"{'is' if one else 'are'} missing, {'' if one else 'the first '}"
                f"{self.where(start + first)} of {printable(self.path)}."
            )
        return column

    def numbers(self, role: str, column: Any, start: int = 0) -> Any:
        """Return a column as numpy numbers."""
        import pyarrow as pa

        column = self.present(role, column, start)
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if pa.types.is_decimal(column.type):  # what sums are in DuckDB
            column = column.cast(pa.float64())
        values = column.to_numpy()
        if values.dtype.kind not in "iuf":
            raise self._no_numbers(role, column, values, start)
        return values

    def _no_numbers(self, role: str, column: Any, values: Any, start: int) -> InputError:
        import pyarrow as pa

        text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
        what = "text" if text else str(column.type)
        first = next((at for at, one in enumerate(values) if not _is_number(str(one))), 0)
        comma = re.fullmatch(r"\d+(,\d+)+", str(values[first]))
        hint = " Write decimals with a point, and thousands without a separator." if comma else ""
        return InputError(
            f"`{role}` must hold numbers, not {what}; {self._place(start + first)} of "
            f"{printable(self.path)} has {str(values[first])[:40]!r}.{hint}",
        )

    def integers(self, role: str, column: Any, start: int = 0) -> Any:
        """Return a column of whole numbers, as int64."""
        values = self.numbers(role, column, start)
        if values.dtype.kind == "f":
            values = values.astype(np.float64)  # float16 cannot hold 2^63
            broken = ~((values == np.floor(values)) & (np.abs(values) < 2.0**63))
            if broken.any():
                first = int(np.argmax(broken))
                raise InputError(
                    f"`{role}` must hold whole numbers; {self._place(start + first)} of "
                    f"{printable(self.path)} has {values[first]}.",
                )
        return values.astype(np.int64, copy=False)

    def ids(self, role: str, column: Any) -> Any:
        """Return ids: numbers as int64, otherwise text; in text files, numbers if all are."""
        column = self.present(role, column)
        if not self.typed:  # 7 is a number and "007" text
            column = numbered(column)
        try:
            values = np.asarray(column)
        except Exception as error:  # text of a damaged file that is not UTF-8
            raise unreadable(self.path, error, argument=self.argument) from error
        if values.dtype.kind not in "iu":  # NumPy's own text takes less memory
            values = np.asarray([str(one) for one in values.tolist()])
        return values


def open_table(
    path: files.PathLike,
    *,
    encoding: str | None = None,
    delimiter: str | None = None,
    names: Sequence[str] | None = None,
    suffix: str | None = None,
    argument: str = "path",
) -> Table:
    """Open a file and read its head.

    Parameters
    ----------
    path : CSV, TSV, RecBole's atomic files (``.inter``) or other delimited text, which may be
        packed as ``.gz``, ``.bz2``, ``.zst`` or ``.xz``; Parquet; feather or Arrow; JSON Lines;
        JSON with a list of records or an object of columns; ``.npy`` with an array of ranks
    encoding : of a text file; default: UTF-8, or Latin-1 where it is not
    delimiter : of a text file; default: a comma, semicolon, tab or bar, as in its first line
    names : names of the columns of a text file without a header
    suffix : the format of the file, such as ".csv"; default: by its name
    argument : the caller's name for the file, for errors
    """
    source = path if isinstance(path, Path) else Path(_text(path))
    if not os.path.isfile(source):
        source = files.existing(path, argument)  # and say what is wrong
    suffix = kind(source) if suffix is None else suffix
    if suffix not in SUFFIXES:
        raise unknown(source, argument)
    try:
        handle = open(source, "rb")  # noqa: SIM115 (the table closes it)
    except OSError as error:
        raise InputError(
            f"`{argument}` must be readable; {printable(source)} is not: {files.reason(error)}."
        ) from error
    try:
        if suffix in TEXT:
            sign = "\t" if delimiter is None and suffix in (".tsv", ".inter") else delimiter
            return _open_text(source, handle, encoding, sign, names, argument)
        from fullrank.tables import columnar

        found, content = columnar.open_source(source, unpacked(source, handle), suffix)
        return Table(
            path=source, source=found, metadata=found.metadata, content=content, handle=handle,
            argument=argument,
        )  # fmt: skip
    except Exception as error:
        handle.close()
        raise unreadable(source, error, suffix, argument) from error


def frame_table(frame: Any) -> Table:
    """Open the table in a data frame."""
    from fullrank.tables import columnar

    source = columnar.frame_source(frame)
    return Table(path=FRAME, source=source, metadata=source.metadata, argument="frame")


def kind(path: Path) -> str:
    """Return the suffix of a file's format; for ``.csv.gz`` it is ``.csv``."""
    suffixes = [one.lower() for one in path.suffixes]
    if suffixes and suffixes[-1] in PACKED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def stem(path: Path) -> str:
    """Return the name of a file without its suffixes."""
    return "ranks" if path is FRAME else path.name.split(".")[0] or path.name


def packing(path: Path) -> str:
    """Return the suffix of a file's compression, or an empty string."""
    suffix = path.suffix.lower()
    return suffix if suffix in PACKED else ""


def unknown(path: Path, argument: str = "path") -> InputError:
    """Return the error for a file with an unknown suffix."""
    suffix = kind(path)
    hint = " Save the sheet as CSV." if suffix in (".xls", ".xlsx", ".ods") else ""
    if suffix in (".zip", ".tar", ".tgz", ".7z", ".rar"):
        hint = " Unpack it first."
    return InputError(
        f"`{argument}` must end in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]} (text also with "
        f"{', '.join(PACKED)}), not {suffix!r}: {printable(path)}.{hint}"
    )


def unreadable(path: Path, error: Exception, suffix: str = "", argument: str = "path") -> Exception:
    """Return the error for a file that does not match its suffix; any other error unchanged."""
    import zlib
    from lzma import LZMAError

    import pyarrow as pa

    if path is FRAME:
        from fullrank.tables import columnar

        return columnar.frame_error(error)
    known = (pa.ArrowException, OSError, EOFError, ValueError, zlib.error, LZMAError)
    if isinstance(error, FullrankError) or not isinstance(error, known):
        return error
    what = {".parquet": "a Parquet", ".json": "a JSON", ".jsonl": "a JSON Lines",
            ".ndjson": "a JSON Lines", ".npy": "a NumPy", ".feather": "a Feather",
            ".arrow": "an Arrow", ".ipc": "an Arrow"}  # fmt: skip
    kind_ = what.get(suffix or kind(path), "a CSV")
    return InputError(
        f"`{argument}` must be {kind_} file; {printable(path)} is not: {because(error)}."
    )


def plain(name: str) -> str:
    """Return a column's name as in `NAMES`: in lower case without punctuation."""
    return re.sub(r"[\W_]", "", name.lower())


def numbered(column: Any) -> Any:
    """Return a text column as whole numbers, if every word of it is one."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(column, np.ndarray) or column.null_count or not len(column):
        return column
    if not pa.types.is_string(column.type):
        return column
    padded = pc.and_(pc.starts_with(column, "0"), pc.greater(pc.binary_length(column), 1))
    if pc.any(padded).as_py():
        return column
    try:
        return column.cast(pa.int64())
    except pa.ArrowInvalid:
        return column


# ---- delimited text ----


@dataclass(kw_only=True, eq=False)
class Text:
    """Delimited text in an open file, which is read from its beginning each time."""

    path: Path
    handle: Any
    delimiter: str
    encoding: str | None
    names: Sequence[str]
    header: bool
    notes: list[str]
    metadata: Mapping[bytes, bytes] = field(default_factory=dict)
    typed: bool = False

    def whole(self, names: Sequence[str], texts: Sequence[str]) -> Any:
        import pyarrow as pa
        import pyarrow.csv as csv

        try:
            return csv.read_csv(self._stream(), **self._options(names, texts))
        except (pa.ArrowException, UnicodeError) as error:
            self._check_encoding(error)
            if self.encoding is not None or self._is_utf8():
                raise
            self.encoding = "latin-1"
            self.notes.append(_latin(self.path))
            return csv.read_csv(self._stream(), **self._options(names, texts))

    def pieces(self, names: Sequence[str], texts: Sequence[str]) -> Iterator[Any]:
        import pyarrow as pa
        import pyarrow.csv as csv

        try:
            with csv.open_csv(self._stream(), **self._options(names, texts)) as stream:
                yield from stream
        except (pa.ArrowException, UnicodeError) as error:
            self._check_encoding(error)
            if self.encoding is not None or self._is_utf8():
                raise
            raise InputError(
                f"`encoding` must be given, such as latin-1: {printable(self.path)} is not UTF-8."
            ) from error

    def _options(self, names: Sequence[str], texts: Sequence[str]) -> dict[str, Any]:
        import pyarrow as pa
        import pyarrow.csv as csv

        return {
            "read_options": csv.ReadOptions(
                block_size=_BYTES,
                encoding=self.encoding or "utf8",
                column_names=None if self.header else list(self.names),
            ),
            "parse_options": csv.ParseOptions(delimiter=self.delimiter),
            # ids are read as text: Arrow would guess their type from the first block, and make 7
            # of "007"
            "convert_options": csv.ConvertOptions(
                column_types=dict.fromkeys(texts, pa.string()),
                include_columns=list(names),
                strings_can_be_null=True,
            ),
        }

    def _stream(self) -> Any:
        self.handle.seek(0)
        return unpacked(self.path, self.handle)

    def _check_encoding(self, error: Exception) -> None:
        """Raise if the text is not in the encoding that was given."""
        if self.encoding is not None and isinstance(error, UnicodeError):
            raise _not_in(self.path, self.encoding) from error

    def _is_utf8(self) -> bool:
        import codecs

        decoder = codecs.getincrementaldecoder("utf-8")()
        stream = self._stream()
        try:
            while block := stream.read(_BYTES):
                decoder.decode(block)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return False
        return True

    def line(self, row: int) -> int | None:
        """Return the line on which a row begins; None if that is too far to count."""
        if row > _LINES:
            return None
        text = io.TextIOWrapper(self._stream(), self.encoding or "utf-8-sig", "replace", newline="")
        reader = plain_csv.reader(text, delimiter=self.delimiter)
        try:
            place = -1 if self.header else 0
            before = 0
            for record in reader:
                if record and place == row:
                    return before + 1
                place, before = place + bool(record), reader.line_num
        except plain_csv.Error:
            return None
        finally:
            text.detach()
        return None


def _open_text(
    path: Path,
    handle: Any,
    encoding: str | None,
    delimiter: str | None,
    names: Sequence[str] | None,
    argument: str,
) -> Table:
    head = unpacked(path, handle).read(_HEAD)
    if encoding is None and head[:4].count(0):  # or marks of the order of bytes
        raise InputError(
            f"`encoding` must be given, such as utf-16: {printable(path)} is not UTF-8."
        )
    notes: list[str] = []
    text, encoding = _decoded(path, head, encoding, notes)
    if not text.strip():
        raise InputError(f"`{argument}` must hold a table; {printable(path)} is empty.")
    sign = _delimiter(path, text, argument) if delimiter is None else delimiter
    found = _header(text, sign, argument) if names is None else list(names)
    source = Text(
        path=path, handle=handle, delimiter=sign, encoding=encoding, names=found,
        header=names is None, notes=notes,
    )  # fmt: skip
    return Table(
        path=path, source=source, metadata={}, handle=handle, notes=notes, argument=argument
    )


def _decoded(
    path: Path, head: bytes, encoding: str | None, notes: list[str]
) -> tuple[str, str | None]:
    """The head as text, and the encoding where it is not UTF-8."""
    try:
        if encoding is not None:
            return head.decode(encoding, "ignore" if encoding in _WIDE else "strict"), encoding
        # the last character may be cut
        return head.decode("utf-8-sig", "strict" if len(head) < _HEAD else "ignore"), None
    except (LookupError, TypeError, ValueError) as error:
        if isinstance(error, UnicodeError):
            return _mistaken(path, head, encoding, notes)
        raise InputError(
            f"`encoding` must be the name of a text encoding, such as latin-1, not {encoding!r}."
        ) from None


def _mistaken(
    path: Path, head: bytes, encoding: str | None, notes: list[str]
) -> tuple[str, str | None]:
    """Of text in another encoding: Latin-1, unless something else was said."""
    if encoding is not None:
        raise _not_in(path, encoding)
    notes.append(_latin(path))
    return head.decode("latin-1"), "latin-1"


def _not_in(path: Path, encoding: str) -> InputError:
    return InputError(
        f"`encoding` must be the encoding of {printable(path)}, which is not {encoding}."
    )


def _latin(path: Path) -> str:
    return f"{printable(path.name)} is not UTF-8 and was read as Latin-1."


def _header(text: str, delimiter: str, argument: str) -> list[str]:
    """The first record that is not empty."""
    try:
        records = plain_csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        return next((record for record in records if record), [])
    except plain_csv.Error as error:
        raise InputError(
            f"`{argument}` must begin with a line of column names; {error}."
        ) from error


def _delimiter(path: Path, text: str, argument: str) -> str:
    """Whatever the header has most of outside of quotes."""
    line = re.sub(r'"[^"]*"', "", text.lstrip("\r\n").splitlines()[0])
    if "::" in line:
        raise InputError(
            f"`{argument}` must have columns separated by one character; those of "
            f"{printable(path)} are separated by '::'. Replace '::' with a comma."
        )
    signs = (",", "\t", ";", "|")
    return max(signs, key=line.count)


def unpacked(path: Path, handle: Any) -> Any:
    """Return the content of an open file; a compressed one is decompressed with a limit."""
    if not packing(path):
        return handle
    from fullrank.tables import archives  # with it come the packers

    return archives.unpacked(path, handle)


def _untyped(name: str) -> str:
    """RecBole's ``user_id:token`` is a column user_id."""
    head, colon, type_ = name.rpartition(":")
    return head if colon and type_ in _RECBOLE else name


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _text(path: Any) -> Any:
    """What can be a path, as it is; else an error in our words."""
    if isinstance(path, str) or hasattr(path, "__fspath__"):
        return path
    raise InputError(f"`path` must be text or a path, not {type(path).__name__}.")
