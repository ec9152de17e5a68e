"""The pages that ``--help`` and ``--help-all`` print, and the classes of typer that print them.

A command module names in ``FIRST`` the parameters that ``--help`` shows; the others appear with
``--help-all``. Typer's own pages show every option at once, in boxes that take half a second to
load.
"""

from __future__ import annotations

import inspect
import os
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator
from typing import Any

from typer import echo
from typer.core import TyperCommand, TyperGroup

# Panels in the order of a page; those that are not listed come before the last two.
PANELS = ("Data", "Models", "Sample", "Input", "Ranking", "Metrics", "Comparison", "Precision")
LAST = ("Options", "Running", "Output")
MOST = 12  # options on a short page
_WIDTH = 100
_NAMES = 26  # columns for the names of options
_NARROW = 24  # columns of text; with fewer, it stands below the names
_ALL = "--help-all"


class Command(TyperCommand):
    """A command whose help is a short page and a long one."""

    first: tuple[str, ...] = ()  # parameters on the short page; none: all of them

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take ``--help-all`` wherever ``--help`` would be taken."""
        if _ALL in _before(args):
            ctx.meta[_ALL] = True
            args = ["--help"]
        return super().parse_args(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the requested page."""
        formatter.write("\n".join(self.page(ctx.command_path, whole=ctx.meta.get(_ALL, False))))
        formatter.write("\n")

    def page(self, path: str, *, whole: bool) -> Iterator[str]:
        """The lines of the page."""
        arguments, options = _split(self.params)
        shown = [one for one in options if whole or not self.first or one.name in self.first]
        text, examples = _parts(self.help)
        yield _head("Usage:") + " " + " ".join([path, "[OPTIONS]", *map(argument, arguments)])
        yield ""
        yield from _paragraphs(text)
        if arguments:
            yield from _section("Arguments", [(argument(one), _says(one)) for one in arguments])
        for panel in _panels(shown):
            rows = [(names(one), _says(one)) for one in shown if _panel(one) == panel]
            yield from _section(panel, rows)
        yield from _examples(examples)
        if len(shown) < len(options):
            yield ""
            more = len(options) - len(shown)
            yield f"{path} {_ALL} shows {more} more option{'s' * (more != 1)}."


class Group(TyperGroup):
    """The commands by what one has."""

    examples: tuple[str, ...] = ()

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Print pages at once: typer would load pydantic to read the word ``--help``."""
        asked = {"-h", "--help", _ALL} & set(_before(args))
        command, path = self.commands.get(args[0]) if args else None, str(ctx.command_path)
        lines: Iterable[str] = ()
        if asked and isinstance(command, Command):
            lines = command.page(f"{path} {args[0]}", whole=_ALL in asked)
        elif args and args[0] in asked:  # it has one page, so that both words print it
            lines = self.page(path)
        if lines:
            echo("\n".join(lines))
            ctx.exit()
        return super().parse_args(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the page of the command itself."""
        formatter.write("\n".join(self.page(ctx.command_path)))
        formatter.write("\n")

    def page(self, path: str) -> Iterator[str]:
        """The lines of the page."""
        yield _head("Usage:") + f" {path} COMMAND [OPTIONS]"
        yield ""
        yield from _paragraphs(self.help or "")
        panels: dict[str, list[tuple[str, str]]] = {}
        for name, command in self.commands.items():
            panel = getattr(command, "rich_help_panel", None) or "Commands"
            panels.setdefault(str(panel), []).append((name, _parts(command.help)[0].split("\n")[0]))
        wide = max(len(name) for name in self.commands)
        for panel, rows in panels.items():
            yield from _section(panel, rows, wide=wide)
        rows = [(names(one), _says(one)) for one in _split(self.params)[1]]
        yield from _section("Options", rows)
        yield from _examples(self.examples)
        yield ""
        yield from textwrap.wrap(
            f"{path} COMMAND --help shows a command's main options; --help-all shows all of them.",
            _width(),
            break_on_hyphens=False,
        )


def showing(first: tuple[str, ...]) -> type[Command]:
    """A class of commands with these parameters on the short page."""
    return type("Command", (Command,), {"first": first})


def argument(param: Any) -> str:
    """How an argument is written in a usage line."""
    shown = param.metavar or param.name.upper()
    return shown if param.required else f"[{shown}]"


def names(param: Any) -> str:
    """``-m, --metric NAME``."""
    short = [one for one in param.opts if not one.startswith("--")]
    long = [one for one in param.opts if one.startswith("--")]
    text = ", ".join(short + long)
    if param.secondary_opts:
        text = "/".join([text, *param.secondary_opts])
    return text if param.is_flag else f"{text} {param.metavar or param.name.upper()}"


def _before(args: list[str]) -> list[str]:
    """The words that may be options."""
    return args[: args.index("--")] if "--" in args else args


def _split(params: Iterable[Any]) -> tuple[list[Any], list[Any]]:
    """Arguments and options; the help option is known to whoever reads a page."""
    params = [one for one in params if not getattr(one, "hidden", False)]
    arguments = [one for one in params if one.param_type_name == "argument"]
    return arguments, [one for one in params if one.param_type_name == "option"]


def _panel(param: Any) -> str:
    return str(getattr(param, "rich_help_panel", None) or "Options")


def _panels(params: Iterable[Any]) -> list[str]:
    found = dict.fromkeys(map(_panel, params))
    known = [*PANELS, *(one for one in found if one not in (*PANELS, *LAST)), *LAST]
    return [one for one in known if one in found]


def _parts(text: str | None) -> tuple[str, list[str]]:
    """The words of a docstring, and the commands that it shows."""
    words: list[str] = []
    examples: list[str] = []
    for paragraph in inspect.cleandoc(text or "").split("\n\n"):
        title, _, rest = paragraph.partition(":")
        if title in ("Example", "For example"):
            examples += [line.strip() for line in rest.split("\n") if line.strip()]
        else:
            words.append(" ".join(paragraph.split()))
    return "\n\n".join(words), examples


def _says(param: Any) -> str:
    text = " ".join((param.help or "").split())
    if param.required and param.param_type_name == "option":
        return f"{text} Required."
    if param.secondary_opts and isinstance(param.default, bool):
        return f"{text} Default: {(param.opts if param.default else param.secondary_opts)[0]}."
    default = getattr(param.default, "value", param.default)
    plain = default is None or default == "" or isinstance(default, bool | list | tuple)
    if plain or callable(default) or not param.show_default or param.required:
        return text
    return f"{text} Default: {default}."


def _paragraphs(text: str) -> Iterator[str]:
    for at, paragraph in enumerate(text.split("\n\n")):
        if at:
            yield ""
        yield from textwrap.wrap(paragraph, _width(), break_on_hyphens=False)


def _section(title: str, rows: list[tuple[str, str]], wide: int = _NAMES) -> Iterator[str]:
    yield ""
    yield _head(f"{title}:")
    if _width() - wide - 4 < _NARROW:
        wide = 0
    for name, says in rows:
        indent = wide + 4
        lines = textwrap.wrap(
            says, _width() - indent, break_on_hyphens=False, break_long_words=False
        ) or [""]
        if len(name) > wide:
            yield f"  {_name(name)}"
        else:
            yield f"  {_name(name)}{' ' * (wide - len(name))}  {lines.pop(0)}".rstrip()
        yield from (f"{' ' * indent}{line}" for line in lines)


def _examples(examples: Iterable[str]) -> Iterator[str]:
    for at, one in enumerate(examples):
        if not at:
            yield ""
            yield _head("Examples:")
        yield f"  {one}"  # never wrapped: it is to be copied


def _width() -> int:
    return max(40, min(shutil.get_terminal_size((80, 24)).columns, _WIDTH))


def _coloured() -> bool:
    return (
        not os.environ.get("NO_COLOR")
        and os.environ.get("TERM") != "dumb"
        and hasattr(sys.stdout, "isatty")
        and sys.stdout.isatty()
    )


def _head(text: str) -> str:
    return f"\x1b[1m{text}\x1b[0m" if _coloured() else text


def _name(text: str) -> str:
    return f"\x1b[36m{text}\x1b[0m" if _coloured() else text
