"""A job cut into parts of its users that fit the device."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from fullrank.data.targets import Targets
from fullrank.ranking.job import Job

_COUNTS = 256  # bytes of a target's marks, counts and places
_EXCLUDED = 48  # bytes of an excluded item, while its place is looked up


def parts(job: Job, row: int, room: int) -> Iterator[tuple[slice, Job]]:
    """Jobs for some of the users, each with the targets that are theirs, in `targets.order`.

    A part takes `room` bytes: `row` of them for each user and for each target, and what else is
    held for targets and excluded items. A single user may take more.
    """
    t = job.targets
    held = row * np.arange(t.users.size + 1) + (row + _COUNTS) * t.starts
    if job.exclusion is not None:
        indptr = job.exclusion.indptr
        held[1:] += _EXCLUDED * np.cumsum(indptr[t.users + 1] - indptr[t.users])
    first = 0
    while first < t.users.size:
        last = max(first + 1, int(np.searchsorted(held, held[first] + room, side="right")) - 1)
        here = slice(int(t.starts[first]), int(t.starts[last]))
        yield here, job if last - first == t.users.size else _part(job, first, last)
        first = last


def _part(job: Job, first: int, last: int) -> Job:
    """The job for some of its users."""
    t = job.targets
    here = t.order[t.starts[first] : t.starts[last]]
    targets = Targets(
        user_rows=t.user_rows[here],
        item_rows=t.item_rows[here],
        users=t.users[first:last],
        starts=t.starts[first : last + 1] - t.starts[first],
        order=np.arange(here.size),
        user=t.user[here],
        item=t.item[here],
    )
    progress = job.progress
    if progress is not None:
        report, total = progress, t.users.size
        progress = lambda done, _: report(first + done, total)  # noqa: E731
    return replace(job, targets=targets, progress=progress)
