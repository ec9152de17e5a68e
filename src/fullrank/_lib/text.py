"""Text from files and callers, made safe for a line of a terminal, a table or a message."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

_JOINERS = "\u200c\u200d"  # not printable to Python, but part of words and of emoji
_QUOTED = 200  # characters of what another library says
_LONGEST = 2000  # characters of a message


def printable(text: object) -> str:
    r"""Return text that is safe in a line of a terminal, a table or a message.

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
    """Return the decimals of a metric, which depend on its value only and are the same everywhere.

    Four decimals, or more for two significant digits; at most eight.

    >>> decimals(0.1236), decimals(0.00003)
    (4, 6)
    """
    if value is None or not math.isfinite(value) or value == 0.0:
        return 4
    return min(8, max(4, 1 - math.floor(math.log10(abs(value)))))


def because(error: BaseException) -> str:
    """Return the message of another library's error, as the end of a sentence."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    said = printable(lines[0]).rstrip(". ")
    return said if len(said) <= _QUOTED else f"{said[: _QUOTED - 1]}…"


def sentence(text: object) -> str:
    """Return a message that is safe to print whatever it quotes: one line of limited length."""
    said = printable(text)
    return said if len(said) <= _LONGEST else f"{said[: _LONGEST - 1]}…"


def counted(number: int, noun: str) -> str:
    """Return a number of things, with the noun in the plural unless there is one.

    >>> counted(1, "target"), counted(1_000, "user")
    ('1 target', '1,000 users')
    """
    return f"{number:,} {noun if number == 1 else plural(noun)}"


def plural(noun: str) -> str:
    """Return the plural of a noun.

    >>> plural("user"), plural("loss")
    ('users', 'losses')
    """
    return f"{noun}es" if noun.endswith("s") else f"{noun}s"


def enumerated(parts: Sequence[str]) -> str:
    """Return parts as a list within a sentence.

    >>> enumerated(["a"]), enumerated(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def listed(names: Iterable[str]) -> str:
    """Return names as Python writes them, separated by commas, as many as fit a sentence."""
    said = ", ".join(map(repr, names))
    return said if len(said) <= 3 * _QUOTED else f"{said[: 3 * _QUOTED - 1]}…"
