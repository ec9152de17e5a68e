"""What the studies share: a command line, a file of what was found, a page and figures from it.

A study takes the exact ranks of a model once (`_exact`), keeps them, and then only repeats the
drawing of candidates (`fullrank.sampling.simulate`), one seed for each repeat. It writes
`<name>.json` and, from nothing but that file, `<name>.md` and its figures, `<name>-….svg`. Those
that repeat a paper lie in docs/reproduction, the others in docs/studies.

Three constants of a script are read without running it, by `fullrank reproduce`: PAPER, the number
of the paper it repeats (PAPERS in reproduction.runner); NEEDS, the data sets without which
it cannot run; USES, those that it takes along where they are. They are literals, not computed.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import platform
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import numpy as np

import fullrank
from fullrank._files import replacing
from fullrank.errors import FullrankError, InputError, MissingExtraError
from reproduction import runner as studies
from reproduction.common.kept import ROOT, keep_json

QUICK = "simulated"  # the data set of --quick, which is everywhere
QUICK_REPEATS = 2
_OF_RUN = ("fullrank", "python", "machine", "seconds", "peak_megabytes")  # and no findings
_TO_PUT_RIGHT, _INTERRUPTED = 2, 130  # exit codes: of data that are not here, say; of Ctrl-C

Study = Callable[[argparse.Namespace], dict[str, Any]]
Page = Callable[[dict[str, Any]], str]
Figures = Callable[[dict[str, Any], Path], None]


def spread(values: Iterable[float]) -> dict[str, float]:
    found = np.asarray(list(values))
    return {"mean": round(float(found.mean()), 4), "sd": round(float(found.std(ddof=1)), 4)}


def table(head: list[str], rows: Iterable[Iterable[Any]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *([str(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def run(
    name: str,
    study: Study,
    page: Page,
    *,
    repeats: int,
    folder: str = "studies",
    figures: Figures | None = None,
    options: Callable[[argparse.ArgumentParser], None] | None = None,
    page_name: str | None = None,
) -> None:
    """The command line of a study; `figures(content, folder)` draws `<folder>/<name>-….svg`.

    `options` adds what only this study asks for; the defaults must do, for they are what
    `fullrank reproduce` takes. One `--data` that names data sets, or a file of them, stands for
    NEEDS. Exit codes are those of the `fullrank` command.
    """
    parser = argparse.ArgumentParser(description=studies.get(name).about)
    parser.add_argument("--repeats", type=int, default=None, help=f"{repeats} by default")
    parser.add_argument("--quick", action="store_true", help="few repeats on small data")
    parser.add_argument("--render", action="store_true", help="only write page and figures anew")
    parser.add_argument("--jobs", type=int, default=1, help="processes; change no figure")
    kept = ROOT / "out" / "ranks"
    parser.add_argument("--cache", type=Path, default=kept, help="where a run keeps what is done")
    parser.add_argument(
        "--out", type=Path, default=ROOT / "docs" / folder, help="for what it finds"
    )
    if options is not None:
        options(parser)
    asked = parser.parse_args()
    if asked.repeats is None:
        asked.repeats = QUICK_REPEATS if asked.quick else repeats
    signal.signal(signal.SIGTERM, _interrupt)  # so that workers end and files are whole
    try:
        stored = _find(name, study, asked)
        written = write_page(stored, page, page_name or name)
        draw(stored, figures)
    except (FullrankError, OSError) as error:  # a sentence will do
        print(error, file=sys.stderr)
        sys.exit(_TO_PUT_RIGHT if isinstance(error, InputError | MissingExtraError) else 1)
    except KeyboardInterrupt:
        print("Stopped; what is done is kept, and the same command goes on.", file=sys.stderr)
        sys.exit(_INTERRUPTED)
    print(f"wrote {stored.name} and {written.name}")


def _find(name: str, study: Study, asked: argparse.Namespace) -> Path:
    """The file of what is found, new unless pages alone are to be written."""
    stored: Path = asked.out / f"{name}.json"
    if asked.render:
        if not stored.is_file():
            raise InputError(f"`render` needs {stored}, which is not there: run the study first.")
        return stored
    start = time.perf_counter()
    studies.get(name).require(_needed(asked))
    asked.out.mkdir(parents=True, exist_ok=True)  # what cannot be written is said at once
    with TemporaryFile(dir=asked.out):
        pass
    result = study(asked)
    head = _head(name, asked, time.perf_counter() - start)
    keep_json(_or_as_it_was(head | result, stored), stored)
    return stored


def _needed(asked: argparse.Namespace) -> list[str] | None:
    """The data sets that are asked for; None for those that the study names itself."""
    given = getattr(asked, "data", None)
    if isinstance(given, Path):
        return []
    return given or ([] if asked.quick else None)


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def _or_as_it_was(content: dict[str, Any], stored: Path) -> dict[str, Any]:
    """What is stored, where a run has found nothing else: another time taken is no news."""
    if not stored.is_file():
        return content
    try:
        before: dict[str, Any] = json.loads(stored.read_text(encoding="utf-8"))
    except ValueError:
        return content
    return before if _findings(before) == _findings(json.loads(json.dumps(content))) else content


def _findings(content: dict[str, Any]) -> dict[str, Any]:
    return {key: one for key, one in content.items() if key not in _OF_RUN}


def write_page(stored: Path, page: Page, name: str | None = None) -> Path:
    """The page beside a study's JSON, from nothing else, and under its name if not another."""
    content = json.loads(stored.read_text(encoding="utf-8"))
    path = stored.with_name(f"{name or stored.stem}.md")
    text = page(content) + _foot(content)
    with replacing(path) as new:
        new.write_text(text, encoding="utf-8")
    return path


def draw(stored: Path, figures: Figures | None) -> None:
    """The figures beside a study's JSON, from nothing else; those it no longer draws go."""
    if figures is None:
        return
    if importlib.util.find_spec("matplotlib") is None:
        print("no figures: matplotlib is missing (pip install matplotlib)")
        return
    old = {path: path.stat().st_mtime_ns for path in stored.parent.glob(f"{stored.stem}-*.svg")}
    figures(json.loads(stored.read_text(encoding="utf-8")), stored.parent)
    for path, written in old.items():
        if path.stat().st_mtime_ns == written:
            path.unlink()


def _head(name: str, asked: argparse.Namespace, seconds: float) -> dict[str, Any]:
    # of this process, or of the largest that it started
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


def _foot(content: dict[str, Any]) -> str:
    return (
        f"\nSeeds {content['seeds']}. {content['machine']}, Python {content['python']}, "
        f"{content['seconds']:,.0f} s, {content['peak_megabytes']:,} MB at most. Written by "
        f"`benchmarks/studies/{content['study']}.py`.\n"
    )
