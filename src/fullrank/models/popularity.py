"""Popularity: the items with the most users rank first for every user."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from fullrank.data.interactions import Interactions
from fullrank.models.base import Saved, history_for, learned, named_as, to_learn_from

if TYPE_CHECKING:
    from fullrank.scorers import ItemScorer


@dataclass(kw_only=True, eq=False)
class Popularity(Saved):
    """Score an item by the number of its users, the same for everyone.

    Items with equally many users tie, which is frequent in the long tail.

    Attributes
    ----------
    item_counts_ : float32 array, shape (n_items,)

    Examples
    --------
    >>> from fullrank.data import Interactions
    >>> data = Interactions.from_arrays(["ann", "ann", "bob"], [1, 2, 2])
    >>> Popularity().fit(data).item_counts_
    array([1., 2.], dtype=float32)
    """

    item_counts_: NDArray[np.float32] = field(init=False, repr=False, metadata=learned("items"))
    interactions_: Interactions = field(init=False, repr=False)
    personal: ClassVar[bool] = False

    def memory(self, interactions: Interactions) -> float:
        """Return about how many bytes `fit` needs in addition to the interactions."""
        return 8.0 * (interactions.n_users + interactions.n_items)

    def fit(self, interactions: Interactions) -> Self:
        """Count the users of each item."""
        self.item_counts_ = to_learn_from(interactions).item_counts().astype(np.float32)
        self.interactions_ = interactions
        return self

    def scorer(self, history: Interactions | None = None) -> ItemScorer:
        """Return the scorer of the item counts, the same for every user."""
        from fullrank.scorers import ItemScorer

        data = history_for(self, history)
        return named_as(ItemScorer(self.item_counts_, n_users=data.n_users), data)
