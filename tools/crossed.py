"""How many files and functions of fullrank one call crosses, and how deep: a line per path.

Each path is run once to load and compile, and counted the second time: files, functions (lambdas
and comprehensions not counted) and the most calls of fullrank's that were open at once.

    python tools/crossed.py                    # the fullrank that Python finds
    python tools/crossed.py rank compare --files
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

N_USERS, N_ITEMS = 200, 300


@dataclass
class Crossed:
    """What a call has crossed."""

    files: set[str] = field(default_factory=set)
    functions: set[tuple[str, str, int]] = field(default_factory=set)
    depth: int = 0


def crossed(call: Callable[[], Any], package: Path) -> Crossed:
    """Run the call and count what it crosses of the files in `package`."""
    found, open_calls, prefix = Crossed(), 0, str(package) + os.sep

    def hook(frame: FrameType, event: str, _: Any) -> None:
        nonlocal open_calls
        code = frame.f_code
        if event not in ("call", "return") or not code.co_filename.startswith(prefix):
            return
        if code.co_name.startswith("<"):  # a comprehension, a lambda, a module that is loaded
            return
        if event == "return":
            open_calls -= 1
            return
        open_calls += 1
        found.depth = max(found.depth, open_calls)
        found.files.add(code.co_filename.removeprefix(prefix))
        found.functions.add((code.co_filename, code.co_qualname, code.co_firstlineno))

    sys.setprofile(hook)
    try:
        call()
    finally:
        sys.setprofile(None)
    return found


def paths(folder: Path) -> dict[str, Callable[[], Any]]:
    """The calls by name, on small made-up data; `folder` takes their files."""
    import fullrank as fr

    rng = np.random.default_rng(0)
    scorers = {
        name: fr.FactorScorer(rng.normal(size=(N_USERS, 8)), rng.normal(size=(N_ITEMS, 8)))
        for name in ("a", "b")
    }
    targets = (np.arange(N_USERS), rng.integers(0, N_ITEMS, N_USERS))
    samples = {
        name: fr.sample_ranks(scorer, targets, design="sampled:50", rng=0)
        for name, scorer in scorers.items()
    }
    csv = folder / "ranks.csv"
    rows = [f"{user},{rank},50" for user, rank in enumerate(samples["a"].rank)]
    csv.write_text("user,rank,sample_size\n" + "\n".join(rows) + "\n", "utf-8")
    split = _interactions(fr, rng).split("leave-one-out", by="random", rng=0)
    again = iter(range(10))

    return {
        "rank": lambda: fr.rank(scorers["a"], targets).metrics(),
        "read": lambda: _read(fr, csv),
        "estimate": lambda: fr.estimate(samples["a"]),
        "compare": lambda: fr.compare(samples),
        "report": _report(fr, samples),
        "evaluate": lambda: fr.evaluate(scorers, split),
        "run folder": lambda: fr.evaluate(  # samples, anchors, results and a report as well
            scorers, split, design="sampled:50", out=folder / f"run-{next(again)}", rng=0
        ),
    }


def _read(fr: Any, csv: Path) -> Any:
    """As a user types it; older revisions ask whether items could be drawn twice."""
    try:
        return fr.RankSample.read(csv, n_items=N_ITEMS)
    except ValueError:
        return fr.RankSample.read(csv, n_items=N_ITEMS, replacement=False)


def _interactions(fr: Any, rng: np.random.Generator) -> Any:
    pairs = {(user, int(item)) for user in range(N_USERS) for item in rng.choice(N_ITEMS, 6)}
    users, items = np.array(sorted(pairs)).T
    known = {"user_ids": np.arange(N_USERS), "item_ids": np.arange(N_ITEMS)}
    return fr.Interactions.from_arrays(users, items, **known)


def _report(fr: Any, samples: dict[str, Any]) -> Callable[[], Any]:
    """The page of results that were made before: estimates with bounds, and a comparison."""
    drawn = fr.reporting.drawn_metrics(samples.values())
    estimates = fr.estimate(samples, also=drawn).with_bounds()
    comparison = fr.compare(samples, rng=0)
    return lambda: fr.report(estimates, comparison=comparison).to_html()


def main(argv: Sequence[str] | None = None) -> int:
    """Print files, functions and depth of each path."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("paths", nargs="*", metavar="path", help="of those it prints; or all")
    parser.add_argument(
        "--source", type=Path, help="a folder such as src/fullrank, to take it from"
    )
    parser.add_argument("--files", action="store_true", help="name the files as well")
    told = parser.parse_args(argv)
    if told.source is not None:
        sys.path.insert(0, str(told.source.resolve().parent))
    import fullrank

    package = Path(fullrank.__file__).resolve().parent
    print(f"{'path':<10} {'files':>6} {'functions':>10} {'depth':>6}")
    with tempfile.TemporaryDirectory() as folder:
        for name, call in paths(Path(folder)).items():
            if told.paths and name not in told.paths:
                continue
            call()
            found = crossed(call, package)
            print(f"{name:<10} {len(found.files):>6} {len(found.functions):>10} {found.depth:>6}")
            if told.files:
                print("    " + " ".join(sorted(found.files)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
