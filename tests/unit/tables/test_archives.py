"""Archives that nobody should trust are refused, and nothing is written while they are read."""

import gzip
import io
import re
import stat
import tarfile
import zipfile
from pathlib import Path

import pytest

from fullrank.errors import InputError
from fullrank.tables import archives


def zipped(path: Path, *entries: tuple[str | zipfile.ZipInfo, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries:
            archive.writestr(name, content)
    return path


def tarred(path: Path, *entries: tarfile.TarInfo) -> Path:
    with tarfile.open(path, "w:gz" if path.suffix == ".gz" else "w") as archive:
        for entry in entries:
            archive.addfile(entry, io.BytesIO(bytes(entry.size)))
    return path


def entry(name: str, kind: bytes = tarfile.REGTYPE, size: int = 0) -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    made.type, made.size, made.linkname = kind, size, "/etc/passwd" if kind != b"0" else ""
    return made


def refusal(path: Path) -> str:
    before = sorted(path.parent.rglob("*"))
    with pytest.raises(InputError) as caught:
        archives.read_members(path, ["*"], lambda _, stream: stream.read())
    assert sorted(path.parent.rglob("*")) == before
    return str(caught.value)


OUTSIDE = ["../u.data", "a/../../u.data", "/u.data", "..\\u.data", "C:\\u.data", "\\u.data"]


@pytest.mark.parametrize("name", OUTSIDE)
def test_names_that_point_outside(tmp_path: Path, name: str) -> None:
    outside = f"{re.escape(repr(name))}.*outside"
    path = zipped(tmp_path / "a.zip", ("fine", b"1"), (name, b"1"))
    assert re.search(rf"a\.zip.*{outside}", refusal(path))
    path = tarred(tmp_path / "a.tar.gz", entry("fine"), entry(name))
    assert re.search(rf"a\.tar\.gz.*{outside}", refusal(path))


def test_links_in_a_zip(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("u.data")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    path = zipped(tmp_path / "a.zip", (link, b"/etc/passwd"))
    assert re.search(r"a\.zip.*'u\.data'.*link", refusal(path))


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE]
)
def test_links_and_devices_in_a_tar(tmp_path: Path, kind: bytes) -> None:
    path = tarred(tmp_path / "a.tar", entry("fine"), entry("u.data", kind))
    assert re.search(r"a\.tar.*'u\.data'.*link", refusal(path))


def test_a_bomb_that_declares_itself(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", ("u.data", bytes(2**23)))
    assert path.stat().st_size < 2**14
    assert re.search(r"a\.zip.*8,388,608.*\b1\b", refusal(path))


def test_a_bomb_that_lies(tmp_path: Path) -> None:
    """The declared size is altered in both places that a zip has it: no more than that is given."""
    path = zipped(tmp_path / "a.zip", ("u.data", bytes(2**22)))
    size = (2**22).to_bytes(4, "little")
    path.write_bytes(path.read_bytes().replace(size, (100).to_bytes(4, "little")))
    assert re.search(r"a\.zip.*damaged", refusal(path))


@pytest.mark.parametrize("size", [2**23, 3 * 2**20])
def test_a_bomb_in_a_packed_tar(tmp_path: Path, size: int) -> None:
    path = tarred(tmp_path / "a.tar.gz", *(entry(str(number), size=size) for number in range(4)))
    assert re.search(r"a\.tar\.gz.*trusted", refusal(path))


def test_a_bomb_in_a_packed_file(tmp_path: Path) -> None:
    (tmp_path / "u.data.gz").write_bytes(gzip.compress(bytes(2**23)))
    assert re.search(rf"{tmp_path.name}.*unpacks", refusal(tmp_path))


def test_too_many_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MAX_MEMBERS", 2)
    path = zipped(tmp_path / "a.zip", *((str(number), b"") for number in range(3)))
    assert re.search(r"a\.zip.*\b0\b.*\b3\b", refusal(path))


@pytest.mark.parametrize("name", ["a.zip", "a.tar.gz", "a.tar"])
def test_damage(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"not an archive at all" * 100)
    assert re.search(rf"{name}.*damaged", refusal(path))


@pytest.mark.parametrize("how", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_damage_inside(tmp_path: Path, how: int) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", how) as archive:
        archive.writestr("u.data", b"".join(b"%d\n" % (7919 * n % 1009) for n in range(1000)))
    content = bytearray(path.read_bytes())
    content[60:90] = bytes(30)
    path.write_bytes(content)
    assert re.search(r"a\.zip.*damaged", refusal(path))


def test_what_the_system_says_is_no_damage(tmp_path: Path) -> None:
    def read(name: str, stream: object) -> None:
        raise PermissionError(13, "Permission denied")

    with pytest.raises(PermissionError):
        archives.read_members(zipped(tmp_path / "a.zip", ("u.data", b"1")), ["*"], read)


def test_an_archive_that_breaks_off(tmp_path: Path) -> None:
    path = tarred(tmp_path / "a.tar.gz", entry("u.data", size=100_000))
    path.write_bytes(path.read_bytes()[:-40])
    assert re.search(r"a\.tar\.gz.*damaged", refusal(path))


def test_a_password(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", ("u.data", b"1"))
    content = bytearray(path.read_bytes())
    for mark, place in ((b"PK\3\4", 6), (b"PK\1\2", 8)):  # the flag that says "encrypted"
        content[content.index(mark) + place] |= 1
    path.write_bytes(content)
    assert re.search(r"a\.zip.*plain", refusal(path))
