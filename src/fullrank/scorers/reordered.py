"""A scorer whose rows are in another order."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fullrank._lib.types import Array, Ints
from fullrank.scorers.arguments import item_argument, user_argument
from fullrank.scorers.carried_ids import CarriesIds


def named(scorer: Any, data: Any) -> Any:
    """The scorer with the ids of interactions whose rows are known to be its own."""
    ours = scorer if isinstance(scorer, CarriesIds) else Reordered(scorer, None, None)
    return ours.with_ids(data.user_ids, data.item_ids)


class Reordered(CarriesIds):
    """Any scorer with its rows in another order, or with ids.

    Parameters
    ----------
    scorer : what scores
    user_rows, item_rows : its row for each row of this one; None where they are the same

    Notes
    -----
    All items are scored as by the scorer itself and reordered afterwards, so that a scorer whose
    scores depend on the items in the block returns the same scores.
    """

    def __init__(self, scorer: Any, user_rows: Ints | None, item_rows: Ints | None) -> None:
        self.scorer = scorer
        self._user_rows = user_rows
        self._item_rows = item_rows

    @property
    def thread_safe(self) -> bool:
        return getattr(self.scorer, "thread_safe", False) is True

    @property
    def whole_rows(self) -> bool:
        """Whether some items cost as much as all, as of a function of users alone."""
        return getattr(self.scorer, "whole_rows", False) is True

    @property
    def n_users(self) -> int | None:
        if self._user_rows is None:
            n_users: int | None = self.scorer.n_users
            return n_users
        return int(self._user_rows.size)

    @property
    def n_items(self) -> int:
        return int(self.scorer.n_items)

    def scores(self, user_rows: ArrayLike, item_rows: ArrayLike | None = None) -> Array:
        """Return scores of users for all items, the same items (1-D) or their own items (2-D)."""
        users = user_argument(user_rows, self.n_users)
        items = item_argument(item_rows, self.n_items, users.size)
        if self._user_rows is not None:
            users = self._user_rows[users]
        if self._item_rows is None:
            return np.asarray(self.scorer.scores(users, items))
        if items is None:
            found = np.asarray(self.scorer.scores(users))
            # of another shape it is refused by whoever asked
            return found[:, self._item_rows] if found.shape[1:] == (self.n_items,) else found
        return np.asarray(self.scorer.scores(users, self._item_rows[items]))

    def __repr__(self) -> str:
        return f"Reordered({self.scorer!r})"
