"""Given candidates in files: NCF's ``.test.negative``, and Parquet, ours or anyone's."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from fullrank._lib import checks, memory
from fullrank._lib.checks import printable
from fullrank._lib.files import PathLike, existing, replacing
from fullrank._lib.types import Array, Ints
from fullrank.errors import InputError
from fullrank.tables.candidate_files import ncf_lines, not_ncf
from fullrank.tables.ids import are_rows
from fullrank.tables.table import open_table

if TYPE_CHECKING:
    from fullrank.designs.given import Negatives


FORMAT = 1
_META = b"fullrank.negatives"


def read_ncf(
    path: PathLike, *, user_ids: ArrayLike | None, item_ids: ArrayLike | None
) -> dict[str, Any]:
    """The columns of a ``.test.negative`` file, as `Negatives` takes them."""
    users, targets, rows = [], [], []
    for line in ncf_lines(existing(path)):
        try:
            users.append(int(line.user))
            targets.append(int(line.item))
            rows.append(np.array([int(one) for one in line.negatives], np.int64))
        except (ValueError, OverflowError):
            said = "\t".join([f"({line.user},{line.item})", *line.negatives])
            raise not_ncf(existing(path), line.number, said) from None
    return {
        "user_rows": _to_rows("user", np.array(users), user_ids),
        "target_rows": _to_rows("item", np.array(targets), item_ids),
        "items": _padded(rows, item_ids),
    }


def read_parquet(
    path: PathLike,
    *,
    user_ids: ArrayLike | None,
    item_ids: ArrayLike | None,
    replacement: bool | None,
    pool: str | None,
) -> dict[str, Any]:
    """The columns and the design of a Parquet file, as `Negatives` takes them."""
    table = _parquet(path)
    said = _metadata(table.schema, path)
    if said and not said.get("named"):  # rows of ours, which no id names
        for side, known in (("user", user_ids), ("item", item_ids)):
            if known is not None and not are_rows(np.asarray(known)):
                raise InputError(
                    f"`path` must identify its {side}s by id; {printable(path)} holds row numbers."
                )
        user_ids = item_ids = None
    missing = {"user", "negative"} - set(table.column_names)
    if missing:
        raise InputError(
            f"`path` must have the columns 'user' and 'negative'; {printable(path)} has "
            f"{printable(', '.join(table.column_names))}."
        )
    users = _numbers(table, "user", user_ids)
    target = _numbers(table, "target", item_ids) if "target" in table.column_names else None
    column = table.column("negative").combine_chunks()
    if _is_list(column.type):
        ends = np.cumsum(column.value_lengths().to_numpy())[:-1]
        flat = _plain("negative", column.flatten(), item_ids)
        lists = np.split(flat, ends)
    else:
        users, target, lists = _grouped(users, target, _plain("negative", column, item_ids))
    for name, value in (("replacement", replacement), ("pool", pool)):
        if value is not None and said.get(name) not in (None, value):
            raise InputError(
                f"`{name}` must be {said[name]!r}, as stated in {printable(path)}, not {value!r}."
            )
    return {
        "user_rows": _to_rows("user", users, user_ids),
        "target_rows": None if target is None else _to_rows("item", target, item_ids),
        "items": _padded(lists, item_ids),
        "replacement": said.get("replacement") if replacement is None else replacement,
        "pool": said.get("pool") if pool is None else pool,
        "seed": said.get("seed"),
    }


def _named(rows: Array, ids: Array | None) -> Array:
    return rows if ids is None else ids[rows]


def save(negatives: Negatives, path: PathLike) -> None:
    """Write a Parquet file that `read_parquet` gives back as it was."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    full = negatives.items >= 0
    starts = np.concatenate(([0], np.cumsum(full.sum(axis=1)))).astype(np.int32)
    users, items = negatives.user_ids, negatives.item_ids
    flat = _named(negatives.items[full], items)
    lists = pa.ListArray.from_arrays(pa.array(starts), pa.array(flat))
    columns = {"user": pa.array(_named(negatives.user_rows, users)), "negative": lists}
    if negatives.target_rows is not None:
        columns["target"] = pa.array(_named(negatives.target_rows, items))
    said = {
        "format": FORMAT,
        "named": users is not None and items is not None,
        "replacement": negatives.replacement,
        "pool": negatives.pool,
        "seed": negatives.seed,
    }
    table = pa.table(columns).replace_schema_metadata({_META: json.dumps(said).encode()})
    with replacing(path) as temporary:
        pq.write_table(table, temporary)


def _to_rows(side: str, values: Array, ids: ArrayLike | None) -> Ints:
    """Row numbers from ids, or from row numbers where no ids are given."""
    if ids is None:
        rows = checks.integers("path", values, hint=f"The values are row numbers of {side}s.")
        if (rows < 0).any():
            what = f"row numbers of {side}s, which are at least 0"
            raise checks.holding("path", what, rows[rows < 0], rows.size)
        return rows
    known = checks.as_array(f"{side}_ids", ids)
    if known.ndim != 1 or known.size == 0 or known.dtype.kind not in "iuU":
        raise InputError(
            f"`{side}_ids` must be a non-empty vector of whole numbers or text, not {known.dtype} "
            f"of shape {known.shape}."
        )
    if (known.dtype.kind == "U") != (values.dtype.kind == "U"):
        raise InputError(
            f"`path` must hold {side} ids of the same type as `{side}_ids`: numbers or text."
        )
    order = np.argsort(known)
    at = np.minimum(np.searchsorted(known[order], values), known.size - 1)
    rows = order[at]
    strange = values[known[rows] != values]
    if strange.size:
        raise checks.holding("path", f"{side} ids that are in `{side}_ids`", strange, values.size)
    return rows.astype(np.int64)


def _padded(lists: list[Array], item_ids: ArrayLike | None) -> Any:
    flat = _to_rows("item", np.concatenate(lists), item_ids)
    sizes = np.array([one.size for one in lists])
    width = int(sizes.max())
    memory.ask("path", 16 * len(lists) * width, f"{len(lists):,} rows filled up to {width:,}")
    items = np.full((len(lists), width), -1, np.int64)
    items[np.arange(width) < sizes[:, None]] = flat
    return items  # Negatives checks that they are rows before it narrows them


def _grouped(users: Array, target: Array | None, flat: Array) -> tuple[Array, Any, list[Array]]:
    """Lists from one item per row: those of a user (and target), in the order of the file."""
    keys = (users,) if target is None else (target, users)
    order = np.lexsort(keys)
    change = np.zeros(users.size - 1, bool)
    for key in keys:
        change |= np.diff(key[order]) != 0
    first = np.concatenate(([0], np.flatnonzero(change) + 1))
    return (
        users[order][first],
        None if target is None else target[order][first],
        np.split(flat[order], first[1:]),
    )


def _parquet(path: PathLike) -> Any:
    """A table with something in it and nothing missing."""
    shown = printable(path)
    with open_table(path, suffix=".parquet") as file:
        names = list(file.source.names)
        if len(set(names)) < len(names):
            name = next(one for at, one in enumerate(names) if one in names[:at])
            raise InputError(f"`path` must name each column once; {name!r} appears twice.")
        table = file.whole({name: name for name in file.names})
        table = table.replace_schema_metadata(file.metadata)
    if table.num_rows == 0:
        raise InputError(f"`path` must hold at least one row; {shown} is empty.")
    for name, column in zip(names, table.columns, strict=True):
        inside = column.combine_chunks()
        inner = inside.flatten().null_count if _is_list(inside.type) else 0
        if column.null_count or inner:
            raise InputError(f"`{printable(name)}` must have no missing values; {shown} has some.")
    return table


def _is_list(kind: Any) -> bool:
    import pyarrow as pa

    return any(
        check(kind)
        for check in (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    )


def _numbers(table: Any, name: str, ids: ArrayLike | None) -> Array:
    return _plain(name, table.column(name).combine_chunks(), ids)


def _plain(name: str, column: Any, ids: ArrayLike | None) -> Array:
    """A column of whole numbers, or of text where there are ids to look it up in."""
    import pyarrow as pa

    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        return checks.integers(name, column.to_numpy(zero_copy_only=False))
    if ids is None or not (
        pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    ):
        raise InputError(f"`{name}` must hold whole numbers, not {printable(column.type)}.")
    return np.asarray(column.to_pylist(), np.str_)


def _metadata(schema: Any, path: PathLike) -> dict[str, Any]:
    metadata = schema.metadata or {}
    if _META not in metadata:
        return {}
    try:
        said = json.loads(metadata[_META])
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict):
        raise InputError(f"`path` must state how its items were drawn; {printable(path)} does not.")
    if said.get("format") != FORMAT:
        raise InputError(
            f"`path` must be in format {FORMAT}; {printable(path)} is in format "
            f"{said.get('format')!r}. A newer version of fullrank wrote it."
        )
    return said
