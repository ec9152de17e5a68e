"""Count how many scores are higher than a target's, equal to it, a candidate's, or NaN.

On the processor compiled loops read every score once. Elsewhere torch compares parts of the block,
unless kernels count it (`cuda_counts`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fullrank._lib import threads
from fullrank.torch.library import torch

CELLS = 1 << 20  # scores that torch compares together, unless the block is very large
_SHARE = 1 << 9  # or one of so many
FLOATS = (torch.float32, torch.float64)
HALVES = {torch.float16: 0x7C00, torch.bfloat16: 0x7F80}  # the bits of inf
THREADED = 1 << 20  # scores from which on threads pay


def tally(block: Any, columns: Any, mark: Any, mask: Any) -> Any:
    """Counts (B, L, T, 4) over all columns that `mask` leaves, the target's own included.

    What is equal to -inf is counted or not. Targets below 0 are not counted for.
    """
    if block.device.type == "cpu" and (block.dtype in FLOATS or block.dtype in HALVES):
        return by_loops(block, columns, mark, mask)
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


def by_loops(block: Any, columns: Any, mark: Any, mask: Any) -> Any:
    """The tally by compiled loops over the rows."""
    shape = columns.shape
    found = np.zeros((shape[0] * shape[1], shape[2], 4), np.int64)
    if _in_place(block) and (mask is None or _in_place(mask)):
        _loop(block, columns, mark, mask, found)
    else:  # copies of a few rows
        each = max(1, CELLS // max(1, block.shape[1] * block.shape[-1]))
        for start in range(0, shape[0], each):
            here = slice(start, start + each)
            some = None if mask is None else mask[here].contiguous()
            part = found[start * shape[1] : (start + each) * shape[1]]
            _loop(block[here].contiguous(), columns[here], mark[here], some, part)
    return torch.from_numpy(found).reshape(*shape, 4)


def _in_place(block: Any) -> bool:
    return bool(block.stride(-1) == 1 or block.shape[-1] == 1)


def _loop(block: Any, columns: Any, mark: Any, mask: Any, found: Any) -> None:
    from fullrank.torch import cpu_kernels as kernels

    n_items, n_targets = block.shape[-1], columns.shape[-1]
    starts, scores = _flat(block)
    hidden, gone = (starts[:0], np.empty(0, np.bool_)) if mask is None else _flat(mask)
    wanted = columns.reshape(-1, n_targets).numpy()
    marks = mark.reshape(-1, n_targets)
    low, high = (marks.numpy(),) * 2 if block.dtype in FLOATS else equal_bits(marks)

    def work(part: slice) -> None:
        some = (scores, starts[part], n_items, gone, hidden[part], wanted[part])
        if block.dtype in FLOATS:
            kernels.tally_floats(*some, low[part], found[part])
        else:
            infinity = HALVES[block.dtype]
            kernels.tally_halves(*some, low[part], high[part], infinity, found[part])

    n_jobs = torch.get_num_threads() if block.numel() * n_targets >= THREADED else 1
    if n_jobs == 1:
        work(slice(None))
        return
    each = -(-starts.size // (4 * n_jobs))
    threads.run(work, [slice(a, a + each) for a in range(0, starts.size, each)], n_jobs=n_jobs)


def _flat(block: Any) -> tuple[Any, Any]:
    """Where each row starts, and the memory that they start in, 16-bit floats by their bits."""
    shape, stride = block.shape, block.stride()
    starts = np.add.outer(np.arange(shape[0]) * stride[0], np.arange(shape[1]) * stride[1])
    size = int(starts.max()) + shape[2] if starts.size else 0
    flat = block.as_strided((size,), (1,))
    if block.dtype in HALVES:
        flat = flat.view(torch.int16)
    return starts.reshape(-1), flat.numpy()


def bits_in_order(bits: Any) -> Any:
    """The bits of 16-bit floats as whole numbers in the order of the floats."""
    return bits ^ ((bits >> 15) & 0x7FFF)


def equal_bits(marks: Any) -> tuple[Any, Any]:
    """The smallest and largest number of what is equal to each 16-bit float.

    They differ for 0: that of 0.0 is 0, and that of -0.0 is -1.
    """
    order = bits_in_order(marks.contiguous().view(torch.int16).numpy())
    return np.where(order == 0, np.int16(-1), order), np.where(order == -1, np.int16(0), order)
