"""The files behind `candidates`: each gives arrays of users, items, scores or labels.

Ids are text, whatever they look like, so that those of two files meet.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fullrank.errors import InputError
from fullrank.tables import pieces

Columns = dict[str, Any]

_CALLED: Mapping[str, tuple[str, ...]] = {
    "user": ("user", "user_id", "userid", "uid", "query", "query_id", "qid", "q_id"),
    "item": ("item", "item_id", "itemid", "iid", "doc", "doc_id", "docid", "docno"),
    "score": ("score", "scores", "prediction", "pred"),
    "label": ("label", "relevance", "rel", "relevant", "target"),
    "model": ("model",),
}
_RUN = ("user", "q0", "item", "place", "score", "tag")
_QRELS = ("user", "iteration", "item", "label")
_RATING = ("user", "item", "rating", "timestamp")


def read_scored(path: Path, *, items: bool) -> Columns:
    """The user and score of every candidate, and perhaps its item, label and model."""
    if pieces.kind(path) in pieces.TABLES:
        more = ("item",) if items else ()
        return _table(path, ("user", "score", *more), ("label", "model"))
    columns = _words(path, _RUN, "query Q0 document rank score tag")
    columns["score"] = _real(columns, path)
    several = (columns["tag"] != columns["tag"][0]).any()  # one run takes the name of its file
    kept = {"user": "user", "item": "item", "score": "score"} | (
        {"model": "tag"} if several else {}
    )
    return {role: columns[name] for role, name in kept.items()}


def read_truth(path: Path) -> Columns:
    """The user and item of every target."""
    if lists_unseen(path):
        return _ncf(path)
    if path.name.endswith(".rating"):
        columns = _words(path, _RATING, "user item rating timestamp")
        return {"user": columns["user"], "item": columns["item"]}
    if pieces.kind(path) in pieces.TABLES:
        columns = _table(path, ("user", "item"), ("label",))
    else:
        columns = _words(path, _QRELS, "query 0 document relevance")
        columns["label"] = _real(columns, path, "label")
    if "label" in columns:
        target = columns["label"] > 0
        columns = {name: columns[name][target] for name in ("user", "item")}
    return columns


def lists_unseen(path: Path) -> bool:
    """Whether the candidates beside a file of targets are items that the user has not seen."""
    return path.name.endswith(".negative")


def has_scores(path: Path) -> bool:
    """Whether a table holds scores and labels of candidates instead of ranks."""
    if pieces.kind(path) not in pieces.TABLES:
        return False
    names = {name.lower() for name in pieces.open_table(path).names}
    return "rank" not in names and all(
        names & set(_CALLED[role]) for role in ("user", "score", "label")
    )


def _table(path: Path, needed: Sequence[str], welcome: Sequence[str]) -> Columns:
    table = pieces.open_table(path)
    by_name = {name.lower(): name for name in reversed(list(table.names))}
    wanted = {}
    for role in (*needed, *welcome):
        name = next((by_name[one] for one in _CALLED[role] if one in by_name), None)
        if name is None and role in needed:
            table.find(role, role)
        if name is not None:
            wanted[role] = name
    parts: dict[str, list[Any]] = {role: [] for role in wanted}
    n_rows = 0
    for piece in table.pieces(wanted):
        for role in wanted:
            column = piece.column(role)
            parts[role].append(
                _text(role, column)
                if role in ("user", "item", "model")
                else pieces.numbers(role, column, n_rows).astype(np.float64)
            )
        n_rows += len(piece)
    if not n_rows:
        raise InputError(f"`path` must hold at least one row; {path} is empty.")
    return {role: np.concatenate(part) for role, part in parts.items()}


def _text(role: str, column: Any) -> Any:
    if column.null_count:
        raise InputError(f"`{role}` must have no missing values; {column.null_count:,} are.")
    return np.asarray(column.to_numpy()).astype(np.str_)


def _words(path: Path, names: Sequence[str], form: str) -> Columns:
    """Columns parted by blanks or tabs, without a header."""
    import pyarrow as pa
    import pyarrow.csv as csv

    text = re.sub(rb"[ \t]+", b"\t", path.read_bytes().replace(b"\r", b""))
    text = re.sub(rb"\t*\n[\t\n]*", b"\n", b"\n" + text).strip(b"\t\n") + b"\n"
    if text == b"\n":
        raise InputError(f"`path` must hold lines like '{form}'; {path} is empty.")
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
        why = " ".join(str(error).split())[:120].rstrip(".")
        raise InputError(f"`path` must hold lines like '{form}'; {path} has others: {why}.") from (
            error
        )
    return {name: table.column(name).to_numpy().astype(np.str_) for name in names}


def _real(columns: Columns, path: Path, name: str = "score") -> Any:
    try:
        return columns[name].astype(np.float64)
    except ValueError as error:
        raise InputError(f"`{name}` must be a number in every line of {path}; {error}.") from None


def _ncf(path: Path) -> Columns:
    """The heads of NCF's lines: ``(user,item)``, then the negatives."""
    text = path.read_text(encoding="utf-8", errors="replace")
    heads = re.findall(r"^\s*\(([^,()\s]+),\s*([^,()\s]+)\)", text, flags=re.MULTILINE)
    n_lines = sum(bool(line.strip()) for line in text.splitlines())
    if not heads or len(heads) != n_lines:
        raise InputError(
            f"`path` must hold lines like '(user,item)\\tnegative\\tnegative'; {path} has others."
        )
    user, item = zip(*heads, strict=True)
    return {"user": np.array(user), "item": np.array(item)}
