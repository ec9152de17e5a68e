"""Ranks up to K of PyTorch modules on a GPU: only pairs that are still needed are scored.

The order, the blocks and what is counted are those of `ranking.cpu.early_stop`; scores stay on the
device, in full batches of pairs across users, and a few numbers for each user come back after every
block.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fullrank._lib.device import free_memory
from fullrank._lib.types import Array, Ints
from fullrank.ranking.cpu import early_stop_kernels as kernels
from fullrank.ranking.cpu.early_stop import Wave, places, wave_size
from fullrank.ranking.cuda import modules
from fullrank.ranking.cuda.streaming import to_device
from fullrank.ranking.job import Job
from fullrank.ranking.ties import Counts
from fullrank.scorers.modules.module_calls import scoring
from fullrank.scorers.modules.torch_module import TorchScorer, score_pairs
from fullrank.scorers.scorer import nan_error

USERS = 1 << 17  # in a wave: a quarter of them fills a batch
CELLS = 1 << 24  # scores held at once: 64 MB, and as much again while they are counted


def count_module_up_to(job: Job, scorer: TorchScorer, torch: Any, device: Any) -> Counts:
    """Counts of the targets that are not out, from the scores that a module on `device` gives."""
    modules.check_place(scorer.module, device)
    counts, n_users = Counts.empty(job.targets.order.size), job.targets.users.size
    place, step = places(job), job.batch_size or wave_size(job, most=USERS)
    with scoring(torch, scorer.module):
        for first in range(0, n_users, step):
            batch = slice(first, min(first + step, n_users))
            _OnDevice(job, batch, place, scorer.module, torch, device).count(counts)
            if job.progress is not None:
                job.progress(batch.stop, n_users)
    return counts


class _OnDevice(Wave):
    """Some users and their targets, scored and counted on a device."""

    def __init__(
        self, job: Job, batch: slice, place: Ints, module: Any, torch: Any, device: Any
    ) -> None:
        super().__init__(job, batch, place)
        self.module, self.torch, self.device = module, torch, device
        free = free_memory(torch, device)
        self.pairs = max(1, min(modules.PAIRS, free // modules.ROOM))
        self.cells = max(1, min(CELLS, free // 64))
        self.n_targets = np.diff(self.starts)

    def score_targets(self, users: Ints) -> None:
        self.mark = self._scores(self._send(users), self._send(self.targets))
        self.found.mark[:] = self.mark.double().cpu().numpy()

    def add_own(self, active: Ints, block: slice) -> None:
        width = block.stop - block.start
        for some in self._parts(active, width):
            need = np.arange(block.start, block.stop) < self.length[some, None]
            self._add(some, self.lists[some, block], need)

    def add_shared(self, active: Ints, block: slice) -> None:
        for some in self._parts(active, block.stop - block.start):
            need = np.ones((some.size, block.stop - block.start), np.bool_)
            kernels.hide_shared(
                need, block.start, self.place, self.lists, self.length, some, self.users,
                self.starts, self.targets, *self.seen,
            )  # fmt: skip
            self._add(some, self.order.shared[block], need)

    def _parts(self, active: Ints, width: int) -> Iterator[Ints]:
        """So many users that the scores of their targets' rivals fit."""
        most = int(self.n_targets[active].max())
        step = max(1, self.cells // (width * most))
        for at in range(0, active.size, step):
            yield active[at : at + step]

    def _add(self, some: Ints, items: Array, need: Array) -> None:
        """Score users against items where they are needed, and count them for each target."""
        torch = self.torch
        wanted = self._send(need)
        row, column = wanted.nonzero(as_tuple=True)
        users, names = self._send(self.users[some]), self._send(items)
        item = names[column] if names.ndim == 1 else names[row, column]
        flat = self._scores(users[row], item)
        bad = flat.isnan()
        if bool(bad.any()):
            at = int(bad.nonzero()[0])
            raise nan_error(int(users[row[at]]), int(item[at]))
        scores = torch.full(need.shape, float("nan"), dtype=flat.dtype, device=self.device)
        scores[row, column] = flat
        sizes = self.n_targets[some]
        at = np.arange(sizes.sum()) + np.repeat(self.starts[some] - np.cumsum(sizes) + sizes, sizes)
        own = np.repeat(np.arange(some.size), sizes)
        rivals, marks = scores[self._send(own)], self.mark[self._send(at)][:, None]
        self.found.greater[at] += (rivals > marks).sum(1).cpu().numpy()
        tied = rivals == marks
        self.found.equal[at] += tied.sum(1).cpu().numpy()
        if self.job.random:
            t, j = (one.cpu().numpy() for one in tied.nonzero(as_tuple=True))
            kernels.add_before(
                t, np.asarray(items[j] if items.ndim == 1 else items[own[t], j], np.int64), at,
                self.users[some][own], self.targets, np.uint64(self.job.key), self.found.before,
            )  # fmt: skip
        self.scored[some] += need.sum(1)

    def _scores(self, users: Any, items: Any) -> Any:
        """The score of each pair."""

        def part(start: int, stop: int) -> Any:
            return score_pairs(self.torch, self.module, users[start:stop], items[start:stop])

        return modules.filled(self.torch, part, users.shape[0], self.pairs, self.device)

    def _send(self, array: Array) -> Any:
        return to_device(self.torch, array, self.device)
