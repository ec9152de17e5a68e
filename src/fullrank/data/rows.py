"""From columns to compressed rows: checks, sorting, merging."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fullrank._lib import checks
from fullrank.errors import DataWarning, InputError
from fullrank.tables import ids as _ids
from fullrank.tables.ids import Ids, Rows

REPEATS = ("last", "sum")


class Table(NamedTuple):
    """Checked columns, one entry per interaction, with ids converted to rows."""

    users: Rows
    items: Rows
    values: NDArray[np.float32] | None
    timestamps: NDArray[np.int64] | None
    user_ids: Ids
    item_ids: Ids

    def where(self, keep: NDArray[np.bool_]) -> Table:
        """The entries where `keep` is true."""
        return self._replace(
            users=self.users[keep],
            items=self.items[keep],
            values=None if self.values is None else self.values[keep],
            timestamps=None if self.timestamps is None else self.timestamps[keep],
        )


class Packed(NamedTuple):
    """Compressed rows: what Interactions holds beside the ids."""

    indptr: NDArray[np.int64]
    indices: Rows
    values: NDArray[np.float32] | None
    timestamps: NDArray[np.int64] | None


def clean(
    columns: Mapping[str, Any], *, user_ids: ArrayLike | None, item_ids: ArrayLike | None
) -> Table:
    """Check the columns that a user gave or a file held."""
    users, user_map = _rows("user", columns["user"], user_ids)
    items, item_map = _rows("item", columns["item"], item_ids)
    if users.size != items.size:
        raise InputError(
            f"`item` must have as many entries as `user`, {users.size}, not {items.size}."
        )
    if users.size == 0:
        raise InputError("`user` must hold at least one interaction; it is empty.")
    return Table(
        users=users,
        items=items,
        values=_values(columns.get("value"), users.size),
        timestamps=_timestamps(columns.get("timestamp"), users.size),
        user_ids=user_map,
        item_ids=item_map,
    )


def _rows(name: str, values: Any, fixed: ArrayLike | None) -> tuple[Rows, Ids]:
    rows, ids = _ids.encode(name, values)
    if fixed is None:
        return rows, ids
    known = _ids.unique(f"{name}_ids", fixed)
    found = _ids.find(name, ids, known)[rows]
    checks.reject(name, ids[rows], found < 0, f"be one of the {known.size} `{name}_ids`")
    return found, known


def _values(values: Any, size: int) -> NDArray[np.float32] | None:
    if values is None:
        return None
    numbers = checks.reals("value", values, size=size)
    largest = float(np.finfo(np.float32).max)
    checks.reject("value", numbers, np.abs(numbers) > largest, f"lie within ±{largest:.3g}")
    return numbers.astype(np.float32)


def _timestamps(values: Any, size: int) -> NDArray[np.int64] | None:
    if values is None:
        return None
    times = checks.as_array("timestamp", values)
    if times.dtype.kind == "M":
        checks.reject("timestamp", times, np.isnat(times), "be a time")
        times = times.astype(np.int64)
    return checks.integers("timestamp", times, size=size)


def pack(table: Table, *, repeats: str = "last", warn: bool = True) -> Packed:
    """Sort by user and item, and leave each pair once.

    Sorting is by one number for each pair; where neither values nor times have to follow, that
    number is all there is to move.
    """
    n_users, n_items = table.user_ids.size, table.item_ids.size
    pair = table.users.astype(np.int64) * n_items + table.items
    order = None
    if table.values is None and table.timestamps is None and repeats == "last":
        if not _ascending(pair):
            pair.sort()
    else:
        order = stable_argsort(pair, n_users * n_items)
        pair = pair[order]
    last = np.append(pair[1:] != pair[:-1], True)
    n_merged = int(last.size - np.count_nonzero(last))
    if n_merged and order is not None and table.timestamps is not None:
        repeated = ~last | np.append(False, ~last[:-1])
        some = order[repeated]
        order[repeated] = some[np.lexsort((table.timestamps[some], pair[repeated]))]
    if n_merged and repeats == "last" and warn:
        _warn_of_repeats(n_merged, last.size, table.timestamps is not None)
    values = None if table.values is None else table.values[order]
    if repeats == "sum":
        values = _sums(values, last)
    elif values is not None:
        values = values[last]
    if n_merged:
        pair = pair[last]
    return Packed(
        indptr=np.searchsorted(pair, np.arange(n_users + 1) * n_items),
        indices=(pair % n_items).astype(np.int32),
        values=values,
        timestamps=None if table.timestamps is None else table.timestamps[order][last],
    )


def _sums(values: NDArray[np.float32] | None, last: NDArray[np.bool_]) -> NDArray[np.float32]:
    """The sum of the values of each pair, or how often it comes."""
    first = np.concatenate([[0], np.flatnonzero(last)[:-1] + 1])
    if values is None:
        return np.diff(first, append=last.size).astype(np.float32)
    sums = np.add.reduceat(values.astype(np.float64), first)
    if np.abs(sums).max() > np.finfo(np.float32).max:
        raise InputError(
            "`value` must have a sum within the range of float32 for each repeated pair; one sum "
            f"is {sums[np.abs(sums).argmax()]:g}."
        )
    return sums.astype(np.float32)


def _warn_of_repeats(n_merged: int, size: int, timed: bool) -> None:
    rule = "latest interaction (by timestamp)" if timed else "last interaction"
    verb = "repeats" if n_merged == 1 else "repeat"
    warnings.warn(
        f"{n_merged} of {size} interactions {verb} a user–item pair; the {rule} of each pair was "
        f"kept, which leaves {size - n_merged}.",
        DataWarning,
        stacklevel=5,
    )


def _ascending(keys: NDArray[np.int64]) -> bool:
    return bool((keys[1:] >= keys[:-1]).all())


def stable_argsort(keys: NDArray[np.int64], bound: int) -> NDArray[np.int64]:
    """Positions in ascending order of keys from 0..bound−1, equal keys in the order given."""
    if _ascending(keys):
        return np.arange(keys.size)
    if bound * keys.size < 2**63:
        # key and position in one number: numpy sorts numbers ten times as fast as positions
        both: NDArray[np.int64] = keys * keys.size + np.arange(keys.size)
        both.sort()
        both %= keys.size
        return both
    return np.argsort(keys, kind="stable")
