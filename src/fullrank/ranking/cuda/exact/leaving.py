"""Ranks up to K on a GPU: items come in rounds, and users leave between them.

Excluded items and the user's other targets are taken off before the first round, so that what is
counted in between is never more than the whole count, and a target that is out is out for certain.
A round costs some launches and one look from the host. Where the whole count takes no longer than a
few of them, all items come at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fullrank._lib.types import Floats
from fullrank.data.targets import n_candidates
from fullrank.ranking.cuda.streaming import to_device
from fullrank.ranking.cuda.target_rows import Rows
from fullrank.ranking.job import Job
from fullrank.ranking.ties import Counts, between_targets

_FIRST = 8  # blocks of the first round
_GROWTH = 4  # so many times the blocks of before, up to the end of a round
WORTH = 1 << 33  # scores; on an H200 some 8 ms


def rounds(n_blocks: int, several: bool) -> Iterator[tuple[int, int]]:
    """Blocks of items in growing rounds, or all at once."""
    begin = 0
    while begin < n_blocks:
        end = min(n_blocks, max(_FIRST, _GROWTH * begin)) if several else n_blocks
        yield begin, end
        begin = end


class Leaving:
    """Who is out, and how much was scored for whom."""

    def __init__(self, torch: Any, device: Any, job: Job, mark: Floats) -> None:
        t = job.targets
        assert job.max_rank is not None
        self.torch, self.job, self.max_rank = torch, job, job.max_rank
        counts = Counts.empty(t.order.size)
        counts.mark[:] = mark
        others, offset = between_targets(counts, t, job.policy, job.key)
        self.user_of = np.repeat(np.arange(t.users.size), np.diff(t.starts))
        self._done = 0
        self.scored = np.full(t.users.size, -1, np.int64)  # of users who left
        # twice the rank by the counts of non-targets, which may be half a number
        none = np.zeros_like(offset)
        ties = {"mean": others.equal, "best": none, "worst": 2 * others.equal,
                "random": 2 * others.before}[job.policy]  # fmt: skip
        self._base = to_device(torch, 2 * (1 + offset - others.greater) - ties, device)
        self._user = to_device(torch, self.user_of, device)
        self.out = torch.zeros(t.order.size, dtype=torch.bool, device=device)

    def note(self, n_items: int, greater: Any, equal: Any, before: Any) -> None:
        """Count a round of `n_items`, and note which targets are out by the counts so far."""
        self._done += n_items
        twice = self._base + 2 * greater
        if self.job.policy == "random":
            twice += 2 * before
        elif self.job.policy != "best":
            twice += equal if self.job.policy == "mean" else 2 * equal
        # for good: later pieces of the items take off excluded ones that were not counted
        self.out |= twice > 2 * self.max_rank

    def left(self, rows: Rows, row_user: Any) -> Rows:
        """The rows of users with a target that may be within `max_rank`."""
        inside = self.torch.zeros(self.scored.size, dtype=self.torch.int32, device=self.out.device)
        inside.scatter_add_(0, self._user, (~self.out).int())
        stays = (inside[row_user] > 0).cpu().numpy()
        if stays.all():
            return rows
        self.scored[rows.user[~stays]] = self._done
        return rows.take(stays)

    def begin_again(self) -> None:
        """Forget who is out and what was scored."""
        self.out.zero_()
        self._done = 0
        self.scored[:] = -1

    def tell(self, counts: Counts) -> None:
        """Add to the counts which targets are out, and how many candidates were scored."""
        t = self.job.targets
        most = n_candidates(
            t, n_items=self.job.scorer.n_items, items=self.job.catalogue,
            exclusion=self.job.exclusion,
        )[t.order]  # fmt: skip
        scored = self.scored[self.user_of]
        counts.out[:] = self.out.cpu().numpy()
        counts.scored[:] = np.where(scored < 0, most, np.minimum(scored, most))
