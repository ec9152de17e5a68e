"""Arrays on their way to the device: whole, some rows, or by pieces, the next one copied ahead."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank._lib.types import Ints


def to_device(torch: Any, array: NDArray[Any], device: Any) -> Any:
    """The array as a tensor there; torch warns of arrays that must not be written to: copied."""
    whole = np.ascontiguousarray(array)
    return torch.from_numpy(whole if whole.flags.writeable else whole.copy()).to(device)


def consecutive(rows: Ints) -> bool:
    """Whether each row number is one more than that before: then a slice will do."""
    return bool(rows[-1] - rows[0] + 1 == rows.size and (np.diff(rows) == 1).all())


def rows_of(table: Any, rows: Ints) -> tuple[Ints, NDArray[Any]]:
    """Some rows of a CSR pair (indptr, indices): a new indptr and their indices."""
    if consecutive(rows):
        indptr = table.indptr[rows[0] : rows[-1] + 2]
        return indptr - indptr[0], table.indices[indptr[0] : indptr[-1]]
    starts, stops = table.indptr[rows], table.indptr[rows + 1]
    sizes = stops - starts
    indptr = np.concatenate(([0], np.cumsum(sizes)))
    at = np.arange(indptr[-1]) + np.repeat(starts - indptr[:-1], sizes)
    return indptr, table.indices[at]


@dataclass(frozen=True, kw_only=True, eq=False)
class Piece:
    """Rows of a host array on the device; `names` are their numbers, in rising order."""

    names: Ints
    rows: Any


class Stream:
    """Rows of a host array, in pieces of `size` that fit the device.

    A thread copies a piece into page-locked memory and from there to the device, on a stream of
    its own, while the kernels work on the piece before. A single piece is copied once and stays.
    """

    def __init__(
        self, torch: Any, device: Any, array: NDArray[Any], names: Ints | None, size: int
    ) -> None:
        self.torch, self.device, self.array = torch, device, array
        self.names = np.arange(array.shape[0]) if names is None else names
        self.size = min(size, self.names.size)
        self._all = names is None
        self._kept: Piece | None = None
        self._cuda = device.type == "cuda" and self.names.size > self.size
        if self._cuda:
            self._side = torch.cuda.Stream(device)
            kind = torch.from_numpy(np.empty(0, array.dtype)).dtype
            shape = (self.size, *array.shape[1:])
            self._locked = [torch.empty(shape, dtype=kind, pin_memory=True) for _ in range(2)]
            self._copied: list[Any] = [None, None]

    def __iter__(self) -> Iterator[Piece]:
        if self._kept is not None:
            yield self._kept
            return
        starts = range(0, self.names.size, self.size)
        with ThreadPoolExecutor(1) as thread:
            coming = thread.submit(self._load, 0)
            for number in range(len(starts)):
                piece, event = coming.result()
                if number + 1 < len(starts):
                    coming = thread.submit(self._load, number + 1)
                if event is not None:
                    now = self.torch.cuda.current_stream(self.device)
                    now.wait_event(event)
                    piece.rows.record_stream(now)
                if len(starts) == 1:
                    self._kept = piece
                yield piece

    def _load(self, number: int) -> tuple[Piece, Any]:
        first = number * self.size
        names = self.names[first : first + self.size]
        rows = self.array[names[0] : names[-1] + 1] if self._all else self.array[names]
        if not self._cuda:
            return Piece(names=names, rows=to_device(self.torch, rows, self.device)), None
        if self._copied[number % 2] is not None:
            self._copied[number % 2].synchronize()
        locked = self._locked[number % 2][: names.size]
        np.copyto(locked.numpy(), rows)  # without the interpreter's lock
        with self.torch.cuda.device(self.device), self.torch.cuda.stream(self._side):
            tensor = locked.to(self.device, non_blocking=True)
            event = self.torch.cuda.Event()
            event.record(self._side)
        self._copied[number % 2] = event
        return Piece(names=names, rows=tensor), event
