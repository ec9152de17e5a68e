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

# Headings of `fullrank --help`
HAVE_RANKS = "From ranks"
HAVE_MODELS = "From data and models"
NEW_HERE = "Try it out"

# Headings of the help of a command; `help` has their order
DATA = "Data"
MODELS = "Models"
SAMPLE = "Sample"
INPUT = "Input"
RANKING = "Ranking"
METRICS = "Metrics"
PRECISION = "Precision"
RUNNING = "Running"
OUTPUT = "Output"

FORMATS = ("text", "markdown", "latex")


def option(panel: str, names: str, says: str, metavar: str | None = None, **more: Any) -> Any:
    """An option under a heading; `metavar` is what its value is called."""
    return typer.Option(*names.split(), help=says, metavar=metavar, rich_help_panel=panel, **more)


Seed = Annotated[int, option(RUNNING, "--seed", "Random seed.", "N", min=0)]
AsJson = Annotated[bool, option(OUTPUT, "--json", "Print JSON instead of text.")]


def _known(form: str) -> str:
    """A format, looked at before any work is done."""
    if form not in FORMATS:
        hint = " For JSON, use `--json`." if form.lower() == "json" else ""
        raise InputError(f"`--format` must be one of {', '.join(FORMATS)}, not {form!r}.{hint}")
    return form


Format = Annotated[
    str,
    option(
        OUTPUT,
        "--format",
        "How tables are printed: text, markdown or latex.",
        "FORMAT",
        callback=_known,
    ),
]
Level = Annotated[float, option(METRICS, "--level", "Confidence level of the intervals.", "LEVEL")]
Metrics = Annotated[
    list[str] | None,
    option(
        METRICS,
        "--metric -m",
        "Metric, such as mrr@10. May be repeated. Default: recall@10 and ndcg@10.",
        "NAME@K",
    ),
]
Method = Annotated[
    str,
    option(
        METRICS,
        "--method",
        "Estimator for samples: auto, or a name such as smoothed, MLE or BV_MES.",
        "NAME",
    ),
]
IntervalFor = Annotated[
    str,
    option(
        METRICS,
        "--interval-for",
        "What the intervals are for: population (the population that the users were drawn from) "
        "or users (these users alone).",
        "WHOM",
    ),
]


def say(text: str) -> None:
    """Print text as it is: what users named their models is never read as markup."""
    typer.echo(text)


def say_result(result: Tabular, form: str, text: str | None = None) -> None:
    """Print a result as text, or its table alone as Markdown or LaTeX for a paper."""
    from fullrank.cli.messages import notes_in_options

    shown = {"markdown": result.to_markdown, "latex": result.to_latex}
    text = shown[form]() if form in shown else str(result) if text is None else text
    said: dict[str, str] = {}
    notes_in_options(result.to_dict(), said)
    for note, typed in said.items():
        text = text.replace(note, typed)
    say(text)


def say_json(content: Mapping[str, Any]) -> None:
    """Print one JSON object; NaN, which JSON cannot represent, is an error here."""
    from fullrank.cli.messages import notes_in_options

    typer.echo(json.dumps(notes_in_options(content), ensure_ascii=False, allow_nan=False))


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
    if (
        page
        and path.suffix.lower() not in (".html", ".htm")
        and (os.path.isfile(path) or not os.path.exists(path))
    ):
        raise InputError(
            f"`{option}` must end in .html because a report is a web page; got {path.name!r}."
        )
    if os.path.isdir(path):
        raise InputError(f"`{option}` must name a file; {path} is a folder.")
    if os.path.exists(path) and not os.path.isfile(path):
        raise InputError(f"`{option}` must name a file; {path} is a device or a pipe.")
    if not os.path.isdir(path.parent):
        raise InputError(f"`{option}` must be in an existing folder; {path.parent} does not exist.")
    if not os.access(path.parent, os.W_OK):
        raise InputError(f"`{option}` must be writable; the folder {path.parent} is not.")
    try:
        os.lstat(path)
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:  # such as a name that is too long
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"`{option}` must be writable; {path} is not: {reason}.") from error
