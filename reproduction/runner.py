"""The studies of a source tree: what there is, what each needs, and how one is run."""

from __future__ import annotations

import ast
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from fullrank import _checks
from fullrank.data import DATASETS
from fullrank.data import _cache as cache
from fullrank.errors import FullrankError, InputError
from fullrank.evaluation import catalogue

_ROOT = Path(__file__).parents[1]  # the top of a source tree
# The papers that studies repeat, by the number in their PAPER, in the order they appeared.
PAPERS = {
    "002": "Rendle, Evaluation Metrics for Item Recommendation under Sampling (2019)",
    "001": "Li et al., On Sampling Top-K Recommendation Evaluation (KDD 2020)",
    "004": "Jin et al., On Estimating Recommendation Evaluation Metrics under Sampling (AAAI 2021)",
    "000": "Li et al., Towards Reliable Item Sampling for Recommendation Evaluation (AAAI 2023)",
    "003": "Li, dissertation",
}
_ACROSS, _OURS = "All of these papers", "Ours"
_CONSTANTS = ("PAPER", "NEEDS", "USES")
_STDERR = 2
_PATIENCE = 30.0  # seconds for a study that was interrupted
_EXPLAINED = (0, 2, 130)  # done, or the study has said itself why it is not: an input, an interrupt


@dataclass(frozen=True)
class Study:
    """What a script says of itself; nothing of it is run to know that."""

    name: str
    about: str
    paper: str  # a number in PAPERS, or ""
    folder: str  # under docs
    needs: tuple[str, ...]
    uses: tuple[str, ...]

    @property
    def group(self) -> str:
        """The heading it is listed under."""
        if self.paper:
            return PAPERS[self.paper]
        return _ACROSS if self.folder == "reproduction" else _OURS

    def require(self, names: Iterable[str] | None = None) -> None:
        """Refuse to begin without the data sets that it needs, or these; a sentence says how."""
        absent = _absent(self.needs if names is None else names)
        if not absent:
            return
        fetched = [name for name in absent if DATASETS[name].urls]
        files = f"{absent[0]}.parquet" if len(absent) == 1 else "NAME.parquet of each"
        how = f"set FULLRANK_DATA to a folder that has {files}"
        if fetched:
            them = "it" if absent == fetched[:1] else _and(fetched)
            one = fetched[0] if len(fetched) == 1 else "NAME"
            how = f"fetch {them} with `fullrank datasets {one} --download`, or {how}"
        without = "; --quick needs no data" if names is None else ""
        raise InputError(
            f"The study {self.name} needs {_and(absent)}, looked for in {_looked_in()} and not "
            f"found: {how}{without}."
        )

    def goes_without(self) -> str:
        """One sentence on the data sets that it would take along, or nothing."""
        absent = _absent(self.uses)
        if not absent:
            return ""
        return (
            f"The study {self.name} takes {_and(absent)} along where it can, looked for in "
            f"{_looked_in()} and not found: it does without."
        )


class Ran(NamedTuple):
    """How a study ended, and the files that it wrote."""

    code: int
    files: list[Path]


def every() -> dict[str, Study]:
    """The studies by name, those of the papers first, in the order of the papers."""
    folder = _ROOT / "benchmarks" / "studies"
    if not folder.is_dir():
        raise InputError(
            "The studies come with the repository and the source archive, not with an installed "
            "wheel: run this from a source tree."
        )
    paths = sorted(path for path in folder.glob("*.py") if not path.name.startswith("_"))
    order = [*PAPERS.values(), _ACROSS, _OURS]
    found = sorted(map(_read, paths), key=lambda study: order.index(study.group))
    return {study.name: study for study in found}


def grouped() -> dict[str, list[Study]]:
    """The studies under the headings they are listed under."""
    groups: dict[str, list[Study]] = {}
    for study in every().values():
        groups.setdefault(study.group, []).append(study)
    return groups


def get(name: str) -> Study:
    """The study of this name."""
    known = every()
    return known[_checks.choice("study", name, sorted(known))]


def run(
    name: str,
    *,
    quick: bool = False,
    jobs: int = 1,
    out: Path | None = None,
    own: Sequence[str] = (),
) -> Ran:
    """Run a study; what it writes goes to docs, for a quick one to out, or where `out` says.

    What it says while it runs goes to standard error. `own` are options of its script.
    """
    study = get(name)
    if any(one.split("=")[0] == "--out" for one in own):
        raise InputError("`out` must be given to `fullrank reproduce` itself, before the --.")
    quick = quick or "--quick" in own  # whose results must not take the place of others
    folder = _ROOT / ("out" if quick else "docs") / study.folder if out is None else out.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    script = _ROOT / "benchmarks" / "studies" / f"{name}.py"
    options = [*(["--quick"] if quick else []), "--jobs", str(jobs), "--out", str(folder), *own]
    shown = None if {"-h", "--help"} & set(own) else _STDERR
    before = _files(folder, name)
    code = _call([sys.executable, str(script), *options], shown)
    if code not in _EXPLAINED:
        how = f"was ended by signal {-code}" if code < 0 else f"failed with exit code {code}"
        raise FullrankError(f"The study {name} {how}; what is done is kept.")
    written = [path for path, time in _files(folder, name).items() if before.get(path) != time]
    return Ran(code, written)


def _call(command: list[str], stdout: int | None = _STDERR) -> int:
    """The exit code; what stops this process stops the child, which is given time to end its own.

    Ctrl-C reaches the child by itself.
    """
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    with (
        _passed_on() as hand_to,
        subprocess.Popen(command, stdout=stdout, env=environment) as child,
    ):
        try:
            hand_to(child)
            return child.wait()
        except KeyboardInterrupt:
            try:
                child.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                child.kill()
            raise


@contextmanager
def _passed_on() -> Iterator[Callable[[subprocess.Popen[bytes]], None]]:
    """Hand a request to end to the child, once there is one; only the main thread hears of it."""
    children: list[subprocess.Popen[bytes]] = []
    asked = False

    def end(*_: object) -> None:
        nonlocal asked
        asked = True
        for child in children:
            child.terminate()

    def hand_to(child: subprocess.Popen[bytes]) -> None:
        children.append(child)
        if asked:
            child.terminate()

    if threading.current_thread() is not threading.main_thread():
        yield hand_to
        return
    before = signal.signal(signal.SIGTERM, end)
    try:
        yield hand_to
    finally:
        signal.signal(signal.SIGTERM, before)


def _files(folder: Path, name: str) -> dict[Path, int]:
    """When each file of a study was written, results before pages before figures.

    They have its name, or stand in a folder of its name; the page of all papers is the index.
    """
    order = [".json", ".md", ".svg"]
    own = (f"{name}.*", f"{name}-*", f"{name}/*", "index.md")
    found = sorted({path for one in own for path in folder.glob(one) if path.is_file()})
    found.sort(key=lambda path: order.index(path.suffix) if path.suffix in order else len(order))
    return {path: path.stat().st_mtime_ns for path in found}


def _read(path: Path) -> Study:
    tree = ast.parse(path.read_text("utf-8"))
    constants = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }
    said = {
        name: ast.literal_eval(value)
        for name, value in constants.items()
        if name in _CONSTANTS and value is not None
    }
    paper, needs, uses = said.get("PAPER", ""), said.get("NEEDS", ()), said.get("USES", ())
    _known(path.name, "PAPER", [paper] if paper else [], PAPERS)
    _known(path.name, "NEEDS", needs, DATASETS)
    _known(path.name, "USES", uses, DATASETS)
    about = (ast.get_docstring(tree) or "").split("\n", 1)[0]
    return Study(path.stem, about, paper, _folder(tree), tuple(needs), tuple(uses))


def _folder(tree: ast.Module) -> str:
    """The `folder` that the script gives `run`."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.keyword)
            and node.arg == "folder"
            and isinstance(node.value, ast.Constant)
        ):
            return str(node.value.value)
    return "studies"


def _known(file: str, constant: str, given: Iterable[str], known: Iterable[str]) -> None:
    for one in given:
        if one not in known:
            raise InputError(
                f"`{constant}` of {file} must name one of {', '.join(known)}; got {one}."
            )


def _looked_in() -> str:
    given = cache.data_folder() or "which is not set"
    return f"FULLRANK_DATA ({given}) and the cache ({cache.folder()})"


def _absent(names: Iterable[str]) -> list[str]:
    return [name for name in names if not catalogue.is_here(name)]


def _and(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)
