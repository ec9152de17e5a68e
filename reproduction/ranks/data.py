"""The splits of the data sets for the stored ranks.

A given split is used as it is. Settings are chosen on one item of each user, held out of the
training part, unless a validation part with an item of each user is given.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fullrank.data import Interactions, leave_one_out
from fullrank.data.sets import datasets
from reproduction.common.bank import QUICK_DATA

QUICK_CORE = 40  # interactions of each user and item in the quick form


@dataclass(frozen=True)
class World:
    """Settings are tried on `train` and `valid`; the best learn from `whole` and rank `test`."""

    train: Interactions
    valid: Interactions
    whole: Interactions
    test: Interactions


def _ml_1m() -> World:
    split = datasets.load_split("ml-1m")
    inner = leave_one_out(split.train, by="last")
    return World(inner.train, inner.test, split.train, split.test)


def _pinterest() -> World:
    split = datasets.load_split("pinterest-20-part")
    if split.valid is None:
        raise ValueError("pinterest-20-part comes with a validation part")
    return World(split.train, split.valid, split.train, split.test)


def _held_out(name: str, items_per_user: int = 1, users_per_item: int = 1) -> World:
    data = datasets.load(name)
    if items_per_user > 1:
        data = data.k_core(items_per_user=items_per_user, users_per_item=users_per_item)
    split = leave_one_out(data, by="random", rng=0)
    inner = leave_one_out(split.train, by="random", rng=1)
    return World(inner.train, inner.test, split.train, split.test)


def _given(name: str) -> World:
    split = datasets.load_split(name)
    inner = leave_one_out(split.train, by="random", rng=1)
    return World(inner.train, inner.test, split.train, split.test)


def _ml_20m() -> World:
    data = datasets.load("ml-20m")
    if data.values is not None:
        data = data.select(data.values >= 4)
    data = data.k_core(items_per_user=5)
    by = "random" if data.timestamps is None else "last"
    split = leave_one_out(data, by=by, rng=0)
    inner = leave_one_out(split.train, by=by, rng=1)
    return World(inner.train, inner.test, split.train, split.test)


def _yelp() -> World:
    split = datasets.load_split("yelp-diffnet")
    whole = split.train if split.valid is None else split.train.union(split.valid)
    inner = leave_one_out(whole, by="random", rng=1)
    return World(inner.train, inner.test, whole, one_of_each(split.test, seed=0))


def one_of_each(targets: Interactions, *, seed: int) -> Interactions:
    """One of the items of each user, each with the same chance."""
    counts = targets.user_counts()
    first = np.cumsum(counts) - counts
    chosen = first + np.random.default_rng(seed).integers(np.maximum(counts, 1))
    keep = np.zeros(targets.n_interactions, bool)
    keep[chosen[counts > 0]] = True
    return targets.select(keep)


_BY_CHANCE = (
    "one item of each user, drawn with seed 0, is the test; one of the rest, drawn with seed 1, "
    "chooses settings"
)
_GIVEN = "as given; of the training items of a user one, drawn with seed 1, chooses settings"
_OF_ML_20M = (
    "ratings of 4 and 5 of the users with five of them; the last item of each user is the test, "
    "the last before it chooses settings, or by chance where there are no times"
)
_OF_YELP = (
    "as given, training and validation part together, of which one item of each user, drawn with "
    "seed 1, chooses settings; of the test items of a user one is drawn with seed 0, and the "
    "others stay candidates; users without any are not tested"
)
# how each is split, in words and in code
SPLITS: dict[str, tuple[str, Callable[[], World]]] = {
    "ml-1m": (
        "as given: the last item of each user is the test; the last before it chooses settings",
        _ml_1m,
    ),
    "pinterest-20-part": (
        "as given, validation items too, which the models do not learn from",
        _pinterest,
    ),
    "citeulike-a": (_BY_CHANCE, lambda: _held_out("citeulike-a")),
    "yelp-diffnet": (_OF_YELP, _yelp),
    "ml-latest-small": (_BY_CHANCE, lambda: _held_out("ml-latest-small")),
    "pinterest-20": (_GIVEN, lambda: _given("pinterest-20")),
    "yelp": (_GIVEN, lambda: _given("yelp")),
    "ml-20m": (_OF_ML_20M, _ml_20m),
    "book-crossing": (
        f"users with ten books and books with two users, at least; {_BY_CHANCE}",
        lambda: _held_out("book-crossing", 10, 2),
    ),
}


def world(name: str, *, quick: bool = False) -> World:
    """The parts of a data set; the quick form takes the dense core of its small one."""
    if quick and name == QUICK_DATA:
        return _held_out(name, QUICK_CORE, QUICK_CORE)
    return SPLITS[name][1]()
