"""Errors of the library in the words of the command: options to type, not arguments of Python.

The library writes arguments in backticks, ``sample_size`` or ``leave_out='user'``. What stands
there is replaced where the running command has an option for it; nothing is decided by a sentence.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import re
import shlex
import sys
from collections.abc import Callable, Sequence
from typing import Any

from fullrank._lib.text import printable
from fullrank.cli.option_names import SAME, typed

_FILES = ("ranks", "files", "pilot")  # what is read, where it is one thing
_COLUMNS = ("rank", "user", "item", "weight", "n_targets", "offset", "score", "label", "value",
            "timestamp", "more_than")  # fmt: skip
_OF_RANKS = ("model", "seed")  # columns of files of ranks, and options of other commands
_SPECS = ("--model", "--factors", "--split", "--engine", "--design", "--try")
_SETTING = r"(?P<name>\w+)=(?P<value>'[^'`]*'|\"[^\"`]*\"|\{[^{}`]*\}|True|False|None)"


# What a command without the option of an advice can do instead
_INSTEAD = {
    "resamples": (
        "Increase `n_resamples`.", "Compare fewer metrics or models, or use `--test t`."
    ),
}  # fmt: skip
_NOTES = ("notes", "assumed", "warnings", "doubts")  # the fields of results that are sentences


def noted(text: str) -> str:
    """A note or an error with the options of the command that runs."""
    from fullrank.cli.app import running

    return in_options(text, running(), sys.argv)


def notes_in_options(content: Any, said: dict[str, str] | None = None, inside: bool = False) -> Any:
    """The fields of a result, its notes with the options of the command that runs.

    Parameters
    ----------
    content : what `to_dict` of a result returned, or a part of it
    said : takes each note that is changed, with what it becomes
    inside : whether it is a part of the notes
    """
    if isinstance(content, dict):
        return {
            key: notes_in_options(part, said, inside or key in _NOTES)
            for key, part in content.items()
        }
    if isinstance(content, list | tuple):
        return [notes_in_options(part, said, inside) for part in content]
    if not (inside and isinstance(content, str)):
        return content
    found = noted(content)
    if said is not None and found != content:
        said[content] = found
    return found


def in_options(text: str, command: Any, words: Sequence[str] = ()) -> str:
    """A sentence of the library with the options of a command.

    Parameters
    ----------
    text : the sentence
    command : click's command, or None
    words : what was typed, in which settings are looked for
    """
    if command is None:
        return text
    sized = next((one.name for one in command.params if one.name == "sample_size"), None)
    text = re.sub(r"`(user_ids|item_ids|catalogue) of ([^`]*)`", r"`\1` of \2", text)
    text = re.sub(r"must be None(?:,| or) ", "must be ", _in_specs(text, words, sized))
    ranking = "--design" if command.name == "evaluate" else "fullrank evaluate --design"
    text = re.sub(r"`max_rank=\d+` \(design (exact:\d+)\)", rf"`{ranking} \1`", text)
    text = text.replace("without `max_rank` (design exact)", f"with `{ranking} exact`")
    known = {param.name: param for param in command.params}
    for name, (advice, instead) in _INSTEAD.items():
        text = text if name in known else text.replace(advice, instead)
    columns = (*_COLUMNS, *(_OF_RANKS if "leave_out" in known else ()))
    replaced: Callable[[re.Match[str]], str] = lambda found: _setting(found, known)  # noqa: E731
    text = re.sub(rf"`{_SETTING}`", replaced, text)
    text = re.sub(rf"(?<![\w`]){_SETTING}(?!\w)", replaced, text)
    if "column" in known:  # `user=` of a RankSample is a column of a file
        named = "|".join(_COLUMNS)
        text = re.sub(rf"`({named})=`", r"`--column \1=NAME`", text)
    own = text.startswith("the ")  # and not what a name was replaced with
    text = re.sub(r"`(\w+)`( column\b)?", lambda found: _argument(found, known, columns), text)
    return text[:1].upper() + text[1:] if text.startswith("the ") and not own else text


def _in_specs(text: str, words: Sequence[str], sized: str | None) -> str:
    """The setting of a model, split or engine as it was typed, or the name that factors have.

    `sized` is "sample_size" where the command has that option; it may be typed in a design instead.
    """
    from fullrank.cli.option_values import MAIN

    found = re.match(r"`(\w+)`(?= must)", text)
    if found is None:
        return text
    having = []
    for option, value in itertools.pairwise(_parted(words)):
        if option not in _SPECS:
            continue
        unnamed = option == "--engine" and MAIN.get(value.partition(":")[0]) == found[1]
        if found[1] == "sample_size" == sized and "--sample-size" not in words:
            unnamed = option in ("--design", "--try") and bool(re.fullmatch(r"\w+:\d+", value))
        settings = {*re.findall(r"[:,](\w+)=", value)}
        if option == "--split":
            settings |= _of_split(value)
        if unnamed or found[1] in settings:
            having.append((option, value, settings))
        elif value.startswith(f"{found[1]}="):
            return f"`{option} {found[1]}`{text[found.end() :]}"
    if not having:
        return text
    option, value, settings = having[0]
    rest = re.sub(rf"`({'|'.join(settings)})`", r"\1", text[found.end() :])
    if len(having) > 1:  # which of them the sentence does not tell
        options = " or ".join(dict.fromkeys(f"`{one}`" for one, _, _ in having))
        return f"In {options}, {found[1]}{rest}"
    return f"`{option}` must not be {value!r}: {found[1]}{rest}"


def _of_split(value: str) -> set[str]:
    """The settings of a split, typed or not, because its errors name those that have a default."""
    from fullrank.data import SPLITS

    make = SPLITS.get(value.partition(":")[0])
    return set() if make is None else {*list(inspect.signature(make).parameters)[1:]} - {"rng"}


def _parted(words: Sequence[str]) -> list[str]:
    """``--model=ease`` as the two words that may be typed as well."""
    parts = (one.split("=", 1) if one.startswith("--") else [one] for one in words)
    return list(itertools.chain.from_iterable(parts))


def _setting(found: re.Match[str], known: dict[str, Any]) -> str:
    """``leave_out='user'`` as ``--leave-out user``."""
    name, value = found["name"], found["value"]
    if name in (*_COLUMNS, "split") and "column" in known:
        name, value = "columns", f"{{'{name}': {value}}}"
    param = known.get(SAME.get(name, name))
    if param is None or param.param_type_name != "option":
        return found[0]
    if value in ("True", "False") and param.is_flag:
        off = param.secondary_opts or [f"--no-{param.name}"]
        return f"`{param.opts[0] if value == 'True' else off[0]}`"
    return f"`{param.opts[0]} {shlex.quote(_word(value))}`"


def _word(value: str) -> str:
    """A value of Python's as a command takes it: ``{'rank': ['a', 'b']}`` as ``rank=a,b``."""
    try:
        found = ast.literal_eval(value)
    except (SyntaxError, ValueError):
        return value.strip("'\"")
    if isinstance(found, dict):
        if len(found) != 1:
            return value
        ((role, name),) = found.items()
        found = f"{role}={','.join(name) if isinstance(name, list) else name}"
    return printable(found)  # a name may hold line breaks, which its source escapes


def _argument(found: re.Match[str], known: dict[str, Any], columns: tuple[str, ...]) -> str:
    """``sample_size`` as ``--sample-size``, ``path`` as ``RANKS``, ``rank`` as the rank column."""
    name = found[1]
    if name in columns:
        return f"{name!r} column" if found[2] else f"the {name!r} column"
    if name in ("path", "frame", "table", "text") or (
        name == "folder" and ("out" not in known or "files" in known)
    ):
        param = next((known[one] for one in _FILES if one in known), None)
        if param is None:
            return f"the path{found[2] or ''}"
    else:
        name = "out" if name == "folder" else name
        param = known.get(name, known.get(SAME.get(name, name)))
    return found[0] if param is None else f"`{typed(param)}`{found[2] or ''}"
