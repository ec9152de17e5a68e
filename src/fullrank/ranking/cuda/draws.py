"""Item draws in Triton: the indices and items of draws.py, bit for bit.

`drawn_items` is called inside the kernels that count, so that nothing of the draws is stored;
`draw_items` stores them, for scorers that are asked for the scores of given items.
"""

from __future__ import annotations

import triton
import triton.language as tl

from fullrank.ranking.cuda.words import philox

# How items come to a user: given, or drawn with or without replacement.
GIVEN, WITH, WITHOUT = 0, 1, 2


@triton.jit
def user_words(block, user, PURPOSE: tl.constexpr, key_low, key_high):
    """The four words of a block of the user's stream."""
    c0 = tl.cast(block, tl.uint32)  # a plain number in the interpreter's loops
    zero = tl.zeros_like(c0)
    u = user.to(tl.uint64)
    c1, c2 = (u & 0xFFFFFFFF).to(tl.uint32) + zero, (u >> 32).to(tl.uint32) + zero
    return philox(c0, c1, c2, zero + PURPOSE, key_low, key_high)


@triton.jit
def uniform_index(j, user, size, key_low, key_high):
    """Draw j with replacement, floor(word·size / 2^64) for its 64-bit word."""
    w0, w1, w2, w3 = user_words(j >> 1, user, 0, key_low, key_high)
    odd = (j & 1) == 1
    high = tl.where(odd, w2, w0).to(tl.uint64)
    low = tl.where(odd, w3, w1).to(tl.uint64)
    bound = size.to(tl.uint64)
    return ((high * bound + ((low * bound) >> 32)) >> 32).to(tl.int32)


@triton.jit
def feistel_step(x, other, word, side):
    """One round, x + F(other) mod side, F a keyed mixer scaled to 0..side-1; all uint32."""
    h = other ^ word
    h = (h ^ (h >> 16)) * 0x7FEB352D
    h = (h ^ (h >> 15)) * 0x846CA68B
    h = h ^ (h >> 16)
    y = x + tl.umulhi(h, side + tl.zeros_like(h))
    return tl.where(y >= side, y - side, y)


@triton.jit
def four_rounds(left, right, block, user, a, b, key_low, key_high):
    """Four rounds of the permutation, with the words of one block."""
    w0, w1, w2, w3 = user_words(block, user, 1, key_low, key_high)
    left = feistel_step(left, right, w0, a)
    right = feistel_step(right, left, w1, b)
    left = feistel_step(left, right, w2, a)
    right = feistel_step(right, left, w3, b)
    return left, right


@triton.jit
def all_rounds(left, right, rounds, user, a, b, key_low, key_high, TWELVE: tl.constexpr):
    """The whole network; unrolled for twelve rounds, whose words then leave the loop over draws."""
    if TWELVE:
        for block in tl.static_range(3):
            left, right = four_rounds(left, right, block, user, a, b, key_low, key_high)
    else:
        for block in range(rounds >> 2):
            left, right = four_rounds(left, right, block, user, a, b, key_low, key_high)
    return left, right


@triton.jit
def permuted_index(j, there, user, size, side, key_low, key_high, TWELVE: tl.constexpr):
    """Draw j without replacement: the user's permutation of 0..size-1 at j; `side` is a."""
    a = side.to(tl.uint32)
    bound = size.to(tl.uint32)
    b = (bound + a - 1) // a
    rounds = tl.where(size < 64, 48, tl.where(size < 1024, 24, 12))
    x = j.to(tl.uint32)
    left = x // b
    right = x - left * b
    left, right = all_rounds(left, right, rounds, user, a, b, key_low, key_high, TWELVE)
    x = left * b + right
    # cycle walking: again, until back inside the pool (which places behind the last are not)
    walks = (x >= bound) & there
    while tl.max(walks.to(tl.int32), axis=0) > 0:
        new_left, new_right = all_rounds(left, right, rounds, user, a, b, key_low, key_high, TWELVE)
        left = tl.where(walks, new_left, left)
        right = tl.where(walks, new_right, right)
        x = left * b + right
        walks = (x >= bound) & there
    return x.to(tl.int32)


@triton.jit
def place_before(values, first, length, x, HOLES: tl.constexpr):
    """How many of the sorted values[first:first + length] lie below x, for each x.

    With HOLES, how many holes precede the x-th item outside them: #{k : holes[k] - k <= x}.
    """
    low = tl.zeros_like(x)
    high = low + length.to(tl.int32)
    width = length.to(tl.int32)
    while width > 0:
        middle = (low + high) >> 1
        open_ = low < high
        value = tl.load(values + first + middle, mask=open_, other=0).to(x.dtype)
        if HOLES:
            before = value - middle <= x
        else:
            before = value < x
        low = tl.where(open_ & before, middle + 1, low)
        high = tl.where(open_ & (before == 0), middle, high)
        width = width >> 1
    return low


@triton.jit
def contains(values, first, length, x):
    """Whether each x is among the sorted values[first:first + length]."""
    at = place_before(values, first, length, x, False)
    found = tl.load(values + first + at, mask=at < length, other=-1).to(x.dtype)
    return (at < length) & (found == x)


@triton.jit
def drawn_items(
    j, there, user, first_hole, n_holes, holes, names, n_items, side, key_low, key_high,
    DRAW: tl.constexpr, TWELVE: tl.constexpr, MAPPED: tl.constexpr,
):  # fmt: skip
    """The item rows of the user's draws j; 0 where none is wanted."""
    size = n_items - n_holes
    if DRAW == 1:
        x = uniform_index(j, user, size, key_low, key_high)
    else:
        x = permuted_index(j, there, user, size, side, key_low, key_high, TWELVE)
    item = x + place_before(holes, first_hole, n_holes, x, True)
    item = tl.where(there, item, 0)
    if MAPPED:
        item = tl.load(names + item, mask=there, other=0).to(tl.int32)
    return item


@triton.jit
def draw_items(
    rows, users, hole_starts, holes, names, sides, n_items, key, first, count, out, width,
    BLOCK: tl.constexpr, DRAW: tl.constexpr, TWELVE: tl.constexpr, MAPPED: tl.constexpr,
):  # fmt: skip
    """Draws first..first+count-1 of some users into the rows of `out`; -1 behind them."""
    row = tl.program_id(0).to(tl.int64)
    g = tl.load(rows + row)
    first_hole = tl.load(hole_starts + g)
    n_holes = tl.load(hole_starts + g + 1) - first_hole
    word = tl.load(key).to(tl.uint64)
    n = tl.load(count + row)
    at = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    there = at < n
    item = tl.full((BLOCK,), 0, tl.int32)
    if tl.program_id(1) * BLOCK < n:  # an empty pool has no sides
        item = drawn_items(
            tl.load(first + row) + at, there, tl.load(users + g), first_hole, n_holes, holes,
            names, n_items, tl.load(sides + g), word & 0xFFFFFFFF, word >> 32,
            DRAW, TWELVE, MAPPED,
        )  # fmt: skip
    tl.store(out + row * width + at, tl.where(there, item, -1), mask=at < width)
