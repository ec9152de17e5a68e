"""Scores of items that are the same for every user, such as popularity."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fullrank._lib import checks
from fullrank._lib.types import Array
from fullrank.errors import InputError
from fullrank.scorers.factors import FactorScorer


class ItemScorer(FactorScorer):
    """Score every item alike for all users: exact ranks cost one sort of the items.

    Parameters
    ----------
    item_scores : array (n_items,)
    n_users : int
    user_ids, item_ids : arrays (n_users,) and (n_items,), optional
        The id of each row, as in `FactorScorer`.

    Notes
    -----
    It is equivalent to a factor model with one factor, which is 1 for every user, and is ranked as
    one where items cannot be sorted once for all users.

    Examples
    --------
    >>> from fullrank.scorers import ItemScorer
    >>> scorer = ItemScorer([3.0, 1.0, 2.0], n_users=2)
    >>> scorer
    ItemScorer(2 users × 3 items, float64)
    >>> scorer.scores([1])
    array([[3., 1., 2.]])
    """

    def __init__(
        self,
        item_scores: ArrayLike,
        *,
        n_users: int,
        user_ids: ArrayLike | None = None,
        item_ids: ArrayLike | None = None,
    ) -> None:
        scores = checks.as_array("item_scores", item_scores)
        if scores.ndim != 1 or scores.dtype.kind not in "iuf" or not scores.size:
            raise InputError(
                "`item_scores` must have one number for each item, not "
                f"{scores.dtype} of shape {scores.shape}."
            )
        n_users = checks.integer("n_users", n_users, low=1)
        ones = np.ones((n_users, 1), np.float32)
        super().__init__(ones, scores[:, None], user_ids=user_ids, item_ids=item_ids)

    @property
    def values(self) -> Array:
        """The score of each item, float32 or float64."""
        return self.item_factors[:, 0]

    def item_scores(self) -> Any:
        """Return what ranking by one sort needs: the scorer itself."""
        return self

    def __repr__(self) -> str:
        sizes = f"{self.n_users} users × {self.n_items} items"
        return f"ItemScorer({sizes}, {self.values.dtype}{self._ids_shown()})"
