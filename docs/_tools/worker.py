"""Run the blocks of the pages: one JSON question per line, one JSON answer per line.

A process of its own: blocks change the folder, the warnings and what is imported.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import shlex
import signal
import sys
import tempfile
import traceback
import warnings
from typing import Any

_SECONDS = 900  # for a block: what hangs ends, even on a machine that is busy with other work


def main() -> None:
    """Answer until the questions end."""

    def too_long(*_: object) -> None:
        raise TimeoutError(f"a block may take {_SECONDS} s")

    signal.signal(signal.SIGALRM, too_long)
    page, names = "", {}
    with tempfile.TemporaryDirectory() as folder:
        for number, line in enumerate(sys.stdin):
            question = json.loads(line)
            if question["page"] != page:  # every page starts anew
                page, names = question["page"], {"__name__": "__main__"}
                os.chdir(_made(folder, number))
            json.dump(_answer(question, names), sys.__stdout__)
            sys.__stdout__.write("\n")
            sys.__stdout__.flush()
        os.chdir(os.path.dirname(folder))


def _made(folder: str, number: int) -> str:
    path = os.path.join(folder, str(number))
    os.mkdir(path)
    return path


def _answer(question: dict[str, Any], names: dict[str, Any]) -> dict[str, str]:
    output = io.StringIO()
    signal.alarm(_SECONDS)
    try:
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            if question["kind"] == "console":
                _console(question["code"], question["exit"], output)
            else:
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    if question["file"] is not None:
                        names |= _imported(question["file"], question["code"])
                    else:
                        exec(compile(question["code"], question["page"], "exec"), names)
    except BaseException:
        return {"output": "", "error": traceback.format_exc() + output.getvalue()}
    finally:
        signal.alarm(0)
    return {"output": _clean(output.getvalue()), "error": ""}


def _imported(file: str, code: str) -> dict[str, Any]:
    """The names of a module that is written now."""
    with open(file, "w", encoding="utf-8") as written:
        written.write(code)
    sys.path.insert(0, os.getcwd())
    try:
        importlib.invalidate_caches()
        return dict(vars(importlib.import_module(file.removesuffix(".py"))))
    finally:
        sys.path.remove(os.getcwd())


def _console(code: str, wanted: int, output: io.StringIO) -> None:
    lines = code.replace("\\\n", "\\\0").splitlines()  # a command may go on in the next line
    for place, line in enumerate(line for line in lines if line.startswith("$ ")):
        if place:
            output.write("\n")
        output.write(line.replace("\\\0", "\\\n") + "\n")
        reached = _command(shlex.split(line[2:].replace("\\\0", " ")))
        if reached != wanted:
            raise RuntimeError(f"{line} ended with {reached}, not {wanted}")


def _command(words: list[str]) -> int:
    if words[0] == "cat":
        with open(words[1], encoding="utf-8") as file:
            sys.stdout.write(file.read())
        return 0
    if words[0] != "fullrank":
        raise RuntimeError(f"{words[0]} is not run here")
    from fullrank import cli

    sys.argv = words
    with warnings.catch_warnings():
        return cli.main()


def _clean(text: str) -> str:
    lines = [line.rstrip() for line in text.splitlines()]
    while lines and not lines[-1]:
        lines.pop()
    return "".join(f"{line}\n" for line in lines)


if __name__ == "__main__":
    main()
