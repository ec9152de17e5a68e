"""Errors of the library in the words of the command."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

typer = pytest.importorskip("typer")

from fullrank import evaluation, inference, reporting  # noqa: E402 (after typer)
from fullrank.cli import app  # noqa: E402
from fullrank.cli.messages import in_options  # noqa: E402
from fullrank.data.sets import listing  # noqa: E402
from fullrank.evaluation.train import train_model  # noqa: E402
from fullrank.samples.read_candidates import read_candidates  # noqa: E402
from fullrank.samples.read_ranks import read_ranks  # noqa: E402

READERS = (read_ranks, read_candidates)
CALLED: dict[str, tuple[Callable[..., Any], ...]] = {
    "estimate": (inference.estimate, *READERS),
    "compare": (inference.compare, *READERS),
    "bounds": (inference.bounds, *READERS),
    "explain": (inference.explain, *READERS),
    "plan": (inference.plan, *READERS),
    "report": (reporting.report, *READERS),
    "evaluate": (evaluation.evaluate, evaluation.load_split),
    "train": (train_model,),
    "datasets": (listing.details,),
}
# What the commands decide themselves, so that users cannot have typed it.
DECIDED = {
    "all": {"progress", "settings", "rows"},
    "estimate": {"also", "grid"},
    "compare": {"n_resamples"},
    "bounds": {"n_events", "grid"},
    "plan": {"correlation"},
    "report": {"exact", "comparison", "bounds", "measured", "method"},
    "evaluate": {"keep_rows"},
}


@pytest.mark.parametrize(
    ("command", "said", "shown"),
    [
        ("estimate", "`sample_size` must be given.", "`--sample-size` must be given."),
        ("estimate", "`confidence_level` must be 1.", "`--level` must be 1."),
        ("estimate", "`path` must name a file.", "`RANKS` must name a file."),
        ("compare", "`path` must name a file.", "`FILES` must name a file."),
        ("evaluate", "`path` must name a file.", "The path must name a file."),
        ("plan", "`path` must name a file.", "`--pilot` must name a file."),
        ("estimate", "`rank` must be at least 1.", "The 'rank' column must be at least 1."),
        ("evaluate", "`model` must be known.", "`--model` must be known."),
        ("estimate", "Add `leave_out='user'`.", "Add `--leave-out user`."),
        ("estimate", "By `columns={'rank': 'r'}`.", "By `--column rank=r`."),
        ("evaluate", "By `user='who'`.", "By `--column user=who`."),
        (
            "compare",
            "Give `columns={'rank': ['BPR rank', 'svd']}`.",
            "Give `--column 'rank=BPR rank,svd'`.",
        ),
        (
            "estimate",
            r"By `columns={'rank': 'a\x1cb\nc'}`.",
            r"By `--column 'rank=a\x1cb\nc'`.",
        ),
        ("compare", "Say paired=False.", "Say `--unpaired`."),
        ("compare", 'Use method="auto" to compare.', "Use `--method auto` to compare."),
        ("compare", "Give ids as `user=`.", "Give ids as `--column user=NAME`."),
        (
            "compare",
            "Too coarse. Increase `n_resamples`.",
            "Too coarse. Compare fewer metrics or models, or use `--test t`.",
        ),
        ("estimate", "Increase `n_resamples`.", "Increase `--resamples`."),
        ("estimate", 'Use interval_for="users".', "Use `--interval-for users`."),
        ("estimate", "the value is small.", None),
        ("estimate", "`estimate` and `fullrank.anchored` stay.", None),
    ],
)
def test_arguments_become_options(command: str, said: str, shown: str | None) -> None:
    known = typer.main.get_command(app.app).commands[command]  # type: ignore[attr-defined]
    assert in_options(said, known) == (shown or said)
    assert in_options(said, None) == said


def test_every_command_is_looked_at() -> None:
    assert {*CALLED, "demo"} == set(typer.main.get_command(app.app).commands)  # type: ignore[attr-defined]


@pytest.mark.parametrize("command", CALLED)
def test_every_argument_has_an_option(command: str) -> None:
    """A new argument of the library fails here until an option or the command itself gives it."""
    known = typer.main.get_command(app.app).commands[command]  # type: ignore[attr-defined]
    decided = DECIDED["all"] | DECIDED.get(command, set())
    left = {
        name
        for function in CALLED[command]
        for name in inspect.signature(function).parameters
        if f"`{name}`" in in_options(f"`{name}` must be 1.", known)
    }
    assert left - decided == set()


@pytest.mark.parametrize(
    ("words", "said", "shown"),
    [
        (
            ("--model", "ease:regularization=x"),
            "`regularization` must be a number, not 'x'.",
            "`--model` must not be 'ease:regularization=x': regularization must be a number, "
            "not 'x'.",
        ),
        (
            ("--split", "ratio:test=2"),
            "`test` must lie in 0..1, not 2.",
            "`--split` must not be 'ratio:test=2': test must lie in 0..1, not 2.",
        ),
        (
            ("--split", "ratio:valid=0.9"),
            "`test` must be above 0, and its sum with `valid` below 1; got 0.2 and 0.9.",
            "`--split` must not be 'ratio:valid=0.9': test must be above 0, and its sum with valid "
            "below 1; got 0.2 and 0.9.",
        ),
        (
            ("PLAYS", "--split", "leave-one-out"),
            "`interactions` must have a user with at least 2 interactions.",
            "`DATA` must have a user with at least 2 interactions.",
        ),
        (
            ("--split", "ratio"),
            "`rng` must be a whole number, not 0.5.",
            "`--seed` must be a whole number, not 0.5.",
        ),
        (
            ("--factors", "mine=u.npy,i.npy"),
            "`mine` must have a row for each user.",
            "`--factors mine` must have a row for each user.",
        ),
        (("--test", "t.csv"), "`test` must name a file.", "`--test` must name a file."),
        ((), '`device` must be None, "cpu" or "cuda".', '`--device` must be "cpu" or "cuda".'),
        ((), '`device` must be None or "cpu" here.', '`--device` must be "cpu" here.'),
        (
            ("--model", "ease:regularization=5", "--model", "ials:regularization=-1"),
            "`regularization` must be at least 0, not -1.",
            "In `--model`, regularization must be at least 0, not -1.",
        ),
    ],
)
def test_settings_are_named_as_they_were_typed(
    words: tuple[str, ...], said: str, shown: str
) -> None:
    known = typer.main.get_command(app.app).commands["evaluate"]  # type: ignore[attr-defined]
    assert in_options(said, known, words) == shown
