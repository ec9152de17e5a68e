"""The small language of the command line: ``name:value,setting=value,…``.

A list of whole numbers, such as the widths of a network's layers, is written 64/32/16.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fullrank.errors import InputError

_WORDS: Mapping[str, Any] = {"true": True, "false": False, "none": None}


@dataclass(frozen=True)
class Spec:
    """A name, optionally a value without a name, and settings."""

    name: str
    main: Any = None
    settings: Mapping[str, Any] = field(default_factory=dict)


def parse_spec(argument: str, text: str) -> Spec:
    """Read ``ease:regularization=500`` or ``sampled:100,replacement=true``.

    Examples
    --------
    >>> parse_spec("design", "sampled:100,replacement=true")
    Spec(name='sampled', main=100, settings={'replacement': True})
    """
    name, colon, rest = text.partition(":")
    main, settings = None, {}
    for place, piece in enumerate(rest.split(",") if colon else ()):
        key, equals, value = (part.strip() for part in piece.partition("="))
        if not piece.strip() or (equals and not (key and value)) or (not equals and place > 0):
            raise InputError(
                f"`{argument}` must be written as name:setting=value,setting=value, not {text!r}."
            )
        if not equals:
            main = _value(key)
        elif key in settings:
            raise InputError(f"`{argument}` must give {key} once; {text!r} gives it twice.")
        else:
            settings[key] = _value(value)
    return Spec(name.strip(), main, settings)


def _value(text: str) -> Any:
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    for kind in (int, float, _widths):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _widths(text: str) -> tuple[int, ...]:
    """Whole numbers as in 64/32/16; any other text with a slash stays text."""
    first, *others = text.split("/")
    if not others:
        raise ValueError
    return tuple(int(one) for one in (first, *others))
