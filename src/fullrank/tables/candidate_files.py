"""The files that `read_candidates` reads, as arrays of users, items, scores or labels.

Ids are always text, so that those of two files match.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fullrank._lib.files import existing
from fullrank._lib.text import because, printable
from fullrank.errors import InputError
from fullrank.tables.table import (
    AUTO,
    SUFFIXES,
    Table,
    kind,
    open_table,
    packing,
    unpacked,
    unreadable,
)

Columns = dict[str, Any]

_RUN = ("user", "q0", "item", "place", "score", "tag")
_QRELS = ("user", "iteration", "item", "label")
_RATING = ("user", "item", "rating", "timestamp")
_NCF = "(user,item)\\tnegative\\tnegative"


def read_scored(
    source: Path | Table, columns: Mapping[str, str], *, items: bool, encoding: str | None = None
) -> Columns:
    """Return the user and score of every candidate, and optionally its item, label and model."""
    if not isinstance(source, Path) or is_table(source):
        more = ("item",) if items else ()
        return _table(source, columns, ("user", "score", *more), ("label", "model"), encoding)
    words = _words(source, _RUN, "query Q0 document rank score tag")
    words["score"] = _real(words, source)
    several = (words["tag"] != words["tag"][0]).any()  # one run takes the name of its file
    kept = {"user": "user", "item": "item", "score": "score"} | (
        {"model": "tag"} if several else {}
    )
    return {role: words[name] for role, name in kept.items()}


def read_truth(path: Path, encoding: str | None = None) -> Columns:
    """Return the user and item of every target."""
    said = "truth"  # what the readers call the file
    if lists_unseen(path):
        heads = [(line.user, line.item) for line in ncf_lines(path, said)]
        return dict(zip(("user", "item"), map(np.array, zip(*heads, strict=True)), strict=True))
    if _name(path).endswith(".rating"):
        columns = _words(path, _RATING, "user item rating timestamp", said)
        return {"user": columns["user"], "item": columns["item"]}
    if is_table(path):
        columns = _table(path, None, ("user", "item"), ("label",), encoding, said)
    else:
        columns = _words(path, _QRELS, "query 0 document relevance", said)
        columns["label"] = _real(columns, path, "label")
    if "label" in columns:
        target = columns["label"] > 0
        columns = {name: columns[name][target] for name in ("user", "item")}
    return columns


def is_table(path: Path) -> bool:
    """Return whether a file has named columns, by its suffix; ``.txt`` may be a TREC run."""
    return kind(path) in SUFFIXES and kind(path) != ".txt"


def is_run(path: Path) -> bool:
    """Return whether the first line of a file looks like that of a TREC run."""
    try:
        with open(path, "rb") as handle:
            head = unpacked(path, handle).read(4096)
    except Exception:  # packed, and broken
        return False
    return any(len(line.split()) == len(_RUN) for line in head.splitlines()[:1])


def lists_unseen(path: Path) -> bool:
    """Return whether the candidates of a file of targets are items that the user has not seen."""
    return _name(path).endswith(".negative")


def _name(path: Path) -> str:
    """The name of a file without the suffix that says how it is packed."""
    return path.name[: len(path.name) - len(packing(path))]


def has_scores(table: Table) -> bool:
    """Return whether a table holds scores of candidates instead of ranks."""
    if table.guess("rank") is not None or table.guess("score") is None:
        return False
    return table.guess("user") is not None and (
        table.guess("label") is not None or table.guess("item") is not None
    )


class Line(NamedTuple):
    """A line of NCF's ``.test.negative``, as text."""

    number: int
    user: str
    item: str
    negatives: list[str]


def ncf_lines(path: Path, argument: str = "path") -> Iterator[Line]:
    """The lines of a file of NCF: ``(user,item)``, then the negatives."""
    n_lines = 0
    with (
        open(existing(path, argument), "rb") as handle,
        io.TextIOWrapper(unpacked(path, handle), "utf-8", "replace") as lines,
    ):
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            head, *rest = line.rstrip("\r\n").rstrip("\t").split("\t")
            found = re.fullmatch(r"\s*\(([^,()\s]+),\s*([^,()\s]+)\)\s*", head)
            if found is None:
                raise not_ncf(path, number, line, argument)
            n_lines += 1
            yield Line(number, found[1], found[2], rest)
    if not n_lines:
        raise InputError(f"`{argument}` must hold at least one line; {printable(path)} is empty.")


def not_ncf(path: Path, number: int, line: str, argument: str = "path") -> InputError:
    """The error for a line that NCF's code could not read."""
    return InputError(
        f"`{argument}` must hold lines like '{_NCF}'; line {number} of {printable(path)} is "
        f"{line.strip()[:40]!r}."
    )


def _table(
    source: Path | Table,
    columns: Mapping[str, str] | None,
    needed: Sequence[str],
    welcome: Sequence[str],
    encoding: str | None,
    argument: str = "path",
) -> Columns:
    """The columns of a table by role; `columns` is None where the caller cannot name any."""
    with (
        open_table(source, encoding=encoding, argument=argument)
        if isinstance(source, Path)
        else source
    ) as table:
        if columns is None:
            table.naming = None
        asked = {role: (columns or {}).get(role, AUTO) for role in (*needed, *welcome)}
        wanted = table.resolve(asked, needed=needed)
        whole = table.whole(wanted)
        if not len(whole):
            raise table.empty("row")
        return {
            role: _text(table, role, whole.column(role))
            if role in ("user", "item", "model")
            else table.numbers(role, whole.column(role)).astype(np.float64)
            for role in wanted
        }


def _text(table: Table, role: str, column: Any) -> Any:
    return np.asarray(table.present(role, column).to_numpy()).astype(np.str_)


def _words(path: Path, names: Sequence[str], form: str, argument: str = "path") -> Columns:
    """Columns parted by blanks or tabs, without a header."""
    import pyarrow as pa
    import pyarrow.csv as csv

    with open(existing(path, argument), "rb") as handle:
        try:
            raw = unpacked(path, handle).read()
        except Exception as error:
            raise unreadable(path, error, argument=argument) from error
    text = re.sub(rb"[ \t]+", b"\t", raw.replace(b"\r", b""))
    text = re.sub(rb"\t*\n[\t\n]*", b"\n", b"\n" + text).strip(b"\t\n") + b"\n"
    if text == b"\n":
        raise InputError(f"`{argument}` must hold lines like '{form}'; {path} is empty.")
    try:
        table = csv.read_csv(
            pa.BufferReader(text),
            read_options=csv.ReadOptions(column_names=list(names)),
            parse_options=csv.ParseOptions(delimiter="\t", quote_char=False),
            convert_options=csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
            ),
        )
    except pa.ArrowException as error:
        raise InputError(
            f"`{argument}` must hold lines like '{form}'; {printable(path)} does not: "
            f"{because(error)}."
        ) from error
    return {name: table.column(name).to_numpy().astype(np.str_) for name in names}


def _real(columns: Columns, path: Path, name: str = "score") -> Any:
    try:
        return columns[name].astype(np.float64)
    except ValueError:
        bad = next((one for one in columns[name].tolist() if not _is_number(one)), "")
        raise InputError(
            f"`{name}` must hold a number on every line of {printable(path)}; one line has "
            f"{printable(bad)[:40]!r}."
        ) from None


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
