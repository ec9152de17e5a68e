"""How contracts tell what was broken."""

from __future__ import annotations


def expect(true: bool, promise: str) -> None:
    """Raise AssertionError with the promise, as a sentence, unless it was kept."""
    if not true:
        raise AssertionError(f"{promise}.")
