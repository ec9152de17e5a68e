"""Text from users, made safe to print: in a page, in JSON within a page, in a figure."""

from __future__ import annotations

import json
import math
import re
from typing import Any

from fullrank._lib.text import printable

_IN_SCRIPT = {"<": r"\u003c", ">": r"\u003e", "&": r"\u0026", "\u2028": r"\u2028",
              "\u2029": r"\u2029"}  # fmt: skip


_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")  # that no line ends within


def clean(text: str) -> str:
    """One line of printable text; what cannot be printed is written out."""
    return printable(" ".join(text.split()))


def short(text: str, size: int = 28) -> str:
    """The text, or its beginning where it would not fit beside a figure."""
    return text if len(text) <= size else f"{text[: size - 1]}…"


def script_json(content: Any) -> str:
    """JSON that can stand in a script element: no character in it can end that element."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return "".join(_IN_SCRIPT.get(character, character) for character in text)


def as_code(text: str, markupsafe: Any) -> Any:
    """What stands between backticks as code, options in one piece, and everything escaped."""
    parts = [str(markupsafe.escape(part)) for part in text.split("`")]
    if len(parts) % 2 == 0:  # a single backtick is a backtick
        parts = [str(markupsafe.escape(text))]
    shown = (
        f"<code>{part}</code>"
        if at % 2
        else _OPTION.sub(r'<span class="option">\g<0></span>', part)
        for at, part in enumerate(parts)
    )
    return markupsafe.Markup("".join(shown))


def number(value: float | None, digits: int = 4) -> str:
    """A number with that many digits after the point; a dash where there is none."""
    return "–" if value is None or not math.isfinite(value) else f"{value:.{digits}f}"


def interval(low: float, high: float, digits: int = 4) -> str:
    """An interval in a sentence; a dash where there is none."""
    shown = number(low, digits), number(high, digits)
    return "–" if "–" in shown else f"{shown[0]} to {shown[1]}".replace("-", "−")


def outward(low: float, high: float, digits: int = 3) -> tuple[str, str]:
    """Both bounds of a value, rounded away from each other, so that they are bounds as printed."""
    unit = 10.0**digits
    least, most = math.floor(round(low * unit, 6)) / unit, math.ceil(round(high * unit, 6)) / unit
    return f"{least:.{digits}f}", f"{most:.{digits}f}"


def percent(share: float) -> str:
    """A probability in words that never say certain."""
    if share > 0.99:
        return "over 99 %"
    return "under 1 %" if share < 0.01 else f"{100 * share:.0f} %"
