"""What was typed wrong, in one sentence that names what to type.

Typer's errors come from one of two packages, depending on its version, so they are told apart by
the names of their classes.
"""

from __future__ import annotations

import os
import re
from difflib import get_close_matches
from typing import Any

# What people try, and what to type instead: the first of these that the command has.
_TRIED = {
    "--out": "--report", "--output": "--out, --report", "-o": "--out, --report",
    "--output-dir": "--out", "--save": "--out, --report", "--html": "--report, --out",
    "--top-k": "--metric ndcg@10", "--topk": "--metric ndcg@10", "-k": "--metric ndcg@10",
    "--k": "--metric ndcg@10", "--cutoff": "--metric ndcg@10",
    "--sample-size": "--design sampled:100", "--n-samples": "--sample-size, --design sampled:100",
    "--negatives": "--sample-size, --design sampled:100",
    "--n-negatives": "--sample-size, --design sampled:100",
    "--candidates": "--sample-size, --design sampled:100",
    "--items": "--n-items", "--catalogue-size": "--n-items", "--catalog-size": "--n-items",
    "--confidence": "--level", "--random-state": "--seed",
    "--bootstrap": "--uncertainty bootstrap, --test bootstrap", "--latex": "--format latex",
    "--markdown": "--format markdown", "--estimator": "--method",
    "--with-replacement": "--design sampled:replacement=true",
    "--replacement": "--design sampled:replacement=true", "--sampling": "--design",
    "--unpaired-test": "--unpaired", "--gpu": "--device cuda", "--cuda": "--device cuda",
    "--workers": "--engine processes:2", "--jobs": "--engine processes:2",
    "--n-jobs": "--engine processes:2", "--names": "--model", "--reference": "--baseline",
    "--ground-truth": "--truth",
}  # fmt: skip
# Where the nearest option does the opposite, or takes another value
_LEFT_OUT = ("--keep-seen", "Training items are excluded unless `--keep-seen` is given.")
_OPPOSITE = {
    "--alpha": ("--level", "For an alpha of 0.05, write `--level 0.95`."),
    "--anchor": ("--no-anchor", "Anchors are trained unless `--no-anchor` is given."),
    "--exclude": _LEFT_OUT, "--exclude-seen": _LEFT_OUT, "--filter-seen": _LEFT_OUT,
    "--remove-seen": _LEFT_OUT,
}  # fmt: skip
_KINDS = {"int": "a whole number", "integer": "a whole number", "float": "a number"}


def sentence(error: Any, running: Any, group: Any) -> str | None:
    """What to tell about an error of typer's; None for the page that a bare command prints.

    `running` is the command that was typed, or None: not every error says where it comes from.
    `group` holds all commands.
    """
    kind = type(error).__name__
    if kind == "NoArgsIsHelpError":
        return None
    context = getattr(error, "ctx", None)
    command = (running or group) if context is None else context.command
    path = "fullrank" if hasattr(command, "commands") else f"fullrank {command.name}"
    if kind == "NoSuchOption":
        return _no_option(error.option_name, command, path, group)
    param = getattr(error, "param", None)
    if kind == "MissingParameter" and param is not None:
        return _missing(param, path)
    if kind == "BadOptionUsage":
        return _no_value(error.option_name, command)
    if kind == "BadParameter" and param is not None:
        return _bad(param, error)
    return _rest(str(error.message), command, path)


def _no_option(typed: str, command: Any, path: str, group: Any) -> str:
    from fullrank.cli.help import names

    known = _options(command)
    says = f"`{typed}` is not an option of {path}."
    commands = getattr(command, "commands", None)
    if commands:
        at = next((name for name, one in commands.items() if typed in _options(one)), None)
        if at is not None:
            return f"{says} Write it after the command, as in `{path} {at} {typed}`."
    else:
        of_all = next((one for one in group.params if typed in one.opts), None)
        if of_all is not None:
            rest = "" if of_all.is_flag else f" {command.name}"
            return f"{says} Write it first, as in `fullrank {names(of_all)}{rest}`."
    column = re.fullmatch(r"--(\w+)[-_]col(umn)?", typed)
    if column and "--column" in known:
        return f"{says} Write `--column {column[1]}=NAME`."
    plain = _plain(typed)
    option, hint = _OPPOSITE.get(plain, ("", ""))
    if option in known:
        return f"{says} {hint}"
    close = _closest(plain, command)
    if close:
        return f"{says} Did you mean `{close}`?"
    page = "--help" if commands else "--help-all"
    return f"{says} `{path} {page}` lists the options."


def _plain(typed: str) -> str:
    return typed.lower().replace("_", "-")


def _closest(typed: str, command: Any) -> str | None:
    from fullrank.cli.option_names import SAME

    known = _options(command)
    files = {opt for one in command.params if one.metavar == "FILE" for opt in one.opts}
    tried = (
        one
        for one in _TRIED.get(typed, "").split(", ")
        for option, _, value in [one.partition(" ")]
        if option in known and not (value and option in files)  # `--test` is a file in `evaluate`
    )
    first = typed if typed in known else next(tried, None)
    if first is not None:
        return first
    name = typed.removeprefix("--").replace("-", "_")
    for param in command.params:  # an argument of Python's
        if param.name in (name, SAME.get(name)) and param.param_type_name == "option":
            return str(param.opts[0])
    # without the dashes, which every option has in common
    bare = {one.lstrip("-"): one for one in known}
    close = get_close_matches(typed.lstrip("-"), bare, n=1, cutoff=0.7)
    if close:
        return bare[close[0]]
    begins = [one for one in known if len(typed) > 3 and one.startswith(typed)]
    return begins[0] if len(begins) == 1 else None


def _options(command: Any) -> list[str]:
    found = [opt for one in command.params for opt in (*one.opts, *one.secondary_opts)]
    return [*(one for one in found if one.startswith("-")), "--help", "--help-all"]


def _missing(param: Any, path: str) -> str:
    from fullrank.cli.help import argument, names
    from fullrank.cli.option_names import typed

    shown = names(param) if param.param_type_name == "option" else argument(param)
    return f"`{typed(param)}` must be given, as in `{path} {shown}`."


def _no_value(option: str, command: Any) -> str:
    from fullrank.cli.help import names

    every = [one for one in command.params if option in (*one.opts, *one.secondary_opts)]
    param = every[0] if every else None
    if param is None or param.is_flag:
        return f"`{option}` must not have a value."
    return f"`{option}` must be followed by a value, as in `{names(param).split(', ')[-1]}`."


def _bad(param: Any, error: Any) -> str:
    from fullrank.cli.option_names import typed

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
    return f"`{option}` is not valid: {message.rstrip('.')}."


def _not_a_number(option: str, kind: str, value: str) -> str:
    share = re.fullmatch(r"(\d+(?:\.\d+)?) ?%", value)
    hint = f" Write {float(share[1]) / 100:g}." if share else ""
    return f"`{option}` must be {kind}, not {value!r}.{hint}"


def _rest(message: str, command: Any, path: str) -> str:
    from fullrank.cli.help import argument

    if found := re.match(r"No such command '(.*?)'", message):
        commands = list(getattr(command, "commands", ()))
        says = f"{found[1]!r} is not a command of {path}."
        if os.path.exists(found[1]):
            return f"{says} For a file of ranks, write `{path} estimate {found[1]}`."
        word = _plain(found[1])
        if f"--{word}" in _options(command):  # help, version
            return f"{says} Did you mean `{path} --{word}`?"
        close = get_close_matches(word, commands, n=1, cutoff=0.7)
        close = close or [one for one in commands if len(word) > 2 and one.startswith(word)]
        if close:
            return f"{says} Did you mean `{close[0]}`?"
        return f"{says} The commands are {', '.join(commands)}."
    if found := re.match(r"Got unexpected extra argument(?:s|\(s\))? \((.*)\)", message):
        taken = [argument(one) for one in command.params if one.param_type_name == "argument"]
        says = f"{found[1]!r} must be omitted: `{path}` takes {' '.join(taken) or 'options only'}."
        if "RANKS" in " ".join(taken):
            return f"{says} `fullrank compare` takes several files."
        option = next((one for one in ("--pilot", "--ranks") if one in _options(command)), None)
        if option is None:
            return says
        return f"{says} Write `{' '.join(f'{option} {word}' for word in found[1].split())}`."
    if message.startswith("Missing command"):
        return f"A command must be given; `{path} --help` lists the commands."
    return f"{message.rstrip('.')}."
