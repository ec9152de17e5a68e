"""What the studies share: data sets, models, exact ranks kept in a folder, errors, pages.

A study takes the exact ranks of a model once, keeps them, and then only repeats the drawing of
candidates (`fullrank.sampling.simulate`), one seed for each repeat. It writes `<name>.json` and,
from nothing but that file, `<name>.md` and its figures, `<name>-….svg`. Those that repeat a paper
lie in docs/reproduction, the others in docs/studies.

Three constants of a script are read without running it, by `fullrank reproduce`: PAPER, the number
of the paper it repeats (PAPERS in fullrank.evaluation.studies); NEEDS, the data sets without which
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
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from _workers import watched, workers

import fullrank
from fullrank._files import replacing
from fullrank.data import Interactions, datasets
from fullrank.data.splits import Split
from fullrank.errors import FullrankError, InputError, MissingExtraError
from fullrank.evaluation import studies
from fullrank.metrics import parse
from fullrank.models import EASE, Popularity
from fullrank.ranking import FactorScorer
from fullrank.sampling import RankDistribution, RankGrid

ROOT = Path(__file__).parents[2]
KS = range(1, 51)
METRICS = ("recall", "ndcg", "ap")
N_FACTORS = 64
QUICK = "simulated"  # the data set of --quick, which is everywhere
QUICK_REPEATS = 2
_OF_RUN = ("fullrank", "python", "machine", "seconds", "peak_megabytes")  # and no findings
_TO_PUT_RIGHT, _INTERRUPTED = 2, 130  # exit codes: of data that are not here, say; of Ctrl-C

Study = Callable[[argparse.Namespace], dict[str, Any]]
Page = Callable[[dict[str, Any]], str]
Figures = Callable[[dict[str, Any], Path], None]


@dataclass(frozen=True)
class Source:
    """How a data set is split, and the λ of its EASE."""

    split: Callable[[], Split]
    regularization: float


def _given(name: str) -> Callable[[], Split]:
    return lambda: datasets.load_split(name)


def _held_out(name: str, **settings: Any) -> Callable[[], Split]:
    return lambda: datasets.load(name).split("leave-one-out", **settings)


SOURCES = {
    "ml-1m": Source(_given("ml-1m"), 1500.0),
    "pinterest-20-part": Source(_given("pinterest-20-part"), 1500.0),
    "citeulike-a": Source(_held_out("citeulike-a", rng=0), 200.0),
    # its only order is the position within a user, which is read as the time
    "amazon-video-games": Source(
        _held_out("amazon-video-games", by="last", min_interactions=3), 500.0
    ),
    QUICK: Source(_held_out(QUICK, rng=0), 100.0),
}


def truncated_svd(train: Interactions) -> FactorScorer:
    """PureSVD: the training matrix at rank 64, scored as it comes out."""
    from scipy.sparse.linalg import svds

    matrix = train.matrix(np.float64)
    start = np.random.default_rng(0).random(min(matrix.shape))
    left, values, right = svds(matrix, k=min(N_FACTORS, min(matrix.shape) - 1), v0=start)
    return FactorScorer(
        (left * values).astype(np.float32), np.ascontiguousarray(right.T.astype(np.float32))
    )


MODELS: dict[str, Callable[[Interactions, float], Any]] = {
    "EASE": lambda train, strength: EASE(regularization=strength).fit(train),
    "SVD 64": lambda train, _: truncated_svd(train),
    "popularity": lambda train, _: Popularity().fit(train),
}


@dataclass(frozen=True)
class Ranks:
    """Exact ranks of the held-out items, and the size of the catalogue."""

    ranks: np.ndarray
    n_items: int


def exact_ranks(name: str, model: str, excluded: bool, cache: Path) -> Ranks:
    """From the folder, or computed and kept there; equal scores in random order, seed 0.

    Training items are candidates as in the papers, or (`excluded`) stand below the target:
    either way a rank among all N items.
    """
    path = _file(name, model, excluded, cache)
    if not path.is_file():
        source = SOURCES[name]
        split = source.split()
        made = MODELS[model](split.train, source.regularization)
        for without in (False, True):
            found = fullrank.rank(
                made,
                split.test,
                exclude=split.train if without else None,
                ties="random",
                rng=0,
            )
            keep(Ranks(found.ranks, split.train.n_items), _file(name, model, without, cache))
    with np.load(path) as content:
        return Ranks(content["ranks"], int(content["n_items"]))


def keep(found: Ranks, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    keep_arrays(path, ranks=found.ranks, n_items=found.n_items)


def _file(name: str, model: str, excluded: bool, cache: Path) -> Path:
    items = "excluded" if excluded else "kept"
    return cache / f"{name}-{model.replace(' ', '-').lower()}-{items}.npz"


class Judge:
    """The papers' measure: mean over K = 1..50 of |estimate - exact| / exact, in percent.

    Cut-offs at which the exact metric is 0 have no relative error and are left out.
    """

    def __init__(self, known: Ranks) -> None:
        self.grid = RankGrid.default(known.n_items)
        mass = RankDistribution.from_ranks(known.ranks, n_items=known.n_items, grid=self.grid).mass
        self._gains = {
            m: np.array([self.grid.averages(parse(f"{m}@{k}")) for k in KS]) for m in METRICS
        }
        self._exact = {m: gains @ mass for m, gains in self._gains.items()}
        self.cut_offs = int(np.count_nonzero(self._exact["recall"] > 0))

    def errors(self, mass: np.ndarray) -> list[float]:
        """One for each of METRICS."""
        return [
            100.0
            * float(np.mean(np.abs(self._gains[m] @ mass - exact)[exact > 0] / exact[exact > 0]))
            for m, exact in self._exact.items()
        ]


def adaptive_levels(n_items: int, start: int = 25, limit: int | None = None) -> list[int]:
    """Sizes start, 2 start, … and the limit, an eighth of the items by default."""
    last = max(start, n_items // 8) if limit is None else limit
    levels = [start]
    while 2 * levels[-1] < last:
        levels.append(2 * levels[-1])
    return levels if levels[-1] == last else [*levels, last]


def in_processes(
    work: Callable[[Any], Any], tasks: Iterable[Any], jobs: int, label: str = ""
) -> list[Any]:
    """Do all tasks, in several processes if asked to, and say how long it will take."""
    tasks = list(tasks)
    if jobs == 1 or len(tasks) < 2:
        return list(watched(map(work, tasks), len(tasks), label))
    with workers(min(jobs, len(tasks))) as pool:
        running = [pool.submit(work, task) for task in tasks]
        return list(watched((one.result() for one in running), len(tasks), label))


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
    with replacing(asked.out / f"{name}.trial") as trial:
        trial.touch()
    (asked.out / f"{name}.trial").unlink()
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
    return before if _findings(before) == _findings(json.loads(_text(content))) else content


def _findings(content: dict[str, Any]) -> dict[str, Any]:
    return {key: one for key, one in content.items() if key not in _OF_RUN}


def _text(content: dict[str, Any]) -> str:
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def keep_json(content: dict[str, Any], path: Path) -> None:
    with replacing(path) as new:
        new.write_text(_text(content), encoding="utf-8")


def keep_arrays(path: Path, **arrays: Any) -> None:
    """A compressed .npz, whole or not at all."""
    with replacing(path) as new, new.open("wb") as file:
        np.savez_compressed(file, **arrays)


def append_json(record: Any, path: Path) -> None:
    """One more line, on a line of its own even where a killed run has left half of one."""
    torn = path.is_file() and path.read_bytes()[-1:] not in (b"\n", b"")
    with path.open("a", encoding="utf-8") as file:
        file.write(("\n" if torn else "") + json.dumps(record) + "\n")


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
