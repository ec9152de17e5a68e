"""A small split and two scorers, shared by the tests of scorers and of evaluation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fullrank.data import Split, simulate
from fullrank.scorers import FactorScorer


@pytest.fixture(scope="session")
def split() -> Split:
    data = simulate(n_users=120, n_items=90, mean_interactions=12, rng=0)
    return data.split("leave-one-out", rng=0)


@pytest.fixture(scope="session")
def scorers(split: Split) -> dict[str, Any]:
    random = np.random.default_rng(0)
    shape = split.train.n_users, split.train.n_items
    found = {}
    for name, d in (("a", 4), ("b", 6)):
        users, items = (random.normal(size=(n, d)).astype(np.float32) for n in shape)
        found[name] = FactorScorer(users, items)
    return found
