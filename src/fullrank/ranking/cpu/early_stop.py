"""Ranks up to K of any scorer: candidates are scored in an order, and users drop out.

All targets of a user are scored first, so that the user's other targets above each of them are
known (`offset`). Then candidates are scored block by block, for many users at once, and counted:
greater, equal and, with ties="random", before. These counts over some of the candidates bound those
over all from below, and the rank 1 + offset + greater + ties rises with each of them. So a target
with a rank above K is out for certain, and a user leaves with the best of the targets.

Nothing is approximated: a user with a target within K meets the whole catalogue. The first block
has about K items, and the others a quarter of what was seen before them, so that the few users who
are left still fill a batch and no one is given more than about a quarter too much.
Where a block ends depends on the order and on K alone, and so what is scored for a user depends
neither on other users nor on threads.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from fullrank._lib import threads
from fullrank._lib.types import Array, Ints
from fullrank.ranking.cpu import early_stop_kernels as kernels
from fullrank.ranking.job import Job, exclusion_arrays
from fullrank.ranking.order import Own
from fullrank.ranking.ties import Counts, between_rows
from fullrank.scorers.callables import shaped
from fullrank.scorers.offers import offers
from fullrank.scorers.scorer import is_thread_safe, nan_error

USERS, LEAST, WAVES = (
    1 << 14,
    1 << 10,
    16,
)  # at most and at least in a wave; waves if there are more
OWN = 1 << 22  # numbers in the own lists of a wave
CELLS = 1 << 18  # scores held at once by a thread
FIRST, SHARE = 32, 4  # the smallest block, and the part of what was seen that the next one has
_POLICIES = {"mean": kernels.MEAN, "best": kernels.BEST, "worst": kernels.WORST,
             "random": kernels.RANDOM}  # fmt: skip


def count_up_to(job: Job) -> Counts:
    """Counts of the targets that are not out, from the scores that `scores` gives."""
    counts = Counts.empty(job.targets.order.size)
    place = places(job)

    def work(batch: slice) -> None:
        _Scored(job, batch, place).count(counts)

    batches = job.batches(wave_size(job, most=USERS))
    threads.run(
        work,
        batches,
        n_jobs=1 if job.n_jobs is None and not is_thread_safe(job.scorer) else job.n_jobs,
        progress=job.progress,
        sizes=[batch.stop - batch.start for batch in batches],
    )
    return counts


def places(job: Job) -> Ints:
    """The place of each item in the order that all share, -1 for those outside of the catalogue."""
    assert job.order is not None
    place = np.full(job.scorer.n_items, -1, np.int64)
    place[job.order.shared] = np.arange(job.order.shared.size)
    return place


def wave_size(job: Job, *, most: int) -> int:
    """Users who are ranked together: enough to fill batches, few enough to report progress."""
    assert job.order is not None
    size = max(LEAST, min(most, -(-job.targets.users.size // WAVES)))
    if offers(job.scorer, "item_item"):
        size = most  # each wave goes through the whole matrix
    if job.order.own is not None:
        size = min(size, OWN // max(1, job.order.own.width))
    return max(1, size)


def blocks(n_items: int, max_rank: int, seen: int = 0) -> Iterator[slice]:
    """Where the blocks of an order begin and end, after so many items that were seen before.

    >>> [block.stop for block in blocks(300, 10)]
    [32, 64, 96, 128, 160, 200, 250, 300]
    """
    begin = 0
    while begin < n_items:
        least = FIRST if begin + seen else max(FIRST, max_rank)
        stop = min(begin + min(max(least, (begin + seen) // SHARE), CELLS), n_items)
        yield slice(begin, stop)
        begin = stop


@dataclass(eq=False)
class Wave:
    """Some users and their targets: who is still in, and what was counted. How is left to others.

    Users are numbered from 0 in a wave, and `active` are such numbers.
    """

    job: Job
    batch: slice
    place: Ints

    def __post_init__(self) -> None:
        job, t = self.job, self.job.targets
        assert job.order is not None
        assert job.max_rank is not None
        self.order, self.max_rank = job.order, job.max_rank
        first, last = int(t.starts[self.batch.start]), int(t.starts[self.batch.stop])
        self.here = slice(first, last)
        self.users = t.users[self.batch]
        self.starts = t.starts[self.batch.start : self.batch.stop + 1] - first
        self.targets = t.item_rows[t.order][self.here]
        self.found = Counts.empty(last - first)
        self.scored = np.diff(self.starts)
        self.lists = np.empty((self.users.size, 0), np.int64)
        self.length = np.zeros(self.users.size, np.int64)
        self.seen = exclusion_arrays(job.exclusion)

    def count(self, counts: Counts) -> None:
        """Count these users' targets, and write them into all `counts`."""
        found = self.found
        each = np.repeat(self.users, np.diff(self.starts))
        self.score_targets(each)
        bad = np.flatnonzero(np.isnan(found.mark))
        if bad.size:
            raise nan_error(int(each[bad[0]]), int(self.targets[bad[0]]))
        others, self.offset = between_rows(
            self.users, self.starts, self.targets, found.mark, self.job.policy, self.job.key
        )
        active = self._still_in(np.arange(self.users.size))
        seen = 0
        if self.order.own is not None:
            active = self._count_own(active, self.order.own)
            seen = min(self.order.own.width, self.order.shared.size)
        for block in blocks(self.order.shared.size, self.max_rank, seen):
            if not active.size:
                break
            self.add_shared(active, block)
            active = self._still_in(active)
        found.scored[:] = np.repeat(self.scored, np.diff(self.starts))
        for name in ("greater", "equal", "before"):  # as every count has them
            getattr(found, name)[:] += getattr(others, name)
        for name in ("greater", "equal", "before", "mark", "out", "scored"):
            getattr(counts, name)[self.here] = getattr(found, name)

    def _still_in(self, active: Ints) -> Ints:
        found = self.found
        left: Ints = kernels.still_in(
            active, self.starts, _POLICIES[self.job.policy], self.max_rank, self.offset,
            found.greater, found.equal, found.before, found.out,
        )  # fmt: skip
        return left

    def _count_own(self, active: Ints, own: Own) -> Ints:
        """What comes first for each user."""
        self.lists = np.full((self.users.size, own.width), -1, np.int64)
        self.lists[active] = own(self.users[active])
        kernels.clean_lists(
            self.lists, self.users, self.starts, self.targets, self.place, *self.seen, self.length
        )
        for block in blocks(own.width, self.max_rank):
            listed = active[self.length[active] > block.start]
            if not listed.size:
                break
            self.add_own(listed, block)
            active = self._still_in(active)
        return active

    def score_targets(self, users: Ints) -> None:
        """Fill in the targets' own scores; `users` has the row of each target's user."""
        raise NotImplementedError

    def add_own(self, active: Ints, block: slice) -> None:
        """Score a block of these users' own lists, and count it."""
        raise NotImplementedError

    def add_shared(self, active: Ints, block: slice) -> None:
        """Score a block of the order that all share, and count it."""
        raise NotImplementedError


class _Scored(Wave):
    """By the scores that `scores` gives, in batches of `CELLS`."""

    def score_targets(self, users: Ints) -> None:
        for at in range(0, users.size, CELLS):
            here = slice(at, at + CELLS)
            scores = self._scores(users[here], self.targets[here, None])
            self.found.mark[here] = scores[:, 0]

    def add_own(self, active: Ints, block: slice) -> None:
        job, found = self.job, self.found
        for some in _batches(active, block):
            # what is beyond the end of a list is a target, which is not counted again
            longest = min(block.stop, int(self.length[some].max()))
            scores = self._scores(self.users[some], self.lists[some, block.start : longest])
            bad = kernels.add_own(
                scores, self.lists, self.length, block.start, some, self.users, self.starts,
                self.targets, found.mark, job.random, np.uint64(job.key), found.greater,
                found.equal, found.before, self.scored,
            )  # fmt: skip
            _check(bad)

    def add_shared(self, active: Ints, block: slice) -> None:
        job, found, items = self.job, self.found, self.order.shared[block]
        for some in _batches(active, block):
            bad = kernels.add_shared(
                self._scores(self.users[some], items), items, block.start, self.place, self.lists,
                self.length, some, self.users, self.starts, self.targets, found.mark, *self.seen,
                job.random, np.uint64(job.key), found.greater, found.equal, found.before,
                self.scored,
            )  # fmt: skip
            _check(bad)

    def _scores(self, users: Ints, items: Array) -> Array:
        return shaped(self.job.scorer.scores(users, items), users, items, 0)


def _batches(active: Ints, block: slice) -> Iterator[Ints]:
    step = max(1, CELLS // (block.stop - block.start))
    for at in range(0, active.size, step):
        yield active[at : at + step]


def _check(bad: tuple[int, int]) -> None:
    if bad[0] >= 0:
        raise nan_error(int(bad[0]), int(bad[1]))
