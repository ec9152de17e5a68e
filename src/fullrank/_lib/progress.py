"""Progress: silent by default."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from fullrank.errors import InputError

Progress = Callable[[int, int], Any]


def reporter(progress: bool | Progress | None, label: str) -> Progress | None:
    """A function of (done, total), or None for silence; True writes one line to stderr."""
    if progress is None or progress is False:
        return None
    if progress is True:
        return lambda done, total: _write(label, done, total)
    if callable(progress):
        return progress
    raise InputError(
        f"`progress` must be None, True or a function of (done, total), not {progress!r}."
    )


def _write(label: str, done: int, total: int) -> None:
    end = "\n" if done >= total else ""
    sys.stderr.write(f"\r{label}: {done:,} of {total:,} ({done / max(total, 1):.0%}){end}")
    sys.stderr.flush()
