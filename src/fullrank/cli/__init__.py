"""The ``fullrank`` command: one file per command, no logic of its own."""

from __future__ import annotations

import io
import os
import sys

from fullrank import _extras
from fullrank.errors import FullrankError


def main() -> int:
    """Run the command line and give the exit code.

    0 for success; 2 for what the caller can put right (a wrong option, an
    :class:`~fullrank.errors.FullrankError`, the missing ``cli`` extra among them), told in one
    sentence; 130 for Ctrl-C; 1 when the reader of the output went away. Anything else is a fault
    of ours and shows its traceback.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a console without our signs shows ? for them
            stream.reconfigure(errors="replace")
    try:
        for module in ("typer", "rich"):
            _extras.load(module, extra="cli", purpose="The fullrank command")
        from fullrank.cli import _app

        code = _app.run()
        sys.stdout.flush()
    except FullrankError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # the interpreter flushes once more on its way out: let it write to nowhere
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return code
