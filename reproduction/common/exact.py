"""Exact ranks of a model on a data set, kept in a folder, and the papers' error against them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import fullrank
from fullrank.data import Interactions
from fullrank.data.sets import datasets
from fullrank.data.split_items import Split
from fullrank.designs import RankGrid
from fullrank.metrics import parse
from fullrank.models import EASE, Popularity
from fullrank.samples import RankDistribution
from fullrank.scorers import FactorScorer
from reproduction.common.kept import keep_arrays
from reproduction.study import QUICK

KS = range(1, 51)
METRICS = ("recall", "ndcg", "ap")
N_FACTORS = 64


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
    "citeulike-a": Source(_held_out("citeulike-a", by="random", rng=0), 200.0),
    # its only order is the position within a user, which is read as the time
    "amazon-video-games": Source(
        _held_out("amazon-video-games", by="last", min_interactions=3), 500.0
    ),
    QUICK: Source(_held_out(QUICK, by="random", rng=0), 100.0),
}


def truncated_svd(train: Interactions) -> FactorScorer:
    """PureSVD: the training matrix at rank 64, without any rescaling."""
    from scipy.sparse.linalg import svds

    matrix = train.matrix(np.float64)
    start = np.random.default_rng(0).random(min(matrix.shape))
    left, values, right = svds(matrix, k=min(N_FACTORS, min(matrix.shape) - 1), v0=start)
    return FactorScorer(
        (left * values).astype(np.float32),
        np.ascontiguousarray(right.T.astype(np.float32)),
        user_ids=train.user_ids,
        item_ids=train.item_ids,
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
    return read(path)


def read(path: Path) -> Ranks:
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
