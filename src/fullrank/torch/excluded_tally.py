"""The tally of what is excluded by column, to be taken off that of all columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from fullrank.torch.exclusions import CELLS, Exclusion, excluded_cells
from fullrank.torch.library import torch
from fullrank.torch.tally import FLOATS, HALVES, bits_in_order, equal_bits


def excluded_tally(excluded: Exclusion, block: Any, columns: Any, mark: Any) -> Any:
    """What excluded columns add to each target's tally, and two more numbers: (B, L, T, 6).

    These are whether it is excluded itself and how many columns of its row lie outside.
    """
    n_rows, n_targets = block.shape[0] * block.shape[1], columns.shape[-1]
    columns, mark = columns.reshape(n_rows, n_targets), mark.reshape(n_rows, n_targets)
    if block.device.type == "cpu":
        found = by_loops(excluded, block, columns, mark)
    else:
        found = by_torch(excluded, block, columns, mark)
    return found.reshape(*block.shape[:2], n_targets, 6)


def by_torch(excluded: Exclusion, block: Any, columns: Any, mark: Any) -> Any:
    """By torch's own operations, without waiting for a device."""
    positions, n_items = block.shape[1:]
    found = torch.zeros((*columns.shape, 6), dtype=torch.int64, device=block.device)
    for part in excluded_cells(excluded, len(columns), n_items):
        rows, cells, keep = part.rows, part.columns[..., None], part.keep[..., None]
        score = block[rows // positions, rows % positions, part.columns][..., None]
        m, own = mark[rows], cells == columns[rows]
        others = keep & ~own
        true = (
            others & (score > m),
            others & (score == m),
            others & (score > -torch.inf),
            others & score.isnan(),
            keep & own,
            part.outside[..., None].expand_as(own),
        )
        for k, one in enumerate(true):
            part.add(one, found[..., k])
    return found


def by_loops(excluded: Exclusion, block: Any, columns: Any, mark: Any) -> Any:
    """By compiled loops on the processor."""
    from fullrank.torch import cpu_kernels as kernels

    n_items = block.shape[-1]
    found = np.zeros((*columns.shape, 6), np.int64)
    wanted = columns.numpy()
    if block.dtype in FLOATS:
        scores, low, least, infinity = block.numpy(), mark.numpy(), -np.inf, np.inf
        high = low
    else:
        scores, infinity = block.view(torch.int16).numpy(), HALVES[block.dtype]
        low, high = equal_bits(mark)
        least = -infinity - 1
    for first, starts, cells in _lists(excluded, found):
        some = np.empty(cells.size, scores.dtype)
        kernels.scores_of(scores, starts, cells, first, some)
        if block.dtype in HALVES:
            some = bits_in_order(some)
        here = slice(first, first + starts.size - 1)
        kernels.tally_cells(
            starts, cells, some, n_items, wanted[here], low[here], high[here], least, infinity,
            found[here],
        )  # fmt: skip
    return torch.from_numpy(found)


def _lists(excluded: Exclusion, found: Any) -> Any:
    """Excluded columns by row, in parts: the first row, where each row starts, the columns."""
    n_rows = found.shape[0]
    if excluded.columns is not None:
        width = excluded.columns.shape[1]
        each = max(1, CELLS // max(1, width))
        for first in range(0, n_rows if width else 0, each):
            part = excluded.columns[first : first + each].long().contiguous().numpy()
            yield first, np.arange(part.shape[0] + 1) * width, part.reshape(-1)
    elif excluded.pairs is not None:
        rows, cells = (one.numpy() for one in excluded.pairs)
        inside = (rows >= 0) & (rows < n_rows)
        if not inside.all():
            found[rows[~inside].clip(0, n_rows - 1), :, 5] = 1
            rows, cells = rows[inside], cells[inside]
        if (rows[1:] < rows[:-1]).any():
            order = np.argsort(rows, kind="stable")
            rows, cells = rows[order], cells[order]
        yield 0, np.searchsorted(rows, np.arange(n_rows + 1)), np.ascontiguousarray(cells)
