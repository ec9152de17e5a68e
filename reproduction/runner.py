"""The command line: ``python -m reproduction list`` and ``python -m reproduction run NAME``.

A study writes `<name>.json` into reproduction/results and its figures, `<name>-….svg`, into docs,
drawn from that file alone. Exit codes are those of the `fullrank` command.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import os
import platform
import resource
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import fullrank
from fullrank.errors import FullrankError, InputError, MissingExtraError
from reproduction import registry
from reproduction.common.kept import RESULTS, ROOT, keep_json
from reproduction.study import QUICK_REPEATS

_INVALID, _INTERRUPTED = 2, 130  # exit codes: missing data or a wrong option; Ctrl-C
_OF_RUN = ("fullrank", "python", "machine", "seconds", "peak_megabytes")  # and no results
_NO_LONGER = ("claims", "ours")  # sentences that earlier versions wrote beside the numbers
_USAGE = """\
usage: python -m reproduction [list]
       python -m reproduction run NAME [--quick] [--jobs N] [--out FOLDER] [-- OPTIONS OF THE STUDY]

`run NAME --help` shows all options of a study."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    command, *rest = (sys.argv[1:] if argv is None else argv) or ["list"]
    if command in ("-h", "--help"):
        print(_USAGE)
        return 0
    try:
        if command == "list" and not rest:
            print(listing())
        elif command == "run" and rest:
            run(rest[0], rest[1:])
        else:
            raise InputError(_USAGE)
    except (FullrankError, OSError) as error:  # one sentence, no traceback
        print(error, file=sys.stderr)
        return _INVALID if isinstance(error, InputError | MissingExtraError) else 1
    except KeyboardInterrupt:
        print("Stopped. Finished parts are kept; the same command resumes.", file=sys.stderr)
        return _INTERRUPTED
    return 0


def listing() -> str:
    """The studies by paper."""
    width = max(map(len, registry.STUDIES))
    return "\n\n".join(
        "\n".join([heading, *(f"  {study.name:<{width}}  {study.about}" for study in group)])
        for heading, group in registry.grouped().items()
    )


def run(name: str, argv: Sequence[str] = ()) -> None:
    """Run a study with the options in `argv`; those after ``--`` are options too."""
    known = registry.get(name)
    module = importlib.import_module(f"reproduction.{known.module}")
    asked = _parsed(known, module, argv)
    signal.signal(signal.SIGTERM, _interrupt)  # so that workers end and files are complete
    stored = asked.out / f"{name}.json"
    if asked.figures_only:
        if not stored.is_file():
            raise InputError(f"`figures-only` needs {stored}, which does not exist.")
    else:
        _compute(known, module, asked, stored)
        print(f"Written to {stored}.")
    for path in draw(stored, getattr(module, "figures", None), asked.figures):
        print(f"Written to {path}.")


def _parsed(known: registry.Study, module: Any, argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog=f"python -m reproduction run {known.name}", description=known.about
    )
    add = parser.add_argument
    add("--quick", action="store_true", help="few repeats on small data, written below out")
    add("--jobs", type=int, default=1, help="number of processes; changes no result")
    add("--out", type=Path, help="folder for results and figures")
    add("--repeats", type=int, help=f"default: {module.REPEATS}")
    add("--figures-only", action="store_true", help="draw the figures of stored results")
    cache = ROOT / "out" / "ranks"
    add("--cache", type=Path, default=cache, help="folder for finished parts, to resume from")
    if hasattr(module, "options"):
        module.options(parser)
    asked = parser.parse_args([one for one in argv if one != "--"])
    if asked.repeats is None:
        asked.repeats = QUICK_REPEATS if asked.quick else module.REPEATS
    if asked.out is None and asked.quick:
        asked.out = ROOT / "out" / "reproduction"
    if asked.out is None:
        asked.out = RESULTS / ("own" if known.own else "papers")
        asked.figures = ROOT / "docs" / ("studies" if known.own else "reproduction")
        asked.ranks = RESULTS / "ranks"
    else:
        asked.figures, asked.ranks = asked.out, asked.out / "ranks"
    return asked


def _compute(known: registry.Study, module: Any, asked: argparse.Namespace, stored: Path) -> None:
    start = time.perf_counter()
    known.require(_needed(asked))
    if not asked.quick and (note := known.omitted()):
        print(note, file=sys.stderr)
    asked.out.mkdir(parents=True, exist_ok=True)
    with TemporaryFile(dir=asked.out):  # a folder that cannot be written to fails at once
        pass
    content = module.study(asked)
    content = _head(known.name, asked, time.perf_counter() - start) | content
    if not _unchanged(content, stored):
        keep_json(content, stored)


def _needed(asked: argparse.Namespace) -> list[str] | None:
    """The data sets given by ``--data``; None for those of the registry."""
    return getattr(asked, "data", None) or ([] if asked.quick else None)


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def _unchanged(content: dict[str, Any], stored: Path) -> bool:
    """Whether a run has found what is stored: another running time is no reason to rewrite."""
    try:
        before = json.loads(stored.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return _results(before) == _results(json.loads(json.dumps(content)))


def _results(content: dict[str, Any]) -> dict[str, Any]:
    return {key: one for key, one in content.items() if key not in (*_OF_RUN, *_NO_LONGER)}


def draw(stored: Path, figures: Any, folder: Path) -> list[Path]:
    """Draw the figures of a stored result, and remove those that are no longer drawn."""
    if figures is None:
        return []
    if importlib.util.find_spec("matplotlib") is None:
        print("No figures: matplotlib is missing (pip install matplotlib).", file=sys.stderr)
        return []
    pattern = f"{stored.stem}-*.svg"
    before = {path: path.stat().st_mtime_ns for path in folder.glob(pattern)}
    figures(json.loads(stored.read_text(encoding="utf-8")), folder)
    for path, written in before.items():
        if path.stat().st_mtime_ns == written:
            path.unlink()
    return sorted(folder.glob(pattern))


def _head(name: str, asked: argparse.Namespace, seconds: float) -> dict[str, Any]:
    # the memory of this process, or of the largest that it started
    each = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    used = max(resource.getrusage(who).ru_maxrss for who in each)
    return {
        "study": name,
        "quick": asked.quick,
        "repeats": asked.repeats,
        "seeds": f"0 to {asked.repeats - 1}, one for each repeat",
        "fullrank": fullrank.__version__,
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "seconds": round(seconds, 1),
        "peak_megabytes": round(used / (2**20 if platform.system() == "Darwin" else 2**10)),
    }
