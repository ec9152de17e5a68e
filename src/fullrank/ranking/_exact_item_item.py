"""Exact ranks of dense item-item models: columns in tiles, a float32 sum as a filter.

The score s of user u and item i is the float64 sum over the user's history h, in order, of
x_h·B[h, i] (item_item.py). For a tile of columns that fits the caches, each user's rows of B are
added up in float32, in any order, and compared with the targets at once; nothing is stored. With
n terms, δ = 2^-24, |x| the length of the history and c_i that of column i of B, the Cauchy-Schwarz
inequality gives Σ_h |x_h B_hi| ≤ |x| c_i, so that the float32 sum differs from s by at most

    ε_i = 1.125·(n + 10)·δ·|x|·c_i + (4n + 8)·2^-126·max(1, |x|)·max(1, c)

as long as (n + 10)·δ ≤ 1/16 (the argument, underflow included, is that of _exact_factors.py; there
the inputs are float32 already). Scores within ε_i of the target's are summed again as defined.
Where that does not hold (entries that are not finite or of extreme size), or does not pay (float64
matrices; fewer history entries than it takes to earn the lengths of the columns back), the sums are
made in float64 and in order from the start.
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

WIDTH = 512  # columns of a tile: sums of 2 kB, and rows of B long enough to be read at full speed
_MIN_WIDTH = 64
_EARNED_BACK = 4  # history entries for each item from which on the columns' lengths pay


def count_item_item(job: Job, scorer: ItemItemScorer) -> Counts:
    """Certified counts for a dense matrix."""
    t = job.targets
    counts = Counts.empty(t.order.size)
    targets = t.item_rows[t.order]
    history = (scorer.history_indptr, scorer.history_indices, scorer.history_values)
    users = t.user_rows[t.order]

    def mark(part: slice) -> None:
        kernels.pair_scores(*history, scorer.matrix, users[part], targets[part], counts.mark[part])

    parts = [slice(a, a + 4096) for a in range(0, users.size, 4096)]
    _threads.run(mark, parts, n_jobs=job.n_jobs)
    sizes = np.diff(scorer.history_indptr)[t.users]
    weight = kernels.history_lengths(*history, t.users)
    bad = np.flatnonzero(np.isnan(counts.mark))
    if bad.size:
        raise nan_error(int(users[bad[0]]), int(targets[bad[0]]))
    filtered = (
        scorer.matrix.dtype == np.float32
        and scorer.history_values.dtype == np.float32
        and int(sizes.sum()) > _EARNED_BACK * scorer.n_items
        and int(sizes.max()) < 1 << 19
        and bool((weight < 2.0**60).all())
    )
    outside = np.ones(0, np.bool_)
    if job.catalogue is not None:
        outside = np.ones(scorer.n_items, np.bool_)
        outside[job.catalogue] = False
    seen_indptr, seen = exclusion_arrays(job.exclusion)
    lock = threading.Lock()

    def work(columns: slice) -> None:
        part = Counts.empty(counts.mark.size)
        user, item = kernels.count_columns(
            columns.start, columns.stop, filtered, t.users, t.starts, targets, *history, weight,
            scorer.matrix, outside, seen_indptr, seen, job.random, np.uint64(job.key),
            counts.mark, part.greater, part.equal, part.before,
        )  # fmt: skip
        if user >= 0:
            raise nan_error(int(user), int(item))
        with lock:
            counts.add(part)

    each = -(-scorer.n_items // (4 * _threads.n_threads(job.n_jobs)))
    step = min(WIDTH, max(_MIN_WIDTH, each))
    tiles = [slice(c, min(c + step, scorer.n_items)) for c in range(0, scorer.n_items, step)]
    _threads.run(
        work,
        tiles,
        n_jobs=job.n_jobs,
        progress=job.progress,
        sizes=[tile.stop - tile.start for tile in tiles],
    )
    return counts
