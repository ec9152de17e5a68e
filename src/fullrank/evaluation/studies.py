"""The studies of a source tree: what there is, what each needs, and how one is run."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from fullrank import _checks
from fullrank.data import DATASETS
from fullrank.data import _cache as cache
from fullrank.errors import FullrankError, InputError
from fullrank.evaluation import catalogue

_ROOT = Path(__file__).parents[3]  # the top of a source tree
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

    def lacks(self) -> str:
        """One sentence on the data sets that are not here, or nothing."""
        needed, used = (
            [name for name in names if not catalogue.is_here(name)]
            for names in (self.needs, self.uses)
        )
        if not needed and not used:
            return ""
        if needed:
            says = f"needs {_and(needed)}"
            then = "it can only go on from what an earlier run has kept"
        else:
            says = f"takes {_and(used)} along where it can"
            then = "it does without"
        return (
            f"The study {self.name} {says}, looked for in {_looked_in()} and not found: {then}; "
            f"--quick needs no data."
        )


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


def run(name: str, *, quick: bool = False, jobs: int = 1) -> list[Path]:
    """Run a study; the files it writes, in docs or for a quick one in out.

    What it says while it runs goes to standard error.
    """
    study = get(name)
    folder = _ROOT / ("out" if quick else "docs") / study.folder
    folder.mkdir(parents=True, exist_ok=True)
    script = _ROOT / "benchmarks" / "studies" / f"{name}.py"
    options = [*(["--quick"] if quick else []), "--jobs", str(jobs), "--out", str(folder)]
    before = _files(folder, name)
    code = _call([sys.executable, str(script), *options])
    if code:
        raise FullrankError(f"The study {name} failed with exit code {code}.")
    return [path for path, time in _files(folder, name).items() if before.get(path) != time]


def _call(command: list[str]) -> int:
    """The exit code; an interrupt reaches the child too, which is given time to end its own."""
    with subprocess.Popen(
        command, stdout=_STDERR, env=os.environ | {"PYTHONUNBUFFERED": "1"}
    ) as child:
        try:
            return child.wait()
        except KeyboardInterrupt:
            try:
                child.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                child.kill()
            raise


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


def _and(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)
