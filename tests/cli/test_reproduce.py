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


def test_the_list(fullrank: Run) -> None:
    done = fullrank("reproduce", "--list")
    assert done.code == 0
    assert "table2 " in done.out
    assert not any(line.startswith("_") for line in done.out.splitlines())
    content = json.loads(fullrank("reproduce", "--json").out)
    assert content["format"] == 1
    assert content["studies"]["table2"].startswith("Table 2 of Jin et al.")


def test_one_is_run(fullrank: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    place = tmp_path / "benchmarks" / "studies"
    place.mkdir(parents=True)
    (place / "tiny.py").write_text(
        '"""A tiny study."""\nimport pathlib, sys\n'
        'pathlib.Path(sys.argv[sys.argv.index("--out") + 1], "tiny.json").write_text("{}")\n'
        'sys.exit(0 if "--quick" in sys.argv else 3)\n'
    )
    monkeypatch.setattr(studies, "_ROOT", tmp_path)
    assert fullrank("reproduce").out == "tiny  A tiny study.\n"
    done = fullrank("reproduce", "tiny", "--quick", "--json")
    assert done.code == 0
    written = tmp_path / "out" / "studies" / "tiny.json"
    assert json.loads(done.out)["files"] == [str(written)]
    failed = fullrank("reproduce", "tiny")
    assert (failed.code, failed.err) == (1, "The study tiny failed with exit code 3.\n")


def test_mistakes(fullrank: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: pytest.fail("nothing is run"))
    done = fullrank("reproduce", "table3")
    assert done.code == 2
    assert done.err.startswith("`study` must be one of 'bounds', ")
    monkeypatch.setattr(studies, "_ROOT", tmp_path)
    for arguments in (["table2"], ["--list"]):
        done = fullrank("reproduce", *arguments)
        assert done.code == 2
        assert done.err == (
            "The studies come with the repository and the source archive, not with an installed "
            "wheel: run this from a source tree.\n"
        )
