"""Inputs: bytes of valid files changed a little, and values that no caller should give."""

from __future__ import annotations

import random
import struct
import warnings
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

# Numbers at the edges of types, as they stand in headers and as text.
NUMBERS = (0, 1, 2, 7, 127, 128, 255, 256, 32767, 65535, 2**31 - 1, 2**31, 2**32, 2**53, 10**12,
           2**63 - 1, 2**63, 2**64 - 1, -1, -2, -(2**31), -(2**63))  # fmt: skip
WORDS = (b"", b"0", b"-1", b"1e999", b"nan", b"inf", b"NaN", b"1.5", b"true", b"null", b"None",
         b"9" * 30, b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b"\x1b[31m", "\u202e".encode(), b"\r",
         b"\n", b'"', b"'", b",", b"\t", b"{", b"}", b"[", b"]", b":", b"../", b"%s",
         b"1_000", b"[" * 3000)  # fmt: skip
NAMES = ("a", "", " ", "a\nb", "\x1b[31mred\x1b[0m", "\u202eabc", "\x00", "x" * 300, "é", "🙂",
         "\ud800", "__class__", "a|b", "<b>", "rank", "\u2028", "%s", "{0}", "../x")  # fmt: skip


def mutated(source: random.Random, content: bytes, others: Sequence[bytes] = ()) -> bytes:
    """A copy with a few changes: bits, numbers, words, pieces cut, doubled, moved or taken."""
    data = bytearray(content)
    for _ in range(1 + _few(source, 1.25, 12)):
        _CHANGES[source.randrange(len(_CHANGES))](source, data, others)
        if len(data) > 1 << 18:
            del data[1 << 18 :]
    return bytes(data)


def _few(source: random.Random, mean: float, most: int = 4096) -> int:
    """A number that is seldom much larger than its mean."""
    return int(min(source.expovariate(1 / mean), most))


def _at(source: random.Random, data: bytearray) -> int:
    # the ends hold headers and footers: half of the changes go there
    if data and source.random() < 0.5:
        near = 1 + _few(source, 24, len(data) - 1)
        return near - 1 if source.random() < 0.5 else len(data) - near
    return source.randrange(len(data) + 1)


def _bit(source: random.Random, data: bytearray, others: Sequence[bytes]) -> None:
    if data:
        data[min(_at(source, data), len(data) - 1)] ^= 1 << source.randrange(8)


def _byte(source: random.Random, data: bytearray, others: Sequence[bytes]) -> None:
    if data:
        data[min(_at(source, data), len(data) - 1)] = source.randrange(256)


def _number(source: random.Random, data: bytearray, others: Sequence[bytes]) -> None:
    width = source.choice((1, 2, 4, 8))
    value = source.choice(NUMBERS) & (256**width - 1)
    at = _at(source, data)
    order = "<" if source.random() < 0.8 else ">"
    data[at : at + width] = struct.pack(
        f"{order}{ {1: 'B', 2: 'H', 4: 'I', 8: 'Q'}[width] }", value
    )


def _word(source: random.Random, data: bytearray, others: Sequence[bytes]) -> None:
    at, word = _at(source, data), source.choice(WORDS)
    data[at : at + source.choice((0, 1, len(word)))] = word


def _digits(source: random.Random, data: bytearray, others: Sequence[bytes]) -> None:
    """Another number in the place of one that stands as text."""
    places = [i for i, one in enumerate(data[:4096]) if 48 <= one <= 57]
    if places:
        at = end = source.choice(places)
        while end < len(data) and 48 <= data[end] <= 57:
            end += 1
        data[at:end] = str(source.choice(NUMBERS)).encode()


def _cut(source: random.Random, data: bytearray, others: Sequence[bytes]) -> None:
    at = _at(source, data)
    del data[at : at + 1 + _few(source, 16)]


def _double(source: random.Random, data: bytearray, others: Sequence[bytes]) -> None:
    at, size = _at(source, data), 1 + _few(source, 16)
    data[at:at] = data[at : at + size] * source.choice((1, 1, 2, 40))


def _move(source: random.Random, data: bytearray, others: Sequence[bytes]) -> None:
    at, size = _at(source, data), 1 + _few(source, 16)
    piece = data[at : at + size]
    del data[at : at + size]
    to = _at(source, data)
    data[to:to] = piece


def _end(source: random.Random, data: bytearray, others: Sequence[bytes]) -> None:
    if source.random() < 0.5:
        del data[_at(source, data) :]
    else:
        data += source.randbytes(1 + _few(source, 8))


def _take(source: random.Random, data: bytearray, others: Sequence[bytes]) -> None:
    if others:
        other = source.choice(others)
        cut, at = source.randrange(len(other) + 1), _at(source, data)
        data[at:] = other[cut:]


_CHANGES: tuple[Callable[[random.Random, bytearray, Sequence[bytes]], None], ...] = (
    _bit, _bit, _byte, _number, _number, _word, _word, _digits, _digits, _cut, _double, _move,
    _end, _take,
)  # fmt: skip


def anything(source: random.Random) -> Any:
    """A value of no particular kind."""
    return source.choice(_ANYTHING)(source)


_ANYTHING: tuple[Callable[[random.Random], Any], ...] = (
    lambda s: None,
    lambda s: s.random() < 0.5,
    lambda s: s.choice(NUMBERS),
    lambda s: s.choice(NUMBERS),
    lambda s: s.choice((-(10**30), 10**400, 3.7, -0.5, 0.0, 1.0, 1e308, 5e-324)),
    lambda s: s.choice((float("nan"), float("inf"), -float("inf"))),
    lambda s: s.choice(NAMES),
    lambda s: s.choice((b"", b"abc", bytearray(3), memoryview(b"12"))),
    lambda s: s.choice(([], [1], [1, "a"], [[1], [1, 2]], [None], (), {}, {"a": 1}, set(), {1, 2})),
    lambda s: s.choice((1j, Decimal("1.5"), Decimal("NaN"), Fraction(1, 3), object(), int, len)),
    lambda s: s.choice((np.float32(2.5), np.int8(-3), np.uint64(2**64 - 1), np.bool_(True))),
    lambda s: s.choice((np.datetime64("NaT"), np.timedelta64(3, "s"), np.str_("x"), np.nan)),
    lambda s: spoiled_array(s, np.arange(1, 2 + s.randrange(6))),
    lambda s: iter([1, 2]),
    lambda s: lambda *given, **named: np.nan,
)  # fmt: skip


def spoiled_array(source: random.Random, array: Any) -> Any:
    """An array with one entry, its type or its shape changed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return source.choice(_SPOILERS)(source, np.array(array))
    except (ValueError, OverflowError, TypeError):  # numpy has no such array
        return array


def _entry(value: Any) -> Callable[[random.Random, Any], Any]:
    def spoil(source: random.Random, array: Any) -> Any:
        # lists and objects hold what arrays of numbers cannot
        if array.size == 0 or array.ndim != 1:
            return array
        entries = array.tolist()
        entries[source.randrange(len(entries))] = value
        try:
            return np.array(entries) if source.random() < 0.7 else entries
        except (ValueError, OverflowError):
            return entries

    return spoil


def _cast(kind: str) -> Callable[[random.Random, Any], Any]:
    def spoil(source: random.Random, array: Any) -> Any:
        try:
            with np.errstate(all="ignore"):
                return array.astype(kind)
        except (TypeError, ValueError):
            return array

    return spoil


_SPOILERS: tuple[Callable[[random.Random, Any], Any], ...] = (
    *(_entry(one) for one in (0, -1, 0.5, float("nan"), float("inf"), 2**31, 2**62, 2**63,
                              -(2**63), 10**30, 1e300, None, "x", "1", b"1", True, 1j, [1],
                              "a\nb", "\ud800")),
    *(_cast(one) for one in ("f2", "f4", ">f8", "g", "i1", "u8", ">i4", "?", "O", "U", "S", "c16",
                             "m8[s]")),
    lambda s, a: a[:0],
    lambda s, a: a[:1],
    lambda s, a: a[::-1],
    lambda s, a: a[::2],
    lambda s, a: a.reshape(1, -1) if a.ndim == 1 else a.ravel(),
    lambda s, a: a[..., None],
    lambda s, a: np.concatenate([a, a]) if a.ndim else a,
    lambda s, a: a.tolist(),
    lambda s, a: tuple(a.tolist()),
    lambda s, a: range(a.size),
    lambda s, a: np.ma.masked_array(a, mask=np.arange(a.size).reshape(a.shape) == 0),
    lambda s, a: a.reshape(-1)[0] if a.size else a,
    lambda s, a: np.zeros_like(a),
    lambda s, a: [a, a[:1]],
    lambda s, a: dict(enumerate(a.tolist())),
    lambda s, a: set(map(str, a.ravel().tolist())),
)  # fmt: skip


def spoiled(source: random.Random, named: dict[str, Any], rate: float = 0.7) -> dict[str, Any]:
    """Arguments of which, with chance `rate`, one or two are not what they must be."""
    changed = dict(named)
    while changed and source.random() < rate:
        name = source.choice(sorted(changed))
        value = changed[name]
        if isinstance(value, np.ndarray | list | tuple) and source.random() < 0.75:
            changed[name] = spoiled_array(source, value)
        else:
            changed[name] = anything(source)
        rate *= 0.4
    return changed


class FromBytes(random.Random):
    """A generator whose every bit is read from given bytes, zeros when they are used up."""

    def __init__(self, content: bytes) -> None:
        self.content, self.place = content, 0
        super().__init__(0)

    def seed(self, *_: Any, **__: Any) -> None:
        """There is nothing to seed."""

    def getrandbits(self, k: int) -> int:
        n = (k + 7) // 8
        piece = self.content[self.place : self.place + n].ljust(n, b"\0")
        self.place += n
        return int.from_bytes(piece, "little") >> (8 * n - k)

    def random(self) -> float:
        return self.getrandbits(53) * 2.0**-53
