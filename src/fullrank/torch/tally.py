"""How often a score is higher than a target's, equal to it, a candidate's, or NaN."""

from __future__ import annotations

from typing import Any

from fullrank.torch.library import torch

CELLS = 1 << 20  # scores that torch compares together, unless the block is very large
_SHARE = 1 << 9  # or one of so many


def tally(block: Any, columns: Any, mark: Any, mask: Any) -> Any:
    """Counts (B, L, T, 4) over all columns that `mask` leaves, the target's own included.

    What is equal to -inf is counted or not.
    """
    return by_torch(block, columns, mark, mask)


def by_torch(block: Any, columns: Any, mark: Any, mask: Any) -> Any:
    """The tally by torch's own comparisons, over some columns at a time."""
    found = torch.zeros((*columns.shape, 4), dtype=torch.int64, device=block.device)
    n_items, n_targets = block.shape[-1], columns.shape[-1]
    n_rows = max(1, block.shape[0] * block.shape[1])
    step = max(1, max(CELLS, block.numel() // _SHARE) // n_rows)
    for start in range(0, n_items, step):
        part = block[..., start : start + step]
        if mask is not None:
            part = part.masked_fill(mask[..., start : start + step], -torch.inf)
        found[..., 2] += (part > -torch.inf).sum(-1)[..., None]
        found[..., 3] += part.isnan().sum(-1)[..., None]
        for t in range(n_targets):
            found[..., t, 0] += (part > mark[..., t, None]).sum(-1)
            found[..., t, 1] += (part == mark[..., t, None]).sum(-1)
    return found
