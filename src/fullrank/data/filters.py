"""Filters of interactions: the k-core, and the union of two parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from fullrank._lib import checks
from fullrank.data.rows import Table, pack
from fullrank.errors import InputError

if TYPE_CHECKING:
    from fullrank.data.interactions import Interactions

    Kind = TypeVar("Kind", bound=Interactions)


def core(data: Kind, *, items_per_user: int, users_per_item: int, rounds: int | None) -> Kind:
    """Return the interactions without users and items that have too few."""
    least_items = checks.integer("items_per_user", items_per_user, low=1)
    least_users = checks.integer("users_per_item", users_per_item, low=1)
    limit = None if rounds is None else checks.integer("rounds", rounds, low=1)
    users, items = data.pairs()
    keep = np.ones(items.size, bool)
    n_kept, done = items.size, 0
    while limit is None or done < limit:
        keep &= (np.bincount(items[keep], minlength=data.n_items) >= least_users)[items]
        keep &= (np.bincount(users[keep], minlength=data.n_users) >= least_items)[users]
        done += 1
        if np.count_nonzero(keep) == n_kept:
            break
        n_kept = int(np.count_nonzero(keep))
    if n_kept == 0:
        raise InputError(
            "`items_per_user` and `users_per_item` must leave at least one interaction; none of "
            f"{items.size} is left with {least_items} and {least_users}, respectively."
        )
    return compact(data.select(keep))


def compact(data: Kind) -> Kind:
    """Return the interactions without the rows of users and items that have none."""
    return of_items(data, data.item_counts() > 0, data.user_counts() > 0)


def of_items(
    data: Kind, item_kept: NDArray[np.bool_], user_kept: NDArray[np.bool_] | None = None
) -> Kind:
    """Return the interactions with some items, renumbered; users are dropped only if empty."""
    part = data.select(item_kept[data.indices])
    number = np.cumsum(item_kept, dtype=np.int32) - np.int32(1)
    counts = part.user_counts()
    user_ids = part.user_ids
    if user_kept is not None:
        user_ids, counts = user_ids[user_kept], counts[user_kept]
    return type(data)(
        user_ids=user_ids,
        item_ids=part.item_ids[item_kept],
        indptr=np.concatenate([[0], np.cumsum(counts)]),
        indices=number[part.indices],
        values=part.values,
        timestamps=part.timestamps,
    )


def union(data: Kind, other: Interactions) -> Kind:
    """Return both together, with each pair once."""
    for name in ("user_ids", "item_ids"):
        ours, theirs = getattr(data, name), getattr(other, name)
        if ours is not theirs and not np.array_equal(ours, theirs):
            raise InputError(
                f"`other` must have the same `{name}` as these interactions, in the same order."
            )
    columns = {}
    for name in ("values", "timestamps"):
        parts = [getattr(data, name), getattr(other, name)]
        columns[name] = None if any(part is None for part in parts) else np.concatenate(parts)
    users, items = (np.concatenate(both) for both in zip(data.pairs(), other.pairs(), strict=True))
    table = Table(
        users=users, items=items, user_ids=data.user_ids, item_ids=data.item_ids, **columns
    )
    return type(data)(
        user_ids=data.user_ids,
        item_ids=data.item_ids,
        **pack(table, warn=False)._asdict(),
    )
