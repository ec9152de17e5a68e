"""Exact ranks of item-item models on a GPU.

The score of user u and item i is the float64 sum over the user's history h, in order, of
x_h·B[h, i] (item_item.py). A GPU for computing reads B more slowly than it adds up in float64, so
the sums are made as they are defined, counted and forgotten: nothing is rounded, nothing is left
to decide, and the counts are those of the CPU. A dense B comes in strips of columns, which stay on
the device if all of them fit and are copied again otherwise. With a sparse B the scores of a block
of users are added up in memory and counted there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.ranking.cuda.block_counts import Tally
from fullrank.ranking.cuda.strips import Strip, Strips
from fullrank.ranking.job import Job
from fullrank.ranking.ties import Counts
from fullrank.scorers.item_item import ItemItemScorer
from fullrank.scorers.scorer import nan_error

# Columns and, at most, users of a program; rows of B that it asks for at once; its warps.
COLUMNS, USERS, UNROLL, WARPS = 128, 8, 8, 1
CELLS = 1 << 25  # sums of a sparse model held at once: 256 MB
NONE = np.iinfo(np.int64).max  # no score is NaN


def count_item_item(job: Job, scorer: ItemItemScorer, torch: Any, device: Any) -> Counts:
    """Counts as the CPU gives them, for a dense or a sparse matrix."""
    tally = Tally(torch, device, job)
    history = _History(tally, scorer)
    if scorer.is_sparse:
        _count_sparse(tally, history, scorer.matrix)
    else:
        _count_dense(tally, history, scorer.matrix)
    return tally.counts()


class _History:
    """The users' histories on the device."""

    def __init__(self, tally: Tally, scorer: ItemItemScorer) -> None:
        self.arrays = [
            tally.send(array)
            for array in (scorer.history_indptr, scorer.history_indices, scorer.history_values)
        ]
        sizes = np.diff(scorer.history_indptr)[tally.job.targets.users]
        self.longest_first = tally.send(np.argsort(-sizes, kind="stable"))
        # products of two float32 are exact in float64, so that fusing them with the sum is no
        # other arithmetic; products of float64 are rounded on the CPU
        kinds = {scorer.matrix.dtype, scorer.history_values.dtype}
        self.options = {"enable_fp_fusion": kinds == {np.dtype(np.float32)}}


def _count_dense(tally: Tally, history: _History, matrix: NDArray[Any]) -> None:
    strips = Strips(tally.torch, tally.device, matrix, tally.job.catalogue, multiple=COLUMNS)
    place, user = tally.columns(tally.targets), tally.users[tally.group]
    for strip in strips:
        _mark_targets(tally, history, strip, user, place - strip.start)
    t = tally.job.targets
    bad = tally.mark.isnan().nonzero()
    if bad.shape[0]:
        first = t.order[int(bad[0, 0])]
        raise nan_error(int(t.user_rows[first]), int(t.item_rows[first]))
    lowest = tally.torch.full((1,), NONE, dtype=tally.torch.int64, device=tally.device)
    for strip in strips:
        _count_strip(tally, history, strip, lowest)
        done = (strip.start + strip.width) / tally.job.size
        tally.report(int(done * t.users.size))
    if int(lowest) != NONE:
        raise nan_error(*divmod(int(lowest), tally.job.scorer.n_items))


def _mark_targets(tally: Tally, history: _History, strip: Strip, user: Any, column: Any) -> None:
    """The scores of those targets, by user and column, that are in the strip."""
    from fullrank.ranking.cuda import block_kernels as kernels

    listed = ((column >= 0) & (column < strip.width)).nonzero()[:, 0]
    if listed.shape[0]:
        kernels.mark_targets[(listed.shape[0],)](
            strip.weights, strip.weights.shape[1], *history.arrays, user, column, listed,
            tally.mark, BN=32, UNROLL=UNROLL, num_warps=1, **history.options,
        )  # fmt: skip


def _count_strip(tally: Tally, history: _History, strip: Strip, bad: Any) -> None:
    from fullrank.ranking.cuda import block_kernels as kernels

    job = tally.job
    n_users, n_blocks = job.targets.users.size, -(-strip.width // COLUMNS)
    several = min(USERS, max(1, n_users * n_blocks // (1 << 15)))
    kernels.count_strip[(-(-n_users // several), n_blocks)](
        strip.weights, strip.weights.shape[1], strip.width, tally.names[strip.start :],
        job.scorer.n_items, *history.arrays, history.longest_first, tally.users, tally.starts,
        tally.targets, tally.mark, tally.seen_indptr, tally.seen, tally.greater, tally.equal,
        tally.before, bad, n_users, *tally.key, BN=COLUMNS, USERS=several, UNROLL=UNROLL,
        HAS_SEEN=job.exclusion is not None, RANDOM=job.random, num_warps=WARPS, **history.options,
    )  # fmt: skip


def _count_sparse(tally: Tally, history: _History, matrix: Any) -> None:
    from fullrank.ranking.cuda import block_kernels as kernels

    torch, n_items = tally.torch, matrix.shape[1]
    weights = [tally.send(array) for array in (matrix.indptr, matrix.indices, matrix.data)]
    for batch in tally.batches(CELLS):
        scores = torch.zeros(
            (batch.stop - batch.start, n_items), dtype=torch.float64, device=tally.device
        )
        kernels.add_sparse[(scores.shape[0],)](
            *weights, *history.arrays, tally.users[batch], scores, n_items, BK=128, num_warps=4,
            **history.options,
        )  # fmt: skip
        tally.add(batch, scores if tally.job.catalogue is None else scores[:, tally.names])
        tally.report(batch.stop)
