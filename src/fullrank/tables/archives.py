"""Files inside folders and archives, read one after the other and never written to disk.

Nothing is extracted, so no name in an archive can become a path. Archives with content that only a
hostile or broken archive would have are nevertheless refused as a whole.
"""

from __future__ import annotations

import bz2
import errno
import fnmatch
import gzip
import io
import lzma
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from lzma import LZMAError
from pathlib import Path, PurePosixPath
from typing import IO, Any, TypeVar

from fullrank._lib.checks import because, printable
from fullrank.errors import InputError

MAX_BYTES = 16 * 2**30  # more than any data set here unpacks to
MAX_RATIO = 200  # text packs ten to one; a bomb a thousand to one
MAX_MEMBERS = 100_000

_DAMAGES = (zipfile.BadZipFile, tarfile.TarError, zlib.error, LZMAError, EOFError, struct.error,
            OverflowError, UnicodeError, IndexError)  # fmt: skip
Member = tuple[str, IO[bytes]]
Result = TypeVar("Result")


def read_members(
    source: Path, patterns: Sequence[str], read: Callable[[str, IO[bytes]], Result]
) -> list[Result]:
    """Return the results of `read` on the name and content of each file that matches a pattern."""
    try:
        return [read(name, stream) for name, stream in _members(source, patterns)]
    except _DAMAGES as error:
        raise _damaged(source) from error
    except OSError as error:
        # the system's own have a number; but "invalid argument" is a place before the beginning
        if error.errno not in (None, errno.EINVAL):
            raise
        raise _damaged(source) from error
    except (RuntimeError, NotImplementedError) as error:  # a password, a rare way of packing
        raise InputError(
            f"{printable(source.name)} must be a plain archive; it is not: {because(error)}."
        ) from error


def names(source: Path, patterns: Sequence[str]) -> list[str]:
    """Return the names of the files that match a pattern."""
    if source.is_dir():
        return [path.name.removesuffix(".gz") for path in _wanted_files(source, patterns)]
    return read_members(source, patterns, lambda name, _: name)


def fits(name: str, patterns: Sequence[str]) -> bool:
    """Return whether a name matches a pattern; hidden files, which some systems add, never do."""
    return not name.startswith(".") and any(
        fnmatch.fnmatchcase(name, pattern) for pattern in patterns
    )


def _members(source: Path, patterns: Sequence[str]) -> Iterator[Member]:
    if source.is_dir():
        for path in _wanted_files(source, patterns):
            with path.open("rb") as stream:
                yield path.name.removesuffix(".gz"), _plain(path, stream, source)
    elif source.name.endswith(".zip"):
        yield from _of_zip(source, patterns)
    else:
        with source.open("rb") as stream:
            unpacked = gzip.GzipFile(fileobj=stream) if source.suffix != ".tar" else stream
            limited = io.BufferedReader(_Limited(unpacked, _limit(source), source))
            yield from _of_tar(limited, patterns, source)


def _wanted_files(folder: Path, patterns: Sequence[str]) -> list[Path]:
    return [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and fits(path.name.removesuffix(".gz"), patterns)
    ]


def _of_zip(source: Path, patterns: Sequence[str]) -> Iterator[Member]:
    with zipfile.ZipFile(source) as archive:
        entries = archive.infolist()
        for entry in entries:
            _check_name(entry.filename, source)
            if stat.S_ISLNK(entry.external_attr >> 16):
                raise _refused(source, f"{entry.filename!r} is a link")
        _check_size(sum(entry.file_size for entry in entries), len(entries), source)
        for entry in entries:
            name = PurePosixPath(entry.filename).name
            if not entry.is_dir() and fits(name, patterns):
                # zipfile gives no more bytes than were declared, and checks their sum
                with archive.open(entry) as stream:
                    yield name, stream


def _of_tar(stream: IO[bytes], patterns: Sequence[str], source: Path) -> Iterator[Member]:
    n_bytes = n_members = 0
    with tarfile.open(fileobj=stream, mode="r|") as archive:
        for entry in archive:
            _check_name(entry.name, source)
            if not (entry.isfile() or entry.isdir()):
                raise _refused(source, f"{entry.name!r} is a link or a device")
            n_bytes, n_members = n_bytes + entry.size, n_members + 1
            _check_size(n_bytes, n_members, source)
            name = PurePosixPath(entry.name).name
            content = archive.extractfile(entry)
            if content is None:  # a folder
                continue
            if name.endswith(".tar"):  # the Netflix files come as a tar in a tar
                yield from _of_tar(content, patterns, source)
            elif fits(name, patterns):
                yield name, content


def unpacked(path: Path, handle: IO[bytes]) -> IO[bytes]:
    """Return the content of an open compressed file, with a limit on its expansion."""
    opened = _PACKERS[path.suffix.lower()](handle)
    return io.BufferedReader(_Limited(opened, _limit(path), path))


def _zst(handle: IO[bytes]) -> Any:
    import pyarrow as pa

    return pa.CompressedInputStream(pa.PythonFile(_Kept(handle), mode="r"), "zstd")


class _Kept(io.RawIOBase):
    """An open file that stays open when its reader is done."""

    def __init__(self, handle: IO[bytes]) -> None:
        self._handle = handle

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer).cast("B")  # type: ignore[arg-type]
        content = self._handle.read(len(view))
        view[: len(content)] = content
        return len(content)


_PACKERS: dict[str, Callable[[Any], Any]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
    ".zst": _zst,
}


def _plain(path: Path, stream: IO[bytes], source: Path) -> IO[bytes]:
    if path.suffix != ".gz":
        return stream
    return io.BufferedReader(_Limited(gzip.GzipFile(fileobj=stream), _limit(path), source))


class _Limited(io.RawIOBase):
    """A stream that refuses to give more bytes than its packed size can honestly hold."""

    def __init__(self, stream: Any, limit: int, source: Path) -> None:
        self._stream, self._left, self._source = stream, limit, source

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer).cast("B")  # type: ignore[arg-type]
        content = self._stream.read(len(view))
        self._left -= len(content)
        if self._left < 0:
            raise _refused(self._source, "it unpacks to far more than its size")
        view[: len(content)] = content
        return len(content)


def _limit(packed: Path) -> int:
    return min(MAX_BYTES, MAX_RATIO * packed.stat().st_size + 2**20)


def _check_size(n_bytes: int, n_members: int, source: Path) -> None:
    if n_bytes > _limit(source) or n_members > MAX_MEMBERS:
        raise _refused(source, f"it declares {n_bytes:,} bytes in {n_members:,} files")


def _check_name(name: str, source: Path) -> None:
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or (path.parts and ":" in path.parts[0]):
        raise _refused(source, f"{name!r} points outside of it")


def _damaged(source: Path) -> InputError:
    return InputError(f"{printable(source.name)} must be an intact archive; it is damaged.")


def _refused(source: Path, why: str) -> InputError:
    return InputError(f"{printable(source.name)} must be an archive that can be trusted; {why}.")
