"""Targets cut into shards of users, with the items that are excluded for them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullrank._lib.types import Array, Ints
from fullrank.data.targets import ANY, Targets, by_rows, clean_targets


class Shard(NamedTuple):
    """The users with targets from number `start` to number `stop`."""

    start: int
    stop: int


class Seen(NamedTuple):
    """Items that are not candidates: those of user row u are indices[indptr[u]:indptr[u + 1]]."""

    indptr: Ints
    indices: NDArray[np.int32]
    n_items: int


@dataclass(frozen=True, kw_only=True, eq=False)
class ShardedTargets:
    """Targets by user, users rising: those of users[g] are items[starts[g]:starts[g + 1]].

    `user_ids` and `item_ids` name the rows, which have no names but their numbers where these are
    None; `times` are those of the targets.
    """

    users: Ints
    starts: Ints
    items: Ints
    seen: Seen | None = None
    user_ids: Array | None = None
    item_ids: Array | None = None
    times: Ints | None = None

    @classmethod
    def of(cls, targets: Any) -> ShardedTargets:
        """Make sharded targets from Interactions or a pair (user_rows, item_rows)."""
        clean = clean_targets(targets, n_users=None, n_items=ANY)
        return cls(
            users=clean.users,
            starts=clean.starts,
            items=clean.item_rows[clean.order],
            user_ids=getattr(targets, "user_ids", None),
            item_ids=getattr(targets, "item_ids", None),
            times=None if clean.time is None else clean.time[clean.order],
        )

    @property
    def n_users(self) -> int:
        return int(self.users.size)

    @property
    def n_targets(self) -> int:
        return int(self.items.size)

    @property
    def n_items(self) -> int | None:
        """The number of items, if the data state it."""
        return None if self.item_ids is None else int(self.item_ids.size)

    def excluding(self, exclude: Any) -> ShardedTargets:
        """Return the targets with an exclusion over the same users and items."""
        return replace(self, seen=_seen(exclude))

    def of_users(self, rows: Ints) -> ShardedTargets:
        """Return the targets of these users only."""
        at = np.searchsorted(self.users, rows)
        sizes = np.diff(self.starts)[at]
        starts = np.concatenate(([0], np.cumsum(sizes)))
        where = np.arange(starts[-1]) + np.repeat(self.starts[at] - starts[:-1], sizes)
        times = None if self.times is None else self.times[where]
        return replace(self, users=rows, starts=starts, items=self.items[where], times=times)

    def shards(self, size: int) -> list[Shard]:
        """Return all users in slices of `size`."""
        return [Shard(a, min(a + size, self.n_users)) for a in range(0, self.n_users, size)]

    def part(self, shard: Shard) -> tuple[Targets, Any]:
        """Return the targets of a shard, and the items excluded for its users."""
        starts = self.starts[shard.start : shard.stop + 1]
        users = self.users[shard.start : shard.stop]
        items = self.items[starts[0] : starts[-1]]
        seen = None if self.seen is None else _limited(self.seen, int(users[0]), int(users[-1]) + 1)
        rows = np.repeat(users, np.diff(starts))
        targets = Targets(
            user_rows=rows,
            item_rows=items,
            users=users,
            starts=starts - starts[0],
            order=np.arange(items.size),
            user=rows if self.user_ids is None else self.user_ids[rows],
            item=items if self.item_ids is None else self.item_ids[items],
            time=None if self.times is None else self.times[starts[0] : starts[-1]],
        )
        return targets, seen


def _seen(exclude: Any) -> Seen | None:
    if exclude is None:
        return None
    exclude = by_rows(exclude)
    shape = getattr(exclude, "shape", None)
    return Seen(
        np.asarray(exclude.indptr, np.int64),
        np.asarray(exclude.indices, np.int32),
        int(exclude.n_items if shape is None else shape[1]),
    )


def _limited(seen: Seen, first: int, last: int) -> Seen:
    """The rows first..last-1; those before them are empty, for a row's number must stay."""
    stop = min(last, seen.indptr.size - 1)
    if stop <= first:
        return Seen(np.zeros(1, np.int64), seen.indices[:0], seen.n_items)
    indptr = np.zeros(stop + 1, np.int64)
    indptr[first:] = seen.indptr[first : stop + 1] - seen.indptr[first]
    return Seen(indptr, seen.indices[seen.indptr[first] : seen.indptr[stop]], seen.n_items)
