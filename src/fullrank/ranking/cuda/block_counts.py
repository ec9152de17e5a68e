"""Counts on the device for scorers that come in blocks: what every block adds to, and how."""

from __future__ import annotations

from typing import Any

import numpy as np

from fullrank.ranking.cuda.streaming import to_device
from fullrank.ranking.job import Job, exclusion_arrays
from fullrank.ranking.ties import Counts
from fullrank.scorers.scorer import nan_error

WIDTH, SHARD = 1024, 4  # scores that a program counts at once, and how often


class Tally:
    """The targets of a job on the device, by `job.targets.order`, and what was counted for them."""

    def __init__(self, torch: Any, device: Any, job: Job) -> None:
        t = job.targets
        self.torch, self.device, self.job = torch, device, job
        names = np.arange(job.scorer.n_items) if job.catalogue is None else job.catalogue
        self.names = self.send(names)
        self.users, self.starts = self.send(t.users), self.send(t.starts)
        self.targets = self.send(t.item_rows[t.order])
        self.group = self.send(np.repeat(np.arange(t.users.size), np.diff(t.starts)))
        self.seen_indptr, self.seen = (self.send(a) for a in exclusion_arrays(job.exclusion))
        self.greater, self.equal, self.before = (
            torch.zeros(t.order.size, dtype=torch.int64, device=device) for _ in range(3)
        )
        self.mark = torch.zeros(t.order.size, dtype=torch.float64, device=device)

    def send(self, array: Any) -> Any:
        return to_device(self.torch, array, self.device)

    @property
    def key(self) -> tuple[int, int]:
        return self.job.key & 0xFFFFFFFF, self.job.key >> 32

    def columns(self, items: Any) -> Any:
        """Where item rows of the catalogue stand in it."""
        if self.job.catalogue is None:
            return items.long()
        return self.torch.searchsorted(self.names, items.long())

    def batches(self, cells: int) -> list[slice]:
        """Users in blocks of `batch_size`, or of as many as have `cells` scores."""
        n_users = self.job.targets.users.size
        step = self.job.batch_size or max(1, cells // self.job.size)
        return [slice(a, min(a + step, n_users)) for a in range(0, n_users, step)]

    def add(self, batch: slice, scores: Any) -> None:
        """Count the scores of some users against the whole catalogue; they are written over."""
        from fullrank.ranking.cuda import block_kernels as kernels

        torch, t = self.torch, self.job.targets
        here = slice(int(t.starts[batch.start]), int(t.starts[batch.stop]))
        n_users, width = scores.shape
        own = self.group[here] - batch.start
        marks = scores[own, self.columns(self.targets[here])]
        row, column, n_hidden = self._hidden(batch)
        scores[row, column] = float("nan")  # neither above nor equal
        n_nan = torch.zeros(n_users, dtype=torch.int64, device=self.device)
        kernels.count_stored[(n_users, -(-width // (WIDTH * SHARD)))](
            scores, width, self.names, self.users[batch],
            self.starts[batch.start : batch.stop + 1] - here.start, self.targets[here], marks,
            self.greater[here], self.equal[here], self.before[here], n_nan, *self.key,
            BN=WIDTH, SHARD=SHARD, RANDOM=self.job.random,
        )  # fmt: skip
        self.mark[here] = marks.double()
        if bool((n_nan != n_hidden).any()):
            bad = scores.isnan()
            bad[row, column] = False
            a, b = bad.nonzero()[0].tolist()
            raise nan_error(int(t.users[batch][a]), int(self.names[b]))

    def _hidden(self, batch: slice) -> tuple[Any, Any, Any]:
        """Row and column of what is excluded for some users, and how many each has."""
        torch, users = self.torch, self.job.targets.users[batch]
        if self.job.exclusion is None:
            none = torch.zeros(0, dtype=torch.int64, device=self.device)
            return none, none, 0
        indptr = self.job.exclusion.indptr
        sizes = indptr[users + 1] - indptr[users]
        row = np.repeat(np.arange(users.size), sizes)
        at = np.arange(row.size) + (indptr[users] - (np.cumsum(sizes) - sizes))[row]
        return self.send(row), self.columns(self.seen[self.send(at)]), self.send(sizes)

    def report(self, done: int) -> None:
        """So many of the users, or of their scores in units of users, are done."""
        if self.job.progress is not None:
            if self.device.type == "cuda":  # what was asked for may still be going on
                self.torch.cuda.synchronize(self.device)
            self.job.progress(done, self.job.targets.users.size)

    def counts(self) -> Counts:
        out = Counts.empty(self.job.targets.order.size)
        for name in ("greater", "equal", "before", "mark"):
            getattr(out, name)[:] = getattr(self, name).cpu().numpy()
        return out
