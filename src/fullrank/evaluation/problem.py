"""What is ranked, cut into shards of users; and the plain function that ranks one of them.

The draws of a user depend on the seed and the user's row alone, so neither the size of the shards
nor where they are ranked changes a number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullrank.evaluation.strategies import Strategy
from fullrank.ranking._cuda.device import on_gpu
from fullrank.ranking.targets import ANY, by_rows, clean_targets
from fullrank.sampling import RankSample

Ints = NDArray[np.int64]
_SHARDS = 64  # as many as this, where the sizes below allow it
_GPU_SHARDS = 8
_LEAST, _MOST = 512, 100_000  # users in a shard


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
class Targets:
    """Targets by user, users rising: those of users[g] are items[starts[g]:starts[g + 1]]."""

    users: Ints
    starts: Ints
    items: Ints
    seen: Seen | None

    @classmethod
    def of(cls, targets: Any, exclude: Any, n_items: int | None = None) -> Targets:
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

    def of_users(self, rows: Ints) -> Targets:
        """The targets of these users alone."""
        at = np.searchsorted(self.users, rows)
        sizes = np.diff(self.starts)[at]
        starts = np.concatenate(([0], np.cumsum(sizes)))
        where = np.arange(starts[-1]) + np.repeat(self.starts[at] - starts[:-1], sizes)
        return Targets(users=rows, starts=starts, items=self.items[where], seen=self.seen)

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


@dataclass(frozen=True, kw_only=True, eq=False)
class Problem:
    """What every shard of one model needs; large arrays only, so that it can be shared."""

    scorer: Any
    targets: Any  # Targets, or anything with the same `part`
    strategy: Strategy
    seed: int
    threads: int | None = None
    device: str | None = None
    keep_rows: bool = True


def rank_shard(problem: Problem, shard: Shard) -> RankSample:
    """The ranks of one shard."""
    targets, seen = problem.targets.part(shard)
    scorer = problem.scorer
    if hasattr(scorer, "for_shard"):
        scorer = scorer.for_shard(problem.targets, shard)
    sample = problem.strategy.rank(
        scorer, targets, exclude=seen, n_jobs=problem.threads, device=problem.device,
        rng=problem.seed,
    )  # fmt: skip
    return sample if problem.keep_rows else sample.without_rows()


def usual_size(n_users: int, device: str | None = None) -> int:
    """Users in a shard: some 64 shards, none of them tiny or huge.

    A GPU gets the items again for every shard, so it is given fewer and larger ones.
    """
    if on_gpu(device):
        return max(_LEAST, -(-n_users // _GPU_SHARDS))
    return int(np.clip(-(-n_users // _SHARDS), _LEAST, _MOST))


def added(samples: Sequence[RankSample]) -> RankSample:
    """The sum, taken by halves so that the work does not grow with the square of their number."""
    parts = list(samples)
    while len(parts) > 1:
        pairs = [a + b for a, b in zip(parts[::2], parts[1::2], strict=False)]
        parts = pairs if len(parts) % 2 == 0 else [*pairs, parts[-1]]
    return parts[0]


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
