"""Sampled ranks from exact scores on a GPU: item-item models and PyTorch modules."""

from __future__ import annotations

from typing import Any

import numpy as np

from fullrank._lib.types import Ints
from fullrank.ranking.cuda.modules import check_place, refuse_elsewhere
from fullrank.ranking.cuda.sampled import kernel_arguments as shared
from fullrank.ranking.cuda.sampled.device_data import BYTES, Gpu, Group, Level, draw
from fullrank.scorers.item_item import ItemItemScorer
from fullrank.scorers.modules.module_calls import scoring
from fullrank.scorers.modules.torch_block import BlockScorer
from fullrank.scorers.modules.torch_module import TorchScorer, score_pairs

_BLOCK = 32  # items that a program takes at a time
_UNROLL = 4  # rows of an item-item matrix on their way together
_PAIRS = 1 << 18  # pairs given to a module at once
_CELLS = 1 << 24  # scores of a module kept at once


class ItemItem:
    """A dense item-item matrix: it stays on the device, histories come by blocks."""

    def __init__(self, gpu: Gpu, scorer: ItemItemScorer) -> None:
        self.gpu, self.scorer = gpu, scorer
        self.matrix = gpu.move_large("weights", scorer.matrix)
        self.history: tuple[Any, ...] = ()
        narrow = scorer.matrix.dtype == np.float32 and scorer.history_values.dtype == np.float32
        self.fused = bool(narrow)  # as for factors

    def users_at_once(self, width: int) -> int:
        stored = 12 * self.scorer.history_indices.size // max(1, self.scorer.n_users)
        return max(1, BYTES // (stored + 4 * width + 128))

    def start(self, users: Ints) -> None:
        indptr = self.scorer.history_indptr
        starts, stops = indptr[users], indptr[users + 1]
        own = np.concatenate(([0], np.cumsum(stops - starts)))
        at = np.arange(own[-1]) + np.repeat(starts - own[:-1], stops - starts)
        lists = (own, self.scorer.history_indices[at], self.scorer.history_values[at])
        self.history = tuple(self.gpu.move(one) for one in lists)

    def marks(self, starts: Any, group_of: Any, targets: Any) -> Any:
        from fullrank.ranking.cuda.sampled.scored_kernels import item_item_marks

        shape = targets.shape
        out = self.gpu.torch.empty(shape, dtype=self.gpu.torch.float64, device=self.gpu.device)
        item_item_marks[(starts.shape[0] - 1,)](
            self.matrix, self.scorer.n_items, *self.history, starts, targets, out,
            BLOCK=16, UNROLL=_UNROLL, num_warps=1, enable_fp_fusion=self.fused,
        )  # fmt: skip
        return out

    def above(self, group: Group, level: Level) -> tuple[Any, Any]:
        from fullrank.ranking.cuda.sampled.scored_kernels import item_item_above

        above, bad = shared.counts(self.gpu, level)
        item_item_above[(level.rows.shape[0],)](
            self.matrix, self.scorer.n_items, *self.history,
            *shared.drawing(self.gpu, group, level), level.starts, level.targets, level.marks,
            above, group.seen_starts, group.seen, bad,
            BLOCK=_BLOCK, UNROLL=_UNROLL, **shared.kind(self.gpu, group, level), num_warps=1,
            enable_fp_fusion=self.fused,
        )  # fmt: skip
        return above, bad


class Module:
    """A PyTorch module on the device: draws, scores and counts stay there."""

    def __init__(self, gpu: Gpu, scorer: TorchScorer) -> None:
        self.gpu, self.module = gpu, scorer.module
        check_place(scorer.module, gpu.device)
        self.users: Any = None

    def users_at_once(self, width: int) -> int:
        return max(1, _CELLS // (width + 1))

    def start(self, users: Ints) -> None:
        self.users = self.gpu.move(users)

    def marks(self, starts: Any, group_of: Any, targets: Any) -> Any:
        return self._scores(self.users[group_of], targets).double()

    def above(self, group: Group, level: Level) -> tuple[Any, Any]:
        from fullrank.ranking.cuda.sampled.scored_kernels import scored_above

        torch = self.gpu.torch
        above, bad = shared.counts(self.gpu, level)
        items = level.given
        if items is None:
            items = draw(self.gpu, group, level.rows, level.first, level.count)
        scores = self._drawn(level, items, items >= 0)
        # excluded or not: what a module gives must be numbers
        nan = torch.nonzero(torch.isnan(scores))
        if nan.shape[0]:
            bad[0] = (nan[0, 0] << 32) | nan[0, 1]
            return above, bad
        scored_above[(level.rows.shape[0],)](
            scores, level.rows, group.users, self.gpu.key, level.count, items, items.shape[1],
            level.starts, level.targets, level.marks, above, group.seen_starts, group.seen, bad,
            BLOCK=128, SEEN=group.has_seen, TIES=self.gpu.ties,
        )  # fmt: skip
        return above, bad

    def _drawn(self, level: Level, items: Any, there: Any) -> Any:
        """The scores of what was drawn; 0 where nothing was."""
        torch = self.gpu.torch
        row = torch.nonzero(there)[:, 0]
        found = self._scores(self.users[level.rows[row]], items[there].long())
        scores = torch.zeros(items.shape, dtype=found.dtype, device=self.gpu.device)
        scores[there] = found
        return scores

    def _scores(self, users: Any, items: Any) -> Any:
        """The module's scores of pairs, in evaluation mode and without gradients."""
        module, torch = self.module, self.gpu.torch
        with scoring(torch, module):
            parts = [
                self._answer(users[start : start + _PAIRS], items[start : start + _PAIRS])
                for start in range(0, users.shape[0], _PAIRS)
            ]
        return torch.cat(parts) if parts else users.float()

    def _answer(self, users: Any, items: Any) -> Any:
        return score_pairs(self.gpu.torch, self.module, users, items)


class Blocks(Module):
    """A module that scores all items of a user at once: every level gathers from the block."""

    def __init__(self, gpu: Gpu, scorer: BlockScorer) -> None:
        self.gpu, self.scorer = gpu, scorer
        self.block: Any = None

    def users_at_once(self, width: int) -> int:
        return max(1, _CELLS // (width + 1 + self.scorer.n_items))

    def start(self, users: Ints) -> None:
        refuse_elsewhere([self.scorer.device_for(users)], self.gpu.device)
        self.block = None  # the memory of the last one is needed
        self.block = self.scorer.tensor_scores(users)

    def marks(self, starts: Any, group_of: Any, targets: Any) -> Any:
        return self.block[group_of, targets.long()].double()

    def _drawn(self, level: Level, items: Any, there: Any) -> Any:
        scores = self.block[level.rows[:, None], items.clamp(min=0).long()]
        return self.gpu.torch.where(there, scores, 0.0)
