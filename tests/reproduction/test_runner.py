"""The studies of a source tree: what their scripts say of themselves."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from fullrank.errors import FullrankError, InputError
from reproduction import runner as studies

Write = Callable[..., None]


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """``script(name, text)`` puts a study into a source tree of its own."""
    folder = tmp_path / "benchmarks" / "studies"
    folder.mkdir(parents=True)
    monkeypatch.setattr(studies, "_ROOT", tmp_path)
    return lambda name, text: (folder / f"{name}.py").write_text(text) and None


def test_those_of_this_tree() -> None:
    found = studies.every()
    assert found["bounds"].about == (
        "Do bounds hold, how wide are they, and are they those of the design?"
    )
    assert found["bounds"].needs == ("citeulike-a", "ml-1m")
    assert not any(name.startswith("_") for name in found)
    for study in found.values():
        assert study.about.endswith((".", "?")), study
        assert study.folder == "reproduction" or not study.paper, study


def test_papers_come_first_in_their_order(script: Write) -> None:
    script("ours", '"""Ours."""\nrun("ours", study, page, repeats=3)\n')
    script("all", '"""All."""\nrun("all", study, page, folder="reproduction")\n')
    script("new", '"""New."""\nPAPER: str = "000"\nrun("new", folder="reproduction")\n')
    script("old", '"""Old.\n\nMore."""\nPAPER = "002"\nrun("old", folder="reproduction")\n')
    script("_not", '"""Not one."""\n')
    groups = studies.grouped()
    assert [[one.name for one in group] for group in groups.values()] == [
        ["old"], ["new"], ["all"], ["ours"]
    ]  # fmt: skip
    assert list(groups) == [
        studies.PAPERS["002"], studies.PAPERS["000"], "All of these papers", "Ours"
    ]  # fmt: skip
    assert studies.get("old").about == "Old."
    assert [one.folder for one in studies.every().values()] == [*["reproduction"] * 3, "studies"]


def test_what_is_not_here_is_said(
    script: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    script("one", 'NEEDS = ("ml-1m", "simulated", "yelp-diffnet")\nUSES = ("ml-20m",)\n')
    script("two", 'USES = ("ml-20m", "netflix", "msd")\n')
    script("three", 'NEEDS = ("simulated",)\n')
    monkeypatch.setenv("FULLRANK_CACHE", str(tmp_path / "kept"))
    monkeypatch.delenv("FULLRANK_DATA", raising=False)
    with pytest.raises(InputError) as found:
        studies.get("one").require()
    looked = f"FULLRANK_DATA (which is not set) and the cache ({tmp_path / 'kept'}) and not found"
    assert str(found.value) == (
        f"The study one needs ml-1m and yelp-diffnet, looked for in {looked}: fetch ml-1m with "
        f"`fullrank datasets ml-1m --download`, or set FULLRANK_DATA to a folder that has "
        f"NAME.parquet of each; --quick needs no data."
    )
    with pytest.raises(InputError, match=r"needs yelp-diffnet, .* not found: set FULLRANK_DATA to"):
        studies.get("three").require(["yelp-diffnet"])
    with pytest.raises(InputError, match=r"fetch ml-1m and gowalla with `fullrank datasets NAME"):
        studies.get("three").require(["ml-1m", "gowalla"])
    monkeypatch.setenv("FULLRANK_DATA", str(tmp_path))
    assert studies.get("two").goes_without() == (
        f"The study two takes ml-20m, netflix and msd along where it can, looked for in "
        f"FULLRANK_DATA ({tmp_path}) and the cache ({tmp_path / 'kept'}) and not found: it does "
        f"without."
    )
    studies.get("three").require()
    for name in ("ml-1m", "yelp-diffnet", "ml-20m", "netflix", "msd"):
        (tmp_path / f"{name}.parquet").touch()
    studies.get("one").require()
    assert studies.get("two").goes_without() == ""


def test_where_the_files_go(script: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    script("one", 'run("one", folder="reproduction")\n')
    asked: list[list[str]] = []

    def pretend(command: list[str], _: object) -> int:
        asked.append(command[2:])
        folder = Path(command[-1])
        (folder / "one").mkdir(exist_ok=True)
        for name in ("one-2.svg", "one-1.svg", "one/a.npz", "one.md", "one.json", "two.json"):
            (folder / name).touch()
        return 0

    monkeypatch.setattr(studies, "_call", pretend)
    other = tmp_path / "docs" / "reproduction" / "other.md"
    other.parent.mkdir(parents=True)
    other.touch()
    code, written = studies.run("one", jobs=3)
    assert code == 0
    names = [path.name for path in written]
    assert names == ["one.json", "one.md", "one-1.svg", "one-2.svg", "a.npz"]
    studies.run("one", quick=True)
    monkeypatch.chdir(tmp_path)
    studies.run("one", out=Path("there"))  # the study runs in this folder too, but may leave it
    assert asked == [
        ["--jobs", "3", "--out", str(tmp_path / "docs" / "reproduction")],
        ["--quick", "--jobs", "1", "--out", str(tmp_path / "out" / "reproduction")],
        ["--jobs", "1", "--out", str(tmp_path / "there")],
    ]


def test_what_a_study_says_goes_to_standard_error(
    script: Write, capfd: pytest.CaptureFixture[str]
) -> None:
    script("one", 'print("half of it is done")\n')
    assert studies.run("one") == (0, [])
    assert capfd.readouterr() == ("", "half of it is done\n")
    studies.run("one", own=["--help"])  # which is asked for, and read page by page
    assert capfd.readouterr() == ("half of it is done\n", "")


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_an_interrupted_study_can_end_its_own(tmp_path: Path) -> None:
    """Ctrl-C goes to all processes at once; the command waits for the study to clear up."""
    ready, cleared = tmp_path / "ready", tmp_path / "cleared"
    study = (
        "import pathlib, time\n"
        f"try:\n    pathlib.Path({str(ready)!r}).touch()\n    time.sleep(600)\n"
        "except KeyboardInterrupt:\n    time.sleep(1)\n"
        f"    pathlib.Path({str(cleared)!r}).touch()\n"
    )
    command = (
        "import sys\nfrom reproduction import runner as studies\n"
        f"studies._call([sys.executable, '-c', {study!r}])\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", command], start_new_session=True, stderr=subprocess.PIPE
    )
    while not ready.exists():
        assert child.poll() is None
        time.sleep(0.01)
    os.killpg(child.pid, signal.SIGINT)
    _, said = child.communicate(timeout=300)
    assert b"KeyboardInterrupt" in said
    assert cleared.exists()


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_request_to_end_is_handed_on(tmp_path: Path) -> None:
    """`kill` reaches the command alone, and the study must not go on without it."""
    ready = tmp_path / "ready"
    study = f"import pathlib, time\npathlib.Path({str(ready)!r}).touch()\ntime.sleep(600)\n"
    command = (
        "import sys\nfrom reproduction import runner as studies\n"
        f"print(studies._call([sys.executable, '-c', {study!r}]))\n"
    )
    child = subprocess.Popen([sys.executable, "-c", command], stdout=subprocess.PIPE)
    while not ready.exists():
        assert child.poll() is None
        time.sleep(0.01)
    child.terminate()
    said, _ = child.communicate(timeout=300)
    assert said == f"{-signal.SIGTERM}\n".encode()


def test_mistakes(script: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    script("one", "import sys\nsys.exit(4)\n")
    with pytest.raises(FullrankError, match=r"^The study one failed with exit code 4; "):
        studies.run("one")
    script("one", "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n")
    with pytest.raises(FullrankError, match=r"^The study one was ended by signal 9; "):
        studies.run("one")
    with pytest.raises(InputError, match=r"^`study` must be one of 'one', not 'x'\.$"):
        studies.run("x")
    script("one", 'PAPER = "005"\n')
    with pytest.raises(
        InputError, match=r"^`PAPER` of one\.py must name one of 002, .*; got 005\.$"
    ):
        studies.every()
    script("one", 'NEEDS = ("ml-2m",)\n')
    with pytest.raises(InputError, match=r"^`NEEDS` of one\.py must name one of .*; got ml-2m\.$"):
        studies.every()
    script("one", 'USES = ("ml-2m",)\n')
    with pytest.raises(InputError, match=r"^`USES` of one\.py must name one of .*; got ml-2m\.$"):
        studies.every()
    monkeypatch.setattr(studies, "_ROOT", tmp_path / "elsewhere")
    with pytest.raises(InputError, match=r"^The studies come with the repository and the source"):
        studies.every()
