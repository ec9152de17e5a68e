"""The counts of a block on CUDA: one kernel reads the scores, two others read a few of them.

Torch's operations on counts and marks would take longer than the block, each of them being a
kernel of its own.
"""

from __future__ import annotations

import importlib.util
import math
from functools import cache
from typing import Any

from fullrank._lib.device import current
from fullrank.torch.exclusions import Exclusion, sorted_cells
from fullrank.torch.library import torch
from fullrank.torch.tally import FLOATS, HALVES

BLOCK, UNROLL, STEPS = 1024, 4, 16  # scores of a tile, tiles of a round, rounds of a program
CELLS = 128  # excluded cells, or targets, of a program
TALLIES = 10  # numbers that the kernels count for each target


def usable(block: Any) -> bool:
    """Whether the kernels can count a block: on CUDA, its rows one score after the other."""
    if block.device.type != "cuda" or not (block.dtype in FLOATS or block.dtype in HALVES):
        return False
    in_rows = block.stride(-1) == 1 or block.shape[-1] == 1
    return in_rows and _has_triton()


@cache
def _has_triton() -> bool:
    return importlib.util.find_spec("triton") is not None


def counts_by_kernels(block: Any, columns: Any, excluded: Exclusion) -> tuple[Any, Any, Any]:
    """Counts (B, L, T, 3), the scores of the targets, and whether these were excluded."""
    import triton.language as tl

    from fullrank.torch import cuda_kernels as kernels

    columns = columns.contiguous()
    n_items, n_targets, positions = block.shape[-1], columns.shape[-1], block.shape[1]
    found = columns.new_zeros((*columns.shape, TALLIES))
    size = BLOCK * UNROLL * STEPS
    n_chunks = -(-(n_items + 15) // size)
    mask = excluded.mask
    if mask is not None:
        mask = mask if mask.ndim == 3 else mask[:, None]
        mask = mask if mask.stride(-1) == 1 else mask.contiguous()
    hiding = block if mask is None else mask.view(torch.uint8)
    alike = mask is not None and mask.stride() == block.stride()
    strides = (block.stride(0), block.stride(1))
    common = {"COMPUTE": tl.float64 if block.dtype == torch.float64 else tl.float32}
    result = torch.empty((*columns.shape, 3), dtype=torch.int64, device=block.device)
    mark = torch.empty(columns.shape, dtype=block.dtype, device=block.device)
    hidden = torch.empty(columns.shape, dtype=torch.uint8, device=block.device)
    with current(torch, block.device):
        kernels.tally_rows[(columns.numel() * n_chunks,)](
            block, hiding, columns, found, n_items, positions, n_targets, n_chunks, *strides,
            hiding.stride(0), hiding.stride(1), -math.inf, SIZE=size, BLOCK=BLOCK, UNROLL=UNROLL,
            MASK=mask is not None, ALIKE=alike, **common,
        )  # fmt: skip
        for part in sorted_cells(excluded, block.shape[0] * positions, n_items):
            kernels.tally_excluded[(-(-part.cells.numel() // CELLS),)](
                part.cells, part.cells.numel(), part.width, part.first, block, columns, found,
                n_items, positions, n_targets, *strides, -math.inf, BLOCK=CELLS,
                KEYS=part.width == 0, **common,
            )  # fmt: skip
        kernels.finish[(-(-columns.numel() // CELLS),)](
            block, hiding, columns, found, result, mark, hidden, columns.numel(), n_items,
            positions, n_targets, *strides, hiding.stride(0), hiding.stride(1), -math.inf,
            BLOCK=CELLS, MASK=mask is not None, **common,
        )  # fmt: skip
    return result, mark, hidden
