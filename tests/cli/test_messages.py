"""Errors of the library in the words of the command."""

from __future__ import annotations

import pytest

typer = pytest.importorskip("typer")

from fullrank.cli import app  # noqa: E402 (it needs typer)
from fullrank.cli.messages import in_options  # noqa: E402


@pytest.mark.parametrize(
    ("command", "said", "shown"),
    [
        ("estimate", "`sample_size` must be given.", "`--sample-size` must be given."),
        ("estimate", "`confidence_level` must be 1.", "`--level` must be 1."),
        ("estimate", "`path` must name a file.", "`RANKS` must name a file."),
        ("compare", "`path` must name a file.", "`FILES` must name a file."),
        ("evaluate", "`path` must name a file.", "The path must name a file."),
        ("plan", "`path` must name a file.", "`--pilot` must name a file."),
        ("estimate", "`rank` must be at least 1.", "The column rank must be at least 1."),
        ("evaluate", "`model` must be known.", "`--model` must be known."),
        ("estimate", "Add `leave_out='user'`.", "Add `--leave-out user`."),
        ("estimate", "By `columns={'rank': 'r'}`.", "By `--column rank=r`."),
        ("evaluate", "By `user='who'`.", "By `--column user=who`."),
        ("compare", "Say paired=False.", "Say `--unpaired`."),
        ("estimate", "`estimate` and `fullrank.anchored` stay.", None),
    ],
)
def test_arguments_become_options(command: str, said: str, shown: str | None) -> None:
    known = typer.main.get_command(app.app).commands[command]  # type: ignore[attr-defined]
    assert in_options(said, known) == (shown or said)
    assert in_options(said, None) == said
