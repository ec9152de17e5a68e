"""``fullrank reproduce``: the studies of a source tree."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fullrank.evaluation import studies

Run = Callable[..., Any]
TINY = '''"""A tiny study."""
import pathlib, sys

NEEDS = ("gowalla",)
pathlib.Path(sys.argv[sys.argv.index("--out") + 1], "tiny.json").write_text("{}")
sys.exit(0 if "--quick" in sys.argv else 3)
'''


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A source tree with one study, and no data."""
    place = tmp_path / "benchmarks" / "studies"
    place.mkdir(parents=True)
    (place / "tiny.py").write_text(TINY)
    monkeypatch.setattr(studies, "_ROOT", tmp_path)
    monkeypatch.setenv("FULLRANK_DATA", str(tmp_path))
    monkeypatch.setenv("FULLRANK_CACHE", str(tmp_path))
    return tmp_path


def test_the_list(fullrank: Run) -> None:
    done = fullrank("reproduce", "--list")
    assert done.code == 0
    headings = [line for line in done.out.splitlines() if line and not line.startswith(" ")]
    assert headings == list(studies.grouped())
    assert headings[-1] == "Ours"
    listed = [line.split()[0] for line in done.out.splitlines() if line.startswith("  ")]
    assert listed == list(studies.every())
    content = json.loads(fullrank("reproduce", "--json").out)
    assert content["format"] == 1
    assert content["studies"]["bounds"].startswith("Do bounds hold")
    assert content["needs"]["bounds"] == ["citeulike-a", "ml-1m"]
    assert [name for group in content["groups"].values() for name in group] == listed


def test_one_is_run(fullrank: Run, tiny: Path) -> None:
    assert fullrank("reproduce").out == "Ours\n  tiny  A tiny study.\n"
    done = fullrank("reproduce", "tiny", "--quick", "--json")
    assert done.code == 0
    assert done.err == ""
    written = tiny / "out" / "studies" / "tiny.json"
    assert json.loads(done.out)["files"] == [str(written)]
    done = fullrank("reproduce", "tiny", "--quick")
    assert done.out == f"Written to {written}.\n"


def test_into_another_folder_with_options_of_its_own(fullrank: Run, tiny: Path) -> None:
    done = fullrank("reproduce", "tiny", "--out", tiny / "there", "--json", "--", "--quick")
    assert done.code == 0
    assert json.loads(done.out)["files"] == [str(tiny / "there" / "tiny.json")]


def test_a_quick_form_never_takes_the_place_of_results(fullrank: Run, tiny: Path) -> None:
    for options in (["--quick"], ["--", "--quick"]):
        done = fullrank("reproduce", "tiny", "--json", *options)
        assert done.code == 0
        assert not (tiny / "docs").exists()
    done = fullrank("reproduce", "tiny", "--quick", "--", "--out", tiny)
    assert done.code == 2
    assert done.err == "`out` must be given to `fullrank reproduce` itself, before the --.\n"


def test_data_that_are_not_here_are_named_before_it_begins(fullrank: Run, tiny: Path) -> None:
    done = fullrank("reproduce", "tiny")
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        f"The study tiny needs gowalla, looked for in FULLRANK_DATA ({tiny}) and the cache "
        f"({tiny}) and not found: fetch it with `fullrank datasets gowalla --download`, or set "
        f"FULLRANK_DATA to a folder that has gowalla.parquet; --quick needs no data.\n"
    )
    assert not (tiny / "docs").exists()


@pytest.mark.parametrize(
    "name", [name for name, one in studies.every().items() if set(one.needs) - {"ml-latest-small"}]
)
def test_every_study_says_so_in_one_sentence(
    fullrank: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    monkeypatch.setenv("FULLRANK_DATA", str(tmp_path))
    monkeypatch.setenv("FULLRANK_CACHE", str(tmp_path))
    monkeypatch.setattr(studies, "_call", lambda _: pytest.fail("nothing is run"))
    done = fullrank("reproduce", name)
    assert done.code == 2
    assert done.err.startswith(f"The study {name} needs ")
    assert done.err.endswith("; --quick needs no data.\n")
    assert done.err.count("\n") == 1
    assert "download=True" not in done.err


def test_a_study_that_fails(fullrank: Run, tiny: Path) -> None:
    (tiny / "gowalla.parquet").touch()
    done = fullrank("reproduce", "tiny")
    assert done.code == 1
    assert done.err == "The study tiny failed with exit code 3; what is done is kept.\n"


@pytest.mark.parametrize("code", [2, 130])
def test_what_a_study_has_said_is_not_said_again(fullrank: Run, tiny: Path, code: int) -> None:
    script = tiny / "benchmarks" / "studies" / "tiny.py"
    script.write_text(f"import sys\nsys.exit({code})\n")
    done = fullrank("reproduce", "tiny")
    assert (done.code, done.out, done.err) == (code, "", "")


def test_mistakes(fullrank: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: pytest.fail("nothing is run"))
    done = fullrank("reproduce", "no such study")
    assert done.code == 2
    assert done.err.startswith("`study` must be one of ")
    assert done.err.endswith(", not 'no such study'.\n")
    monkeypatch.setattr(studies, "_ROOT", tmp_path)
    for arguments in (["bounds"], ["--list"]):
        done = fullrank("reproduce", *arguments)
        assert done.code == 2
        assert done.err == (
            "The studies come with the repository and the source archive, not with an installed "
            "wheel: run this from a source tree.\n"
        )
