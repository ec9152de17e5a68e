"""The typer application: every module of `commands` is a command.

A command module holds a function of its own name. ``PANEL`` says under which heading
``fullrank --help`` lists it, and ``FIRST`` which parameters its own ``--help`` shows. It imports
typer at the top and everything heavier inside functions.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from fullrank import __version__
from fullrank._lib.names import plugins
from fullrank.cli import commands
from fullrank.cli.help import Group, showing
from fullrank.cli.usage import sentence

# The order of the page; a command that is not named here comes last.
_ORDER = ("estimate", "compare", "bounds", "explain", "plan", "report", "evaluate", "train")


class _Page(Group):
    """The page of ``fullrank --help``."""

    examples = (
        "fullrank estimate ranks.csv --sample-size 100 --n-items 3000",
        "fullrank evaluate simulated --model ease --metric ndcg@10",
        "fullrank estimate --help",
    )


app = typer.Typer(
    cls=_Page,
    help="What would this recommender score if every item in the catalogue had been ranked?",
    no_args_is_help=True,
    pretty_exceptions_enable=False,  # `cli.main` tells errors in its own words
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def run() -> int:
    """Parse ``sys.argv``, run the command and give the exit code."""
    try:
        code = app(prog_name="fullrank", standalone_mode=False)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except Exception as error:
        if not hasattr(error, "format_message"):
            raise
        said = sentence(error, running(), _group())
        print(said or error.format_message(), file=sys.stderr if said else sys.stdout)
        return 2
    return code if isinstance(code, int) else 0


def _group() -> Any:
    """The command that holds the others."""
    return typer.main.get_command(app)


def running() -> Any:
    """The command that was typed, or None."""
    commands_: Any = getattr(_group(), "commands", {})
    # the first word need not be it: --plugin FILE comes before
    return next((commands_[word] for word in sys.argv[1:] if word in commands_), None)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"fullrank {__version__}")
        raise typer.Exit


def _load_plugins(paths: list[Path] | None) -> list[Path]:
    if paths:
        plugins.load(paths, argument="--plugin")
    plugins.from_environment()
    return paths or []  # what an old typer takes for the option


@app.callback()
def _options(
    plugin: Annotated[
        list[Path] | None,
        typer.Option(
            "--plugin",
            help="A Python file that registers a design, an estimator, a metric, a model or a "
            "scorer of your own. May be repeated. The environment variable "
            "FULLRANK_PLUGINS can list more.",
            metavar="FILE",
            callback=_load_plugins,
            is_eager=True,
        ),
    ] = None,
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    """Hold the options that belong to no single command."""


def _place(name: str) -> int:
    return _ORDER.index(name) if name in _ORDER else len(_ORDER)


for _name in sorted((one.name for one in pkgutil.iter_modules(commands.__path__)), key=_place):
    _command = importlib.import_module(f"fullrank.cli.commands.{_name}")
    app.command(
        _name.replace("_", "-"),
        cls=showing(getattr(_command, "FIRST", ())),
        rich_help_panel=getattr(_command, "PANEL", None),
    )(getattr(_command, _name))
