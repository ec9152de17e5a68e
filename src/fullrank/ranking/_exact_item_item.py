"""Exact ranks of dense item-item models.

The score of user u and item i is the float64 sum over the user's history h, in order, of
x_h·B[h, i] (item_item.py), and that is what is computed: the rows of B are what takes time, whether
they are added up in float32 or in float64. Sums are rounded to float32 for the count only. Rounding
never turns an order around, so it leaves undecided only what comes out equal to the rounded target,
and there the sums themselves are compared.
"""

from __future__ import annotations

import threading

import numpy as np

from fullrank import _threads
from fullrank.ranking import _exact_item_kernels as kernels
from fullrank.ranking._counting import Job, exclusion_arrays
from fullrank.ranking.item_item import ItemItemScorer
from fullrank.ranking.scorers import nan_error
from fullrank.ranking.ties import Counts

USERS = 256
# Columns of B taken together. A matrix that fits the caches goes through them in narrow strips,
# which all users then find there; of a larger one long pieces of rows are read at one go.
CACHED, NARROW, WIDE = 1 << 26, 512, 1 << 14


def count_item_item(job: Job, scorer: ItemItemScorer) -> Counts:
    """Certified counts for a dense matrix."""
    t = job.targets
    counts = Counts.empty(t.order.size)
    users, targets = t.user_rows[t.order], t.item_rows[t.order]
    history = (scorer.history_indptr, scorer.history_indices, scorer.history_values)
    outside = np.empty(0, np.bool_)
    if job.catalogue is not None:
        outside = np.ones(scorer.n_items, np.bool_)
        outside[job.catalogue] = False
    seen = exclusion_arrays(job.exclusion)
    exact_products = scorer.matrix.dtype == scorer.history_values.dtype == np.float32
    lock = threading.Lock()

    def mark(batch: slice) -> None:
        here = slice(int(t.starts[batch.start]), int(t.starts[batch.stop]))
        kernels.pair_scores(*history, scorer.matrix, users[here], targets[here], counts.mark[here])

    def work(block: tuple[slice, slice]) -> None:
        columns, batch = block
        here = slice(int(t.starts[batch.start]), int(t.starts[batch.stop]))
        part = Counts.empty(here.stop - here.start)
        user, item = kernels.count_columns(
            columns.start, columns.stop, exact_products, t.users[batch],
            t.starts[batch.start : batch.stop + 1] - here.start, targets[here], *history,
            scorer.matrix, outside, *seen, job.random, np.uint64(job.key), counts.mark[here],
            part.greater, part.equal, part.before,
        )  # fmt: skip
        if user >= 0:
            raise nan_error(int(user), int(item))
        with lock:  # the other columns of the same users may be ready at the same time
            counts.add(part, here)

    batches = job.batches(USERS)
    _threads.run(mark, batches, n_jobs=job.n_jobs)
    bad = np.flatnonzero(np.isnan(counts.mark))
    if bad.size:
        raise nan_error(int(users[bad[0]]), int(targets[bad[0]]))
    width = NARROW if scorer.matrix.nbytes <= CACHED else WIDE
    strips = [slice(c, min(c + width, scorer.n_items)) for c in range(0, scorer.n_items, width)]
    blocks = [(strip, batch) for strip in strips for batch in batches]
    _threads.run(work, blocks, n_jobs=job.n_jobs, progress=job.progress)
    return counts
