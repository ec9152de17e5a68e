"""What was typed wrong, in one sentence that names what to type.

Typer's errors come from one of two packages, depending on its version, so they are told apart by
the names of their classes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Any

# What people try, and the option that does it. Names of Python's arguments are in `messages`.
_TRIED = {
    "--output": "--out", "-o": "--out", "--save": "--out", "--html": "--report",
    "--top-k": "--metric", "--topk": "--metric", "-k": "--metric", "--cutoff": "--metric",
    "--n-samples": "--sample-size", "--negatives": "--sample-size", "--candidates": "--sample-size",
    "--items": "--n-items", "--catalogue-size": "--n-items", "--catalog-size": "--n-items",
    "--confidence": "--level", "--alpha": "--level", "--random-state": "--seed",
    "--bootstrap": "--uncertainty", "--latex": "--format", "--markdown": "--format",
    "--csv": "--format", "--estimator": "--method", "--with-replacement": "--design",
    "--replacement": "--design", "--sampling": "--design", "--unpaired-test": "--unpaired",
    "--gpu": "--device", "--cuda": "--device", "--workers": "--engine", "--jobs": "--engine",
    "--n-jobs": "--engine", "--names": "--model", "--reference": "--baseline",
    "--ground-truth": "--truth", "--exclude": "--keep-seen", "--k": "--metric",
}  # fmt: skip
_KINDS = {"int": "a whole number", "integer": "a whole number", "float": "a number"}


def sentence(error: Any, running: Any) -> str | None:
    """What to tell about an error of typer's; None for the page that a bare command prints.

    `running` is the command that was typed, or None: not every error says where it comes from.
    """
    kind = type(error).__name__
    if kind == "NoArgsIsHelpError":
        return None
    context = getattr(error, "ctx", None)
    command = running if context is None else context.command
    if command is None:
        return str(error.format_message())
    path = f"fullrank {command.name}" if context is None else str(context.command_path)
    if kind == "NoSuchOption":
        return _no_option(error.option_name, command, path)
    param = getattr(error, "param", None)
    if kind == "MissingParameter" and param is not None:
        return _missing(param, path)
    if kind == "BadOptionUsage":
        return _no_value(error.option_name, command)
    if kind == "BadParameter" and param is not None:
        return _bad(param, error)
    return _rest(str(error.message), command, path)


def _no_option(typed: str, command: Any, path: str) -> str:
    known = _options(command)
    says = f"`{typed}` is not an option of {path}."
    commands = getattr(command, "commands", None)
    if commands:
        at = next((name for name, one in commands.items() if typed in _options(one)), None)
        if at is not None:
            return f"{says} Write it after the command, as in `{path} {at} {typed}`."
    column = re.fullmatch(r"--(\w+)[-_]col(umn)?", typed)
    if column and "--column" in known:
        return f"{says} Write `--column {column[1]}=NAME`."
    close = _closest(typed, known)
    if close:
        return f"{says} Did you mean `{close}`?"
    page = "--help" if commands else "--help-all"
    return f"{says} `{path} {page}` lists its options."


def _closest(typed: str, known: Iterable[str]) -> str | None:
    from fullrank.cli.messages import SAME

    known = list(known)
    plain = typed.lower().replace("_", "-")
    name = plain.removeprefix("--").replace("-", "_")
    same = "--" + SAME.get(name, name).replace("_", "-")
    for one in (plain, same, _TRIED.get(plain)):
        if one in known:
            return one
    close = get_close_matches(plain, known, n=1, cutoff=0.7)
    if close:
        return close[0]
    begins = [one for one in known if len(plain) > 3 and one.startswith(plain)]
    return begins[0] if len(begins) == 1 else None


def _options(command: Any) -> list[str]:
    found = [opt for one in command.params for opt in (*one.opts, *one.secondary_opts)]
    extra = ["--help"] if getattr(command, "commands", None) else ["--help", "--help-all"]
    return [one for one in found if one.startswith("-")] + extra


def _missing(param: Any, path: str) -> str:
    from fullrank.cli.help import argument, names
    from fullrank.cli.messages import typed

    shown = names(param) if param.param_type_name == "option" else argument(param)
    return f"`{typed(param)}` must be given, as in `{path} {shown}`."


def _no_value(option: str, command: Any) -> str:
    from fullrank.cli.help import names

    every = [one for one in command.params if option in (*one.opts, *one.secondary_opts)]
    param = every[0] if every else None
    if param is None or param.is_flag:
        return f"`{option}` must be given without a value."
    return f"`{option}` must be followed by a value, as in `{names(param).split(', ')[-1]}`."


def _bad(param: Any, error: Any) -> str:
    from fullrank.cli.messages import typed

    option, message = typed(param), str(error.message)
    details = getattr(error.__cause__, "errors", None)  # of pydantic, which newer typers use
    if details is not None:
        (first, *_) = details()
        value, least = first["input"], first.get("ctx", {}).get("ge")
        if least is not None:
            return f"`{option}` must be at least {least}, not {value}."
        kind = next((says for name, says in _KINDS.items() if first["type"].startswith(name)), None)
        if kind is not None:
            return _not_a_number(option, kind, str(value))
    if found := re.match(r"'(.*)' is not a valid (\w+)", message):
        kind = _KINDS.get(found[2].lower(), f"a valid {found[2]}")
        return _not_a_number(option, kind, found[1])
    if found := re.match(r"(\S+) is not in the range \w+>=(\S+?)\.?$", message):
        return f"`{option}` must be at least {found[2]}, not {found[1]}."
    return f"`{option}` is wrong: {message.rstrip('.')}."


def _not_a_number(option: str, kind: str, value: str) -> str:
    share = re.fullmatch(r"(\d+(?:\.\d+)?) ?%", value)
    hint = f" Write {float(share[1]) / 100:g}." if share else ""
    return f"`{option}` must be {kind}, not {value!r}.{hint}"


def _rest(message: str, command: Any, path: str) -> str:
    from fullrank.cli.help import argument

    if found := re.match(r"No such command '(.*?)'", message):
        commands = list(getattr(command, "commands", ()))
        says = f"{found[1]!r} is not a command of {path}."
        if Path(found[1]).exists():
            return f"{says} For a file of ranks, write `{path} estimate {found[1]}`."
        close = get_close_matches(found[1].lower().replace("_", "-"), commands, n=1, cutoff=0.5)
        if close:
            return f"{says} Did you mean `{close[0]}`?"
        return f"{says} The commands are {', '.join(commands)}."
    if found := re.match(r"Got unexpected extra argument(?:s|\(s\))? \((.*)\)", message):
        taken = [argument(one) for one in command.params if one.param_type_name == "argument"]
        says = f"{found[1]!r} must be left out: `{path}` takes {' '.join(taken) or 'options only'}."
        if "RANKS" in " ".join(taken):
            return f"{says} `fullrank compare` takes several files."
        option = next((one for one in ("--pilot", "--ranks") if one in _options(command)), None)
        return says if option is None else f"{says} Write `{option} {found[1]}`."
    if message.startswith("Missing command"):
        return f"A command must be given; `{path} --help` lists them."
    return f"{message.rstrip('.')}."
