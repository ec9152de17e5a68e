"""Exact ranks of dense item-item models.

The score s of user u and item i is the float64 sum over the user's history h, in order, of
x_h·B[h, i] (item_item.py).

A matrix too large for the caches is read from memory, which takes as long whether its rows are
added up in float32 or in float64: there the sums are made as they are defined, and rounded to
float32 for the count only. Rounding never turns an order around, so it leaves undecided only what
comes out equal to the rounded target, and there the sums themselves are compared.

A float32 matrix that fits the caches is faster to add up in float32, as a filter: eight rows among
themselves, then onto the total. A term then meets at most n/8 + 16 roundings (its product, seven
of its eight, n/8 of the total, seven rows left over), and by Cauchy and Schwarz Σ|x_h B_hi| ≤ |x| c
with c the length of the longest column; so with δ = 2^-24 the float32 sum differs from s by at most

    1.125·(n/8 + 20)·δ·|x|·c + (4n + 8)·2^-126·max(1, |x|)·max(1, c)

by the argument of _exact_factors.py. Scores within that of the target's are summed as defined.
"""

from __future__ import annotations

import threading

import numpy as np

from fullrank._lib import threads
from fullrank.ranking.cpu import exact_item_kernels as kernels
from fullrank.ranking.job import Job, exclusion_arrays
from fullrank.ranking.ties import Counts
from fullrank.scorers.item_item import ItemItemScorer
from fullrank.scorers.scorer import nan_error

USERS = 256
# Columns of B taken together. A matrix that fits the caches goes through them in narrow strips,
# which all users then find there; of a larger one long pieces of rows are read at one go.
CACHED, NARROW, WIDE = 1 << 26, 384, 1 << 14
_LARGEST = 2.0**60  # lengths whose products float32 can hold


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
    weight = kernels.history_lengths(scorer.history_indptr, scorer.history_values, t.users)
    lock = threading.Lock()

    def mark(batch: slice) -> None:
        here = slice(int(t.starts[batch.start]), int(t.starts[batch.stop]))
        kernels.pair_scores(*history, scorer.matrix, users[here], targets[here], counts.mark[here])

    def work(block: tuple[slice, float, slice]) -> None:
        columns, longest, batch = block
        here = slice(int(t.starts[batch.start]), int(t.starts[batch.stop]))
        part = Counts.empty(here.stop - here.start)
        own = t.users[batch], t.starts[batch.start : batch.stop + 1] - here.start, targets[here]
        if longest < _LARGEST:
            kernels.count_columns_filtered(
                columns.start, columns.stop, longest, *own, *history, weight[batch],
                scorer.matrix, outside, *seen, job.random, np.uint64(job.key),
                counts.mark[here], part.greater, part.equal, part.before,
            )  # fmt: skip
        else:
            user, item = kernels.count_columns(
                columns.start, columns.stop, exact_products, *own, *history,
                scorer.matrix, outside, *seen, job.random, np.uint64(job.key),
                counts.mark[here], part.greater, part.equal, part.before,
            )  # fmt: skip
            if user >= 0:
                raise nan_error(int(user), int(item))
        with lock:  # the other columns of the same users may be ready at the same time
            counts.add(part, here)

    batches = job.batches(USERS)
    threads.run(mark, batches, n_jobs=job.n_jobs)
    bad = np.flatnonzero(np.isnan(counts.mark))
    if bad.size:
        raise nan_error(int(users[bad[0]]), int(targets[bad[0]]))
    cached = scorer.matrix.nbytes <= CACHED
    width = NARROW if cached else WIDE
    strips = [slice(c, min(c + width, scorer.n_items)) for c in range(0, scorer.n_items, width)]
    longest = [np.inf] * len(strips)
    if cached and exact_products and weight.max() < _LARGEST and _depth(scorer) < 1 << 20:
        longest = [kernels.longest_column(scorer.matrix, s.start, s.stop) for s in strips]
    blocks = [
        (strip, length, batch)
        for strip, length in zip(strips, longest, strict=True)
        for batch in batches
    ]
    threads.run(work, blocks, n_jobs=job.n_jobs, progress=job.progress)
    return counts


def _depth(scorer: ItemItemScorer) -> int:
    """The longest history: (n/8 + 20)·δ must stay below 1/16."""
    return int(np.diff(scorer.history_indptr).max(initial=0))
