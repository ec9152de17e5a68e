"""The five models of the rank bank, with the same settings on every data set.

The bank is about the shapes of rank distributions, weak models' as well as strong ones', so nothing
is tuned.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import fullrank
from fullrank.data.split_items import Split
from fullrank.models import IALS, ItemKNN, Popularity, PureSVD
from reproduction.own.bank.ease import ease_ranks

MODELS = ("Popularity", "ItemKNN", "PureSVD", "iALS", "EASE")
_MADE: dict[str, Callable[[], Any]] = {
    "Popularity": Popularity,
    "ItemKNN": lambda: ItemKNN(n_neighbors=100, shrinkage=10.0),
    "PureSVD": lambda: PureSVD(n_factors=64),
    "iALS": lambda: IALS(n_factors=64, unobserved_weight=0.05, epochs=8, seed=0),
}


def ranks(model: str, held: Split) -> tuple[np.ndarray, np.ndarray]:
    """Ranks of the targets with training items kept, and excluded; equal scores in random order."""
    if model == "EASE":
        return ease_ranks(held)
    fitted = _MADE[model]().fit(held.train)
    kept = fullrank.rank(fitted, held.test, ties="random", rng=0)
    excluded = fullrank.rank(fitted, held.test, exclude=held.train, ties="random", rng=0)
    return kept.ranks.astype(np.int64), excluded.ranks.astype(np.int64)
