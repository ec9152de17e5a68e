"""Targets cut into shards of users, with the items that are excluded for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullrank._lib.types import Ints
from fullrank.data.targets import ANY, by_rows, clean_targets


class Shard(NamedTuple):
    """Users number `start` to `stop` of those who have targets."""

    start: int
    stop: int


class Seen(NamedTuple):
    """Items that are not candidates: those of user row u are indices[indptr[u]:indptr[u + 1]]."""

    indptr: Ints
    indices: NDArray[np.int32]
    n_items: int


@dataclass(frozen=True, kw_only=True, eq=False)
class ShardedTargets:
    """Targets by user, users rising: those of users[g] are items[starts[g]:starts[g + 1]]."""

    users: Ints
    starts: Ints
    items: Ints
    seen: Seen | None

    @classmethod
    def of(cls, targets: Any, exclude: Any, n_items: int | None = None) -> ShardedTargets:
        """From an Interactions or a pair (user_rows, item_rows), and what is excluded."""
        clean = clean_targets(targets, n_users=None, n_items=ANY if n_items is None else n_items)
        return cls(
            users=clean.users,
            starts=clean.starts,
            items=clean.item_rows[clean.order],
            seen=_seen(exclude),
        )

    @property
    def n_users(self) -> int:
        return int(self.users.size)

    @property
    def n_targets(self) -> int:
        return int(self.items.size)

    @property
    def n_items(self) -> int | None:
        return None if self.seen is None else self.seen.n_items

    def of_users(self, rows: Ints) -> ShardedTargets:
        """The targets of these users alone."""
        at = np.searchsorted(self.users, rows)
        sizes = np.diff(self.starts)[at]
        starts = np.concatenate(([0], np.cumsum(sizes)))
        where = np.arange(starts[-1]) + np.repeat(self.starts[at] - starts[:-1], sizes)
        return ShardedTargets(users=rows, starts=starts, items=self.items[where], seen=self.seen)

    def shards(self, size: int) -> list[Shard]:
        """All users in slices of `size`."""
        return [Shard(a, min(a + size, self.n_users)) for a in range(0, self.n_users, size)]

    def part(self, shard: Shard) -> tuple[tuple[Ints, Ints], Any]:
        """The targets of a shard as a pair, and what is excluded for its users."""
        starts = self.starts[shard.start : shard.stop + 1]
        users = self.users[shard.start : shard.stop]
        items = self.items[starts[0] : starts[-1]]
        seen = None if self.seen is None else _limited(self.seen, int(users[0]), int(users[-1]) + 1)
        return (np.repeat(users, np.diff(starts)), items), seen


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
