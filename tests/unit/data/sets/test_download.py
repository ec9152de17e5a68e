"""Downloads, from a stand-in for the network: nothing here leaves the machine."""

import email.message
import hashlib
import http.client
import io
import re
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from fullrank.data.sets import datasets, download
from fullrank.errors import DataWarning, DownloadError, InputError

URL = "https://example.org/data/file.zip"


class Network:
    """Answers with given bytes; counts and keeps what it was asked for."""

    def __init__(self, content: bytes = b"x" * 1000, length: int | None = None) -> None:
        self.content, self.length, self.asked = content, length, []

    def __call__(self, request: urllib.request.Request, timeout: float) -> Any:
        self.asked.append(request.full_url)
        response = io.BytesIO(self.content)
        response.headers = email.message.Message()
        if self.length != -1:
            response.headers["Content-Length"] = str(self.length or len(self.content))
        return response


def fetch(target: Path, opener: Any, **settings: Any) -> str:
    return download.fetch(URL, target, opener=opener, **{"max_bytes": 10_000} | settings)


def test_a_file_arrives_whole(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    target = tmp_path / "new" / "file.zip"
    content = bytes(range(256)) * 4
    md5 = hashlib.md5(content).hexdigest()
    found = fetch(target, Network(content), md5=md5, progress=lambda *now: seen.append(now))
    assert target.read_bytes() == content
    assert found == hashlib.sha256(content).hexdigest()
    assert seen[-1] == (1024, 1024)
    assert [path.name for path in target.parent.iterdir()] == ["file.zip"]


def test_without_a_declared_length(tmp_path: Path) -> None:
    fetch(tmp_path / "file", Network(length=-1))
    assert (tmp_path / "file").stat().st_size == 1000


def failure(tmp_path: Path, opener: Any, **settings: Any) -> str:
    (tmp_path / "file").write_bytes(b"old")
    with pytest.raises(DownloadError) as caught:
        fetch(tmp_path / "file", opener, **settings)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_bytes() == b"old"
    return str(caught.value)


def test_the_wrong_checksum(tmp_path: Path) -> None:
    found = hashlib.md5(b"x" * 1000).hexdigest()
    assert re.search(
        rf"{URL}.*MD5.*{'0' * 32}.*{found}", failure(tmp_path, Network(), md5="0" * 32)
    )


@pytest.mark.parametrize("length", [None, -1])
def test_too_large(tmp_path: Path, length: int | None) -> None:
    assert re.search(
        rf"{URL}.*\b999\b.*\b1,000\b", failure(tmp_path, Network(length=length), max_bytes=999)
    )


def test_broken_off(tmp_path: Path) -> None:
    assert re.search(rf"{URL}.*1,000 of 2,000", failure(tmp_path, Network(length=2000)))


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            urllib.error.URLError(OSError(-2, "Name or service not known")),
            "Name or service not known.*network",
        ),
        (TimeoutError("timed out"), "timed out.*network"),
        (http.client.IncompleteRead(b"x"), "IncompleteRead.*network"),
        (
            urllib.error.HTTPError(URL, 404, "Not Found", email.message.Message(), None),
            "404 Not Found",
        ),
    ],
)
def test_no_network(tmp_path: Path, error: Exception, said: str) -> None:
    def opener(request: Any, timeout: float) -> Any:
        raise error

    assert re.search(f"{URL}.*{said}", failure(tmp_path, opener))


def test_a_cache_that_cannot_be_written_to(tmp_path: Path) -> None:
    (tmp_path / "cache").write_bytes(b"a file")
    network = Network()
    kept = tmp_path / "cache" / "x"
    with pytest.raises(DownloadError, match=f"{URL}.*{kept}.*FULLRANK_CACHE"):
        fetch(kept / "file", network)
    assert network.asked == []


def test_a_folder_that_takes_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(**_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.mkstemp", denied)
    said = failure(tmp_path, Network())
    assert re.search(f"{URL}.*{tmp_path}.*Permission denied.*FULLRANK_CACHE", said)


def test_a_full_disk_is_no_absent_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full(io.BytesIO):
        def write(self, _: object) -> int:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "open", lambda *_: Full())
    said = f"{URL}.*{tmp_path}.*No space left on device.*FULLRANK_CACHE"
    with pytest.raises(DownloadError, match=said):
        fetch(tmp_path / "file", Network())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("url", ["http://example.org/x", "file:///etc/passwd", "ftp://a/b"])
def test_only_https(tmp_path: Path, url: str) -> None:
    said = rf"{url}.*https address"
    with pytest.raises(DownloadError, match=said):
        download.fetch(url, tmp_path / "file", max_bytes=10, opener=Network())
    request = urllib.request.Request(URL)
    redirects = download.SecureRedirects()
    headers = email.message.Message()
    with pytest.raises(DownloadError, match=said):
        redirects.redirect_request(request, None, 302, "Found", headers, url)
    again = redirects.redirect_request(request, None, 302, "Found", headers, URL + "2")
    assert again is not None
    assert again.full_url == URL + "2"


def test_no_other_protocol_has_a_handler() -> None:
    assert set(download.secure_opener().handle_open) <= {"https", "http", "ftp", "no"}
    opener = download.secure_opener()
    assert not any(
        isinstance(handler, urllib.request.FileHandler | urllib.request.FTPHandler)
        or type(handler) is urllib.request.HTTPHandler
        for handler in opener.handlers
    )


# ---- by name ----


@pytest.fixture
def network(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Network:
    answers = Network(b"2 5 7\n1 5\n")

    class Opener:
        open = staticmethod(answers)

    monkeypatch.setenv("FULLRANK_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("FULLRANK_DATA", raising=False)
    monkeypatch.setattr(download, "secure_opener", Opener)
    return answers


def test_a_data_set_is_fetched_once_and_only_on_request(network: Network, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"`name`.*download=True.*'simulated'"):
        datasets.load("citeulike-a")
    assert network.asked == []
    data = datasets.load("citeulike-a", download=True)
    assert (data.n_users, data.n_items, data.n_interactions) == (2, 2, 3)
    assert network.asked == list(datasets.info("citeulike-a").urls)
    assert datasets.load("citeulike-a").n_interactions == 3
    folder = datasets.download("citeulike-a")
    assert folder == tmp_path / "cache" / "citeulike-a"
    assert len(network.asked) == 1


def test_a_wrong_checksum_leaves_nothing(network: Network, tmp_path: Path) -> None:
    with pytest.raises(DownloadError, match=r"MD5.*0e33842e24a9c977be4e01079"):
        datasets.load("ml-100k", download=True)
    assert [path for path in (tmp_path / "cache").rglob("*") if path.is_file()] == []


def test_a_checksum_is_noted_and_a_change_told(network: Network, tmp_path: Path) -> None:
    folder = datasets.download("citeulike-a", progress=None)
    first = hashlib.sha256(network.content).hexdigest()
    assert (folder / "SHA256SUMS").read_text() == f"{first}  users.dat\n"
    (folder / "users.dat").unlink()
    datasets.download("citeulike-a", progress=None)
    (folder / "users.dat").unlink()
    network.content = b"1 1\n"
    with pytest.warns(DataWarning, match=r"users\.dat.*downloaded before"):
        datasets.download("citeulike-a", progress=None)
    assert datasets.load("citeulike-a").n_interactions == 1


def test_progress_is_written_to_stderr(network: Network, capsys: Any) -> None:
    datasets.download("citeulike-a")
    assert capsys.readouterr().err.endswith("users.dat: 10 of 10 (100%)\n")


def test_what_cannot_be_fetched(network: Network) -> None:
    with pytest.raises(InputError, match=r"`name`.*book-crossing.*BX-CSV-Dump\.zip"):
        datasets.download("book-crossing")
    with pytest.raises(InputError, match=r"`name`.*lastfm-2k cannot"):
        datasets.download("lastfm-2k")
