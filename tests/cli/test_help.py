"""The pages of ``--help``: short, without noise, and with examples that run."""

from __future__ import annotations

import io
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

typer = pytest.importorskip("typer")

from fullrank.cli import app, help  # noqa: E402 (it needs typer)

Run = Callable[..., Any]
COMMANDS: dict[str, Any] = typer.main.get_command(app.app).commands  # type: ignore[attr-defined]
PAGES = {name: list(one.page(f"fullrank {name}", whole=False)) for name, one in COMMANDS.items()}
NOISE = re.compile(r"<\w|\[x|\{|None|\[default|\bTEXT\b(?! +Title)|INTEGER|FLOAT|PATH")


def examples(page: list[str]) -> list[str]:
    return [line.strip() for line in page if line.startswith("  fullrank ")]


def own(name: str) -> list[Any]:
    return [one for one in COMMANDS[name].params if one.param_type_name == "option"]


@pytest.mark.parametrize("name", COMMANDS)
def test_a_page_has_twelve_options_at_most_and_says_where_the_rest_are(
    fullrank: Run, name: str
) -> None:
    short, whole = (fullrank(name, word).out for word in ("--help", "--help-all"))
    options = [help.names(one) for one in own(name)]
    shown = [one for one in options if f"\n  {one}" in short]
    assert 0 < len(shown) <= help.MOST
    assert all(f"\n  {one}" in whole for one in options)
    left = len(options) - len(shown)
    assert (f"fullrank {name} --help-all shows {left} more option" in short) == (left > 0)
    assert "more option" not in whole
    assert set(COMMANDS[name].first) <= {one.name for one in COMMANDS[name].params}


def test_what_a_file_of_ranks_needs_is_on_the_short_page() -> None:
    """The remarks ask for --training-items, and errors for --column."""
    for name in ("estimate", "compare", "bounds", "report"):
        assert {"sample_size", "n_items", "training_items", "column"} <= set(COMMANDS[name].first)
    assert {"pilot", "column"} <= set(COMMANDS["plan"].first)


@pytest.mark.parametrize("name", COMMANDS)
def test_values_have_names_and_options_a_heading(name: str) -> None:
    for one in own(name):
        assert one.help, one.name
        if name != "demo":
            assert one.rich_help_panel in (*help.PANELS, *help.LAST), one.name
            assert one.is_flag or one.metavar, one.name


@pytest.mark.parametrize("name", ["", *COMMANDS])
@pytest.mark.parametrize("width", [80, 120])
def test_a_page_fits_and_has_no_noise(
    fullrank: Run, name: str, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(help, "_width", lambda: min(width, 100))
    done = fullrank(*[name][: bool(name)], "--help")
    assert (done.code, done.err) == (0, "")
    assert "\x1b" not in done.out
    assert max(map(len, done.out.splitlines())) <= width
    assert not NOISE.search(done.out), NOISE.search(done.out)


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_a_narrow_page_has_its_words_below_the_names(
    fullrank: Run, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    lines = fullrank(*[name][: bool(name)], "--help-all").out.splitlines()
    said = [line for line in lines if line.startswith("    ")]
    assert said
    assert max(map(len, said)) <= 40
    assert sum(map(len, said)) / len(said) > 20, "columns of single words"


def test_what_must_be_given_and_what_is_on_by_default_are_said(fullrank: Run) -> None:
    assert fullrank("train", "--help").out.count("Required.") == 2  # --model and --out
    assert "Required." not in fullrank("evaluate", "--help-all").out
    assert "into the --out folder. Default: --report." in fullrank("evaluate", "--help-all").out


def test_both_words_print_the_page_of_the_command_itself(fullrank: Run) -> None:
    done = fullrank("--help-all")
    assert (done.code, done.err) == (0, "")
    assert done.out == fullrank("--help").out


def test_colours_are_for_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdout", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    page = list(COMMANDS["bounds"].page("fullrank bounds", whole=False))
    assert "\x1b[1mUsage:\x1b[0m" in page[0]
    monkeypatch.setenv("NO_COLOR", "1")
    assert list(COMMANDS["bounds"].page("fullrank bounds", whole=False)) == PAGES["bounds"]


@pytest.mark.parametrize("words", [("--help",), ("estimate", "--help"), ("plan", "--help-all")])
def test_help_loads_nothing_heavy(words: tuple[str, ...]) -> None:
    heavy = ("numpy", "numba", "scipy", "pyarrow", "pydantic", "rich.console", "rich.markdown")
    code = (
        "import sys; from fullrank import cli; code = cli.main(); "
        f"print([name for name in {heavy} if name in sys.modules], code, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True)
    assert done.stderr == "[] 0\n"
    assert done.stdout.startswith("Usage: fullrank")


@pytest.mark.parametrize("name", COMMANDS)
def test_a_page_ends_with_examples(name: str) -> None:
    shown = examples(PAGES[name])
    assert (1 if name == "demo" else 2) <= len(shown) <= 4
    assert PAGES[name][-1] == f"  {shown[-1]}" or "--help-all" in PAGES[name][-1]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that the examples name."""
    folder = tmp_path_factory.mktemp("examples")
    a = [1 + (7 * user) % 90 for user in range(200)]
    b = [1 + (3 * user) % 99 for user in range(200)]
    plays = [(user, (user * i) % 37) for user in range(1, 37) for i in range(1, 6)]
    last = [(user, (user * 6) % 37) for user in range(1, 37)]
    ranks = [f"{name},{u},{r}" for name, found in (("a", a), ("b", b)) for u, r in enumerate(found)]
    write = {
        "ranks.csv": ["model,user,rank", *ranks],
        "wide.csv": ["user,a,b", *(f"{user},{a[user]},{b[user]}" for user in range(200))],
        "ease.csv": ["user,rank", *(f"{user},{rank}" for user, rank in enumerate(a))],
        "ials.csv": ["user,rank", *(f"{user},{rank}" for user, rank in enumerate(b))],
        "run.trec": [f"q{q} Q0 d{i} {i} {-i} x" for q in range(40) for i in range(1, 21)],
        "qrels.txt": [f"q{q} 0 d{1 + q % 20} 1" for q in range(40)],
        "plays.csv": ["who,item", *(f"{user},{item}" for user, item in plays)],
        "train.csv": ["user,item", *(f"{user},{item}" for user, item in plays)],
        "test.csv": ["user,item", *(f"{user},{item}" for user, item in last)],
    }
    for name, lines in write.items():
        (folder / name).write_text("\n".join(lines) + "\n")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("name", ["", *(one for one in COMMANDS if one != "demo")])
def test_the_examples_run(
    fullrank: Run, files: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But for the demonstration, which has tests of its own."""
    monkeypatch.chdir(files)
    for week in ("60", "61"):
        run = files / "runs" / week
        if "runs/" in "\n".join(PAGES.get(name, [])) and not run.exists():
            run.parent.mkdir(exist_ok=True)
            plays = ("--train", "train.csv", "--test", "test.csv")
            models = ("--model", "ease", "--model", "popularity", "--no-report")
            assert fullrank("evaluate", *plays, *models, "--out", run).code == 0
    page = PAGES[name] if name else list(typer.main.get_command(app.app).page("fullrank"))  # type: ignore[attr-defined]
    assert examples(page)
    for example in examples(page):
        done = fullrank(*shlex.split(example)[1:])
        assert done.code == 0, (example, done.err)
        assert done.out
