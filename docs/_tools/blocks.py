"""Fenced blocks marked ``run`` are run while the pages are written, and what they print is shown.

    ```python run        the blocks of a page share their names and an empty folder
    ```python run hide   run, and not shown
    ```python run file=mine.py   written to a file in that folder, and imported from there
    ```console run       each line that begins with `$ ` is a command; exit=2 if it should fail

A block that raises, warns, or exits with another code than it says fails the build.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

_FENCE = re.compile(
    r"^(?P<indent> *)```(?P<kind>python|console) run(?P<options>[^\n]*)\n"
    r"(?P<code>.*?)^(?P=indent)```$",
    re.DOTALL | re.MULTILINE,
)
_WORKER = Path(__file__).with_name("worker.py")
_process: subprocess.Popen[str] | None = None


class BlockError(RuntimeError):
    """A block that failed."""


def run(markdown: str, page: str) -> str:
    """The page with the output of its blocks in it."""
    return _FENCE.sub(lambda found: _block(found, page), markdown)


def stop() -> None:
    """End the worker."""
    global _process
    if _process is not None:
        with _process:  # closes its input, which ends it, and waits
            _process = None


def _block(found: re.Match[str], page: str) -> str:
    indent, kind, options = found["indent"], found["kind"], found["options"].split()
    code = re.sub(f"^{indent}", "", found["code"], flags=re.MULTILINE)
    code_wanted = next((int(one[5:]) for one in options if one.startswith("exit=")), 0)
    file = next((one[5:] for one in options if one.startswith("file=")), None)
    answer = _ask({"page": page, "kind": kind, "code": code, "exit": code_wanted, "file": file})
    if answer["error"]:
        raise BlockError(f"A {kind} block of {page} failed:\n{code}\n{answer['error']}")
    if "hide" in options:
        return ""
    if kind == "console":
        shown = [f"```console\n{answer['output']}```"]
    else:
        title = "" if file is None else f' title="{file}"'
        shown = [f"```python{title}\n{code}```"]
        if answer["output"]:
            shown.append(f"``` {{ .text .output }}\n{answer['output']}```")
    text = "\n\n".join(shown)
    return "\n".join(f"{indent}{line}" if line else "" for line in text.split("\n"))


def _ask(question: dict[str, Any]) -> Any:
    worker = _started()
    assert worker.stdin is not None
    assert worker.stdout is not None
    worker.stdin.write(json.dumps(question) + "\n")
    worker.stdin.flush()
    line = worker.stdout.readline()
    if not line:
        raise BlockError(f"The process that runs the blocks ended at one of {question['page']}.")
    return json.loads(line)


def _started() -> subprocess.Popen[str]:
    global _process
    if _process is None:
        # the pages must not depend on what lies on the machine that builds them
        environment = {k: v for k, v in os.environ.items() if k != "FULLRANK_DATA"}
        environment |= {"COLUMNS": "96", "NO_COLOR": "1", "MPLBACKEND": "Agg", "TERM": "dumb"}
        environment |= {"PYTHONIOENCODING": "utf-8", "OPENBLAS_NUM_THREADS": "1"}
        environment |= {
            "OMP_NUM_THREADS": "1"
        }  # PyTorch's: threads that wait for each other are slow
        _process = subprocess.Popen(
            [sys.executable, _WORKER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            env=environment,
        )
    return _process
