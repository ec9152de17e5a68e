"""The Triton kernel that tallies the rows of a block of scores, each read once.

The same code runs without a GPU in Triton's interpreter, which is how the tests run it.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator"

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def count_tile(s, mark, least, above, equal, total, added):
    """Add a tile of scores to what each lane has counted.

    Numbers of lanes are floats, which a GPU adds by other units than it compares by. `added` is the
    sum of a lane's scores: NaN if one of them is, or if they have both inf and -inf. `mark` and
    `least`, which is -inf, are float32 for scores of 16 bits and not known to the compiler: it
    would compare these as they are, and take one instruction more for each.
    """
    above += tl.where(s > mark, 1.0, 0.0)
    equal += tl.where(s == mark, 1.0, 0.0)
    total += tl.where(s > least, 1.0, 0.0)
    return above, equal, total, added + s


@triton.jit
def load_part(row, hidden, at, first, last, MASK: tl.constexpr, COMPUTE: tl.constexpr):
    """The scores at some places; -inf where they are hidden, or not from `first` to `last`."""
    inside = (at >= first) & (at < last)
    s = tl.where(inside, tl.load(row + at, mask=inside).to(COMPUTE), float("-inf"))
    if MASK:
        s = tl.where(tl.load(hidden + at, mask=inside, other=1) != 0, float("-inf"), s)
    return s


@triton.jit
def tally_rows(
    scores, mask, columns, marks, found, n_items, positions, n_targets, n_chunks, row_stride,
    position_stride, mask_row_stride, mask_position_stride, least, SIZE: tl.constexpr,
    BLOCK: tl.constexpr, UNROLL: tl.constexpr, MASK: tl.constexpr, ALIKE: tl.constexpr,
    COMPUTE: tl.constexpr,
):  # fmt: skip
    """SIZE scores of a row for one target: higher, equal, above -inf, and NaN, added to `found`.

    Programs of the same scores run side by side. A row is read from the last multiple of 16
    scores in memory on, so that whole tiles are read by the widest loads wherever the row starts;
    the `lead` scores before it are left out. ALIKE says that the mask lies in memory as the scores
    do.
    """
    program = tl.program_id(0).to(tl.int64)
    target = program % n_targets
    chunk = program // n_targets % n_chunks
    a = program // n_targets // n_chunks
    own = tl.load(columns + a * n_targets + target)
    if own >= 0:
        offset = a // positions * row_stride + a % positions * position_stride
        before = offset % 16
        shift = chunk * SIZE
        row = scores + tl.multiple_of(offset - before, 16) + shift
        hidden = mask
        if MASK:
            if ALIKE:
                hidden = mask + tl.multiple_of(offset - before, 16) + shift
            else:
                there = a // positions * mask_row_stride + a % positions * mask_position_stride
                hidden = mask + there - before + shift
        lead = tl.where(chunk == 0, before, 0).to(tl.int32)
        size = tl.minimum(n_items + before - shift, SIZE).to(tl.int32)
        mark = tl.load(marks + a * n_targets + target)
        lane = tl.arange(0, BLOCK)
        above = tl.zeros((BLOCK,), tl.float32)
        equal = tl.zeros((BLOCK,), tl.float32)
        total = tl.zeros((BLOCK,), tl.float32)
        added = tl.zeros((BLOCK,), COMPUTE)
        first = tl.where(lead > 0, BLOCK, 0)
        whole = first + tl.maximum(size - first, 0) // (BLOCK * UNROLL) * (BLOCK * UNROLL)
        for place in range(0, first, BLOCK):
            s = load_part(row, hidden, place + lane, lead, size, MASK, COMPUTE)
            above, equal, total, added = count_tile(s, mark, least, above, equal, total, added)
        for place in range(first, whole, BLOCK * UNROLL):
            for k in tl.static_range(UNROLL):
                at = place + k * BLOCK + lane
                s = tl.load(row + at).to(COMPUTE)
                if MASK:
                    s = tl.where(tl.load(hidden + at) != 0, float("-inf"), s)
                above, equal, total, added = count_tile(s, mark, least, above, equal, total, added)
        for place in range(whole, size, BLOCK):
            s = load_part(row, hidden, place + lane, lead, size, MASK, COMPUTE)
            above, equal, total, added = count_tile(s, mark, least, above, equal, total, added)
        out = found + (a * n_targets + target) * 4
        tl.atomic_add(out, tl.sum(above).to(tl.int64), sem="relaxed")
        tl.atomic_add(out + 1, tl.sum(equal).to(tl.int64), sem="relaxed")
        tl.atomic_add(out + 2, tl.sum(total).to(tl.int64), sem="relaxed")
        if tl.sum((added != added).to(tl.int32)) > 0:
            nan = tl.zeros((BLOCK,), tl.int32)
            for place in range(0, size, BLOCK):
                s = load_part(row, hidden, place + lane, lead, size, MASK, COMPUTE)
                nan += (s != s).to(tl.int32)
            tl.atomic_add(out + 3, tl.sum(nan).to(tl.int64), sem="relaxed")
