"""Two filters that decide most comparisons of a factor model's scores, each with its bound.

A filter gives a tile of numbers f, one for each user and item, and for each target two limits: f
above `high` proves that the score s exceeds the target's score t, and f below `low` proves that it
is less. What lies between is decided by the score itself. Write b for the item's bias, |·| for the
Euclidean length and δ = 2^-24; s is defined in float64 (factors.py).

**Integers.** Behind the factors x of a user stands a constant c, and behind those y of an item b/c,
so that s = x·y. With α = Q/|x| and, for a block of items, β = Q/max |y|, Q = 2^15 - 2, let x' and
y' be αx and βy rounded to whole numbers, and e = αx - x', g = βy - y' what that loses. Then

    αβ·x·y = (x' + e)·βy = x'·y' + x'·g + e·βy = x'·y' + αx·g + e·y',

and so |αβ·x·y - x'·y'| ≤ E := Q(|e| + |g|) + |e||g|, since |αx|, |βy| ≤ Q and |y'| ≤ Q + |g|. The
sum x'·y' is exact in 32 bits in any order: no part of it exceeds (Q + |e|)(Q + |g|) < 2^31, where
|e|, |g| ≤ √(d + 1)/2. What float64 rounds in addition, to |e| and |g|, to αβt and to the score as
it is defined, (d + 2)·2^-53·Q² at most, is less than 1 altogether. |e| is known for each user and
the largest |g| for each block: some √(d/12), so that E/Q² is 1.4·10^-4 at d = 64.
A row that is shorter than 2^-60 of the longest one has α = 2^60·Q/longest, and β ≤ 2^400·Q, so that
nothing overflows.

**float32.** f is what a matrix product in float32 gives, in whatever order its terms are added.
Then Σ|x_k y_k| ≤ |x||y|, and

- rounding the inputs to float32 (only float64 ones change), the d products, any order of d - 1
  additions and one more for the bias touch each term with at most d + 4 factors 1 + δ_i,
  |δ_i| ≤ δ (Higham 2002, section 3.1), and the float64 sum with d + 1 factors of 2^-53;
- underflow, even if the processor flushes tiny numbers to zero, adds at most 2^-126 for each
  rounded input, product and sum, multiplied by no more than m = max(1, |x|)·max(1, |y|).

So |f - s| ≤ ε := 1.125·(d + 10)·δ·(|x||y| + |b|) + (4d + 8)·2^-126·m, where 1.125 covers the
higher orders as long as (d + 10)·δ ≤ 1/16, the rounding of |x| and |y|, and the float64 terms.
ε takes the largest |y| and |b| of the block of items. Factors of float64 and factors of unusual
size are first multiplied by powers of two that bring the longest user and the longest item to a
length of at most 1, and t and b with them: that is exact, and then m = 1 and nothing overflows.

Integers cost a quarter of the time and leave thirty times as much undecided. That is little unless
scores differ by less than their rounding, as those of vectors that nearly point one way do, and
biases must be finite.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload

from fullrank._lib.jit import jit
from fullrank._lib.types import Array
from fullrank.ranking.cpu.exact_kernels import SAFE, ULPS, add_bias, scaled_rows
from fullrank.ranking.cpu.factors.integer_products import LANES, ROWS, multiply, round_row

Q = 2.0**15 - 2.0
SHORT = 2.0**-60  # rows shorter than this part of the longest are rounded as if they were longer
LEAST = 2.0**-400  # and so are rows of items, which are shorter only as biases of zero vectors
_LARGEST = 2.0**31 - 1.0
_HIDDEN = -(2**31)


class Integers(NamedTuple):
    """Items as integers: some blocks of them, packed for `multiply`.

    The strips of block b start at (b - first)·strips; `beta` and `loss` are by b - first.
    `unit` is c, and 0 where there is no bias.
    """

    packed: Array
    first: int
    strips: int
    beta: Array
    loss: Array
    unit: float
    user_scale: float
    longest_user: float


class Singles(NamedTuple):
    """Items as they are, multiplied in float32.

    `plain` is the item factors themselves where they can be multiplied as they are, else empty.
    With `fast` the products are taken for the scores.
    """

    factors: Array
    plain: Array
    bias: Array
    user_scale: Any
    item_scale: Any
    relative: float
    absolute: float
    fast: bool


@jit
def pack(
    factors: Array, order: Array, last: Array, scale: float, beta: Array, width: int, packed: Array,
    loss: Array,
) -> None:  # fmt: skip
    """Round blocks of items, in `order` and with `last` behind each, into strips for `multiply`."""
    strips, half = -(-width // LANES), packed.shape[1]
    row = np.zeros((1, 2 * half), np.int16)
    for b in range(beta.size):
        lost = 0.0
        for j in range(min(width, order.size - b * width)):
            at = b * width + j
            here = round_row(factors, order[at], beta[b] * scale, last[at] * beta[b], row, 0)
            lost = max(lost, here)
            strip, lane = b * strips + j // LANES, j % LANES
            for p in range(half):
                packed[strip, p, 2 * lane] = row[0, 2 * p]
                packed[strip, p, 2 * lane + 1] = row[0, 2 * p + 1]
        loss[b] = lost


def rows_for(items: Any, factors: Array, users: Array, length: Array) -> Any:
    """The users' rows, and what rounding them costs: each one's α and |e|."""
    raise NotImplementedError("compiled only")


def new_tile(items: Any, n: int, width: int) -> Any:
    """A buffer for the numbers of n users and a block of items."""
    raise NotImplementedError("compiled only")


def fill(items: Any, rows: Array, n: int, block: Array, b: int, width: int, tile: Array) -> Any:
    """The tile of the first n rows and the items of block b; what it returns is the tile."""
    raise NotImplementedError("compiled only")


def margins(items: Any, b: int, longest: float, bias_size: float) -> Any:
    """What makes the limits of block b: f, m, n, o and p of α·f and m + n·|e| + o·|x| + p·|t|."""
    raise NotImplementedError("compiled only")


def set_limits(
    goal: Array, first: int, last: int, factor: float, margin: float, slope: float, low: Array,
    high: Array,
) -> Any:  # fmt: skip
    """`low` and `high` of some targets: factor·goal less and plus (margin + slope·|goal|)."""
    raise NotImplementedError("compiled only")


def hidden_value(items: Any) -> Any:
    """A number below every `low`."""
    raise NotImplementedError("compiled only")


def _is(items: Any, kind: type) -> bool:
    return getattr(items, "instance_class", None) is kind


@overload(rows_for)
def _rows_for(items: Any, factors: Any, users: Any, length: Any) -> Any:
    if _is(items, Integers):

        def integers(items: Any, factors: Any, users: Any, length: Any) -> Any:
            n, unit, user_scale, longest = (
                users.size, items.unit, items.user_scale, items.longest_user
            )  # fmt: skip
            rows = np.zeros((-(-n // ROWS) * ROWS, 2 * items.packed.shape[1]), np.int16)
            alpha, loss = np.empty(n), np.empty(n)
            for a in range(n):
                augmented = np.sqrt(length[a] * length[a] + unit * unit)
                alpha[a] = 1.0
                if longest > 0.0:
                    alpha[a] = Q / max(augmented, longest * SHORT)
                # as `unit` and `user_scale` are powers of two, these products are exact
                loss[a] = round_row(
                    factors, users[a], alpha[a] * user_scale, alpha[a] * unit, rows, a
                )
            return rows, alpha, loss

        return integers

    def singles(items: Any, factors: Any, users: Any, length: Any) -> Any:
        rows = np.empty((users.size, factors.shape[1]), np.float32)
        scaled_rows(factors, users, items.user_scale, rows)
        return rows, np.zeros(users.size), np.zeros(users.size)

    return singles


@overload(new_tile)
def _new_tile(items: Any, n: Any, width: Any) -> Any:
    if _is(items, Integers):

        def integers(items: Any, n: Any, width: Any) -> Any:
            return np.empty((-(-n // ROWS) * ROWS, -(-width // LANES) * LANES), np.int32)

        return integers

    def singles(items: Any, n: Any, width: Any) -> Any:
        return np.empty((n, width), np.float32)

    return singles


@overload(fill)
def _fill(items: Any, rows: Any, n: Any, block: Any, b: Any, width: Any, tile: Any) -> Any:
    if _is(items, Integers):

        def integers(
            items: Any, rows: Any, n: Any, block: Any, b: Any, width: Any, tile: Any
        ) -> Any:
            multiply(rows, n, items.packed, (b - items.first) * items.strips, tile)
            return tile

        return integers

    def singles(items: Any, rows: Any, n: Any, block: Any, b: Any, width: Any, tile: Any) -> Any:
        out = tile.reshape(tile.size)[: n * block.size].reshape(n, block.size)
        if items.plain.size:
            np.dot(rows[:n], items.plain[b * width : (b + 1) * width].T, out)
        else:
            gathered = np.empty((block.size, rows.shape[1]), np.float32)
            scaled_rows(items.factors, block, items.item_scale, gathered)
            np.dot(rows[:n], gathered.T, out)
        if items.bias.size:
            add_bias(out, items.bias[b * width : (b + 1) * width])
        return out

    return singles


@overload(margins)
def _margins(items: Any, b: Any, longest: Any, bias_size: Any) -> Any:
    if _is(items, Integers):

        def integers(items: Any, b: Any, longest: Any, bias_size: Any) -> Any:
            lost = items.loss[b - items.first]
            return items.beta[b - items.first], Q * lost * SAFE + 1.0, (Q + lost) * SAFE, 0.0, 0.0

        return integers

    def singles(items: Any, b: Any, longest: Any, bias_size: Any) -> Any:
        if items.fast:
            return 1.0, 0.0, 0.0, 0.0, 0.0
        # the margin is wider than the bound by what rounding to float32 can take away
        fixed = items.relative * bias_size + items.absolute
        return 1.0, fixed, 0.0, items.relative * longest * SAFE, ULPS

    return singles


@overload(set_limits)
def _set_limits(
    goal: Any, first: Any, last: Any, factor: Any, margin: Any, slope: Any, low: Any, high: Any
) -> Any:
    if low.dtype == types.int32:

        def integers(
            goal: Any, first: Any, last: Any, factor: Any, margin: Any, slope: Any, low: Any,
            high: Any,
        ) -> Any:  # fmt: skip
            for t in range(first, last):
                middle = goal[t] * factor
                low[t] = np.int32(min(max(np.floor(middle - margin), -_LARGEST), _LARGEST))
                high[t] = np.int32(min(max(np.ceil(middle + margin), -_LARGEST), _LARGEST))

        return integers

    def singles(
        goal: Any, first: Any, last: Any, factor: Any, margin: Any, slope: Any, low: Any, high: Any
    ) -> Any:
        for t in range(first, last):
            wide = margin + slope * abs(goal[t]) if np.isfinite(goal[t]) else 0.0
            low[t], high[t] = np.float32(goal[t] - wide), np.float32(goal[t] + wide)

    return singles


@overload(hidden_value)
def _hidden_value(items: Any) -> Any:
    if _is(items, Integers):

        def integers(items: Any) -> Any:
            return np.int32(_HIDDEN)

        return integers

    def singles(items: Any) -> Any:
        return np.float32(np.nan)

    return singles
