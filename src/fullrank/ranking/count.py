"""The count behind exact ranks: which way of counting, over which blocks of users."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from fullrank._lib import threads
from fullrank._lib.device import current, no_device, open_device
from fullrank.ranking.capabilities import offer
from fullrank.ranking.job import Job, exclusion_arrays
from fullrank.ranking.ties import Counts
from fullrank.scorers.callables import shaped
from fullrank.scorers.scorer import has_own_threads, is_thread_safe, nan_error

Found = tuple[Counts, int | None]

_CELLS = 1 << 21  # scores of a foreign scorer held at once by a thread


def count(job: Job) -> tuple[Counts, int | None]:
    """The counts of all targets, in the order of `job.targets.order`.

    With them the number of scores that a GPU's filter left undecided; None without a GPU.
    """
    if job.device is None:
        return _count_here(job), None
    torch, device = open_device(job.device)
    with current(torch, device):
        has, offered = offer(job.scorer, _THERE)
        if has not in _THERE:
            raise no_device(job.scorer)
        return _THERE[has](job, offered, torch, device)


def _factors_there(job: Job, factors: Any, torch: Any, device: Any) -> Found:
    from fullrank.ranking.cuda.exact.factors import count_factors

    # where the filter's bounds do not hold, the processor's way holds for all numbers
    return count_factors(job, factors, torch, device) or (_count_here(job), None)


def _item_item_there(job: Job, item_item: Any, torch: Any, device: Any) -> Found:
    from fullrank.ranking.cuda.item_item import count_item_item

    return count_item_item(job, item_item, torch, device), None


def _module_there(job: Job, module: Any, torch: Any, device: Any) -> Found:
    if job.max_rank is not None:
        from fullrank.ranking.cuda.module_early_stop import count_module_up_to

        return count_module_up_to(job, module, torch, device), None
    from fullrank.ranking.cuda.modules import count_module

    return count_module(job, module, torch, device), None


def _blocks_there(job: Job, scorer: Any, torch: Any, device: Any) -> Found:
    from fullrank.ranking.cuda.module_blocks import count_blocks

    return count_blocks(job, scorer, torch, device), None


def _factors_here(job: Job, factors: Any) -> Counts:
    counts = None
    if job.order is None or job.order.name is not None:  # the filter has an order of its own
        from fullrank.ranking.cpu.factors.exact_factors import count_factors

        counts = count_factors(job, factors)
    return _count_scores(_without_user_bias(job, factors)) if counts is None else counts


def _without_user_bias(job: Job, factors: Any) -> Job:
    """Scores without the user's bias: added to them, it could round different ones to one."""
    if getattr(factors, "user_bias", None) is None:
        return job
    plain = factors.with_ids(None, None)
    plain.user_bias = None
    return replace(job, scorer=plain)


def _item_item_here(job: Job, item_item: Any) -> Counts:
    if item_item.is_sparse:
        from fullrank.ranking.cpu.exact_sparse import count_sparse

        return count_sparse(job, item_item)
    from fullrank.ranking.cpu.exact_item_item import count_item_item

    return count_item_item(job, item_item) if job.max_rank is None else _count_scores(job)


def _item_scores_here(job: Job, item_scores: Any) -> Counts:
    from fullrank.ranking.cpu.exact_item_scores import count_item_scores

    return count_item_scores(job, item_scores)


def _item_scores_there(job: Job, item_scores: Any, torch: Any, device: Any) -> Found:
    return _item_scores_here(job, item_scores), None  # one sort: not worth a copy of the items


# from what a scorer offers to the count on a GPU and on the processor
_THERE: dict[str, Callable[[Job, Any, Any, Any], Found]] = {
    "item_scores": _item_scores_there,
    "factors": _factors_there,
    "item_item": _item_item_there,
    "torch_pairs": _module_there,
    "torch_blocks": _blocks_there,
}
_HERE: dict[str, Callable[[Job, Any], Counts]] = {
    "item_scores": _item_scores_here,
    "factors": _factors_here,
    "item_item": _item_item_here,
}


def _count_here(job: Job) -> Counts:
    has, offered = offer(job.scorer, _HERE)
    here = _HERE.get(has)
    return _count_scores(job) if here is None else here(job, offered)


def _count_scores(job: Job) -> Counts:
    """Counts from scores, of no more candidates than are needed if the scorer can give fewer."""
    if job.max_rank is None or getattr(job.scorer, "whole_rows", False):
        return count_any(job)
    from fullrank.ranking.cpu.early_stop import count_up_to

    return count_up_to(job)


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

    busy = has_own_threads(job.scorer)
    most = max(1, _CELLS // job.size)
    batches = job.batches(getattr(job.scorer, "users_at_once", most) if busy else most)
    alone = busy or (job.n_jobs is None and not is_thread_safe(job.scorer))
    threads.run(
        work,
        batches,
        n_jobs=1 if alone else job.n_jobs,
        progress=job.progress,
        sizes=[batch.stop - batch.start for batch in batches],
        limited=not busy,
    )
    return counts
