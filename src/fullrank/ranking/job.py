"""The cleaned arguments of `rank`, as every way of counting takes them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullrank._lib import threads
from fullrank._lib.progress import Progress
from fullrank._lib.types import Ints
from fullrank.data.targets import Exclusion, Targets
from fullrank.ranking.order import Order
from fullrank.scorers.scorer import Scorer


@dataclass(frozen=True, kw_only=True, eq=False)
class Job:
    """The cleaned arguments of `rank`."""

    scorer: Scorer
    targets: Targets
    catalogue: Ints | None
    exclusion: Exclusion | None
    random: bool
    key: int
    fast: bool
    n_jobs: int | None
    batch_size: int | None
    progress: Progress | None
    device: str | None = None  # a GPU, or None
    operands: str = "tf32"
    policy: str = "mean"
    max_rank: int | None = None  # ranks beyond it need not be known
    order: Order | None = None  # in which candidates are visited; None for the scorer's own

    @property
    def size(self) -> int:
        """The number of items in the catalogue."""
        return self.scorer.n_items if self.catalogue is None else int(self.catalogue.size)

    def batches(self, default: int, n_users: int | None = None) -> list[slice]:
        """Users in blocks of `batch_size`, or of `default` and at least one for each thread."""
        if n_users is None:
            n_users = self.targets.users.size
        step = self.batch_size
        if step is None:
            step = max(1, min(default, -(-n_users // threads.n_threads(self.n_jobs))))
        return [slice(a, min(a + step, n_users)) for a in range(0, n_users, step)]


def exclusion_arrays(exclusion: Exclusion | None) -> tuple[Ints, NDArray[np.int32]]:
    """The two arrays of an exclusion; empty ones where nothing is excluded."""
    if exclusion is None:
        return np.empty(0, np.int64), np.empty(0, np.int32)
    return exclusion.indptr, exclusion.indices
