"""Fingerprints, which show whether a run is resumed with the same data and models."""

from __future__ import annotations

import hashlib
import os
import pickle
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import numpy as np

_PIECE = 1 << 24


def fingerprint(*things: Any) -> str:
    """Return 32 hexadecimal digits that change with any number in the arguments.

    Arrays are read by their bytes, objects by their class and attributes, and functions by their
    code and what it refers to in their own module. An object that cannot be inspected gets a random
    fingerprint, so a run with it cannot be resumed.

    Examples
    --------
    >>> fingerprint([1, 2], "a") == fingerprint([1, 2], "a") != fingerprint([1, 3], "a")
    True
    """
    reading = _Reading()
    for thing in things:
        reading.feed(thing)
    return reading.sink.hexdigest()


def file_fingerprint(path: Path) -> str:
    """Return the fingerprint of a file's bytes."""
    sink = hashlib.blake2b(digest_size=16)
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            sink.update(piece)
    return sink.hexdigest()


class _Reading:
    """One walk through things that may refer to each other."""

    def __init__(self) -> None:
        self.sink = hashlib.blake2b(digest_size=16)
        self._met: dict[int, tuple[int, Any]] = {}  # held, so that no other gets its number
        self._home: Any = None  # the names around the first function

    def feed(self, thing: Any) -> None:
        if thing is None or isinstance(
            thing, bool | int | float | complex | str | bytes | np.generic
        ):
            self._note(f"{type(thing).__name__} {thing!r}")
        elif isinstance(thing, np.ndarray):  # whether two are one is of no account
            self._feed_array(thing)
        elif id(thing) in self._met:
            self._note(f"again {self._met[id(thing)][0]}")
        else:
            self._met[id(thing)] = len(self._met), thing
            self._feed_new(thing)

    def _note(self, text: str) -> None:
        self.sink.update(f"{text} ".encode("utf-8", "surrogatepass"))

    def _feed_new(self, thing: Any) -> None:
        if isinstance(thing, list | tuple | dict):
            pieces = list(thing.items()) if isinstance(thing, dict) else list(thing)
            self._note(f"{type(thing).__name__} {len(pieces)}")
            for piece in pieces:
                self.feed(piece)
        elif isinstance(thing, ModuleType):
            self._note(f"module {thing.__name__} {getattr(thing, '__version__', '')}")
        elif isinstance(thing, CodeType):
            self._note(f"code {thing.co_name}")
            self.feed([thing.co_code, thing.co_names, thing.co_consts])
        elif hasattr(thing, "__code__"):
            self._feed_function(thing)
        else:
            self._feed_object(thing)

    def _feed_array(self, array: Any) -> None:
        self._note(f"array {array.dtype.str} {array.shape}")
        if array.dtype.hasobject:
            self.feed(array.tolist())
            return
        flat: Any = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        for at in range(0, flat.size, _PIECE):
            self.sink.update(flat[at : at + _PIECE])

    def _feed_function(self, function: Any) -> None:
        code = function.__code__
        self._note(f"function {function.__qualname__}")
        outside = getattr(function, "__globals__", {})
        self._home = outside if self._home is None else self._home
        used = _names(code) if outside is self._home else ()  # not all of a library that it calls
        self.feed(
            [
                code,
                getattr(function, "__self__", None),  # of a method
                [cell.cell_contents for cell in function.__closure__ or ()],
                [function.__defaults__, function.__kwdefaults__],
                {name: outside[name] for name in used if name in outside},
            ]
        )

    def _feed_object(self, thing: Any) -> None:
        kind = thing if isinstance(thing, type) else type(thing)
        self._note(f"object {kind.__module__}.{kind.__qualname__}")
        if isinstance(thing, type):
            return
        if is_dataclass(thing):
            self.feed({f.name: getattr(thing, f.name, None) for f in fields(thing)})
        elif kind.__module__.startswith(("fullrank.", "scipy.")) and hasattr(thing, "__dict__"):
            self.feed(vars(thing))
        else:
            buffers: list[pickle.PickleBuffer] = []
            try:
                self.sink.update(pickle.dumps(thing, protocol=5, buffer_callback=buffers.append))
            except Exception:  # whatever a foreign class raises
                self.sink.update(os.urandom(16))
                return
            self.feed([np.frombuffer(buffer.raw(), np.uint8) for buffer in buffers])


def _names(code: CodeType) -> list[str]:
    """What the code of a function, and of those within it, refers to by name."""
    inner = [name for one in code.co_consts if isinstance(one, CodeType) for name in _names(one)]
    return [*code.co_names, *inner]
