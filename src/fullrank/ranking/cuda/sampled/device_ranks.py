"""Sampled and adaptive ranks on a GPU, equal to those of the CPU.

Users go through the device by blocks. A level draws on for the targets that are still at the top,
all of them together; the others are dropped between levels. A fixed sample is a single level.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank._lib import checks
from fullrank._lib.device import current, open_device
from fullrank._lib.progress import Progress
from fullrank._lib.types import Floats, Ints
from fullrank.data.targets import Exclusion, Targets
from fullrank.designs.draws import Pools
from fullrank.designs.rounds import Rounds
from fullrank.ranking.cuda.sampled.device_data import Gpu, Group, Level, draw, make_group
from fullrank.ranking.cuda.sampled.device_models import Model, model_for
from fullrank.ranking.cuda.sampled.kernel_arguments import NO_NAN
from fullrank.scorers.scorer import Scorer, nan_error

_TARGET = 32  # as many items take as many bytes as a target's place, score and counts


class Ranking:
    """A scorer on a device, to count for by blocks of users.

    Parameters
    ----------
    exclusion : items that rank below every target when they are drawn, if there are any
    ties : a code of sampled_counts.TIES
    """

    def __init__(
        self,
        device: Any,
        scorer: Scorer,
        *,
        exclusion: Exclusion | None,
        ties: int,
        key: int,
        batch_size: int | None,
        progress: Progress | None,
    ) -> None:
        torch, place = open_device(device)
        words = torch.from_numpy(np.array([key], np.uint64).view(np.int64)).to(place)
        self.gpu = Gpu(torch=torch, device=place, key=words, ties=ties)
        self.model: Model = model_for(self.gpu, scorer)
        self.exclusion = exclusion
        self.batch_size = batch_size
        self.progress = progress

    def run_rounds(
        self, targets: Targets, pools: Pools, rounds: Rounds
    ) -> tuple[Ints, Ints, Floats]:
        """Ranks, sizes and scores of the targets, grouped by user, as on the CPU."""
        items = targets.item_rows[targets.order]
        rank, size = np.empty(items.size, np.int64), np.empty(items.size, np.int64)
        marks = np.empty(items.size)
        names = None if pools.items is None else self.gpu.move(pools.items)
        width = max(b - a for a, b in zip((1, *rounds.sizes), rounds.sizes, strict=False))
        limits = rounds.limits(pools.sizes)
        for part, here in self._blocks(targets.users.size, targets.starts, width):
            users = targets.users[part]
            group = make_group(self.gpu, users, self.exclusion, pools, part, names, rounds.drawing)
            starts = targets.starts[part.start : part.stop + 1] - here.start
            self.model.start(users)
            climb = Climb(self.gpu, self.model, group, starts, items[here])
            most = self.gpu.move(limits[part])
            for level, refine in zip(rounds.sizes, (*rounds.refine, 0), strict=True):
                if not climb.step(level, refine, most):
                    break
            rank[here], size[here] = climb.rank.cpu().numpy(), climb.size.cpu().numpy()
            marks[here] = climb.marks.cpu().numpy()
        return rank, size, marks

    def count(
        self,
        users: Ints,
        starts: Ints,
        targets: Ints,
        drawn: Callable[[slice], NDArray[np.int32]],
        width: int,
    ) -> tuple[Ints, Floats]:
        """Counts among given items and scores of the targets, as on the CPU."""
        above, marks = np.empty(targets.size, np.int64), np.empty(targets.size)
        for part, here in self._blocks(users.size, starts, width):
            group = make_group(self.gpu, users[part], self.exclusion)
            self.model.start(users[part])
            own = starts[part.start : part.stop + 1] - here.start
            climb = Climb(self.gpu, self.model, group, own, targets[here])
            above[here] = climb.given(drawn(part)).cpu().numpy()
            marks[here] = climb.marks.cpu().numpy()
        return above, marks

    def _blocks(self, n_users: int, starts: Ints, width: int) -> Any:
        """Blocks of users and of their targets, with the progress told after each."""
        several = -(-int(starts[-1]) // n_users)  # targets of a user, on average
        step = self.model.users_at_once(width + _TARGET * several)
        if self.batch_size is not None:
            step = checks.integer("batch_size", self.batch_size, low=1)
        with current(self.gpu.torch, self.gpu.device):
            for first in range(0, n_users, step):
                last = min(first + step, n_users)
                yield slice(first, last), slice(int(starts[first]), int(starts[last]))
                if self.progress is not None:
                    self.progress(last, n_users)


class Climb:
    """The targets of a block of users on their way through the levels."""

    def __init__(self, gpu: Gpu, model: Model, group: Group, starts: Ints, targets: Ints) -> None:
        torch = gpu.torch
        self.gpu, self.model, self.group = gpu, model, group
        self.starts, self.targets = gpu.move(starts), gpu.move(targets)
        n_users = starts.size - 1
        every = torch.arange(n_users, device=gpu.device)
        self.group_of = torch.repeat_interleave(every, self.starts.diff())
        self.marks = model.marks(self.starts, self.group_of, self.targets)
        self.active = torch.arange(targets.size, device=gpu.device)
        self.rank, self.size = gpu.zeros(targets.size) + 1, gpu.zeros(targets.size) + 1
        self.done = gpu.zeros(n_users)

    def step(self, level: int, refine: int, limits: Any) -> bool:
        """Draw up to `level` candidates; return whether a target is left for the next level."""
        torch, active = self.gpu.torch, self.active
        rows, inverse, per_row = torch.unique_consecutive(
            self.group_of[active], return_inverse=True, return_counts=True
        )
        starts = torch.nn.functional.pad(per_row.cumsum(0), (1, 0))
        most, first = limits[rows], self.done[rows]
        count = torch.minimum(most, torch.full_like(most, level - 1))
        here = Level(
            rows=rows, starts=starts, targets=self.targets[active], marks=self.marks[active],
            first=first, count=count - first, given=None, width=0,
        )  # fmt: skip
        above = self._count(here)
        self.rank[active] += above
        self.size[active] = 1 + count[inverse]
        self.done[rows] = count
        self.active = active[(self.rank[active] <= refine) & (count < most)[inverse]]
        return bool(self.active.shape[0])

    def given(self, items: NDArray[np.int32]) -> Any:
        """The counts among given items, one row of them for each user."""
        n_users, width = items.shape
        here = Level(
            rows=self.gpu.torch.arange(n_users, device=self.gpu.device), starts=self.starts,
            targets=self.targets, marks=self.marks, first=self.done, count=self.done + width,
            given=self.gpu.move(items), width=width,
        )  # fmt: skip
        return self._count(here)

    def _count(self, level: Level) -> Any:
        above, bad = self.model.above(self.group, level)
        self._raise_nan(level, int(bad))
        return above

    def _raise_nan(self, level: Level, code: int) -> None:
        """The error of the first user with a NaN, a target's before a drawn item's."""
        torch = self.gpu.torch
        row = code >> 32
        wrong = torch.nonzero(torch.isnan(level.marks))
        if wrong.shape[0]:
            at = int(wrong[0])
            owner = int(torch.searchsorted(level.starts, at, right=True)) - 1
            if owner <= row:
                user = self.group.users[level.rows[owner]]
                raise nan_error(int(user), int(level.targets[at]))
        if code == NO_NAN:
            return
        j, g = code & 0xFFFFFFFF, level.rows[row : row + 1]
        if level.given is not None:
            item = level.given[row, j]
        else:
            first = level.first[row : row + 1] + j
            item = draw(self.gpu, self.group, g, first, torch.ones_like(first))[0, 0]
        raise nan_error(int(self.group.users[g]), int(item))
