"""A row for each model of another framework: its scores, metrics and time beside fullrank's."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from _measure import stamp

from fullrank import Interactions, rank
from fullrank.data import Split

ROOT = Path(__file__).parents[1]
ROUNDING = 1e-5  # of sums in single precision, relative to the user's largest score


@dataclass(frozen=True, kw_only=True)
class Case:
    """A fitted model of a framework.

    Attributes
    ----------
    library, version, model : names
    scorer : function without arguments that gives what `fullrank.rank` takes; part of the time
    own : scores of the framework (users × items) in the rows of the split
    theirs : function without arguments that evaluates with the framework and gives its metrics by
        our names; None if it has no evaluation of rankings
    ties : the tie policy of the framework's own ranks
    others : metrics of the framework that are defined otherwise, by our names
    """

    library: str
    version: str
    model: str
    scorer: Callable[[], Any]
    own: np.ndarray
    theirs: Callable[[], Mapping[str, float]] | None = None
    ties: str = "mean"
    others: tuple[str, ...] = ()
    seconds: dict[str, float] = field(default_factory=dict)


def movies() -> Split:
    """MovieLens from the project: the last item of each user held out, where others have it too."""
    split = Interactions.read(ROOT / "data" / "ml-latest-small.parquet").split("leave-one-out")
    known = np.flatnonzero(split.train.item_counts())
    ids = {"user_ids": split.train.user_ids, "item_ids": split.train.item_ids[known]}
    kept = split.test.select(np.isin(split.test.indices, known))
    train, test = (
        Interactions.from_arrays(
            part.user_ids[part.pairs()[0]], part.item_ids[part.pairs()[1]], value=part.values, **ids
        )
        for part in (split.train, kept)
    )
    return Split(train=train, test=test)


def ratings(data: Interactions) -> list[tuple[Any, Any, float]]:
    """(user, item, rating) by id."""
    users, items = data.pairs()
    return list(
        zip(
            data.user_ids[users].tolist(),
            data.item_ids[items].tolist(),
            data.values.tolist(),
            strict=True,
        )
    )


def row(case: Case, split: Split, rounds: int = 5) -> dict[str, Any]:
    """What the table shows of a model; the times are medians of `rounds` in turn."""

    def ours() -> Any:
        return rank(case.scorer(), split.test, exclude=split.train, ties=case.ties)

    ranks = ours()
    found: dict[str, Any] = {
        "library": case.library,
        "version": case.version,
        "model": case.model,
        "users": split.train.n_users,
        "items": split.train.n_items,
        "targets": split.test.n_interactions,
        **differences(ranks, case.own, split),
    }
    if case.theirs is None:
        found["seconds"] = {"rank": timed([ours], rounds)[0], **case.seconds}
        return found
    theirs = case.theirs()
    values = ranks.metrics(list(theirs))
    pairs = {name: {"ours": values[name], "theirs": float(theirs[name])} for name in theirs}
    found["metrics"] = {name: pair for name, pair in pairs.items() if name not in case.others}
    found["defined otherwise"] = {name: pairs[name] for name in case.others}
    found["largest difference"] = max(
        abs(pair["ours"] - pair["theirs"]) for pair in found["metrics"].values()
    )
    times = timed([lambda: ours().metrics(list(theirs)), case.theirs], rounds)
    found["seconds"] = {"rank and metrics": times[0], "its own evaluation": times[1]}
    found["times as fast"] = round(times[1] / times[0], 1)
    return found


def timed(work: list[Callable[[], Any]], rounds: int) -> list[float]:
    """Median seconds of each, in turn; all have run before."""
    times: list[list[float]] = [[] for _ in work]
    for _ in range(rounds):
        for place, function in enumerate(work):
            start = time.perf_counter()
            function()
            times[place].append(time.perf_counter() - start)
    return [round(statistics.median(values), 4) for values in times]


def differences(ranks: Any, own: np.ndarray, split: Split) -> dict[str, Any]:
    """Targets whose counts differ from those over the framework's own scores.

    Sums in single precision put scores that are closer than their rounding in another order, or
    make them tie. What `ROUNDING` does not explain is counted by itself, and must be none.
    """
    users, items = split.test.pairs()
    seen = split.train
    differ, beyond, most = 0, 0, 0.0
    for at, (user, item) in enumerate(zip(users, items, strict=True)):
        scores = np.asarray(own[user], np.float64)
        rest = np.ones(scores.size, bool)
        rest[seen.indices[seen.indptr[user] : seen.indptr[user + 1]]] = False
        rest[item] = False
        target, others = scores[item], scores[rest]
        above, equal = int((others > target).sum()), int((others == target).sum())
        mine = int(ranks.above[at]), int(ranks.equal[at])
        if mine == (above, equal):
            continue
        differ += 1
        most = max(most, abs(above + equal / 2 - mine[0] - mine[1] / 2))
        near = ROUNDING * np.abs(scores[np.isfinite(scores)]).max()
        least, largest = (others > target + near).sum(), (others >= target - near).sum()
        beyond += not least <= mine[0] <= mine[0] + mine[1] <= largest
    return {
        "ranks that differ from its own scores": differ,
        "of them beyond rounding": beyond,
        "largest difference of ranks": most,
    }


def merge(rows: list[dict[str, Any]], path: Path) -> list[dict[str, Any]]:
    """The stamped rows with those that a file has of other models: environments take turns."""
    kept = json.loads(path.read_text("utf-8"))["models"] if path.is_file() else []
    new = {(one["library"], one["model"]) for one in rows}
    both = [one for one in kept if (one["library"], one["model"]) not in new]
    both += [row | stamp() for row in rows]
    return sorted(both, key=lambda one: (one["library"].lower(), one["model"]))


def table(rows: list[dict[str, Any]]) -> str:
    """The rows as text, one line for each model."""
    lines = []
    for one in rows:
        metrics = ", ".join(
            f"{name} {pair['ours']:.6f} {pair['theirs']:.6f}"
            for name, pair in one.get("metrics", {}).items()
        )
        speed = f"{one['times as fast']} times as fast" if "times as fast" in one else ""
        lines.append(
            f"{one['library']} {one['version']} {one['model']}: {one['targets']} targets, "
            f"{one['ranks that differ from its own scores']} differ, "
            f"{one['of them beyond rounding']} beyond rounding; {metrics or 'no metrics'}; "
            f"{one['seconds']} {speed}"
        )
    return "\n".join(lines)
