"""Download a file: over https only, completely or not at all, and with a limit on its size."""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from fullrank._lib import files
from fullrank._lib.progress import Progress
from fullrank.errors import DownloadError, InputError, WriteError

BLOCK = 2**18
TIMEOUT = 30.0  # seconds without a byte

Opener = Callable[..., Any]


def fetch(
    url: str,
    target: Path,
    *,
    md5: str | None = None,
    max_bytes: int,
    progress: Progress | None = None,
    opener: Opener | None = None,
) -> str:
    """Download `url` to `target`, and return the SHA-256 of the file.

    The file appears under its name only when it is complete and its checksum is correct.
    """
    _check_secure(url)
    # servers often turn urllib's own name away
    request = urllib.request.Request(url, headers={"User-Agent": "fullrank"})
    with _kept(url, target) as temporary:
        with _failures_named(url):
            answer = (opener or secure_opener().open)(request, timeout=TIMEOUT)
        with answer as response:
            expected = _length(response)
            if expected is not None and expected > max_bytes:
                raise _too_large(url, expected, max_bytes)
            found_md5, sha256, size = _copy(response, temporary, url, max_bytes, expected, progress)
        if expected is not None and size != expected:
            raise DownloadError(
                f"{url} was cut off after {size:,} of {expected:,} bytes; try again."
            )
        if md5 is not None and found_md5 != md5:
            raise DownloadError(
                f"{url} must have the MD5 checksum {md5}, not {found_md5}; the file was damaged "
                "in transit or changed by its publisher, and was not saved."
            )
    return sha256


def _copy(
    response: Any,
    temporary: Path,
    url: str,
    max_bytes: int,
    expected: int | None,
    progress: Progress | None,
) -> tuple[str, str, int]:
    md5, sha256 = hashlib.md5(usedforsecurity=False), hashlib.sha256()
    size = 0
    with temporary.open("wb") as file:
        while block := _read(response, url):
            size += len(block)
            if size > max_bytes:
                raise _too_large(url, size, max_bytes)
            file.write(block)
            md5.update(block)
            sha256.update(block)
            if progress is not None:
                progress(size, expected or max_bytes)
    if progress is not None:
        progress(size, size)
    return md5.hexdigest(), sha256.hexdigest(), size


def _read(response: Any, url: str) -> bytes:
    with _failures_named(url):
        return bytes(response.read(BLOCK))


def _length(response: Any) -> int | None:
    text = response.headers.get("Content-Length")
    return int(text) if text is not None and text.isdecimal() else None


def secure_opener() -> urllib.request.OpenerDirector:
    """Return urllib's opener with proxies and redirects, but without handlers other than https."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.HTTPSHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
        SecureRedirects(),
    ):
        opener.add_handler(handler)
    return opener


class SecureRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect handler that follows redirects to https addresses only."""

    def redirect_request(
        self, req: Any, fp: Any, code: Any, msg: Any, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        _check_secure(newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _check_secure(url: str) -> None:
    if urlsplit(url).scheme != "https":
        raise DownloadError(f"{url} must be an https address; other addresses are not fetched.")


def _too_large(url: str, size: int, max_bytes: int) -> DownloadError:
    return DownloadError(
        f"{url} must return at most {max_bytes:,} bytes, not {size:,}; nothing was saved."
    )


@contextlib.contextmanager
def _kept(url: str, target: Path) -> Iterator[Path]:
    """A path to write to that becomes `target`; one sentence if the disk does not let it."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with files.replacing(target) as temporary:
            yield temporary
    except DownloadError:
        raise
    except (OSError, InputError) as error:
        reason = error.__cause__ if isinstance(error, InputError | WriteError) else error
        raise DownloadError(
            f"{url} could not be saved in {target.parent}: "
            f"{getattr(reason, 'strerror', None) or reason or error}; free some space, or set "
            "FULLRANK_CACHE to a writable folder."
        ) from error


@contextlib.contextmanager
def _failures_named(url: str) -> Iterator[None]:
    """One sentence for all the ways in which a network can be absent."""
    try:
        yield
    except DownloadError:  # of a redirection
        raise
    except urllib.error.HTTPError as error:
        raise DownloadError(
            f"{url} could not be downloaded: the server answered {error.code} {error.reason}."
        ) from error
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", None) or error
        raise DownloadError(
            f"{url} could not be downloaded: {getattr(reason, 'strerror', None) or reason}. "
            "Check the network connection."
        ) from error
