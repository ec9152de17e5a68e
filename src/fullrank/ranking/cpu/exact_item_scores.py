"""Exact ranks where every user has the same scores: one sort, and one pass over what is excluded.

The sorted scores tell for each target how many items of the catalogue are above it or equal to it;
the items that are excluded for its user are taken off one by one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullrank._lib import threads
from fullrank._lib.types import Array, Ints
from fullrank.ranking.cpu import exact_item_scores_kernels as kernels
from fullrank.ranking.job import Job, exclusion_arrays
from fullrank.ranking.ties import Counts
from fullrank.scorers.item_scores import ItemScorer
from fullrank.scorers.scorer import nan_error

USERS = 1 << 14
FEW = 1 << 22  # excluded items that one thread has passed before others have started


class Kinds(NamedTuple):
    """The different scores of a catalogue, rising: `starts[k]` items are below `scores[k]`.

    The items of that score are `items[starts[k]:starts[k + 1]]`, where they are listed.
    """

    scores: Array
    starts: Ints
    items: NDArray[np.int32]


def count_item_scores(job: Job, scorer: ItemScorer) -> Counts:
    """Counts from the one row of scores, as `count_any` has them."""
    t, values = job.targets, scorer.values
    counts = Counts.empty(t.order.size)
    targets = t.item_rows[t.order]
    seen = exclusion_arrays(job.exclusion)
    items = _candidates(job, values, seen)
    kinds = _kinds(values, items, listed=job.random)

    def work(batch: slice) -> None:
        here = slice(int(t.starts[batch.start]), int(t.starts[batch.stop]))
        marks = values[targets[here]]
        counts.mark[here] = marks
        kernels.count_users(
            t.users[batch], t.starts[batch.start : batch.stop + 1] - here.start, targets[here],
            marks, np.searchsorted(kinds.scores, marks), values, kinds.starts, kinds.items, *seen,
            job.random, np.uint64(job.key), counts.greater[here], counts.equal[here],
            counts.before[here],
        )  # fmt: skip

    batches = job.batches(USERS)
    threads.run(
        work,
        batches,
        n_jobs=job.n_jobs if job.random or seen[1].size > FEW else 1,
        progress=job.progress,
        sizes=[batch.stop - batch.start for batch in batches],
    )
    return counts


def _candidates(job: Job, values: Array, seen: tuple[Ints, NDArray[np.int32]]) -> Ints | None:
    """The items to sort, None for all: a score that is NaN must be excluded for every user."""
    missing = np.isnan(values if job.catalogue is None else values[job.catalogue])
    if not missing.any():
        return job.catalogue
    items = np.arange(values.size) if job.catalogue is None else job.catalogue
    user, item = kernels.first_candidate(items[missing], job.targets.users, *seen)
    if user >= 0:
        raise nan_error(int(user), int(item))
    return items[~missing]


def _kinds(values: Array, items: Ints | None, *, listed: bool) -> Kinds:
    """Sort the scores of these items; the items are listed for ties="random" alone."""
    scores = values if items is None else values[items]
    if listed:
        order: Ints = np.argsort(scores)
        rising = scores[order]
        order = order if items is None else items[order]
    else:
        rising, order = np.sort(scores), np.empty(0, np.int64)
    changes = np.flatnonzero(rising[1:] != rising[:-1]) + 1
    starts = np.concatenate([[0], changes, [rising.size]])
    return Kinds(rising[starts[:-1]], starts, order.astype(np.int32))
