"""Ranks up to K of any scorer: candidates are scored in an order, and users drop out.

All targets of a user are scored first, so that the user's other targets above each of them are
known (`offset`). Then candidates are scored block by block, for many users at once, and counted:
greater, equal and, with ties="random", before. These counts over some of the candidates bound those
over all from below, and the rank 1 + offset + greater + ties rises with each of them. So a target
with a rank above K is out for certain, and a user leaves with the best of the targets.

Ranks within K are not approximated: a user with a target within K meets the whole catalogue. Blocks
grow with what has been seen, so that the scores of few users still fill a batch, and no user is
given more than about a quarter beyond what was needed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fullrank._lib import threads
from fullrank._lib.types import Array, Ints
from fullrank.ranking.cpu import early_stop_kernels as kernels
from fullrank.ranking.job import Job, exclusion_arrays
from fullrank.ranking.ties import Counts, between_rows
from fullrank.scorers.callables import shaped
from fullrank.scorers.scorer import is_thread_safe, nan_error

_CELLS = 1 << 18  # scores held at once by a thread
_FIRST = 64  # items of the first block
_GROWTH = 4  # a block has a fourth of what was seen before
_POLICIES = {"mean": kernels.MEAN, "best": kernels.BEST, "worst": kernels.WORST,
             "random": kernels.RANDOM}  # fmt: skip


def count_up_to(job: Job) -> Counts:
    """Counts of the targets that are not out, from the scores that `scores` gives."""
    assert job.order is not None
    assert job.max_rank is not None
    counts = Counts.empty(job.targets.order.size)
    place = np.full(job.scorer.n_items, -1, np.int64)
    place[job.order.shared] = np.arange(job.order.shared.size)

    def work(batch: slice) -> None:
        _Wave(job, batch, place).count(counts)

    batches = job.batches(max(1, _CELLS // _FIRST))
    threads.run(
        work,
        batches,
        n_jobs=1 if job.n_jobs is None and not is_thread_safe(job.scorer) else job.n_jobs,
        progress=job.progress,
        sizes=[batch.stop - batch.start for batch in batches],
    )
    return counts


@dataclass(eq=False)
class _Wave:
    """Some users and their targets."""

    job: Job
    batch: slice
    place: Ints

    def __post_init__(self) -> None:
        t = self.job.targets
        first, last = int(t.starts[self.batch.start]), int(t.starts[self.batch.stop])
        self.here = slice(first, last)
        self.users = t.users[self.batch]
        self.starts = t.starts[self.batch.start : self.batch.stop + 1] - first
        self.targets = t.item_rows[t.order][self.here]
        self.found = Counts.empty(last - first)
        self.scored = np.diff(self.starts)
        self.lists = np.empty((self.users.size, 0), np.int64)
        self.length = np.zeros(self.users.size, np.int64)
        self.seen = exclusion_arrays(self.job.exclusion)

    def count(self, counts: Counts) -> None:
        """Count these users' targets, and add them to all `counts`."""
        found = self.found
        self._score_targets()
        others, self.offset = between_rows(
            self.users, self.starts, self.targets, found.mark, self.job.policy, self.job.key
        )
        active = self._still_in(np.arange(self.users.size))
        active = self._count_own(active)
        self._count_shared(active)
        found.scored[:] = np.repeat(self.scored, np.diff(self.starts))
        for name in ("greater", "equal", "before"):  # as every count has them
            getattr(found, name)[:] += getattr(others, name)
        for name in ("greater", "equal", "before", "mark", "out", "scored"):
            getattr(counts, name)[self.here] = getattr(found, name)

    def _score_targets(self) -> None:
        each = np.repeat(self.users, np.diff(self.starts))
        for at in range(0, each.size, _CELLS):
            users, items = each[at : at + _CELLS], self.targets[at : at + _CELLS, None]
            scores = shaped(self.job.scorer.scores(users, items), users, items, 0)[:, 0]
            bad = np.flatnonzero(np.isnan(scores))
            if bad.size:
                raise nan_error(int(users[bad[0]]), int(items[bad[0], 0]))
            self.found.mark[at : at + _CELLS] = scores

    def _still_in(self, active: Ints) -> Ints:
        found = self.found
        assert self.job.max_rank is not None
        left: Ints = kernels.still_in(
            active, self.starts, _POLICIES[self.job.policy], self.job.max_rank, self.offset,
            found.greater, found.equal, found.before, found.out,
        )  # fmt: skip
        return left

    def _count_own(self, active: Ints) -> Ints:
        """What comes first for each user."""
        job, found = self.job, self.found
        assert job.order is not None
        assert job.max_rank is not None
        own = job.order.own(self.users, job.catalogue, job.order.leading(job.max_rank))
        if own is None:
            return active
        self.lists = np.array(own, np.int64)
        kernels.clean_lists(
            self.lists, self.users, self.starts, self.targets, self.place, *self.seen, self.length
        )
        begin = 0
        while active.size and begin < self.lists.shape[1]:
            stop = min(begin + self._width(begin, active.size), self.lists.shape[1])
            scores = self._scores(active, self.lists[active, begin:stop])
            bad = kernels.add_own(
                scores, self.lists, self.length, begin, active, self.users, self.starts,
                self.targets, found.mark, job.random, np.uint64(job.key), found.greater,
                found.equal, found.before, self.scored,
            )  # fmt: skip
            _check(bad)
            active, begin = self._still_in(active), stop
        return active

    def _count_shared(self, active: Ints) -> None:
        """Everything else, for those who stay."""
        job, found = self.job, self.found
        assert job.order is not None
        shared, begin = job.order.shared, 0
        while active.size and begin < shared.size:
            stop = min(begin + self._width(begin, active.size), shared.size)
            items = shared[begin:stop]
            bad = kernels.add_shared(
                self._scores(active, items), items, begin, self.place, self.lists, self.length,
                active, self.users, self.starts, self.targets, found.mark, *self.seen, job.random,
                np.uint64(job.key), found.greater, found.equal, found.before, self.scored,
            )  # fmt: skip
            _check(bad)
            active, begin = self._still_in(active), stop

    def _width(self, seen: int, n_active: int) -> int:
        return max(1, min(max(_FIRST, seen // _GROWTH), _CELLS // n_active))

    def _scores(self, active: Ints, items: Array) -> Array:
        users = self.users[active]
        return shaped(self.job.scorer.scores(users, items), users, items, 0)


def _check(bad: tuple[int, int]) -> None:
    if bad[0] >= 0:
        raise nan_error(int(bad[0]), int(bad[1]))
