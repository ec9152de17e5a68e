"""Memory-mapped arrays of files; another process maps the file instead of receiving a copy."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fullrank._lib.types import Array
from fullrank.errors import FullrankError

Mark = tuple[int, int, int]


class FileArray(np.memmap):
    """A mapped array that is never written to, so it equals its file when that was opened."""

    mark: Mark | None = None


class Place(NamedTuple):
    """The file and position of an array."""

    path: str
    mark: Mark
    offset: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]


def mark(path: Path) -> Mark:
    """Return a mark that changes when a file is written or replaced."""
    about = path.stat()
    return about.st_ino, about.st_size, about.st_mtime_ns


def open_array(path: Path) -> Array:
    """Return the mapped array of a ``.npy`` file, which must not be written to."""
    path = path.resolve()
    before = mark(path)
    # copy on write: nothing is written, and the kernels compiled for other arrays will do
    found: Any = np.lib.format.open_memmap(path, mode="c").view(FileArray)
    found.mark = before
    return np.asarray(found)


def place(array: Array) -> Place | None:
    """Return where another process finds the array; None if it is not, or no longer, in a file."""
    root: Any = array
    while root is not None and getattr(root, "mark", None) is None:
        root = root.base if isinstance(root, np.ndarray) else None
    if root is None or not array.flags.c_contiguous:
        return None
    try:
        if mark(Path(root.filename)) != root.mark:
            return None  # the map is still that of the former file
    except OSError:
        return None
    within = array.__array_interface__["data"][0] - root.__array_interface__["data"][0]
    return Place(str(root.filename), root.mark, root.offset + within, array.shape, array.dtype)


def reopened(*where: Any) -> Array:
    """Return the array at a `Place`."""
    at = Place(*where)
    try:
        same = mark(Path(at.path)) == at.mark
        found = np.memmap(at.path, at.dtype, "c", at.offset, at.shape) if same else None
    except OSError:
        found = None
    if found is None:
        raise FullrankError(f"{at.path} was changed or removed while it was in use.")
    return np.asarray(found)
