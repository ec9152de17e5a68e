"""BPR for a few parameters on top of a linear model: Adam on log σ of score differences.

A user's history scores one of the user's items and one that the user does not have; the first score
should be higher (Li, dissertation, section 3.4.1). The item to score is removed from the history,
as it is missing in use as well, and a random part of the rest is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank._lib import checks, extras
from fullrank._lib.types import Ints
from fullrank.data.interactions import Interactions
from fullrank.errors import InputError


@dataclass(frozen=True, kw_only=True)
class Descent:
    """How the parameters are learned."""

    epochs: int
    learning_rate: float
    batch_size: int
    dropout: float
    scale: float
    seed: int

    def __post_init__(self) -> None:
        checks.integer("epochs", self.epochs, low=0)
        checks.integer("batch_size", self.batch_size, low=1)
        checks.integer("seed", self.seed, low=0)
        for name in ("learning_rate", "scale"):
            checks.positive(name, getattr(self, name))
        if not 0 <= checks.real("dropout", self.dropout) < 1:
            raise InputError(f"`dropout` must be at least 0 and below 1, not {self.dropout:g}.")


def load_torch() -> Any:
    """PyTorch, or an error that names the extra."""
    return extras.load("torch", extra="torch", purpose="Training this model with BPR")


def descend(
    data: Interactions,
    parameters: Sequence[Any],
    difference: Callable[[Any, Ints, Ints], Any],
    how: Descent,
) -> None:
    """Change torch `parameters` in place; `difference(histories, wanted, others)` uses them.

    Histories are a dense float32 tensor of a batch of users × items; returned is, for each,
    the score of the wanted item less that of the other one.
    """
    torch = load_torch()
    optimizer = torch.optim.Adam(list(parameters), lr=how.learning_rate)
    generator = np.random.default_rng(how.seed)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # the steps are small, and the sums the same on every machine
    try:
        for _ in range(how.epochs):
            for histories, wanted, others in batches(data, how, generator):
                optimizer.zero_grad()
                distance = difference(torch.from_numpy(histories), wanted, others)
                loss = torch.nn.functional.softplus(-how.scale * distance).mean()
                loss.backward()
                optimizer.step()
    finally:
        torch.set_num_threads(threads)


def batches(
    data: Interactions, how: Descent, generator: np.random.Generator
) -> Iterator[tuple[NDArray[np.float32], Ints, Ints]]:
    """Every interaction once, in random order, each with an item that the user does not have."""
    users, items = data.pairs()
    keys = users.astype(np.int64) * data.n_items + items  # ascending
    # users who have everything have no other item to compare with
    usable = np.flatnonzero((data.user_counts() < data.n_items)[users])
    order = generator.permutation(usable)
    for start in range(0, order.size, how.batch_size):
        chosen = order[start : start + how.batch_size]
        rows, wanted = users[chosen].astype(np.int64), items[chosen].astype(np.int64)
        others = generator.integers(data.n_items, size=chosen.size)
        known = _has(keys, rows * data.n_items + others)
        while known.any():
            others[known] = generator.integers(data.n_items, size=int(known.sum()))
            known = _has(keys, rows * data.n_items + others)
        histories = _histories(data, rows, how.dropout, generator)
        histories[np.arange(chosen.size), wanted] = 0.0
        yield histories, wanted, others


def _has(keys: Ints, asked: Ints) -> NDArray[np.bool_]:
    at = np.minimum(np.searchsorted(keys, asked), keys.size - 1)
    return np.asarray(keys[at] == asked)


def _histories(
    data: Interactions, rows: Ints, dropout: float, generator: np.random.Generator
) -> NDArray[np.float32]:
    counts = data.user_counts()[rows]
    ends = np.cumsum(counts)
    within = np.arange(int(ends[-1])) - np.repeat(ends - counts, counts)
    columns = data.indices[np.repeat(data.indptr[rows], counts) + within]
    kept = generator.random(columns.size) >= dropout
    out = np.zeros((rows.size, data.n_items), np.float32)
    out[np.repeat(np.arange(rows.size), counts), columns] = kept / np.float32(1.0 - dropout)
    return out
