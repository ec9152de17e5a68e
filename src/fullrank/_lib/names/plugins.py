"""Plug-ins: Python files that register something when they are imported.

``fullrank --plugin mine.py …`` and the environment variable FULLRANK_PLUGINS name them. Worker
processes inherit the variable and the folders, so they find the entries and classes of a plug-in
under the same names.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import traceback
from collections.abc import Iterable
from pathlib import Path

from fullrank._lib.text import because, printable
from fullrank.errors import InputError

VARIABLE = "FULLRANK_PLUGINS"
_loaded: dict[str, str] = {}  # the path of each plug-in, to its module


def load(paths: Iterable[str | Path], *, argument: str = "plugin") -> None:
    """Import plug-ins that are not yet loaded, and pass them on to worker processes.

    Parameters
    ----------
    paths : Python files
    argument : their name in errors
    """
    for path in paths:
        source = Path(path).expanduser().absolute()
        if str(source) not in _loaded:
            _find(source)
            _import(source, argument)
            _add(VARIABLE, str(source))


def from_environment() -> None:
    """Import the plug-ins that FULLRANK_PLUGINS lists, separated as those of PATH are."""
    listed = os.environ.get(VARIABLE, "")
    if listed:
        load((one for one in listed.split(os.pathsep) if one.strip()), argument=VARIABLE)


def blamed(error: BaseException) -> str | None:
    """Return what failed in a plug-in, as a sentence; None if the error is not from a plug-in."""
    frames = traceback.extract_tb(error.__traceback__)
    package = str(Path(__file__).parents[2])
    ours = [frame for frame in frames if frame.filename in _loaded or package in frame.filename]
    if not ours or ours[-1].filename not in _loaded:
        return None
    at = ours[-1]
    return (
        f"{printable(Path(at.filename).name)} failed on line {at.lineno} with "
        f"{type(error).__name__}: {because(error)}."
    )


def _import(source: Path, argument: str) -> None:
    name = _module_name(source, argument)
    _loaded[str(source)] = name  # now, for what it registers looks plug-ins up in its turn
    try:
        importlib.import_module(name)
    except (Exception, SystemExit) as error:
        del _loaded[str(source)]
        sys.modules.pop(name, None)
        raise InputError(
            f"`{argument}` must be a Python file that runs; {printable(source)} fails "
            f"{_where(error, source)}with {type(error).__name__}: {because(error)}."
        ) from error


def _module_name(source: Path, argument: str) -> str:
    """The name of the module, by which worker processes will find it again."""
    name = source.stem
    if source.suffix != ".py" or not name.isidentifier():
        raise InputError(
            f"`{argument}` must be a Python file such as my_metric.py, not {printable(source)}."
        )
    if not source.is_file():
        raise InputError(
            f"`{argument}` must be an existing file; {printable(source)} does not exist."
        )
    importlib.invalidate_caches()
    module = sys.modules.get(name)
    found = importlib.util.find_spec(name) if module is None else module.__spec__
    origin = None if found is None else found.origin
    if origin is None or Path(origin).resolve() != source.resolve():
        raise InputError(
            f"`{argument}` must have a unique module name; {printable(name)} is already the name "
            f"of {printable(origin or 'another module')}. Rename {printable(source)}."
        )
    return name


def _find(source: Path) -> None:
    """Put the folder where Python looks for modules, here and in worker processes."""
    folder = str(source.parent)
    if folder not in sys.path:
        sys.path.append(folder)
    _add("PYTHONPATH", folder)


def _add(variable: str, value: str) -> None:
    known = [one for one in os.environ.get(variable, "").split(os.pathsep) if one]
    if value not in known:
        os.environ[variable] = os.pathsep.join([*known, value])


def _where(error: BaseException, source: Path) -> str:
    """The line of the plug-in that failed, if it is one of its own."""
    if isinstance(error, SyntaxError):
        return f"on line {error.lineno} "
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if Path(frame.filename) == source
    ]
    return f"on line {lines[-1]} " if lines else ""
