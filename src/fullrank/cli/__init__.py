"""The ``fullrank`` command: its options and messages; the commands are in `commands`.

Above all other folders: may import any of them; none imports it.
"""

from __future__ import annotations

import io
import os
import sys
import warnings

from fullrank._lib import extras
from fullrank._lib.names import plugins
from fullrank.errors import FullrankError, InputError, MissingExtraError

_OURS = """\
fullrank failed: {kind}{text}. This is a bug in fullrank: please set the environment \
variable FULLRANK_TRACEBACK to 1, run the command again, and report its output."""


def main() -> int:
    """Run the command line and give the exit code.

    0 for success; 2 for what the caller can fix (a wrong option, an
    :class:`~fullrank.errors.InputError`, a missing extra); 1 for a run that failed (a download, a
    full disk, a bug in fullrank, or a reader of the output that went away); 130 for Ctrl-C. Errors
    are one sentence on stderr; with FULLRANK_TRACEBACK=1 in the environment the traceback follows.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a console without our signs shows ? for them
            stream.reconfigure(errors="replace")
    warnings.showwarning = _show_warning
    try:
        for module in ("typer", "rich"):
            extras.load(module, extra="cli", purpose="The fullrank command")
        from fullrank.cli import app

        code = app.run()
        sys.stdout.flush()
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # the interpreter flushes once more on its way out: let it write to nowhere
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        print(_sentence(error), file=sys.stderr)
        if os.environ.get("FULLRANK_TRACEBACK") == "1":
            import traceback

            traceback.print_exception(error)
        return 2 if isinstance(error, InputError | MissingExtraError) else 1
    return code


def _sentence(error: Exception) -> str:
    if isinstance(error, InputError):
        return _noted(str(error))
    if isinstance(error, FullrankError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        where = f" ({error.filename})" if error.filename else ""
        return f"The run failed: {error.strerror}{where}."
    if isinstance(error, MemoryError):
        return "The run failed: not enough memory."
    if (plugin := plugins.blamed(error)) is not None:
        return plugin
    text = " ".join(str(error).split()).rstrip(".")
    return _OURS.format(kind=type(error).__name__, text=f": {text}" if text else "")


def _noted(text: str) -> str:
    """The sentence with the options of the running command."""
    from fullrank.cli.messages import noted

    return noted(text)


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    """Show a warning as one line, without the source line that Python adds."""
    print(f"Note: {_noted(str(message))}", file=sys.stderr)
