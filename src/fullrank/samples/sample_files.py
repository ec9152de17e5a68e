"""Samples in files of our own, Parquet and JSON, with the design inside."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from fullrank._lib import checks, files
from fullrank.designs.design import Design
from fullrank.errors import InputError
from fullrank.samples import exact_files
from fullrank.samples.distribution import RankDistribution
from fullrank.samples.exact_ranks import ExactRanks
from fullrank.samples.sample import RankSample
from fullrank.tables.table import kind

FORMAT = 3  # of 1, users were row numbers in run folders; of 2, designs had no name
KEY = b"fullrank"
_ROW_COLUMNS = ("user", "item", "time", "rank", "sample_size", "n_items", "weight", "n_targets",
                "offset")  # fmt: skip
_COUNT_COLUMNS = ("rank", "sample_size", "pool", "count", "weight")


def to_arrow(sample: RankSample | ExactRanks) -> Any:
    """A pyarrow Table of the rows, or of the counts where there are no rows."""
    import pyarrow as pa

    head, columns = _packed(sample)
    table = pa.table({name: pa.array(*_plain(values)) for name, values in columns.items()})
    return table.replace_schema_metadata({KEY: json.dumps(head).encode()})


def _plain(values: Any) -> tuple[Any, ...]:
    """What makes an array of pyarrow: values, their type and what is missing."""
    if not isinstance(values, np.ma.MaskedArray):
        return (values,)
    return np.ma.getdata(values), None, np.ma.getmaskarray(values)


def from_arrow(table: Any) -> RankSample | ExactRanks:
    """The sample, or the exact ranks, that `to_arrow` packed."""
    metadata = table.schema.metadata or {}
    if KEY not in metadata:
        raise InputError("`table` must be one that fullrank wrote; this one has no design.")
    names = table.column_names
    if len(set(names)) < len(names):
        raise InputError("`table` must name each column once.")
    return from_columns(head_of(metadata), table)


def from_columns(head: dict[str, Any], table: Any) -> RankSample | ExactRanks:
    """The sample, or the exact ranks, with this head and these columns."""
    columns = {
        name: _numpy(table, name, nulls=exact_files.may_have_nulls(head, name))
        for name in table.column_names
    }
    return _unpacked(head, columns)


def to_json(sample: RankSample | ExactRanks) -> str:
    """The sample as JSON text."""
    return json.dumps(to_plain(sample))


def to_plain(sample: RankSample | ExactRanks) -> dict[str, Any]:
    """The sample as an object of JSON."""
    head, columns = _packed(sample)
    return {**head, "columns": {name: values.tolist() for name, values in columns.items()}}


Held = TypeVar("Held", RankSample, ExactRanks)


def from_plain(kind: type[Held], content: Any) -> Held:
    """The sample, or the exact ranks, that `to_plain` made plain."""
    found = from_json(json.dumps(content))
    if not isinstance(found, kind):
        raise InputError(f"`content` must hold {kind.__name__} data, not {type(found).__name__}.")
    return found


def from_json(text: str) -> RankSample | ExactRanks:
    """The sample, or the exact ranks, that `to_json` wrote."""
    try:
        content = json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        why = checks.because(error)
        raise InputError(f"`text` must be a RankSample written by to_json: {why}.") from error
    return from_content(content)


def from_content(content: Any, path: Any = "it") -> RankSample | ExactRanks:
    """The sample, or the exact ranks, in what a JSON file of fullrank holds."""
    try:
        head = _checked_head(content, path)
        columns = {
            name: exact_files.masked(values)
            if exact_files.may_have_nulls(head, name)
            else np.asarray(values)
            for name, values in content["columns"].items()
        }
    except (KeyError, AttributeError, TypeError, ValueError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        why = exact_files.lacking(error)
        raise InputError(f"`path` must be a RankSample written by to_json: {why}.") from error
    return _unpacked(head, columns)


def write(sample: RankSample | ExactRanks, path: files.PathLike) -> None:
    """Write a sample to a ``.parquet`` or ``.json`` file, completely or not at all."""
    suffix = _suffix(path, (".parquet", ".json"))
    with files.replacing(path) as temporary:
        if suffix == ".json":
            temporary.write_text(to_json(sample) + "\n", encoding="utf-8")
        else:
            import pyarrow.parquet as pq

            pq.write_table(to_arrow(sample), temporary)


def _packed(sample: RankSample | ExactRanks) -> tuple[dict[str, Any], dict[str, Any]]:
    """What both file formats hold: a head of settings, and columns."""
    if isinstance(sample, ExactRanks):
        return exact_files.packed(sample)
    part, names = (sample, _COUNT_COLUMNS) if sample.rows is None else (sample.rows, _ROW_COLUMNS)
    columns = {name: getattr(part, name) for name in names if getattr(part, name) is not None}
    head = {
        "format": FORMAT,
        "kind": "RankSample",
        "content": "counts" if sample.rows is None else "rows",
        "n_items": sample.n_items,
        "design": sample.design.to_dict(),
    }
    if sample.anchor is not None:
        head["anchor"] = sample.anchor.to_dict()
    return head, columns


def _unpacked(head: dict[str, Any], columns: dict[str, Any]) -> RankSample | ExactRanks:
    """Check again what was read: a file can be changed by anyone."""
    if head["kind"] == exact_files.KIND:
        return exact_files.unpacked(head, columns)
    design, anchor = design_of(head), anchor_of(head)
    try:
        if head["content"] == "rows":
            return RankSample.from_ranks(**columns, design=design).anchored(anchor)
        pool = columns.pop("pool")
        if head["n_items"] is None:
            return RankSample.from_counts(**columns, n_items=pool, design=design).anchored(anchor)
        sample = RankSample.from_counts(**columns, n_items=pool, design=design)
    except (KeyError, TypeError) as error:
        why = exact_files.lacking(error)
        raise InputError(f"`path` must hold a complete RankSample: {why}.") from error
    n_items = checks.integer("n_items", head["n_items"], low=int(sample.pool.max()))
    return replace(sample, design=design, n_items=n_items, anchor=anchor)


def holds_rows(head: Mapping[str, Any]) -> bool:
    """Whether a file of fullrank holds a sample target by target."""
    return bool(head["kind"] != exact_files.KIND and head["content"] == "rows")


def anchor_of(head: dict[str, Any]) -> RankDistribution | None:
    """The shape that a sample borrows, if it has one."""
    return None if head.get("anchor") is None else RankDistribution.from_dict(head["anchor"])


def head_of(metadata: Mapping[bytes, bytes]) -> dict[str, Any]:
    """The settings in the metadata of a file of fullrank."""
    try:
        return _checked_head(json.loads(metadata[KEY]))
    except (ValueError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        why = checks.because(error)
        raise InputError(f"`path` must hold a complete RankSample: {why}.") from error


def design_of(head: dict[str, Any]) -> Design:
    """How the sample was drawn."""
    try:
        return Design.from_dict(head["design"])
    except TypeError as error:
        raise InputError(f"`path` must hold a complete RankSample: {error}.") from error


def _checked_head(content: Any, path: Any = "it") -> dict[str, Any]:
    if not isinstance(content, dict) or content.get("kind") not in ("RankSample", "ExactRanks"):
        raise InputError(
            f"`path` must hold a RankSample or ExactRanks, a list of records with a 'rank' field, "
            f"or an object of columns; {path} holds something else."
        )
    ours = exact_files.FORMAT if content["kind"] == exact_files.KIND else FORMAT
    if content.get("format") != ours:
        older = content.get("format") in range(1, ours)
        raise InputError(
            f"`path` must be of format {ours}, not {content.get('format')!r}: "
            f"{'an older' if older else 'a newer'} version of fullrank wrote it."
        )
    if content["kind"] == exact_files.KIND:
        return content
    if content.get("content") not in ("rows", "counts") or not isinstance(
        content.get("design"), dict
    ):
        raise InputError("`path` must hold a complete RankSample; its header is incomplete.")
    return content


def _suffix(path: files.PathLike, known: tuple[str, ...]) -> str:
    suffix = kind(Path(path))
    if suffix not in known:
        table = " For a table, use to_frame().to_csv(path)." if suffix == ".csv" else ""
        raise InputError(f"`path` must end in {' or '.join(known)}, not {suffix!r}.{table}")
    return suffix


def _numpy(table: Any, name: str, nulls: bool = False) -> Any:
    column = table.column(name)
    if nulls:
        return _masked(column, name)
    if column.null_count:
        are = "is" if column.null_count == 1 else "are"
        raise InputError(
            f"`{name}` must have no missing values; {column.null_count:,} {are} missing."
        )
    return _numpy_of(column, name)


def _masked(column: Any, name: str) -> Any:
    """Numbers, some of which may be missing."""
    import pyarrow as pa

    missing = column.is_null().to_numpy()
    if missing.all():
        return np.ma.masked_array(np.zeros(missing.size, np.int64), missing)
    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        raise InputError(f"`{name}` must hold numbers, not {column.type}.")
    return np.ma.masked_array(_numpy_of(column.fill_null(0), name), missing)


def _numpy_of(column: Any, name: str) -> Any:
    import pyarrow as pa

    try:
        values = column.to_numpy()
    except (pa.ArrowException, UnicodeError) as error:  # text that is none
        why = checks.because(error)
        raise InputError(f"`{name}` must hold numbers or text; it does not: {why}.") from error
    if values.dtype.kind == "O":
        values = np.asarray([str(value) for value in values])
    return values
