"""The count behind exact ranks: which way of counting, over which blocks of users."""

from __future__ import annotations

import numpy as np

from fullrank._lib import threads
from fullrank._lib.device import current, no_device, open_device
from fullrank.ranking.job import Job, exclusion_arrays
from fullrank.ranking.ties import Counts
from fullrank.scorers.factors import FactorScorer
from fullrank.scorers.item_item import ItemItemScorer
from fullrank.scorers.scorer import is_thread_safe, nan_error, shaped
from fullrank.scorers.torch_module import TorchScorer

_CELLS = 1 << 21  # scores of a foreign scorer held at once by a thread


def count(job: Job) -> tuple[Counts, int | None]:
    """The counts of all targets, in the order of `job.targets.order`.

    With them the number of scores that a GPU's filter left undecided; None without a GPU.
    """
    if job.device is None:
        return _count_here(job), None
    torch, device = open_device(job.device)
    with current(torch, device):
        if isinstance(job.scorer, FactorScorer):
            from fullrank.ranking.cuda.exact.factors import count_factors

            # where the filter's bounds do not hold, the processor's way holds for all numbers
            return count_factors(job, job.scorer, torch, device) or (_count_here(job), None)
        if isinstance(job.scorer, ItemItemScorer):
            from fullrank.ranking.cuda.item_item import count_item_item

            return count_item_item(job, job.scorer, torch, device), None
        if isinstance(job.scorer, TorchScorer):
            from fullrank.ranking.cuda.modules import count_module

            return count_module(job, job.scorer, torch, device), None
    raise no_device(job.scorer)


def _count_here(job: Job) -> Counts:
    if isinstance(job.scorer, FactorScorer):
        from fullrank.ranking.cpu.exact_factors import count_factors

        counts = count_factors(job, job.scorer)
        if counts is not None:
            return counts
    if isinstance(job.scorer, ItemItemScorer) and not job.scorer.is_sparse:
        from fullrank.ranking.cpu.exact_item_item import count_item_item

        return count_item_item(job, job.scorer)
    return count_any(job)


def count_any(job: Job) -> Counts:
    """Counts from the scores that `scores` gives, whatever the scorer."""
    from fullrank.ranking.cpu import exact_kernels as kernels

    t = job.targets
    counts = Counts.empty(t.order.size)
    targets = t.item_rows[t.order]
    items = np.empty(0, np.int64) if job.catalogue is None else job.catalogue
    seen_indptr, seen = exclusion_arrays(job.exclusion)

    def work(batch: slice) -> None:
        users = t.users[batch]
        here = slice(int(t.starts[batch.start]), int(t.starts[batch.stop]))
        block = job.scorer.scores(users, job.catalogue)
        user, item = kernels.count_scores(
            shaped(block, users, job.catalogue, job.scorer.n_items), users,
            t.starts[batch.start : batch.stop + 1] - here.start, targets[here], items,
            seen_indptr, seen, job.random, np.uint64(job.key), counts.greater[here],
            counts.equal[here], counts.before[here], counts.mark[here],
        )  # fmt: skip
        if user >= 0:
            raise nan_error(int(user), int(item))

    batches = job.batches(max(1, _CELLS // job.size))
    threads.run(
        work,
        batches,
        n_jobs=1 if job.n_jobs is None and not is_thread_safe(job.scorer) else job.n_jobs,
        progress=job.progress,
        sizes=[batch.stop - batch.start for batch in batches],
    )
    return counts
