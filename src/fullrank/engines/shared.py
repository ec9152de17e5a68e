"""Objects with their arrays in shared memory, which other processes map instead of copying.

Pickle (protocol 5) can keep the arrays of any object out of its stream. Here they are stored side
by side in one block of shared memory, and a process that opens the object gets arrays on that
memory. Memory-mapped arrays stay in their files, which the other process maps. On Linux the block
is an anonymous file. It does not need space in /dev/shm, which is small in containers, and it
disappears when its processes end in any way.
"""

from __future__ import annotations

import io
import itertools
import mmap
import os
import pickle
import sys
from dataclasses import dataclass
from multiprocessing.shared_memory import SharedMemory
from typing import Any

import numpy as np

from fullrank._lib import mapped_arrays
from fullrank.errors import FullrankError, InputError

_ALIGN = 64
_numbers = itertools.count()


@dataclass(frozen=True)
class Handle:
    """What another process needs to open the object; a few bytes."""

    key: tuple[int, int]  # of the process that published it, and its number there
    block: str
    size: int
    spans: tuple[tuple[int, int], ...]


class Published:
    """An object in shared memory, which exists until `close`."""

    def __init__(self, thing: Any) -> None:
        buffers: list[pickle.PickleBuffer] = []
        sink = io.BytesIO()
        try:
            _Pickler(sink, protocol=5, buffer_callback=buffers.append).dump(thing)
        except (TypeError, AttributeError, pickle.PicklingError) as error:
            raise InputError(
                "`engine` must be 'serial' for objects that cannot be sent to other processes: "
                f"{str(error).rstrip('.')}."
            ) from error
        pieces = [sink.getbuffer(), *(buffer.raw() for buffer in buffers)]
        spans, at = [], 0
        for piece in pieces:
            spans.append((at, piece.nbytes))
            at += -(-piece.nbytes // _ALIGN) * _ALIGN
        size = max(at, 1)
        try:
            self._block: _Anonymous | SharedMemory = (
                _Anonymous(size) if _ANONYMOUS else SharedMemory(create=True, size=size)
            )
        except OSError as error:
            raise FullrankError(
                f"The workers' shared memory needs {size / 1e9:,.2f} GB, which this machine "
                f"cannot provide: {error.strerror}."
            ) from error
        memory: Any = self._block.buf
        for (start, length), piece in zip(spans, pieces, strict=True):
            memory[start : start + length] = piece.cast("B")
        key = (os.getpid(), next(_numbers))
        self.handle = Handle(key, self._block.name, size, tuple(spans))

    def close(self) -> None:
        self._block.close()
        if isinstance(self._block, SharedMemory):
            self._block.unlink()


def opened(handle: Handle) -> Any:
    """Return the object, with its arrays in the shared memory."""
    if _ANONYMOUS:
        descriptor = os.open(handle.block, os.O_RDWR)
        try:
            memory = memoryview(mmap.mmap(descriptor, handle.size))
        finally:
            os.close(descriptor)
    else:
        block = SharedMemory(handle.block)
        _attached.append(block)  # its arrays die with it
        assert block.buf is not None
        memory = block.buf
    stream, *buffers = (memory[start : start + length] for start, length in handle.spans)
    return pickle.loads(stream, buffers=buffers)


class _Pickler(pickle.Pickler):
    """Takes only the place of an array that lies in a file."""

    def reducer_override(self, thing: Any) -> Any:
        where = mapped_arrays.place(thing) if isinstance(thing, np.ndarray) else None
        return NotImplemented if where is None else (mapped_arrays.reopened, tuple(where))


class _Anonymous:
    """A file without a name, which other processes of the same user find through /proc."""

    def __init__(self, size: int) -> None:
        self._descriptor = os.memfd_create("fullrank")
        try:
            # reserved now: writing to memory that is not there would kill the process
            os.posix_fallocate(self._descriptor, 0, size)
            self.buf = mmap.mmap(self._descriptor, size)
        except BaseException:
            os.close(self._descriptor)
            raise
        self.name = f"/proc/{os.getpid()}/fd/{self._descriptor}"

    def close(self) -> None:
        self.buf.close()
        os.close(self._descriptor)


_ANONYMOUS = sys.platform == "linux" and hasattr(os, "memfd_create")
_attached: list[SharedMemory] = []
