"""Keyed item draws: which items a target is ranked among depends on nothing but seed and user.

Every random word is a word of Philox-4x32-10, a function of a key and a counter:

===============  =================================================================================
key              k0 = seed mod 2^32, k1 = seed div 2^32, the seed being a 64-bit number
counter c0       number of the block of four words (for ties: the item row)
counter c1, c2   user row mod 2^32, user row div 2^32
counter c3       purpose: 0 draws with replacement, 1 rounds of the permutation, 2 ties
===============  =================================================================================

*With replacement*, draw j takes words 2(j mod 2) and 2(j mod 2) + 1 of block j div 2 as the high
and the low half of a 64-bit number w and is floor(w·P / 2^64), an index into the user's pool of
P items. Its probability differs from 1/P by less than 2^-64, so no rejection is needed.

*Without replacement*, draw j is π(j), a permutation π of 0..P-1 that is a Feistel network on the
domain a × b: a = ⌈√P⌉, raised to the next even number (so that π can have either parity), and
b = ⌈P/a⌉. The number x = L·b + R is split into L and R; rounds i = 0, 1, … set in turn
L ← (L + F_i(R)) mod a for even i and R ← (R + F_i(L)) mod b for odd i; if the result L·b + R is
P or more, the same rounds are applied again (cycle walking), which a·b - P < a makes rare.
F_i(v) = floor(mix(v xor w_i)·side / 2^32), w_i being word i mod 4 of block i div 4 and, on 32 bits,
mix(h): h ^= h >> 16; h *= 0x7feb352d; h ^= h >> 15; h *= 0x846ca68b; h ^= h >> 16.
There are 48 rounds for P < 64, 24 for P < 1024 and 12 above, each at least twice the smallest
number that passed when measured: over 10^6 keys the distribution of five draws from 8 items is off
by 2734 standard errors after 8 rounds, 195 after 12, 15 after 16 and not visibly after 24; the
hypergeometric law of how many of P/2 items are among P/4 or P/2 draws fails after 8 rounds for
P = 20, after 6 for P = 64 and P = 144, and after 4 for P = 1024.

So the first n draws of a user are the same whatever n is, reaching P is every item of the pool,
and batches, threads, devices and models change nothing.

An index becomes an item by stepping over the user's holes: the targets and, in the pool "unseen",
the excluded items. With sorted holes h, index x is item x + #{k : h_k - k <= x}.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullrank._lib.checks import RandomState, generator
from fullrank._lib.types import Ints
from fullrank.data.targets import Exclusion, Targets
from fullrank.errors import InputError


def seed_key(rng: RandomState = None) -> int:
    """The 64-bit key of the draws.

    A whole number below 2^64 is its own key, in every version. A larger one and a SeedSequence give
    the first 64-bit word of numpy's SeedSequence, a Generator gives (and spends) its next one, and
    None gives one from the operating system.

    Examples
    --------
    >>> from fullrank.designs.draws import seed_key
    >>> seed_key(7)
    7
    """
    random = generator(rng)
    if isinstance(rng, int | np.integer) and rng < 2**64:
        return int(rng)
    if isinstance(rng, np.random.Generator):
        return int(random.integers(0, 2**64, dtype=np.uint64))
    sequence = rng if isinstance(rng, np.random.SeedSequence) else np.random.SeedSequence(rng)
    return int(sequence.generate_state(1, np.uint64)[0])


@dataclass(frozen=True, kw_only=True, eq=False)
class Pools:
    """What each user's items are drawn from: positions in the catalogue, less the user's holes.

    The holes of users[g] are holes[indptr[g]:indptr[g + 1]], sorted positions; `items` maps
    positions to item rows where the catalogue is not all of them.
    """

    users: Ints
    indptr: Ints
    holes: NDArray[np.int32]
    n_items: int
    items: Ints | None

    @property
    def sizes(self) -> Ints:
        """The number of items that can be drawn for each user."""
        return self.n_items - np.diff(self.indptr)

    def draw(
        self,
        key: int,
        groups: Ints,
        first: Ints,
        count: Ints,
        *,
        replacement: bool,
    ) -> NDArray[np.int32]:
        """Draws first..first+count-1 of users[groups], one row each, padded with -1."""
        from fullrank.designs import draw_kernels as kernels

        out = np.empty((groups.size, int(count.max(initial=0))), np.int32)
        starts, stops = self.indptr[groups], self.indptr[groups + 1]
        sizes = stops - starts
        indptr = np.concatenate(([0], np.cumsum(sizes)))
        at = np.arange(indptr[-1]) + np.repeat(starts - indptr[:-1], sizes)
        users, holes = self.users[groups], self.holes[at]
        seed = np.uint64(key)
        kernels.fill_items(seed, users, indptr, holes, self.n_items, first, count, replacement, out)
        if self.items is not None:
            out = np.where(out < 0, -1, self.items[out]).astype(np.int32)
        return out


def make_pools(
    targets: Targets,
    *,
    n_items: int,
    items: Ints | None = None,
    exclusion: Exclusion | None = None,
    pool: str = "all",
) -> Pools:
    """The pool of every user with a target; `exclusion` must not hold targets."""
    if n_items >= 2**31:
        raise InputError(f"`scorer` must have fewer than 2^31 items, not {n_items}.")
    group = np.repeat(np.arange(targets.users.size), np.diff(targets.starts))
    rows = targets.item_rows[targets.order]
    if pool == "unseen":
        if exclusion is None:
            raise InputError(
                '`exclude` must be given with pool="unseen", because it holds the seen items.'
            )
        starts, stops = exclusion.indptr[targets.users], exclusion.indptr[targets.users + 1]
        sizes = stops - starts
        offset = np.repeat(starts - np.cumsum(sizes) + sizes, sizes)
        group = np.concatenate((group, np.repeat(np.arange(targets.users.size), sizes)))
        rows = np.concatenate((rows, exclusion.indices[np.arange(offset.size) + offset]))
    size = n_items if items is None else items.size
    position = rows if items is None else np.searchsorted(items, rows)
    if group.size > targets.users.size:  # one hole for each user is in order
        position = position[np.lexsort((position, group))]
    counts = np.bincount(group, minlength=targets.users.size)
    return Pools(
        users=targets.users,
        indptr=np.concatenate(([0], np.cumsum(counts))),
        holes=position.astype(np.int32),
        n_items=size,
        items=items,
    )


def philox4x32(counter: tuple[int, int, int, int], key: int) -> tuple[int, int, int, int]:
    """Four 32-bit words of Philox-4x32-10 in plain Python: the reference of the kernels.

    Examples
    --------
    >>> from fullrank.designs.draws import philox4x32
    >>> [f"{word:08x}" for word in philox4x32((0, 0, 0, 0), 0)]
    ['6627e8d5', 'e169c58d', 'bc57ac4c', '9b00dbd8']
    """
    c0, c1, c2, c3 = (int(word) for word in counter)
    k0, k1 = key % 2**32, key >> 32
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c0, 0xCD9E8D57 * c2
        c0, c1, c2, c3 = (p1 >> 32) ^ c1 ^ k0, p1 % 2**32, (p0 >> 32) ^ c3 ^ k1, p0 % 2**32
        k0, k1 = (k0 + 0x9E3779B9) % 2**32, (k1 + 0xBB67AE85) % 2**32
    return c0, c1, c2, c3


def reference_indices(
    key: int, user: int, size: int, count: int, *, replacement: bool
) -> list[int]:
    """The first `count` draws from a pool of `size` in plain Python: the reference of the kernels.

    Examples
    --------
    >>> from fullrank.designs.draws import reference_indices
    >>> sorted(reference_indices(7, 0, 5, 5, replacement=False))
    [0, 1, 2, 3, 4]
    """
    purpose = 0 if replacement else 1

    def words(block: int) -> tuple[int, ...]:
        return philox4x32((block, user % 2**32, user >> 32, purpose), key)

    if replacement:
        halves = [words(j // 2)[2 * (j % 2) : 2 * (j % 2) + 2] for j in range(count)]
        return [((high << 32 | low) * size) >> 64 for high, low in halves]
    rounds = 48 if size < 64 else 24 if size < 1024 else 12
    round_words = [word for block in range(rounds // 4) for word in words(block)]
    return [_permuted(j, size, round_words) for j in range(count)]


def _permuted(x: int, size: int, round_words: list[int]) -> int:
    a = _even_root(size)
    b = -(-size // a)
    while True:
        left, right = divmod(x, b)
        for i, word in enumerate(round_words):
            if i % 2 == 0:
                left = (left + (_mix(right ^ word) * a >> 32)) % a
            else:
                right = (right + (_mix(left ^ word) * b >> 32)) % b
        x = left * b + right
        if x < size:
            return x


def _even_root(size: int) -> int:
    root = int(np.ceil(np.sqrt(size)))
    return root + root % 2


def _mix(h: int) -> int:
    h = (h ^ h >> 16) * 0x7FEB352D % 2**32
    h = (h ^ h >> 15) * 0x846CA68B % 2**32
    return h ^ h >> 16
