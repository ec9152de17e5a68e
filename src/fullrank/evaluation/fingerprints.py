"""Fingerprints: whether a run that goes on is given what it was begun with."""

from __future__ import annotations

import hashlib
import pickle
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

_PIECE = 1 << 24


def fingerprint(*things: Any) -> str:
    """Thirty-two hexadecimal digits that change with any number in the things.

    Arrays are read as they lie, objects by their class and attributes, functions by their code;
    what cannot be looked into counts by its class alone.

    Examples
    --------
    >>> fingerprint([1, 2], "a") == fingerprint([1, 2], "a") != fingerprint([1, 3], "a")
    True
    """
    sink = hashlib.blake2b(digest_size=16)
    for thing in things:
        _feed(sink, thing, 0)
    return sink.hexdigest()


def file_fingerprint(path: Path) -> str:
    """The same of a file's bytes."""
    sink = hashlib.blake2b(digest_size=16)
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            sink.update(piece)
    return sink.hexdigest()


def _feed(sink: Any, thing: Any, depth: int) -> None:
    if isinstance(thing, np.ndarray):
        sink.update(f"array {thing.dtype.str} {thing.shape} ".encode())
        if thing.dtype.hasobject:
            _feed(sink, thing.tolist(), depth + 1)
        else:
            flat = np.ascontiguousarray(thing).reshape(-1).view(np.uint8)
            for at in range(0, flat.size, _PIECE):
                sink.update(flat[at : at + _PIECE])
    elif thing is None or isinstance(
        thing, bool | int | float | complex | str | bytes | np.generic
    ):
        sink.update(f"{type(thing).__name__} {thing!r} ".encode())
    elif isinstance(thing, list | tuple | dict):
        pieces = list(thing.items()) if isinstance(thing, dict) else list(thing)
        sink.update(f"{type(thing).__name__} {len(pieces)} ".encode())
        for piece in pieces:
            _feed(sink, piece, depth + 1)
    elif hasattr(thing, "__code__"):
        code = thing.__code__
        closure = [cell.cell_contents for cell in thing.__closure__ or ()]
        sink.update(f"function {thing.__qualname__} ".encode() + code.co_code)
        _feed(sink, [repr(code.co_consts), closure, thing.__defaults__], depth + 1)
    else:
        _feed_object(sink, thing, depth)


def _feed_object(sink: Any, thing: Any, depth: int) -> None:
    kind = type(thing)
    sink.update(f"object {kind.__module__}.{kind.__qualname__} ".encode())
    if is_dataclass(thing):
        state: Any = {f.name: getattr(thing, f.name, None) for f in fields(thing)}
    elif kind.__module__.startswith(("fullrank.", "scipy.")) and hasattr(thing, "__dict__"):
        state = vars(thing)
    else:
        buffers: list[pickle.PickleBuffer] = []
        try:
            sink.update(pickle.dumps(thing, protocol=5, buffer_callback=buffers.append))
        except Exception:  # whatever a foreign class raises: then its name is all we know
            return
        state = [np.frombuffer(buffer.raw(), np.uint8) for buffer in buffers]
    if depth < 20:
        _feed(sink, state, depth + 1)
