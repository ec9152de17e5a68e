"""Batches on the device: positive pairs with drawn negatives, or the histories of users."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np

from fullrank.data.interactions import Interactions
from fullrank.models.training.negative_draws import Draws
from fullrank.models.training.torch_use import load_torch


class PairBatch(NamedTuple):
    """Positive pairs, and what was drawn for them; int64 tensors on the device.

    Attributes
    ----------
    users, items : shape (n,)
        Rows of the positive pairs; each pair occurs once per epoch.
    negatives : shape (n, n_negatives); (n_negatives,) where the batch shares them; or None
    positives : shape (n, n_positives), further items of the same users; or None
        Drawn uniformly from the user's items with replacement; the pair's own may be among them.
    step : int
        Batches trained on before this one, over all epochs.
    """

    users: Any
    items: Any
    negatives: Any
    positives: Any
    step: int


class HistoryBatch(NamedTuple):
    """The items of some users; int64 tensors on the device.

    Attributes
    ----------
    users : shape (n,), rows of the users, each once in an epoch
    rows, items : shape (n_entries,)
        Entry e says that the user ``users[rows[e]]`` has the item ``items[e]``.
    n_items : int
    step : int
        Batches trained on before this one, over all epochs.
    """

    users: Any
    rows: Any
    items: Any
    n_items: int
    step: int

    def dense(self) -> Any:
        """Zeros, and ones where a user has the item: float32, shape (n, n_items)."""
        torch = load_torch()
        table = torch.zeros(self.users.shape[0], self.n_items, device=self.users.device)
        table[self.rows, self.items] = 1.0
        return table


class Source(Protocol):
    """What gives the batches of an epoch, shuffled by a `torch.Generator` on the device."""

    n_rows: int  # pairs or users in an epoch
    n_batches: int

    def epoch(self, generator: Any, step: int) -> Iterator[Any]:
        """The batches of an epoch in a new order; `step` is the number of the first."""
        ...


class Pairs:
    """Every interaction once per epoch, each with items drawn for it.

    Negatives are drawn from *all* items, including the user's own, as in the papers. The debiased
    losses rely on these draws of the user's own items.

    Parameters
    ----------
    data : Interactions
    batch_size : int
    device : torch.device
    draws : Draws, optional
        The draws of negatives; default: none.
    n_negatives : int
        For each pair; or for each batch if `shared`.
    shared : bool
        One set of negatives for all pairs of a batch.
    n_positives : int
        Further positives for each pair.
    """

    def __init__(
        self,
        data: Interactions,
        *,
        batch_size: int,
        device: Any,
        draws: Draws | None = None,
        n_negatives: int = 1,
        shared: bool = False,
        n_positives: int = 0,
    ) -> None:
        torch = load_torch()
        users, items = data.pairs()
        self.users = torch.from_numpy(users.astype(np.int64)).to(device)
        self.items = torch.from_numpy(items.astype(np.int64)).to(device)
        self.n_rows = data.n_interactions
        self.batch_size = batch_size
        self.n_batches = -(-self.n_rows // batch_size)
        self.draws = draws
        self.n_negatives, self.shared, self.n_positives = n_negatives, shared, n_positives
        self._torch = torch
        if n_positives:
            self._starts = torch.from_numpy(data.indptr[:-1].copy()).to(device)
            self._counts = torch.from_numpy(data.user_counts()).to(device)

    def epoch(self, generator: Any, step: int) -> Iterator[PairBatch]:
        """The batches of an epoch in a new order; `step` is the number of the first."""
        users, items = self.shuffled(generator)
        for start in range(0, self.n_rows, self.batch_size):
            part = slice(start, start + self.batch_size)
            yield self.batch(users[part], items[part], generator, step)
            step += 1

    def shuffled(self, generator: Any) -> tuple[Any, Any]:
        """All pairs in a new order."""
        order = self._torch.randperm(self.n_rows, generator=generator, device=self.users.device)
        return self.users[order], self.items[order]

    def batch(self, users: Any, items: Any, generator: Any, step: int) -> PairBatch:
        """A batch of these pairs, with what is drawn for them."""
        n = users.shape[0]
        negatives = positives = None
        if self.draws is not None:
            shape = (self.n_negatives,) if self.shared else (n, self.n_negatives)
            negatives = self.draws(shape, generator)
        if self.n_positives:
            share = self._torch.rand(
                (n, self.n_positives), generator=generator, device=users.device
            )
            counts = self._counts[users][:, None]
            # a share just below 1 times the count may be rounded up to it
            at = self._torch.minimum((share * counts).long(), counts - 1)
            positives = self.items[self._starts[users][:, None] + at]
        return PairBatch(users, items, negatives, positives, step)


class Histories:
    """Every user with items once per epoch, with all of the user's items.

    Parameters
    ----------
    data : Interactions
    batch_size : int
        Users.
    device : torch.device
    """

    def __init__(self, data: Interactions, *, batch_size: int, device: Any) -> None:
        torch = load_torch()
        counts = torch.from_numpy(data.user_counts())
        self._users = counts.nonzero()[:, 0]
        self._counts = counts
        self._starts = torch.from_numpy(data.indptr[:-1].copy()).to(device)
        self._items = torch.from_numpy(data.indices.astype(np.int64)).to(device)
        self.n_items = data.n_items
        self.n_rows = int(self._users.shape[0])
        self.batch_size = batch_size
        self.n_batches = -(-self.n_rows // batch_size)
        self._torch, self._device = torch, device

    def epoch(self, generator: Any, step: int) -> Iterator[HistoryBatch]:
        """The batches of an epoch in a new order; `step` is the number of the first."""
        torch = self._torch
        # the order visits the host, where sizes are known without waiting for the device
        order = torch.randperm(self.n_rows, generator=generator, device=self._device).cpu()
        for start in range(0, self.n_rows, self.batch_size):
            users = self._users[order[start : start + self.batch_size]]
            counts = self._counts[users]
            rows = torch.repeat_interleave(torch.arange(users.shape[0]), counts)
            first = torch.cumsum(counts, 0) - counts
            within = torch.arange(rows.shape[0]) - first[rows]
            users, rows = users.to(self._device), rows.to(self._device)
            items = self._items[self._starts[users][rows] + within.to(self._device)]
            yield HistoryBatch(users, rows, items, self.n_items, step)
            step += 1
