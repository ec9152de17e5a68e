"""Sampled ranks of factor models on a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np

from fullrank._lib.types import Ints
from fullrank.ranking.cuda.sampled import kernel_arguments as shared
from fullrank.ranking.cuda.sampled.device_data import BYTES, Gpu, Group, Level
from fullrank.ranking.cuda.streaming import consecutive
from fullrank.scorers.factors import FactorScorer

_NORMS = 1 << 24  # factors of the rows whose lengths are taken together


class Factors:
    """A factor model: items stay on the device, users come by blocks."""

    def __init__(self, gpu: Gpu, scorer: FactorScorer) -> None:
        self.gpu, self.scorer = gpu, scorer
        self.d = int(scorer.item_factors.shape[1])
        self.items = gpu.move_large("item factors", scorer.item_factors)
        self.bias = None if scorer.item_bias is None else gpu.move(scorer.item_bias)
        self.longest = _longest(gpu.torch, self.items)
        self.users: Any = None
        kind = np.finfo(scorer.item_factors.dtype)
        # d roundings of the sum in any order (Higham's γ_d), and those of the bias, the target's
        # score and the difference; what underflow adds
        self.rate = (self.d + 8) * float(kind.eps) / 2
        self.tiny = (2 * self.d + 8) * float(kind.tiny)
        # a product of two float32 is exact in float64; of two float64 it is rounded before the sum
        self.fused = scorer.item_factors.dtype == np.float32

    def users_at_once(self, width: int) -> int:
        return max(1, BYTES // (self.d * self.scorer.user_factors.itemsize + 4 * width + 128))

    def start(self, users: Ints) -> None:
        self.users = self.gpu.move(
            self.scorer.user_factors[users[0] : users[-1] + 1]
            if consecutive(users)
            else self.scorer.user_factors[users]
        )

    def marks(self, starts: Any, group_of: Any, targets: Any) -> Any:
        from fullrank.ranking.cuda.exact.decide_kernels import mark_scores
        from fullrank.ranking.cuda.sampled.kernels import target_scores

        n = targets.shape[0]
        out = self.gpu.torch.empty(n, dtype=self.gpu.torch.float64, device=self.gpu.device)
        bias = self.longest if self.bias is None else self.bias
        kernel: Any = target_scores if self.fused and self.d % 4 == 0 else mark_scores
        kernel[(-(-n // 128),)](
            self.users, self.items, bias, group_of, targets, out, n, self.d,
            BLOCK=128, HAS_BIAS=self.bias is not None, enable_fp_fusion=self.fused,
        )  # fmt: skip
        return out

    def above(self, group: Group, level: Level) -> tuple[Any, Any]:
        from fullrank.ranking.cuda.sampled.kernels import factor_above

        above, bad = shared.counts(self.gpu, level)
        bias = self.longest if self.bias is None else self.bias
        factor_above[(level.rows.shape[0],)](
            self.users, self.items, bias, self.longest, *shared.drawing(self.gpu, group, level),
            level.starts, level.targets, level.marks, above, group.seen_starts, group.seen, bad,
            **tile(self.d, self.items.element_size()), D=self.d, RATE=self.rate, TINY=self.tiny,
            ONE=level.starts.shape[0] == level.targets.shape[0] + 1,
            HAS_BIAS=self.bias is not None, **shared.kind(self.gpu, group, level),
            enable_fp_fusion=self.fused,
        )  # fmt: skip
        return above, bad


def tile(d: int, itemsize: int) -> dict[str, int]:
    """Items and factors that a program takes at a time (the quickest of those tried on an H200)."""
    wide = max(16, 1 << (d - 1).bit_length())
    return {"WIDE": wide, "BK": min(wide, 128 // itemsize), "BLOCK": 32, "num_warps": 1}


def _longest(torch: Any, rows: Any) -> Any:
    """The length of the longest row without an infinity or a NaN; float64, one element.

    The two percent more are for the rounding of bounds, and for γ_d being more than d roundings.
    """
    out = torch.zeros(1, dtype=torch.float64, device=rows.device)
    step = max(1, _NORMS // rows.shape[1])
    for start in range(0, rows.shape[0], step):
        part = rows[start : start + step].double()
        largest = part.abs().amax(1)
        unit = part / torch.where(largest > 0, largest, 1.0)[:, None]
        lengths = largest * unit.square().sum(1).sqrt()
        lengths[~torch.isfinite(largest)] = 0.0
        out = torch.maximum(out, lengths.max())
    return 1.02 * out
