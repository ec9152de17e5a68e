"""Items that come first for each user, from an array, a mapping or a table.

Users and items are found by id. A row of an array has no name but its number, and so is taken for
a user only where users have no others. Unknown ids are skipped, for lists may be
of last week; if all are unknown, they are refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullrank._lib import checks
from fullrank._lib.types import Array, Ints
from fullrank.errors import InputError
from fullrank.tables import columns as _columns
from fullrank.tables import ids as _ids
from fullrank.tables.table import AUTO

Rows = NDArray[np.int64]


class Names(NamedTuple):
    """The ids of the rows, None where they have none, and how many there are.

    Users without ids are counted up to the last one who has a target.
    """

    user_ids: Array | None
    item_ids: Array | None
    n_users: int
    n_items: int


class Lists:
    """Those of user u are items[starts[u]:starts[u + 1]]; users beyond have none."""

    def __init__(self, starts: Ints, items: Ints) -> None:
        self.starts, self.items = starts, items
        self.width = int(np.diff(starts).max(initial=0))

    def __call__(self, users: Ints) -> Rows:
        """A row for each of these users, -1 where there are fewer."""
        out = np.full((users.size, self.width), -1, np.int64)
        users = np.minimum(users, self.starts.size - 2)
        sizes = np.diff(self.starts)[users]
        ends = np.cumsum(sizes)
        at = np.arange(sizes.sum()) + np.repeat(self.starts[users] - ends + sizes, sizes)
        out[np.arange(self.width) < sizes[:, None]] = self.items[at]
        return out


class ArrayRows:
    """Row u of an array is that of user u; it is read, and its ids are looked up, when needed."""

    def __init__(self, array: Array, names: Names) -> None:
        self.array, self.names = array, names
        self.width = int(array.shape[1])

    def __call__(self, users: Ints) -> Rows:
        """A row for each of these users, -1 where there are fewer."""
        part = np.asarray(self.array[users])
        return _found(part.reshape(-1), self.names).reshape(part.shape)


def from_array(array: Array, names: Names) -> ArrayRows:
    """The lists of an array with a row for each user."""
    _check_rows(array.shape if array.ndim == 2 else (), array.shape, names)
    _found(array[: min(names.n_users, 1)].reshape(-1), names)  # of the right kind
    if _are_rows(names.item_ids):
        checks.integers("order", array.reshape(-1), low=-1, high=names.n_items - 1)
    return ArrayRows(array, names)


def from_rows(rows: Sequence[Any], names: Names) -> Lists:
    """The lists of a list of them, one for each user."""
    _check_rows((len(rows),), (len(rows),), names)
    for row, one in enumerate(rows):
        _check_list(one, f"row {row}")
    return _lists(np.arange(len(rows)), rows, names)


def from_mapping(lists: Mapping[Any, Any], names: Names) -> Lists:
    """The lists of a mapping from user ids (rows where users have no ids) to items."""
    users = _user_rows(list(lists), names)
    for user, one in lists.items():
        _check_list(one, f"user {checks.printable(user)}")
    return _lists(users, lists.values(), names)


def from_table(table: Any, names: Names) -> Lists:
    """The lists of a file or a data frame with the columns user and item, in its order."""
    with _columns.opened(table, argument="order") as given:
        given.argument, given.naming = "order", None
        found = _columns.read(given, {"user": AUTO, "item": AUTO})
    users = _user_rows(found["user"], names)
    return _grouped(users, _item_rows(found["item"], names))


def item_rows(items: Array, names: Names) -> Ints:
    """The rows of items that are named by id, or by row where items have no ids."""
    if _are_rows(names.item_ids):
        return checks.integers("order", items, low=0, high=names.n_items - 1)
    found = _item_rows(items, names)
    return found[found >= 0]


def _are_rows(ids: Array | None) -> bool:
    return ids is None or _ids.are_rows(ids)


def _check_rows(has: tuple[int, ...], shape: tuple[int, ...], names: Names) -> None:
    if not has or has[0] < names.n_users:
        raise InputError(
            "`order` must be a name, items, a scorer or lists of items. An array of lists needs a "
            f"row for each user, {names.n_users} in all; this one has shape {shape}."
        )
    if not _are_rows(names.user_ids):
        raise InputError(
            "`order` must have user ids, in a mapping from ids to items or a table with the "
            "columns user and item, because the users of the data are not numbered 0 … "
            f"{names.n_users - 1}."
        )


def _check_list(one: Any, whose: str) -> None:
    if isinstance(one, str) or not hasattr(one, "__len__") or np.ndim(one) != 1:
        raise InputError(
            f"`order` must have a list of items for each user; for {whose} it is "
            f"{checks.shown(one)}."
        )


def _user_rows(users: Any, names: Names) -> Ints:
    """The rows of users, -1 for those that the data do not have."""
    codes, ids = _ids.encode("order", users)
    known = np.arange(names.n_users) if names.user_ids is None else names.user_ids
    found = _ids.find("order", ids, known).astype(np.int64)
    if found.size and (found < 0).all():
        raise InputError(
            "`order` must have lists for users of the data; it has lists only for other "
            f"users, the first of whom is {checks.printable(ids[codes[0]])}."
        )
    return found[codes]


def _lists(users: Ints, lists: Iterable[Any], names: Names) -> Lists:
    parts = [one if isinstance(one, np.ndarray) else list(one) for one in lists]
    sizes = np.array([len(one) for one in parts], np.int64)
    full = [one for one in parts if len(one)]
    arrays = all(isinstance(one, np.ndarray) for one in full)
    flat = np.concatenate(full) if full and arrays else list(chain.from_iterable(full))
    return _grouped(np.repeat(users, sizes), _item_rows(flat, names))


def _grouped(users: Ints, items: Ints) -> Lists:
    keep = (users >= 0) & (items >= 0)
    users, items = users[keep], items[keep]
    by_user = np.argsort(users, kind="stable")
    sizes = np.bincount(users, minlength=1)
    # one user more, who has none, stands for all beyond
    return Lists(np.concatenate(([0], np.cumsum(sizes), [users.size])), items[by_user])


def _item_rows(items: Any, names: Names) -> Ints:
    """The rows of items of a list, -1 for unknown ones."""
    if isinstance(items, list):
        items = (
            np.asarray(items) if all(isinstance(one, int | np.integer) for one in items) else items
        )
    if not isinstance(items, np.ndarray) or items.dtype.kind not in "iu":
        codes, ids = _ids.encode("order", items)
        items = ids[codes]
    found = _found(items, names)
    if found.size and (found < 0).all() and not (items.dtype.kind in "iu" and (items < 0).all()):
        raise InputError(
            "`order` must hold items that can be scored; it holds none of them, and its first item "
            f"is {checks.printable(items[0])}."
        )
    return found


def _found(items: Array, names: Names) -> Rows:
    """The rows of an array of ids, -1 for -1 and for unknown ones."""
    ids = names.item_ids
    if ids is None or (_ids.are_rows(ids) and items.dtype.kind != "U"):
        rows = checks.integers("order", items, low=-1)
        return np.where(rows < names.n_items, rows, -1)
    if items.dtype.kind not in "iu":
        codes, asked = _ids.encode("order", items)
        return _ids.find("order", asked, ids)[codes].astype(np.int64)
    return _ids.find("order", items, ids).astype(np.int64)
