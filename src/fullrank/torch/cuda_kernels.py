"""The Triton kernels that count the scores of a block: each score is read once.

For each target, `found` has ten whole numbers: how many scores are higher, equal, above -inf and
NaN, the same four of what was excluded by column, whether that includes the target, and how many
excluded columns lie outside of the block.

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
    scores, mask, columns, found, n_items, positions, n_targets, n_chunks, row_stride,
    position_stride, mask_row_stride, mask_position_stride, least, SIZE: tl.constexpr,
    BLOCK: tl.constexpr, UNROLL: tl.constexpr, MASK: tl.constexpr, ALIKE: tl.constexpr,
    COMPUTE: tl.constexpr,
):  # fmt: skip
    """SIZE scores of a row for one target: higher, equal, above -inf, and NaN, added to `found`.

    Programs of the same scores run side by side. A row is read from the last multiple of 16
    scores in memory on, so that whole tiles are read by the widest loads wherever the row starts;
    the `lead` scores before it do not count. ALIKE says that the mask lies in memory as the scores
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
        mark = tl.load(scores + offset + tl.minimum(own, n_items - 1)).to(COMPUTE)
        lane = tl.arange(0, BLOCK)
        above = tl.zeros((BLOCK,), tl.float32)
        equal = tl.zeros((BLOCK,), tl.float32)
        total = tl.zeros((BLOCK,), tl.float32)
        added = tl.zeros((BLOCK,), COMPUTE)
        # the loop starts at 0, which the compiler knows to be aligned, so it reads the lead too
        whole = size // (BLOCK * UNROLL) * (BLOCK * UNROLL)
        for place in range(0, whole, BLOCK * UNROLL):
            for k in tl.static_range(UNROLL):
                at = place + k * BLOCK + lane
                s = tl.load(row + at).to(COMPUTE)
                if MASK:
                    gone = tl.load(hidden + at, mask=at >= lead, other=1) != 0
                    s = tl.where(gone, float("-inf"), s)
                above, equal, total, added = count_tile(s, mark, least, above, equal, total, added)
        for place in range(whole, size, BLOCK):
            s = load_part(row, hidden, place + lane, lead, size, MASK, COMPUTE)
            above, equal, total, added = count_tile(s, mark, least, above, equal, total, added)
        if not MASK:  # noqa: SIM102  # this is known to the compiler, the rest is not
            if (lead > 0) & (whole > 0):
                s = tl.load(row + lane, mask=lane < lead, other=float("-inf")).to(COMPUTE)
                above -= tl.where(s > mark, 1.0, 0.0)
                equal -= tl.where(s == mark, 1.0, 0.0)
                total -= tl.where(s > least, 1.0, 0.0)
        out = found + (a * n_targets + target) * 10
        tl.atomic_add(out, tl.sum(above).to(tl.int64), sem="relaxed")
        tl.atomic_add(out + 1, tl.sum(equal).to(tl.int64), sem="relaxed")
        tl.atomic_add(out + 2, tl.sum(total).to(tl.int64), sem="relaxed")
        if tl.sum((added != added).to(tl.int32)) > 0:
            nan = tl.zeros((BLOCK,), tl.int32)
            for place in range(0, size, BLOCK):
                s = load_part(row, hidden, place + lane, lead, size, MASK, COMPUTE)
                nan += (s != s).to(tl.int32)
            tl.atomic_add(out + 3, tl.sum(nan).to(tl.int64), sem="relaxed")


@triton.jit
def tally_excluded(
    cells, n_cells, width, first_row, scores, columns, found, n_items, positions, n_targets,
    row_stride, position_stride, least, BLOCK: tl.constexpr, KEYS: tl.constexpr,
    COMPUTE: tl.constexpr,
):  # fmt: skip
    """What excluded cells add to the tally of each target of their rows; repeats add nothing.

    Cells are columns in ascending order, `width` for each row from `first_row` on, or ascending
    numbers (KEYS): row · (n_items + 2) + column + 1. Column -1 is padding.
    """
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    there = i < n_cells
    cell = tl.load(cells + i, mask=there, other=-1)
    before = tl.load(cells + i - 1, mask=there & (i > 0), other=-2)
    if KEYS:
        a = cell // (n_items + 2)
        column = cell - a * (n_items + 2) - 1
        new = (i == 0) | (cell != before)
    else:
        a = first_row + i // width
        column = cell
        new = (i % width == 0) | (cell != before)
    live = there & (column >= 0)
    outside = live & (column >= n_items)
    keep = live & (column < n_items) & new
    offset = a // positions * row_stride + a % positions * position_stride
    s = tl.load(scores + offset + column, mask=keep, other=float("-inf")).to(COMPUTE)
    for target in range(n_targets):
        at = a * n_targets + target
        own = tl.load(columns + at, mask=live, other=0)
        own = tl.minimum(tl.maximum(own, 0), n_items - 1)
        mark = tl.load(scores + offset + own, mask=keep, other=float("-inf")).to(COMPUTE)
        out = found + at * 10 + 4
        other = keep & (column != own)
        one = tl.full((BLOCK,), 1, tl.int64)
        tl.atomic_add(out, one, mask=other & (s > mark), sem="relaxed")
        tl.atomic_add(out + 1, one, mask=other & (s == mark), sem="relaxed")
        tl.atomic_add(out + 2, one, mask=other & (s > least), sem="relaxed")
        tl.atomic_add(out + 3, one, mask=other & (s != s), sem="relaxed")
        tl.atomic_add(out + 4, one, mask=keep & (column == own), sem="relaxed")
        tl.atomic_add(out + 5, one, mask=outside, sem="relaxed")


@triton.jit
def finish(
    scores, mask, columns, found, counts, marks, hidden, size, n_items, positions, n_targets,
    row_stride, position_stride, mask_row_stride, mask_position_stride, least,
    BLOCK: tl.constexpr, MASK: tl.constexpr, COMPUTE: tl.constexpr,
):  # fmt: skip
    """The counts, scores and exclusion of the targets, from their tallies.

    Counts are -1 where a candidate is NaN, -2 where a column lies outside, 0 for padding.
    """
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    there = i < size
    own = tl.load(columns + i, mask=there, other=-1)
    inside = tl.minimum(tl.maximum(own, 0), n_items - 1)
    a = i // n_targets
    row, position = a // positions, a % positions
    place = scores + row * row_stride + position * position_stride + inside
    mark = tl.load(place, mask=there, other=0.0)
    tl.store(marks + i, mark, mask=there)
    mark = mark.to(COMPUTE)
    lowest, missing = mark == least, mark != mark
    tally = found + i * 10
    above = tl.load(tally, mask=there) - tl.load(tally + 4, mask=there)
    equal = tl.load(tally + 1, mask=there) - tl.load(tally + 5, mask=there)
    total = tl.load(tally + 2, mask=there) - tl.load(tally + 6, mask=there)
    nan = tl.load(tally + 3, mask=there) - tl.load(tally + 7, mask=there)
    gone = tl.load(tally + 8, mask=there, other=0) > 0
    shown = there
    if MASK:
        place = mask + row * mask_row_stride + position * mask_position_stride + inside
        gone = tl.load(place, mask=there, other=0) != 0
        shown = shown & (gone == 0)
    # without the target itself
    equal -= (shown & (missing == 0)).to(tl.int64)
    total -= (shown & (missing == 0) & (lowest == 0)).to(tl.int64)
    nan -= (shown & missing).to(tl.int64)
    outside = (own >= n_items) | (tl.load(tally + 9, mask=there, other=0) > 0)
    equal = tl.where(lowest, 0, equal)
    special = tl.where((nan > 0) | missing, -1, 0)
    special = tl.where(outside, -2, special)
    usual = (special == 0) & (own >= 0)
    special = tl.where(own < 0, 0, special).to(tl.int64)
    out = counts + i * 3
    tl.store(out, tl.where(usual, above, special), mask=there)
    tl.store(out + 1, tl.where(usual, equal, special), mask=there)
    tl.store(out + 2, tl.where(usual, total + 1, special), mask=there)
    tl.store(hidden + i, gone.to(tl.uint8), mask=there)
