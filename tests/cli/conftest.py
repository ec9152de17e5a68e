"""The command line in this process: what it prints, and the code it ends with."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import NamedTuple

import pytest

from fullrank import cli


class Done(NamedTuple):
    code: int
    out: str
    err: str


Run = Callable[..., Done]


@pytest.fixture
def fullrank(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """``fullrank("estimate", path)`` runs ``cli.main``, which also turns errors into sentences."""
    pytest.importorskip("typer")
    pytest.importorskip("rich")
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments: object) -> Done:
        monkeypatch.setattr(sys, "argv", ["fullrank", *map(str, arguments)])
        capsys.readouterr()
        code = cli.main()
        return Done(code, *capsys.readouterr())

    return run
