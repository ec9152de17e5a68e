"""Files: written under a temporary name and renamed, so that none is ever half there."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from fullrank.errors import InputError

PathLike = str | os.PathLike[str]


@contextlib.contextmanager
def replacing(path: PathLike) -> Iterator[Path]:
    """A temporary path beside `path` that takes its place when the block succeeds."""
    target = Path(path)
    if target.is_dir():
        raise InputError(f"`path` must name a file; {target} is a folder.")
    if target.exists() and not target.is_file():  # renaming would take a device's place
        raise InputError(f"`path` must name a file; {target} is a device or a pipe.")
    try:
        handle, name = tempfile.mkstemp(
            dir=target.parent, prefix=f".{target.name[:100]}.", suffix=".tmp"
        )
    except OSError as error:
        raise InputError(f"`path` must be writable; {target} is not: {error.strerror}.") from error
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        # mkstemp makes files private; give the result what open() would have given
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def existing(path: PathLike) -> Path:
    """The path of a file that is there and is a file."""
    source = Path(path)
    if not source.exists():
        raise InputError(f"`path` must name a file; {source} does not exist.")
    if not source.is_file():
        raise InputError(f"`path` must name a file; {source} is not one.")
    return source


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
