"""Excluded items and parts of the catalogue, matched to rows by their ids."""

from __future__ import annotations

from typing import Any

import numpy as np

from fullrank._lib import checks
from fullrank._lib.types import Array, Ints
from fullrank.data.shards import Seen
from fullrank.data.targets import Targets, by_rows, check_width, clean_items
from fullrank.errors import InputError
from fullrank.tables import ids as _ids
from fullrank.tables.ids import are_rows

_SIDES = ("user_ids", "item_ids")


def in_rows(exclude: Any, *, user_ids: Array | None, item_ids: Array | None, n_items: int) -> Any:
    """Return the exclusion in the rows that these ids name."""
    if exclude is None:
        return None
    exclude = by_rows(exclude)
    own = [getattr(exclude, side, None) for side in _SIDES]
    wanted = [user_ids, item_ids]
    if all(_ids.same(mine, theirs) for mine, theirs in zip(own, wanted, strict=True)):
        if item_ids is None:
            check_width("exclude", exclude, n_items)
        return exclude
    if own[0] is None or own[1] is None:
        _reject_unnamed("exclude", wanted)
        check_width("exclude", exclude, n_items)
        return exclude
    if user_ids is None or item_ids is None:
        _reject_unnamed("targets", own)
        check_width("exclude", exclude, n_items)
        return exclude
    return _moved(exclude, user_ids, item_ids)


def _reject_unnamed(name: str, ids: list[Array | None]) -> None:
    """Refuse rows without ids where the other side has ids that differ from its row numbers."""
    for side, known in zip(("users", "items"), ids, strict=True):
        if known is not None and not are_rows(known):
            raise InputError(
                f"`{name}` must be Interactions, which carry ids: its {side} are row numbers, "
                f"which cannot be matched with {side[:-1]} ids such as "
                f"{checks.printable(known[0])}."
            )


def _moved(exclude: Any, user_ids: Array, item_ids: Array) -> Seen:
    """Return the exclusion in other rows, without users and items that are not in them."""
    users = _ids.find("exclude", exclude.user_ids, user_ids)
    items = _ids.find("exclude", exclude.item_ids, item_ids)
    indptr = np.asarray(exclude.indptr, np.int64)
    row = np.repeat(users, np.diff(indptr))
    column = items[np.asarray(exclude.indices)]
    keep = (row >= 0) & (column >= 0)
    row, column = row[keep], column[keep]
    order = np.lexsort((column, row))
    counts = np.bincount(row, minlength=user_ids.size)
    return Seen(np.concatenate(([0], np.cumsum(counts))), column[order], int(item_ids.size))


def named_items(
    items: Any, item_ids: Array | None, *, n_items: int, targets: Targets
) -> Ints | None:
    """Rows of the items to rank among: ids where items have any, rows or a mask otherwise."""
    if items is None or item_ids is None:
        return clean_items(items, n_items=n_items, targets=targets)
    mask = getattr(items, "dtype", None) == np.bool_
    rows = items if mask else _ids.look_up("items", items, item_ids)
    return clean_items(rows, n_items=n_items, targets=targets)
