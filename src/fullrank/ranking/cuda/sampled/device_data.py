"""What sampled ranking holds on the device: blocks of users, and the items to count for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fullrank._lib import memory
from fullrank._lib.device import free_memory
from fullrank._lib.types import Array, Ints
from fullrank.data.targets import Exclusion
from fullrank.designs.draws import Pools
from fullrank.errors import InputError
from fullrank.ranking.cuda.streaming import rows_of, to_device

BYTES = 1 << 30  # of a block of users
_PIECE = 1 << 26  # bytes of a large array copied at once
_ITEMS = 64  # draws of a program, or more


@dataclass(frozen=True, kw_only=True)
class Gpu:
    """The device, and the constants of one ranking on it."""

    torch: Any
    device: Any
    key: Any
    ties: int

    def move(self, array: Array) -> Any:
        """An array as a tensor on the device."""
        return to_device(self.torch, array, self.device)

    def move_large(self, name: str, array: Array) -> Any:
        """A large array, by pieces: a memory map is not read into memory whole."""
        self.ask(name, array.nbytes)
        kind = self.torch.from_numpy(np.empty(0, array.dtype)).dtype
        out = self.torch.empty(array.shape, dtype=kind, device=self.device)
        step = max(1, _PIECE // max(1, array[:1].nbytes))
        for start in range(0, array.shape[0], step):
            out[start : start + step] = self.move(array[start : start + step])
        return out

    def ask(self, name: str, n_bytes: int) -> None:
        """Raise if the device has no room for that many bytes beside a block of users."""
        free = free_memory(self.torch, self.device)
        if n_bytes + BYTES > free:
            raise InputError(
                f"`device` must have room for the scorer: its {name} take "
                f"{memory.shown(n_bytes)} and a block of users {memory.shown(BYTES)}, but only "
                f'{memory.shown(free)} is free. Use device="cpu".'
            )

    def zeros(self, size: int) -> Any:
        return self.torch.zeros(size, dtype=self.torch.int64, device=self.device)


@dataclass(frozen=True, kw_only=True, eq=False)
class Group:
    """Some users on the device: rows, pools (where items are drawn), excluded items.

    The holes of user g are holes[hole_starts[g]:hole_starts[g + 1]], and so with `seen`. `draw` is
    a code of draws.py; `twelve` says that every pool takes twelve rounds.
    """

    users: Any
    hole_starts: Any
    holes: Any
    names: Any
    sides: Any
    sizes: Any
    n_items: int
    draw: int
    twelve: bool
    seen_starts: Any
    seen: Any
    has_seen: bool

    @property
    def mapped(self) -> bool:
        return self.names is not None


@dataclass(frozen=True, kw_only=True, eq=False)
class Level:
    """What to count for: rows of a Group with their targets, and draws or given items."""

    rows: Any
    starts: Any
    targets: Any
    marks: Any
    first: Any
    count: Any
    given: Any
    width: int


def make_group(
    gpu: Gpu,
    users: Ints,
    exclusion: Exclusion | None,
    pools: Pools | None = None,
    part: slice | None = None,
    names: Any = None,
    drawing: int = 0,
) -> Group:
    """Users with their excluded items and, with `pools`, that part of them to draw from."""
    none = gpu.zeros(1)
    seen_starts, seen = none, none
    if exclusion is not None:
        seen_starts, seen = (gpu.move(one) for one in rows_of(exclusion, users))
    if pools is None or part is None:
        return Group(
            users=gpu.move(users), hole_starts=none, holes=none, names=None, sides=none, sizes=none,
            n_items=0, draw=0, twelve=False, seen_starts=seen_starts, seen=seen,
            has_seen=exclusion is not None,
        )  # fmt: skip
    indptr = pools.indptr[part.start : part.stop + 1]
    sizes = pools.sizes[part]
    side = np.sqrt(sizes).astype(np.int64)  # draws.py: ⌈√P⌉, raised to the next even number
    side += side * side < sizes
    return Group(
        users=gpu.move(users),
        hole_starts=gpu.move(indptr - indptr[0]),
        holes=gpu.move(pools.holes[indptr[0] : indptr[-1]]),
        names=names,
        sides=gpu.move(side + side % 2),
        sizes=gpu.move(sizes),
        n_items=pools.n_items,
        draw=drawing,
        twelve=bool(sizes.min() >= 1024),
        seen_starts=seen_starts,
        seen=seen,
        has_seen=exclusion is not None,
    )


def draws_of(width: int) -> int:
    """Draws of a program where a user has `width`: a user has at most 65,535 programs."""
    return max(_ITEMS, 1 << (-(-width // 65535) - 1).bit_length())


def draw(gpu: Gpu, group: Group, rows: Any, first: Any, count: Any) -> Any:
    """Draws first..first+count-1 of some users, one row each, padded with -1."""
    from fullrank.ranking.cuda.draws import draw_items

    width = max(1, int(count.max()))
    shape = (rows.shape[0], width)
    out = gpu.torch.empty(shape, dtype=gpu.torch.int32, device=gpu.device)
    names = rows if group.names is None else group.names
    block = draws_of(width)
    draw_items[(shape[0], -(-width // block))](
        rows, group.users, group.hole_starts, group.holes, names, group.sides, group.n_items,
        gpu.key, first, count, out, width,
        BLOCK=block, DRAW=group.draw, TWELVE=group.twelve, MAPPED=group.mapped, num_warps=2,
    )  # fmt: skip
    return out
