"""A dense matrix through the device by strips of columns."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from fullrank._lib.device import free_memory
from fullrank._lib.types import Ints

BYTES = 1 << 29  # of a strip
LOCKED = 1 << 25  # bytes of page-locked memory through which a strip is copied, twice


@dataclass(frozen=True, kw_only=True, eq=False)
class Strip:
    """Some columns: `width` of them, and perhaps others behind that mean nothing."""

    start: int
    width: int
    weights: Any


class Strips:
    """The columns `names` of a host matrix, all of them for None, in strips.

    They stay on the device if they take less than half of what is free there. Else two of them are
    there: while the kernels work on one, the other is copied, piece by piece through page-locked
    memory and on a stream of its own. Strips are as wide as a `multiple`.
    """

    def __init__(
        self, torch: Any, device: Any, matrix: NDArray[Any], names: Ints | None, *, multiple: int
    ) -> None:
        self.torch, self.device, self.multiple = torch, device, multiple
        with warnings.catch_warnings():  # of matrices that must not be written to: none is
            warnings.simplefilter("ignore")
            self.host = torch.from_numpy(matrix)
        self.columns = None if names is None else torch.from_numpy(names)
        self.n_columns = matrix.shape[1] if names is None else names.size
        n_rows, size = matrix.shape[0], matrix.dtype.itemsize
        free = free_memory(torch, device)
        self.stays = n_rows * self._wide(self.n_columns) * size < free // 2
        step = max(multiple, min(BYTES, free // 4) // (n_rows * size) // multiple * multiple)
        self.width = min(step, self._wide(self.n_columns))
        self._kept: list[Strip] = []
        if device.type == "cuda":
            self._side = torch.cuda.Stream(device)
            most = min(n_rows, max(1, LOCKED // (size * self.width))) * self.width
            self._locked = [
                torch.empty(most, dtype=self.host.dtype, pin_memory=True) for _ in range(2)
            ]
            self._copied: list[Any] = [torch.cuda.Event() for _ in range(2)]
            self._used: list[Any] = [torch.cuda.Event() for _ in range(2)]
            self._buffers: list[Any] = [None, None]

    def _wide(self, width: int) -> int:
        return -(-width // self.multiple) * self.multiple

    def __iter__(self) -> Iterator[Strip]:
        for number, start in enumerate(range(0, self.n_columns, self.width)):
            if number < len(self._kept):
                yield self._kept[number]
                continue
            width = min(self.width, self.n_columns - start)
            if self.device.type != "cuda":
                yield Strip(start=start, width=width, weights=self._here(start, width))
                continue
            strip = Strip(start=start, width=width, weights=self._copy(number, start, width))
            if self.stays:
                self._kept.append(strip)
            yield strip
            self._used[number % 2].record(self.torch.cuda.current_stream(self.device))

    def _taken(self, rows: slice, start: int, width: int) -> Any:
        if self.columns is None:
            return self.host[rows, start : start + width]
        return self.host[rows].index_select(1, self.columns[start : start + width])

    def _here(self, start: int, width: int) -> Any:
        shape = (self.host.shape[0], self._wide(width))
        out = self.torch.full(shape, float("nan"), dtype=self.host.dtype)
        out[:, :width] = self._taken(slice(None), start, width)
        return out

    def _copy(self, number: int, start: int, width: int) -> Any:
        torch, (n_rows, wide) = self.torch, (self.host.shape[0], self.width)
        now = torch.cuda.current_stream(self.device)
        out = self._buffers[number % 2]
        if self.stays or out is None:
            out = torch.empty((n_rows, wide), dtype=self.host.dtype, device=self.device)
            self._buffers[number % 2] = out
            self._side.wait_stream(now)  # which may still read what was there before
        else:
            self._side.wait_event(self._used[number % 2])
        step = max(1, self._locked[0].shape[0] // wide)
        for piece, first in enumerate(range(0, n_rows, step)):
            last = min(first + step, n_rows)
            self._copied[piece % 2].synchronize()
            locked = self._locked[piece % 2][: (last - first) * wide].view(-1, wide)
            locked[:, :width].copy_(self._taken(slice(first, last), start, width))
            with torch.cuda.stream(self._side):
                out[first:last].copy_(locked, non_blocking=True)
                self._copied[piece % 2].record(self._side)
        now.wait_stream(self._side)
        return out
