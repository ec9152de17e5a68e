"""Counts of a block of scores, which determine the ranks of its targets.

The block is read once and not copied. How often a score is higher than the target's, equal to it,
a candidate's or NaN is counted over all columns (`tally`), and what was excluded by column is taken
off again, from the few scores concerned.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fullrank.errors import InputError
from fullrank.torch import exclusions
from fullrank.torch.cuda_counts import counts_by_kernels, usable
from fullrank.torch.excluded_tally import excluded_tally
from fullrank.torch.library import torch
from fullrank.torch.tally import tally

NAN, OUTSIDE = -1, -2  # the counts of a row that cannot be counted


@dataclass(frozen=True)
class BlockCounts:
    """The counts of a block's targets; `mark` is a target's own score, `columns` where it is.

    `hidden` tells which targets were excluded themselves.
    """

    counts: Any
    columns: Any
    mark: Any
    hidden: Any


def counts(scores: Any, target: Any, *, exclude: Any = None) -> Any:
    """Count the candidates above each target, those with an equal score, and all of them.

    Ranks and every metric follow from these three numbers: with the tie policy "mean" the rank is
    1 + above + equal/2. Nothing is sorted, the block is read once, and the result is on its device.

    Parameters
    ----------
    scores : tensor (B, N) or (B, L, N) of any float type
        The scores of N items, for B users or for L positions of B sequences. Gradients are ignored.
        An item with the score -inf is not a candidate. NaN is an error; see Notes.
    target : tensor of whole numbers (B,), (B, T) or, for scores (B, L, N), (B, L)
        The column of each target. Negative numbers are padding.
    exclude : optional
        Items that are not candidates, such as those of training: a mask of the scores' shape (True
        excludes); a sparse matrix (B, N), of scipy or torch, whose entries exclude; columns, in a
        tensor (B, any) padded by negative numbers; a pair (rows, columns) of vectors; or a list of
        B sequences of columns. Repeats are harmless. A target that is excluded remains a candidate
        for itself.

    Returns
    -------
    int64 tensor of the target's shape and one more axis of 3: above, equal, candidates
        `above` candidates have a higher score; `equal` have the same score, excluding the target
        itself; `candidates` includes the target. The other targets of a row count like any other
        item. All three are 0 for padding. A target with the score -inf ranks last.

    Notes
    -----
    Values are not checked, because that would wait for the GPU. All three numbers are -1 if a
    candidate's score is NaN, and -2 if the target or an excluded column is N or more. Functions of
    fullrank that read counts raise an error in these cases.

    On CUDA one Triton kernel reads the block; without Triton, and on other devices, torch compares
    parts of it. Additional memory is less than a hundredth of the block.

    Examples
    --------
    >>> import torch
    >>> scores = torch.tensor([[0.9, 0.1, 0.5, 0.3], [0.2, 0.2, 0.8, 0.0]])
    >>> counts(scores, torch.tensor([2, 0]), exclude=torch.tensor([[0], [-1]]))
    tensor([[0, 0, 3],
            [1, 1, 4]])
    """
    return count_block(scores, target, exclude).counts


def count_block(scores: Any, target: Any, exclude: Any) -> BlockCounts:
    """The counts of a block, with the targets' scores and whether they were excluded."""
    block, columns = _checked(scores, target)
    excluded = exclusions.parse(exclude, scores)
    shape, n_items = columns.shape, block.shape[-1]
    if columns.numel() and usable(block):
        found, mark, hidden = counts_by_kernels(block, columns, excluded)
        return _shaped(scores, target, found, columns, mark, hidden)
    mask = excluded.mask
    if mask is not None and mask.ndim == 2:
        mask = mask[:, None]
    if not columns.numel():
        empty = columns.new_zeros(columns.shape, dtype=torch.int64)
        return _shaped(scores, target, empty[..., None].expand(*shape, 3), columns, empty, empty)
    inside = columns.clamp(0, n_items - 1)
    mark = block.gather(-1, inside)
    lowest, missing = mark == -torch.inf, mark.isnan()
    hidden = torch.zeros_like(lowest) if mask is None else mask.gather(-1, inside)
    above, equal, total, nan = tally(block, columns, mark, mask).unbind(-1)
    # without the target itself
    equal = equal - (~hidden & ~missing).long()
    total = total - (~hidden & ~missing & ~lowest).long()
    nan = nan - (~hidden & missing).long()
    outside = columns >= n_items
    if mask is None and exclude is not None:
        taken = excluded_tally(excluded, block, inside, mark)
        above, equal, total, nan = (a - b for a, b in zip(
            (above, equal, total, nan), taken.unbind(-1)[:4], strict=True))  # fmt: skip
        hidden = taken[..., 4] > 0
        outside = outside | (taken[..., 5] > 0)
    found = torch.stack((above, torch.where(lowest, 0, equal), total + 1), -1)
    found = torch.where(((nan > 0) | missing)[..., None], NAN, found)
    found = torch.where(outside[..., None], OUTSIDE, found)
    found = torch.where((columns < 0)[..., None], 0, found)
    return _shaped(scores, target, found, columns, mark, hidden)


def _checked(scores: Any, target: Any) -> tuple[Any, Any]:
    """Scores as (B, L, N) and targets as (B, L, T); neither is copied."""
    if not isinstance(scores, torch.Tensor) or not scores.is_floating_point():
        kind = scores.dtype if isinstance(scores, torch.Tensor) else type(scores).__name__
        raise InputError(f"`scores` must be a tensor of a float type, not {kind}.")
    exclusions.check_real("scores", scores)
    if scores.layout != torch.strided or scores.ndim not in (2, 3) or not scores.shape[-1]:
        kind = "a sparse tensor" if exclusions.is_sparse(scores) else "a tensor"
        raise InputError(
            "`scores` must be a dense tensor of shape (rows, items) or (rows, positions, items) "
            f"with at least one item, not {kind} of shape {tuple(scores.shape)}."
        )
    if exclusions.is_sparse(target):
        raise InputError(
            "`target` must be a dense tensor of columns of `scores`, not a sparse one."
        )
    columns = exclusions.as_tensor("target", target, scores.device)
    if columns.is_floating_point() or columns.is_complex() or columns.dtype == torch.bool:
        raise InputError(
            f"`target` must hold whole numbers (columns of `scores`), not {columns.dtype}."
        )
    if scores.ndim == 3:
        wanted, fits = "(rows, positions)", columns.shape == scores.shape[:2]
    else:
        wanted = "(rows,) or (rows, targets)"
        fits = columns.ndim in (1, 2) and len(columns) == len(scores)
    if not fits:
        raise InputError(
            f"`target` must have shape {wanted} for scores of shape {tuple(scores.shape)}, not "
            f"{tuple(columns.shape)}."
        )
    if columns.shape == scores.shape and exclusions.is_indicator(columns):
        raise InputError(
            "`target` must hold the columns of targets, not a 0 or 1 for each column of `scores`."
        )
    block = scores.detach()
    if block.element_size() == 1:  # floats of 8 bits are stored, not compared; float16 has them all
        block = block.half()
    columns = columns.long()
    if scores.ndim == 3:
        return block, columns[..., None]
    return block[:, None], columns[:, None, None] if columns.ndim == 1 else columns[:, None]


def _shaped(
    scores: Any, target: Any, found: Any, columns: Any, mark: Any, hidden: Any
) -> BlockCounts:
    """The counts in the target's shape: (B, T) as it is, else without the axis of targets."""
    parts = (found, columns, mark, hidden.bool())
    if scores.ndim == 3:
        return BlockCounts(*(one.squeeze(2) for one in parts))
    several = len(np.shape(target)) == 2
    return BlockCounts(*(one[:, 0] if several else one[:, 0, 0] for one in parts))
