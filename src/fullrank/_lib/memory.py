"""Checks of memory before it is allocated; too large requests are refused with their size."""

from __future__ import annotations

import os
import sys
from functools import cache
from pathlib import Path

from fullrank.errors import InputError

_UNKNOWN = 64 * 2**30  # where the system does not tell
_CGROUPS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def ask(name: str, n_bytes: float, what: str = "") -> None:
    """Raise if the work that an argument implies takes more memory than this machine has.

    Parameters
    ----------
    name : str
        The argument that the error names.
    n_bytes : float
        The approximate size of the arrays to allocate.
    what : str
        What needs the memory, if the name alone does not show it.

    >>> ask("n_users", 8e18, "1,000,000,000 × 1,000,000,000 scores")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    fullrank.errors.InputError: `n_users` must be smaller: 1,000,000,000 × 1,000,000,000 scores \
would take 6.94 EiB of memory, but only ...
    """
    if n_bytes > limit():
        raise InputError(
            f"`{name}` must be smaller: {what or 'this'} would take {shown(n_bytes)} of memory, "
            f"but only {shown(limit())} is available."
        )


def shown(n_bytes: float) -> str:
    """Return bytes in the largest unit that gives a number of at least 1.

    >>> shown(3 * 2**40)
    '3.0 TiB'
    """
    for unit in ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB"):
        if n_bytes < 1024:
            return f"{n_bytes:,.0f} {unit}" if unit == "bytes" else f"{n_bytes:,.1f} {unit}"
        n_bytes /= 1024
    return f"{n_bytes:,.3g} EiB"


@cache
def limit() -> int:
    """Return the memory of this machine, or the part that this process may use."""
    known = [_UNKNOWN]
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        known = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    known += [int(text) for text in map(_read, _CGROUPS) if text.isdecimal()]
    if sys.platform != "win32":
        import resource

        most = resource.getrlimit(resource.RLIMIT_AS)[0]
        if most != resource.RLIM_INFINITY:
            known.append(most)
    return min(one for one in known if one > 0)


def _read(path: str) -> str:
    try:
        return Path(path).read_text("ascii").strip()
    except (OSError, UnicodeError):
        return ""
