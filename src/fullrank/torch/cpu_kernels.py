"""Compiled kernels that tally the rows of a block of scores.

A row is found by where it starts in `scores`; `mask` is empty, or has the rows that start at
`hidden`. A target's counts are: higher scores, equal ones, scores above -inf, and NaN.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fullrank._lib.jit import jit
from fullrank._lib.types import Array, Ints

PIECE = 8192  # scores of 16 bits that are counted by numbers of 16 bits


@jit
def tally_floats(
    scores: Array, starts: Ints, n_items: int, mask: Array, hidden: Ints, columns: Ints,
    marks: Array, found: Ints,
) -> None:  # fmt: skip
    """Tally float32 or float64 scores; a column below 0 is no target and has no counts."""
    for a in range(starts.size):
        row = scores[starts[a] : starts[a] + n_items]
        for t in range(columns.shape[1]):
            if columns[a, t] >= 0:
                if mask.size:
                    some = mask[hidden[a] : hidden[a] + n_items]
                    _tally_masked(row, some, marks[a, t], found[a, t])
                else:
                    _tally(row, marks[a, t], found[a, t])


@jit
def _tally(row: Array, mark: Any, out: Ints) -> None:
    above = equal = total = number = np.int32(0)
    for j in range(row.size):
        s = row[j]
        above = np.int32(above + (s > mark))
        equal = np.int32(equal + (s == mark))
        total = np.int32(total + (s > -np.inf))
        number = np.int32(number + (s == s))
    out[0], out[1], out[2], out[3] = above, equal, total, row.size - number


@jit
def _tally_masked(row: Array, mask: Array, mark: Any, out: Ints) -> None:
    above = equal = total = bad = np.int32(0)
    for j in range(row.size):
        s, kept = row[j], not mask[j]
        above = np.int32(above + (kept & (s > mark)))
        equal = np.int32(equal + (kept & (s == mark)))
        total = np.int32(total + (kept & (s > -np.inf)))
        bad = np.int32(bad + (kept & (s != s)))
    out[0], out[1], out[2], out[3] = above, equal, total, bad


@jit
def tally_halves(
    scores: Array, starts: Ints, n_items: int, mask: Array, hidden: Ints, columns: Ints,
    low: Array, high: Array, infinity: int, found: Ints,
) -> None:  # fmt: skip
    """Tally scores of 16 bits by their bits, as whole numbers in the order of the scores.

    The scores from `low` to `high` are equal to the target's, which for 0 are those of 0 and -0.
    `infinity` is the number of the largest score; those beyond it are NaN.
    """
    for a in range(starts.size):
        row = scores[starts[a] : starts[a] + n_items]
        some = mask[:0]
        if mask.size:
            some = mask[hidden[a] : hidden[a] + n_items]
        for t in range(columns.shape[1]):
            if columns[a, t] >= 0:
                bad = 0
                if not mask.size:
                    bad = _tally_bits(row, low[a, t], high[a, t], infinity, found[a, t])
                if bad or mask.size:
                    _tally_each(row, some, low[a, t], high[a, t], infinity, found[a, t])


@jit
def _in_order(bits: Any) -> Any:
    """The bits of a float as a whole number in the order of the floats."""
    return np.int16(bits ^ ((bits >> np.int16(15)) & np.int16(0x7FFF)))


@jit
def _tally_bits(row: Array, low: Any, high: Any, infinity: int, out: Ints) -> int:
    """Count as if there were no NaN; returns how many there are."""
    above = within = total = bad = 0
    least, most = np.int16(-infinity - 1), np.int16(infinity)
    for start in range(0, row.size, PIECE):
        a: Any = np.int16(0)
        w: Any = np.int16(0)
        n: Any = np.int16(0)
        b: Any = np.int16(0)
        for j in range(start, min(start + PIECE, row.size)):
            s = _in_order(row[j])
            a = np.int16(a + np.int16(s > high))
            w = np.int16(w + np.int16(s >= low))
            n = np.int16(n + np.int16(s > least))
            b = np.int16(b + np.int16(np.int16(row[j] & np.int16(0x7FFF)) > most))
        above, within, total, bad = above + a, within + w, total + n, bad + b
    out[0], out[1], out[2], out[3] = above, within - above, total, bad
    return bad


@jit
def _tally_each(row: Array, mask: Array, low: Any, high: Any, infinity: int, out: Ints) -> None:
    above = equal = total = bad = np.int32(0)
    for j in range(row.size):
        s = _in_order(row[j])
        kept = mask.size == 0 or not mask[j]
        number = kept & (s <= infinity) & (s >= -infinity - 1)
        above = np.int32(above + (number & (s > high)))
        equal = np.int32(equal + (number & (s >= low) & (s <= high)))
        total = np.int32(total + (number & (s > -infinity - 1)))
        bad = np.int32(bad + (kept & (not number)))
    out[0], out[1], out[2], out[3] = above, equal, total, bad


@jit
def scores_of(block: Array, starts: Ints, cells: Ints, first: int, out: Array) -> None:
    """The scores of some cells of a block (B, L, N), those of row `first` + a from starts[a] on.

    Those that lie outside of the block are 0.
    """
    positions, n_items = block.shape[1:]
    for a in range(starts.size - 1):
        b, place = (first + a) // positions, (first + a) % positions
        for p in range(starts[a], starts[a + 1]):
            out[p] = block[b, place, cells[p]] if 0 <= cells[p] < n_items else 0


@jit
def tally_cells(
    starts: Ints, cells: Ints, scores: Array, n_items: int, columns: Ints, low: Array, high: Array,
    least: Any, infinity: Any, found: Ints,
) -> None:  # fmt: skip
    """Tally the columns that are excluded in each row, from starts[a] on, each once.

    Scores are numbers in their order: the floats themselves, or those of `tally_halves`. After the
    counts comes whether a target is excluded itself, and how many columns lie outside of the row.
    """
    met = np.zeros(n_items, np.bool_)
    for a in range(starts.size - 1):
        for p in range(starts[a], starts[a + 1]):
            cell = cells[p]
            if cell >= n_items:
                found[a, :, 5] += 1
            if cell < 0 or cell >= n_items or met[cell]:
                continue
            met[cell] = True
            s = scores[p]
            bad = (s != s) | (s > infinity) | (s < -infinity - 1)
            for t in range(columns.shape[1]):
                if cell == columns[a, t]:
                    found[a, t, 4] += 1
                elif bad:
                    found[a, t, 3] += 1
                else:
                    found[a, t, 0] += s > high[a, t]
                    found[a, t, 1] += (s >= low[a, t]) & (s <= high[a, t])
                    found[a, t, 2] += s > least
        for p in range(starts[a], starts[a + 1]):
            if 0 <= cells[p] < n_items:
                met[cells[p]] = False
