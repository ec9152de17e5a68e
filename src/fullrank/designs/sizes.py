"""Sizes of samples: what is allowed, and how the levels of an adaptive design grow."""

from __future__ import annotations

import math
from typing import Any

from fullrank._lib import checks, memory
from fullrank.errors import InputError


def checked_size(name: str, value: Any, *, n_items: int, replacement: bool) -> int:
    """A sample size: 2 or more, and without replacement no more than there are items."""
    size = checks.integer(name, value, low=2)
    if not replacement and size > n_items:
        raise InputError(
            f"`{name}` must draw at most {n_items} candidates without replacement, as many as "
            f"there are items, not {size}."
        )
    memory.ask(name, 32 * size, f"{size:,} items drawn for a user")
    return size


def growing_levels(first: int, last: int, growth: float = 2.0) -> tuple[int, ...]:
    """Levels from `first` to `last`, each `growth` times the one before, rounded up.

    Examples
    --------
    >>> growing_levels(25, 250)
    (25, 50, 100, 200, 250)
    """
    levels = [first]
    while (level := levels[-1] * growth) < last:  # which may be infinite
        levels.append(math.ceil(level))
    return tuple(levels) if levels[-1] == last else (*levels, last)
