"""Compiled item draws: Philox words, uniform indices, keyed permutations, pools with holes.

`draws.py` states the layout and holds the plain reference that these loops equal word for word.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from fullrank._lib.jit import jit

Scalar = Any  # numba infers the numpy type

# Purposes: the last counter word keeps the streams of one user apart.
DRAW, PERMUTE, TIE = 0, 1, 2

MAX_ROUNDS = 48
_LOW = np.uint64(0xFFFFFFFF)
_32 = np.uint64(32)
_ONE = np.uint64(1)
# Multipliers and key increments of Philox-4x32 (Salmon et al., 2011).
_M0, _M1 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_W0, _W1 = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
# Multipliers of the 32-bit mixer in the round function.
_A, _B = np.uint32(0x7FEB352D), np.uint32(0x846CA68B)
_15, _16 = np.uint32(15), np.uint32(16)


@jit
def _round(
    c0: Scalar, c1: Scalar, c2: Scalar, c3: Scalar, k0: Scalar, k1: Scalar
) -> tuple[Scalar, ...]:
    """One round of Philox-4x32 and the keys of the next."""
    p0 = c0 * _M0
    p1 = c2 * _M1
    return (
        (p1 >> _32) ^ c1 ^ k0,
        p1 & _LOW,
        (p0 >> _32) ^ c3 ^ k1,
        p0 & _LOW,
        (k0 + _W0) & _LOW,
        (k1 + _W1) & _LOW,
    )


@numba.njit(nogil=True, inline="always")
def philox(c0: Scalar, c1: Scalar, c2: Scalar, c3: Scalar, key: Scalar) -> tuple[Scalar, ...]:
    """Ten rounds of Philox-4x32; every argument and word is a uint64, words below 2^32.

    Written out and always inlined, for a loop over counters to be vectorised: three times as fast.
    """
    s = _round(c0, c1, c2, c3, key & _LOW, key >> _32)
    s = _round(*_round(*_round(*s)))
    s = _round(*_round(*_round(*s)))
    s = _round(*_round(*_round(*s)))
    return s[0], s[1], s[2], s[3]


@jit
def _below(high: Scalar, low: Scalar, bound: Scalar) -> Scalar:
    """floor(word · bound / 2^64) for the 64-bit word high·2^32 + low and bound < 2^32."""
    return (high * bound + ((low * bound) >> _32)) >> _32


@jit
def tie_word(key: Scalar, user: Scalar, item: Scalar) -> Scalar:
    """The user's random place for an item among items of equal score."""
    u = np.uint64(user)
    w0, w1, _, _ = philox(np.uint64(item), u & _LOW, u >> _32, np.uint64(TIE), key)
    return (w0 << _32) | w1


@jit
def _with_replacement(
    key: Scalar,
    stream: Scalar,
    purpose: Scalar,
    size: Scalar,
    first: Scalar,
    out: NDArray[np.int64],
) -> None:
    """Uniform indices below `size`: draws first, first + 1, … of one stream."""
    s = np.uint64(stream)
    c1, c2, c3 = s & _LOW, s >> _32, np.uint64(purpose)
    bound = np.uint64(size)
    if first & 1 and out.size > 0:
        _, _, w2, w3 = philox(np.uint64(first >> 1), c1, c2, c3, key)
        out[0] = np.int64(_below(w2, w3, bound))
        out = out[1:]
        first += 1
    block = np.uint64(first >> 1)
    # indices that can only be positive: else the loop is not vectorised
    for k in range(out.size >> 1):
        w0, w1, w2, w3 = philox(block + np.uint64(k), c1, c2, c3, key)
        out[2 * k] = np.int64(_below(w0, w1, bound))
        out[2 * k + 1] = np.int64(_below(w2, w3, bound))
    if out.size & 1:
        w0, w1, _, _ = philox(block + np.uint64(out.size >> 1), c1, c2, c3, key)
        out[out.size - 1] = np.int64(_below(w0, w1, bound))


@jit
def n_rounds(size: Scalar) -> Scalar:
    """Feistel rounds for a pool: measured, see draws.py."""
    if size < 64:
        return 48
    if size < 1024:
        return 24
    return 12


@jit
def sides(size: Scalar) -> tuple[Scalar, Scalar]:
    """The sides a × b of the network's domain: a even and near √size, a·b ≥ size."""
    a = int(np.sqrt(size))
    while a * a < size:
        a += 1
    a += a & 1
    return a, (size + a - 1) // a


@jit
def _step(x: Scalar, other: Scalar, word: Scalar, side: Scalar) -> Scalar:
    """One Feistel round, x + F(other) mod side, F a keyed mixer scaled to 0..side-1."""
    h = np.uint32(other ^ word)
    h = np.uint32(h ^ (h >> _16))
    h = np.uint32(h * _A)
    h = np.uint32(h ^ (h >> _15))
    h = np.uint32(h * _B)
    h = np.uint32(h ^ (h >> _16))
    y = np.uint64(x) + ((np.uint64(h) * side) >> _32)
    return np.uint32(y - side) if y >= side else np.uint32(y)


@jit
def _round_words(
    key: Scalar, stream: Scalar, purpose: Scalar, rounds: Scalar, words: NDArray[np.uint32]
) -> None:
    s = np.uint64(stream)
    for k in range(rounds >> 2):
        w0, w1, w2, w3 = philox(np.uint64(k), s & _LOW, s >> _32, np.uint64(purpose), key)
        words[4 * k] = np.uint32(w0)
        words[4 * k + 1] = np.uint32(w1)
        words[4 * k + 2] = np.uint32(w2)
        words[4 * k + 3] = np.uint32(w3)


@jit
def _without_replacement(
    key: Scalar,
    stream: Scalar,
    purpose: Scalar,
    size: Scalar,
    first: Scalar,
    out: NDArray[np.int64],
    left: NDArray[np.uint32],
    right: NDArray[np.uint32],
) -> None:
    """The keyed permutation of 0..size-1 at first, first + 1, …; left and right are scratch."""
    rounds = n_rounds(size)
    words = np.empty(MAX_ROUNDS, np.uint32)
    _round_words(key, stream, purpose, rounds, words)
    side_a, side_b = sides(size)
    a, b = np.uint64(side_a), np.uint64(side_b)
    count = out.size
    for j in range(count):
        left[j] = np.uint32((first + j) // side_b)
        right[j] = np.uint32((first + j) % side_b)
    for r in range(0, rounds, 2):
        for j in range(count):
            left[j] = _step(left[j], right[j], words[r], a)
        for j in range(count):
            right[j] = _step(right[j], left[j], words[r + 1], b)
    for j in range(count):
        x, y = left[j], right[j]
        index = np.int64(x) * side_b + np.int64(y)
        while index >= size:  # cycle walking: again, until back inside the pool
            for r in range(0, rounds, 2):
                x = _step(x, y, words[r], a)
                y = _step(y, x, words[r + 1], b)
            index = np.int64(x) * side_b + np.int64(y)
        out[j] = index


@jit
def fill_indices(
    key: Scalar,
    stream: Scalar,
    size: Scalar,
    first: Scalar,
    replacement: bool,
    out: NDArray[np.int64],
    left: NDArray[np.uint32],
    right: NDArray[np.uint32],
) -> None:
    """Draws first, first + 1, … of one stream, as indices into a pool of `size`."""
    if replacement:
        _with_replacement(key, stream, DRAW, size, first, out)
    else:
        _without_replacement(key, stream, PERMUTE, size, first, out, left, right)


@jit
def _select(index: Scalar, holes: NDArray[np.int32]) -> Scalar:
    """The index-th item that is not in the sorted `holes`: index + #{k : holes[k] - k <= index}."""
    low, high = 0, holes.size
    while low < high:
        middle = (low + high) >> 1
        if holes[middle] - middle <= index:
            low = middle + 1
        else:
            high = middle
    return index + low


@jit
def contains(sorted_items: NDArray[np.int32], item: Scalar) -> bool:
    """Whether the item is in the sorted list."""
    low, high = 0, sorted_items.size
    while low < high:
        middle = (low + high) >> 1
        if sorted_items[middle] < item:
            low = middle + 1
        else:
            high = middle
    return low < sorted_items.size and sorted_items[low] == item


@jit
def fill_items(
    key: Scalar,
    users: NDArray[np.int64],
    holes_indptr: NDArray[np.int64],
    holes: NDArray[np.int32],
    n_items: Scalar,
    first: NDArray[np.int64],
    count: NDArray[np.int64],
    replacement: bool,
    out: NDArray[np.int32],
) -> None:
    """Each user's own draws first..first+count-1, as items outside its holes; -1 pads a row."""
    width = out.shape[1]
    index = np.empty(width, np.int64)
    left, right = np.empty(width, np.uint32), np.empty(width, np.uint32)
    for u in range(users.size):
        gaps = holes[holes_indptr[u] : holes_indptr[u + 1]]
        n = count[u]
        if n == 0:  # an empty pool has no sides
            out[u] = -1
            continue
        fill_indices(
            key, users[u], n_items - gaps.size, first[u], replacement, index[:n], left, right
        )
        for j in range(n):
            out[u, j] = _select(index[j], gaps)
        out[u, n:] = -1
