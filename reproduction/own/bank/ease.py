"""Ranks by EASE, which inverts a matrix of items by items: minutes here, seconds on a GPU.

Needs torch and nothing of this package, so that it runs on any machine with a GPU.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from fullrank.data.split_items import Split

STRENGTH = 500.0


def ease_ranks(held: Split) -> tuple[np.ndarray, np.ndarray]:
    """The same for EASE, by torch, on a GPU where there is one."""
    import torch

    device = "cuda" if torch.cuda.is_available() else "cpu"
    users, items = (torch.from_numpy(r.astype(np.int64)).to(device) for r in held.train.pairs())
    shape = (held.train.n_users, held.train.n_items)
    table = torch.zeros(shape, dtype=torch.float32, device=device)
    table[users, items] = 1.0
    square = table.T @ table
    square.diagonal().add_(STRENGTH)
    weights = torch.cholesky_inverse(torch.linalg.cholesky(square))
    del square
    weights /= -weights.diagonal().clone()
    weights.fill_diagonal_(0.0)
    rows, targets = (torch.from_numpy(r.astype(np.int64)).to(device) for r in held.test.pairs())
    order = torch.rand(shape[1], generator=torch.Generator().manual_seed(0)).to(device)
    both = [_counted(table, weights, order, rows, targets, out) for out in (False, True)]
    return both[0], both[1]


def _counted(
    table: Any, weights: Any, order: Any, rows: Any, targets: Any, excluded: bool
) -> np.ndarray:
    """One plus the items above each target; of equal scores, by the items' random order."""
    import torch

    found = []
    for first in range(0, len(rows), 512):
        users, wanted = rows[first : first + 512], targets[first : first + 512, None]
        scores = table[users] @ weights
        mine, place = scores.gather(1, wanted), order[wanted]
        above = (scores > mine) | ((scores == mine) & (order[None] < place))
        if excluded:
            above &= table[users] == 0.0
        found.append(above.sum(1) + 1)
    return torch.cat(found).cpu().numpy()
