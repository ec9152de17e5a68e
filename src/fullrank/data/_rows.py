"""From columns to compressed rows: checking, sorting, merging."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fullrank import _checks
from fullrank.data import _ids
from fullrank.data._ids import Ids, Rows
from fullrank.errors import DataWarning, InputError


class Table(NamedTuple):
    """Checked columns, one entry per interaction, with ids made into rows."""

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


def clean(
    columns: Mapping[str, Any], *, user_ids: ArrayLike | None, item_ids: ArrayLike | None
) -> Table:
    """Check the columns that a user gave or a file held."""
    users, user_map = _rows("user", columns["user"], user_ids)
    items, item_map = _rows("item", columns["item"], item_ids)
    if users.size != items.size:
        raise InputError(
            f"`item` must have one entry per `user`; got {items.size} and {users.size}."
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
    _checks.reject(name, ids[rows], found < 0, f"be among the {known.size} `{name}_ids`")
    return found, known


def _values(values: Any, size: int) -> NDArray[np.float32] | None:
    if values is None:
        return None
    return _checks.reals("value", values, size=size).astype(np.float32)


def _timestamps(values: Any, size: int) -> NDArray[np.int64] | None:
    if values is None:
        return None
    times = np.asarray(values)
    if times.dtype.kind == "M":
        _checks.reject("timestamp", times, np.isnat(times), "be a time")
        times = times.astype(np.int64)
    return _checks.integers("timestamp", times, size=size)


def order_of(table: Table) -> NDArray[np.int64]:
    """Positions sorted by user and item, of repeated pairs only the last in time."""
    pair = table.users.astype(np.int64) * table.item_ids.size + table.items
    order = _stable_argsort(pair, table.user_ids.size * table.item_ids.size)
    pair = pair[order]
    last = np.append(pair[1:] != pair[:-1], True)
    n_merged = int(last.size - np.count_nonzero(last))
    if n_merged == 0:
        return order
    rule = "the last of each"
    if table.timestamps is not None:
        rule = "the latest of each by timestamp"
        repeated = ~last | np.append(False, ~last[:-1])
        some = order[repeated]
        order[repeated] = some[np.lexsort((table.timestamps[some], pair[repeated]))]
    warnings.warn(
        f"{n_merged} of {last.size} interactions repeat a user–item pair; {rule} was kept, "
        f"which leaves {last.size - n_merged}.",
        DataWarning,
        stacklevel=4,
    )
    kept: NDArray[np.int64] = order[last]
    return kept


def _stable_argsort(keys: NDArray[np.int64], bound: int) -> NDArray[np.int64]:
    """Positions in ascending order of keys from 0..bound−1, equal keys in the order given."""
    if bound * keys.size < 2**63:
        # key and position in one number: numpy sorts numbers ten times as fast as positions
        both: NDArray[np.int64] = keys * keys.size + np.arange(keys.size)
        both.sort()
        both %= keys.size
        return both
    return np.argsort(keys, kind="stable")


def indptr_of(users: Rows, n_users: int) -> NDArray[np.int64]:
    counts = np.bincount(users, minlength=n_users)
    indptr = np.zeros(n_users + 1, np.int64)
    np.cumsum(counts, out=indptr[1:])
    return indptr
