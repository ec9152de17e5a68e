"""Text from files and callers, made fit for a line of a terminal, a table or a message."""

from __future__ import annotations

import math
from collections.abc import Iterable

_JOINERS = "\u200c\u200d"  # not printable to Python, but part of words and of emoji
_QUOTED = 200  # characters of what another library says
_LONGEST = 2000  # characters of a message


def printable(text: object) -> str:
    r"""Text that can stand in a line of a terminal, a table or a message.

    Line breaks, control characters and escape sequences, marks that turn the direction of what
    follows and halves of surrogate pairs are shown as Python would write them.

    >>> printable("a\nb \x1b[31mred")
    'a\\nb \\x1b[31mred'
    """
    said = str(text)
    if said.isprintable():
        return said
    return "".join(one if one.isprintable() or one in _JOINERS else repr(one)[1:-1] for one in said)


def decimals(value: float | None) -> int:
    """Digits after the point of a metric, by its value alone, so that it reads alike everywhere.

    Four, and two significant digits where that is more; eight at most.

    >>> decimals(0.1236), decimals(0.00003)
    (4, 6)
    """
    if value is None or not math.isfinite(value) or value == 0.0:
        return 4
    return min(8, max(4, 1 - math.floor(math.log10(abs(value)))))


def because(error: BaseException) -> str:
    """What an error of another library says, as the end of one of our sentences."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    said = printable(lines[0]).rstrip(". ")
    return said if len(said) <= _QUOTED else f"{said[: _QUOTED - 1]}…"


def sentence(text: object) -> str:
    """A message that can be printed whatever it quotes: one line, and not without end."""
    said = printable(text)
    return said if len(said) <= _LONGEST else f"{said[: _LONGEST - 1]}…"


def listed(names: Iterable[str]) -> str:
    """Names as Python writes them, with commas between, as far as a sentence goes."""
    said = ", ".join(map(repr, names))
    return said if len(said) <= 3 * _QUOTED else f"{said[: 3 * _QUOTED - 1]}…"
