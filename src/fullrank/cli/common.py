"""What the commands share: their common options, how they print, and how they show progress."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fullrank._lib.progress import Progress
from fullrank.errors import InputError

if TYPE_CHECKING:
    from fullrank._lib.tabular import Tabular

HAVE_RANKS = "You have ranks"
HAVE_MODELS = "You have models or data"
NEW_HERE = "New here"

Seed = Annotated[int, typer.Option("--seed", help="Random seed.", min=0)]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Format = Annotated[
    str, typer.Option("--format", help="text, markdown or latex: how tables are printed.")
]
FORMATS = ("text", "markdown", "latex")
Level = Annotated[float, typer.Option("--level", help="Confidence level of the intervals.")]
Metrics = Annotated[
    list[str] | None,
    typer.Option(
        "--metric", "-m", help="A metric such as ndcg@10; give it again for more.", metavar="NAME"
    ),
]


def say(text: str) -> None:
    """Print text as it is: what users named their models is never read as markup."""
    typer.echo(text)


def say_result(result: Tabular, form: str, text: str | None = None) -> None:
    """Print a result as text, or its table alone as Markdown or LaTeX for a paper."""
    if form not in FORMATS:
        raise InputError(f"`--format` must be one of {', '.join(FORMATS)}, not {form!r}.")
    shown = {"markdown": result.to_markdown, "latex": result.to_latex}
    say(shown[form]() if form in shown else str(result) if text is None else text)


def say_json(content: Mapping[str, Any]) -> None:
    """Print one JSON object; NaN, which JSON cannot represent, is an error here."""
    typer.echo(json.dumps(content, ensure_ascii=False, allow_nan=False))


@contextmanager
def progress(label: str) -> Iterator[Progress | None]:
    """A function of (done, total) that draws a bar with the time left; None off a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    with Bar(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def writable(path: Path | None, option: str, *, page: bool = False) -> None:
    """Refuse, before any work is done, a file that could not be written at its end."""
    if path is None:
        return
    if page and path.suffix.lower() not in (".html", ".htm") and not path.exists():
        raise InputError(f"`{option}` must end in .html, for it is a web page, not {path.name!r}.")
    if path.is_dir():
        raise InputError(f"`{option}` must name a file; {path} is a folder.")
    if path.exists() and not path.is_file():
        raise InputError(f"`{option}` must name a file; {path} is a device or a pipe.")
    if not path.parent.is_dir():
        raise InputError(f"`{option}` must lie in a folder that is there; {path.parent} is not.")
    if not os.access(path.parent, os.W_OK):
        raise InputError(f"`{option}` must be writable; the folder {path.parent} is not.")
