"""What the tests of models that are trained by epochs share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType

import numpy as np
import pytest

from fullrank.data import Interactions, Split, simulate


@pytest.fixture
def torch(need: Callable[[str], ModuleType]) -> Iterator[ModuleType]:
    """PyTorch on one thread: the tests run beside each other."""
    module = need("torch")
    threads = module.get_num_threads()
    module.set_num_threads(1)
    yield module
    module.set_num_threads(threads)


@pytest.fixture(scope="module")
def data() -> Interactions:
    """A hundred and fifty users, the last without items."""
    found = simulate(n_users=149, n_items=60, mean_interactions=12)
    users, items = found.pairs()
    return Interactions.from_arrays(users, items, user_ids=np.arange(150), item_ids=np.arange(60))


@pytest.fixture(scope="module")
def split() -> Split:
    return simulate(n_users=200, n_items=80, mean_interactions=12).split(by="random", rng=0)
