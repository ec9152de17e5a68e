"""Exact ranks of sparse item–item models: what is added up is counted, the rest by arithmetic.

The score of user u and item i is the float64 sum over the user's history h, in order, of
x_h·B[h, i] (item_item.py). Entries that B does not store add nothing, so an item that no row of
the history reaches scores 0. A user's sums are made where there is something to add, in the order
that defines them, and compared with the target's; all other candidates are above a negative target,
equal to one of 0, and below a positive one. The cost is that of history × B.

Only ties="random" looks at the items that were not reached, and only for targets that score 0:
their places are keyed words, one for each user and item, which must be made to be compared.
"""

from __future__ import annotations

import numpy as np

from fullrank._lib import threads
from fullrank._lib.types import Array, Ints
from fullrank.ranking.cpu import exact_sparse_kernels as kernels
from fullrank.ranking.job import Job, exclusion_arrays
from fullrank.ranking.ties import Counts
from fullrank.scorers.item_item import ItemItemScorer
from fullrank.scorers.scorer import nan_error

Room = tuple[Array, Array, Array, Array]

USERS = 256  # few enough that users with long histories are shared out


def count_sparse(job: Job, scorer: ItemItemScorer) -> Counts:
    """Counts for a sparse matrix, as `count_any` has them."""
    t, m = job.targets, scorer.matrix
    counts = Counts.empty(t.order.size)
    targets = t.item_rows[t.order]
    history = (scorer.history_indptr, scorer.history_indices, scorer.history_values)
    items = np.empty(0, np.int64) if job.catalogue is None else job.catalogue
    seen = exclusion_arrays(job.exclusion)
    free: list[Room] = []  # the room of threads between two blocks

    def work(batch: slice) -> None:
        room = free.pop() if free else make_room(scorer.n_items, job.catalogue)
        here = slice(int(t.starts[batch.start]), int(t.starts[batch.stop]))
        user, item = kernels.count_reached(
            t.users[batch], t.starts[batch.start : batch.stop + 1] - here.start, targets[here],
            *history, m.indptr, m.indices, m.data, job.size, items, *seen, job.random,
            np.uint64(job.key), *room, counts.greater[here], counts.equal[here],
            counts.before[here], counts.mark[here],
        )  # fmt: skip
        if user >= 0:
            raise nan_error(int(user), int(item))
        free.append(room)

    batches = job.batches(USERS)
    threads.run(
        work,
        batches,
        n_jobs=job.n_jobs,
        progress=job.progress,
        sizes=[batch.stop - batch.start for batch in batches],
    )
    return counts


def make_room(n_items: int, catalogue: Ints | None) -> Room:
    """Sums and states of all items, the items reached, and the scores of the candidates among them.

    The system gives the pages of an array when they are first written to: the last two take what
    the user with the most items reached needs.
    """
    state = np.zeros(n_items, np.uint8)
    if catalogue is not None:
        state[:] = kernels.OUTSIDE
        state[catalogue] = 0
    return (
        np.zeros(n_items),
        state,
        np.empty(n_items + 1, np.int32),
        np.empty(n_items),
    )
