"""Ranks up to K on a GPU: items come in rounds, and users leave between them.

Excluded items and the user's other targets are taken off before the first round, so that what is
counted in between is never more than the whole count, and a target that is out is out for certain.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fullrank._lib.types import Floats, Ints
from fullrank.data.targets import n_candidates
from fullrank.ranking.cuda.target_rows import Rows
from fullrank.ranking.job import Job
from fullrank.ranking.ties import Counts, between_targets

_FIRST = 8  # blocks of the first round; every other one has as many as all before it


def rounds(n_blocks: int, several: bool) -> Iterator[tuple[int, int]]:
    """Blocks of items in rounds, each as large as all before it; or all at once."""
    begin = 0
    while begin < n_blocks:
        end = min(n_blocks, max(_FIRST, 2 * begin)) if several else n_blocks
        yield begin, end
        begin = end


class Leaving:
    """Who is out, and how much was scored for whom."""

    def __init__(self, job: Job, mark: Floats) -> None:
        t = job.targets
        assert job.max_rank is not None
        self.job, self.max_rank = job, job.max_rank
        counts = Counts.empty(t.order.size)
        counts.mark[:] = mark
        self.others, self.offset = between_targets(counts, t, job.policy, job.key)
        self.user = np.repeat(np.arange(t.users.size), np.diff(t.starts))
        self.out = np.zeros(t.order.size, np.bool_)
        self.scored = np.zeros(t.users.size, np.int64)

    def left(self, rows: Rows, items: int, *counts: Any) -> Rows:
        """The rows whose users stay after a round of so many `items`."""
        self.scored[np.unique(rows.user)] += items
        greater, equal, before = (
            there.cpu().numpy() - here
            for there, here in zip(
                counts, (self.others.greater, self.others.equal, self.others.before), strict=True
            )
        )
        # twice the rank, which may be half a number
        twice = 2 * (1 + self.offset + greater)
        twice += {"mean": equal, "best": 0, "worst": 2 * equal, "random": 2 * before}[
            self.job.policy
        ]
        self.out |= twice > 2 * self.max_rank
        stays = np.zeros(self.scored.size, np.bool_)
        stays[self.user[~self.out]] = True
        return rows.take(stays[rows.user])

    def tell(self, counts: Counts) -> None:
        """Add to the counts which targets are out, and how many candidates were scored."""
        t = self.job.targets
        most: Ints = n_candidates(
            t, n_items=self.job.scorer.n_items, items=self.job.catalogue,
            exclusion=self.job.exclusion,
        )[t.order]  # fmt: skip
        counts.out[:] = self.out
        counts.scored[:] = np.minimum(self.scored[self.user], most)
