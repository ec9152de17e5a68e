"""The data sets of the chapter on linear models, split by users, and the evaluation of a model.

Ratings of 4 and 5 are kept. Of the users with at least five of them, some are held out for
validation and as many or more for the test; 80 % of their items are the history and the rest are
the targets (Liang et al. 2018, as in the dissertation). Songs with at least 200 listeners are kept,
and listeners with at least 20 songs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

import fullrank
from fullrank.data import Interactions, Split
from fullrank.data.sets import datasets
from fullrank.errors import InputError
from fullrank.models.low_rank.spectrum import Spectrum, spectrum

# Recall as the published code has it: over min(K, number of targets)
METRICS = {"Recall@20": "capped_recall@20", "Recall@50": "capped_recall@50", "NDCG@100": "ndcg@100"}
TUNED_BY = "NDCG@100"
QUICK_DATA = "ml-latest-small"


def _liked(data: Interactions, users_per_item: int = 1) -> Interactions:
    high = data if data.values is None else data.select(data.values >= 4)
    return high.k_core(items_per_user=5, users_per_item=users_per_item)


@dataclass(frozen=True)
class Source:
    """What is kept of a data set, and how many users are held out."""

    kept: Callable[[Interactions], Interactions]
    valid: int
    test: int
    published: str = ""  # the name it has in the tables
    says: str = ""


SOURCES = {
    "ml-1m": Source(_liked, 500, 1000, says="ratings of 4 and 5, users with at least 5"),
    "gowalla": Source(
        lambda data: data.k_core(items_per_user=20, users_per_item=20),
        500,
        1000,
        says="users with at least 20 places, places with 20 users",
    ),
    "ml-20m": Source(_liked, 10_000, 10_000, "ML-20M", "ratings of 4 and 5, users with 5"),
    "netflix": Source(_liked, 40_000, 40_000, "Netflix", "ratings of 4 and 5, users with 5"),
    "msd": Source(
        lambda data: data.k_core(items_per_user=20, users_per_item=200),
        50_000,
        50_000,
        "MSD",
        "listeners with 20 songs, songs with 200 listeners",
    ),
    QUICK_DATA: Source(
        lambda data: _liked(data, 20), 100, 100, says="ratings of 4 and 5, films with 20, users 5"
    ),
}


def split_of(name: str) -> Split:
    """The split that the files come with where it is one by users, or one with seed 0."""
    source = SOURCES[name]
    try:
        given = datasets.load_split(name)
    except InputError:
        given = None
    if given is not None and given.fold_in is not None and given.valid_fold_in is not None:
        return given
    return source.kept(datasets.load(name)).split(
        "strong", test=source.test, valid=source.valid, rng=0
    )


@dataclass(frozen=True)
class Problem:
    """A data set that is here, and the folder where results are kept."""

    name: str
    split: Split
    folder: Path
    quick: bool = False

    @cached_property
    def known(self) -> Interactions:
        """Training users and what is shown of the others: what MF and WMF are fitted on."""
        return self.split.train.union(self.split.valid_history).union(self.split.history)

    @cached_property
    def spectrum(self) -> Spectrum:
        return spectrum(self.split.train)

    @cached_property
    def known_spectrum(self) -> Spectrum:
        return spectrum(self.known)

    @property
    def n_items(self) -> int:
        return self.split.train.n_items

    @property
    def unit(self) -> float:
        """The mean of the squared singular values, in which regularisations are compared."""
        return self.split.train.n_interactions / self.n_items

    def share(self, n_factors: float) -> int:
        """A rank that takes the part of this catalogue that `n_factors` take of ML-20M's."""
        return max(2, round(n_factors * self.n_items / 20_108))

    def judged(self, model: Any) -> dict[str, np.ndarray]:
        """Of each validation and of each test user the three metrics."""
        return {
            "valid": _of_users(model, self.split.valid, self.split.valid_history),
            "test": _of_users(model, self.split.test, self.split.history),
        }


def _of_users(model: Any, targets: Interactions | None, history: Interactions) -> np.ndarray:
    found = fullrank.rank(model.scorer(history), targets, exclude=history)
    rows, users = np.unique(found.user, return_inverse=True)
    columns = [
        np.bincount(users, weights=found.gains(metric), minlength=rows.size)
        for metric in METRICS.values()
    ]
    return np.stack(columns, axis=1)
