"""Every mistake: one sentence, exit code 2, and nothing written; and what all commands share."""

import os
import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyarrow")
typer = pytest.importorskip("typer")

from fullrank.cli import app  # noqa: E402 (it needs typer)

SIZES = ("--sample-size", "10", "--n-items", "50")
READERS = {
    "estimate": ("estimate", "FILE"),
    "bounds": ("bounds", "FILE"),
    "compare": ("compare", "FILE", "FILE"),
    "explain": ("explain", "--ranks", "FILE"),
    "plan": ("plan", "--pilot", "FILE"),
}
MISTAKES: dict[str, tuple[str | None, tuple[str, ...], str]] = {
    "missing file": (None, SIZES, r"`(RANKS|FILES|--ranks|--pilot)` .*ranks\.csv.*exist"),
    "wrong column": (
        "rnak,user\n1,a\n",
        SIZES,
        r"The 'rank' column.*ranks\.csv.*'rnak', 'user'.*`--column rank=rnak`",
    ),
    "zero-based ranks": (
        "rank\n3\n0\n0\n",
        SIZES,
        r"The 'rank' column.*2 of 3.*line 3 of .* has 0\b",
    ),
    "rank too large": (
        "rank\n11\n",
        SIZES,
        r"The 'rank' column.*1 of 1.*line 2 of .* has 11",
    ),
    "no ranks": ("rank\n", SIZES, r"`[A-Z-]+.*has no rows"),
    "no table": ("", SIZES, r".*table.*ranks\.csv is empty"),
    "no sample size": (
        "rank\n1\n",
        SIZES[2:],
        r"`--sample-size`.*ranks\.csv",
    ),
    "sizes exchanged": (
        "rank\n1\n",
        ("--sample-size", "50", "--n-items", "10"),
        r"`--n-items`.*\b10\b.*\b50\b",
    ),
    "unknown design": (
        "rank\n1\n",
        (*SIZES, "--design", "other"),
        r"`--design`.*'adaptive', 'exact', 'sampled'.*'other'",
    ),
    "unknown metric": (
        "rank\n1\n2\n",
        (*SIZES, "--metric", "fame@10"),
        r"`--metric`.*recall.*'fame@10'",
    ),
}


def told(done: Any, says: str) -> None:
    assert (done.code, done.out) == (2, "")
    assert re.fullmatch(rf"{says}.*[.?]\n", done.err), done.err


@pytest.mark.parametrize("mistake", MISTAKES)
@pytest.mark.parametrize("command", READERS)
def test_a_mistake_is_one_sentence(
    fullrank: Any, tmp_path: Path, command: str, mistake: str
) -> None:
    text, words, says = MISTAKES[mistake]
    path = tmp_path / "ranks.csv"
    if text is not None:
        path.write_text(text)
    before = sorted(tmp_path.iterdir())
    told(fullrank(*(path if one == "FILE" else one for one in READERS[command]), *words), says)
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("command", ["estimate", "compare"])
def test_unknown_method(fullrank: Any, tmp_path: Path, command: str) -> None:
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("rank\n" + "1\n2\n3\n" * 20)
    files = [tmp_path / "a.csv", tmp_path / "b.csv"][: 1 + (command == "compare")]
    done = fullrank(command, *files, *SIZES, "--method", "guess")
    told(done, r"`--method`.*'auto', 'exact'.*'guess'")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--level", "95"), r"`--level`.*not 95\b"),
        (("--interval-for", "me"), r"`--interval-for`.*'population', 'users'.*'me'"),
        (("--uncertainty", "x"), r"`--uncertainty`.*'influence', 'bootstrap'.*'x'"),
    ],
)
def test_options_of_estimate(fullrank: Any, tmp_path: Path, words: Any, says: str) -> None:
    (tmp_path / "a.csv").write_text("rank\n1\n2\n")
    told(fullrank("estimate", tmp_path / "a.csv", *SIZES, *words), says)


def test_unwritable_output_is_told_before_the_work(
    fullrank: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fullrank.cli.rank_options import Reading

    def never(*_: Any, **__: Any) -> None:
        raise AssertionError("the file was read first")

    monkeypatch.setattr(Reading, "read", never)
    (tmp_path / "a.csv").write_text("rank\n1\n2\n")
    words = ("estimate", tmp_path / "a.csv", *SIZES, "--report")
    nowhere = tmp_path / "nowhere" / "page.html"
    told(fullrank(*words, nowhere), r"`--report`.*nowhere")
    told(fullrank(*words, tmp_path), rf"`--report`.*{tmp_path}.*folder")
    told(fullrank(*words, "/dev/null"), r"`--report`.*/dev/null.*device")
    monkeypatch.setattr(os, "access", lambda *_: False)  # for root everything is writable
    told(fullrank(*words, tmp_path / "p.html"), r"`--report`.*writable")
    assert [one.name for one in tmp_path.iterdir()] == ["a.csv"]


@pytest.mark.parametrize("command", READERS)
def test_a_file_that_may_not_be_read(
    fullrank: Any, tmp_path: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "ranks.csv"
    path.write_text("rank\n1\n")
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may read everything
    words = (path if one == "FILE" else one for one in READERS[command])
    told(fullrank(*words, *SIZES), r"`(RANKS|FILES|--ranks|--pilot)`.*readable.*ranks\.csv")


COMMANDS = sorted(command.name or "" for command in app.app.registered_commands)


def test_every_command_is_looked_at() -> None:
    assert set(READERS) < set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_an_example_json_and_a_seed(fullrank: Any, name: str) -> None:
    done = fullrank(name, "--help-all")
    assert (done.code, done.err) == (0, "")
    assert re.search(rf"fullrank {name}\b.*", done.out.partition("Example")[2]), done.out
    assert "--json" in done.out
    assert ("--seed" in done.out) == (name != "datasets")  # which draws nothing


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_refuses_an_unknown_option(fullrank: Any, name: str) -> None:
    done = fullrank(name, "--no-such-option")
    assert done.code == 2
    assert "Traceback" not in done.err
    assert "no-such-option" in done.err


# ---- names that no file can have ----

LONG = "x" * 300
PLACES = {
    "estimate": ("estimate", LONG, *SIZES),
    "estimate and report": ("estimate", "RANKS", *SIZES, "--report", f"{LONG}.html"),
    "bounds": ("bounds", LONG, *SIZES),
    "compare": ("compare", "RANKS", LONG, *SIZES),
    "report": ("report", LONG, *SIZES),
    "explain": ("explain", "--ranks", LONG, *SIZES),
    "plan": ("plan", "--pilot", LONG, *SIZES, "--users", "100", "--margin", "5%"),
    "evaluate": ("evaluate", LONG, "--model", "popularity"),
    "evaluate into": ("evaluate", "ml-latest-small", "--model", "popularity", "--out", LONG),
    "factors": ("evaluate", "ml-latest-small", "--factors", f"{LONG}.npz"),
    "train": ("train", LONG, "--model", "popularity", "--out", "m.safetensors"),
    "no command": (LONG,),
}


@pytest.mark.parametrize("place", PLACES)
def test_a_name_that_is_too_long_is_a_mistake_like_any_other(
    fullrank: Any, tmp_path: Path, place: str
) -> None:
    ranks = tmp_path / "ranks.csv"
    ranks.write_text("rank\n3\n")
    done = fullrank(*(str(ranks) if one == "RANKS" else one for one in PLACES[place]))
    assert (done.code, done.out) == (2, "")
    assert done.err.count("\n") == 1
    assert LONG[:200] in done.err or place == "no command"
