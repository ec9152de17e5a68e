"""Files: written under a temporary name and renamed, so that none is ever incomplete."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fullrank._lib.text import because, printable
from fullrank.errors import FullrankError, InputError, WriteError

PathLike = str | os.PathLike[str]


@contextlib.contextmanager
def replacing(path: PathLike) -> Iterator[Path]:
    """Give a temporary path beside `path` that replaces it when the block succeeds.

    If `path` is a symbolic link, the link is replaced and its target is left unchanged, so that a
    link placed by another program cannot redirect the content. Links among the parent folders are
    followed. If the system cannot write, for example on a full disk, a WriteError is raised and no
    file is left behind.
    """
    target = _path(path)
    shown = printable(target)
    with _reachable(shown):
        if target.is_dir():
            raise InputError(f"`path` must name a file; {shown} is a folder.")
        if target.exists() and not target.is_file():  # renaming would take a device's place
            raise InputError(f"`path` must name a file; {shown} is a device or a pipe.")
    try:
        handle, name = tempfile.mkstemp(
            dir=target.parent, prefix=f".{_short(target.name)}.", suffix=".tmp"
        )
    except (OSError, ValueError) as error:
        raise InputError(f"`path` must be writable; {shown} is not: {reason(error)}.") from error
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        # mkstemp makes files private; give the result what open() would have given
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
    except OSError as error:
        if isinstance(error, FullrankError):
            raise
        raise WriteError(f"{shown} could not be written: {reason(error)}.") from error
    finally:
        with contextlib.suppress(OSError):  # the first error is the one to tell
            temporary.unlink(missing_ok=True)


def existing(path: PathLike, argument: str = "path", *, folders: bool = False) -> Path:
    """Return the path of an existing file, or folder; `argument` is its name in errors."""
    source = _path(path)
    shown = printable(source)
    with _reachable(shown, argument):
        if not source.exists():
            raise InputError(f"`{argument}` must name a file; {shown} does not exist.")
        if not source.is_file() and not (folders and source.is_dir()):
            raise InputError(f"`{argument}` must name a file; {shown} is not one.")
    return source


def _path(path: Any) -> Path:
    try:
        return Path(path)
    except TypeError:
        raise InputError(f"`path` must be text or a path, not {type(path).__name__}.") from None


@contextlib.contextmanager
def _reachable(shown: str, argument: str = "path") -> Iterator[None]:
    """Names that are too long, and folders that may not be looked into."""
    try:
        yield
    except OSError as error:
        raise InputError(
            f"`{argument}` must name an accessible file; {shown} is not accessible: "
            f"{reason(error)}."
        ) from error


def reason(error: Exception) -> str:
    """Return why a file could not be opened, as the end of a sentence."""
    return getattr(error, "strerror", None) or because(error)


def _short(name: str) -> str:
    """So much of a name that what is added to it fits into 255 bytes."""
    return os.fsencode(name)[:100].decode("utf-8", "ignore")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
