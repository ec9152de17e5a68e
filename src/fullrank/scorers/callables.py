"""Functions as scorers, and the shape that their scores must have."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fullrank._lib import checks
from fullrank._lib.text import counted
from fullrank._lib.types import Array
from fullrank.errors import InputError
from fullrank.scorers.arguments import item_argument, user_argument
from fullrank.scorers.carried_ids import CarriesIds, ids_argument


class CallableScorer(CarriesIds):
    """A function `f(user_rows, item_rows=None)` that returns scores.

    Parameters
    ----------
    function : callable
        Called with a 1-D array of user rows and None, a 1-D or a 2-D array of item rows (see
        `Scorer`). A function of the users alone scores all items, and the requested ones are
        selected from its result.
    n_items : int; as many as `item_ids` where it is not given
    n_users : int, optional
    user_ids, item_ids : arrays, optional
        The id of each row, as in `FactorScorer`. The function is still called with rows.

    Examples
    --------
    >>> import numpy as np
    >>> from fullrank.scorers import CallableScorer
    >>> popularity = np.array([5.0, 1.0, 3.0])
    >>> scorer = CallableScorer(lambda users: np.tile(popularity, (len(users), 1)), n_items=3)
    >>> scorer.scores([0, 1], [2])
    array([[3.],
           [3.]])
    """

    thread_safe = False

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        n_items: int | None = None,
        n_users: int | None = None,
        user_ids: ArrayLike | None = None,
        item_ids: ArrayLike | None = None,
    ) -> None:
        if not callable(function):
            raise InputError(
                "`function` must be callable as f(user_rows, item_rows=None), not "
                f"{type(function).__name__}."
            )
        self.function = function
        self.user_ids = ids_argument("user_ids", user_ids, n_users)
        self.item_ids = ids_argument("item_ids", item_ids, n_items)
        n_users = n_users if self.user_ids is None else self.user_ids.size
        n_items = n_items if self.item_ids is None else self.item_ids.size
        if n_items is None:
            raise InputError(
                "`n_items` must be given for a function, which does not know the number of items."
            )
        self.n_items = checks.integer("n_items", n_items, low=1)
        self.n_users = None if n_users is None else checks.integer("n_users", n_users, low=1)
        self._takes_items = _takes_items(function)
        self.whole_rows = not self._takes_items  # some items cost as much as all

    def scores(self, user_rows: ArrayLike, item_rows: ArrayLike | None = None) -> Array:
        """Return scores of users for all items, the same items (1-D) or their own items (2-D)."""
        users = user_argument(user_rows, self.n_users)
        items = item_argument(item_rows, self.n_items, users.size)
        if self._takes_items:
            return shaped(self.function(users, items), users, items, self.n_items)
        scores = shaped(self.function(users), users, None, self.n_items)
        if items is None:
            return scores
        return scores[:, items] if items.ndim == 1 else np.take_along_axis(scores, items, axis=1)

    def __repr__(self) -> str:
        name = getattr(self.function, "__name__", type(self.function).__name__)
        return f"CallableScorer({name}, {self.n_items} items{self._ids_shown()})"


def _takes_items(function: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return True
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return len(positional) > 1 or any(p.kind is p.VAR_POSITIONAL for p in parameters)


def shaped(scores: Any, users: Array, items: Array | None, n_items: int) -> Array:
    """Float scores of the requested shape."""
    array = checks.numpy_of("scorer", scores)
    width = n_items if items is None else items.shape[-1]
    if array.shape != (users.size, width) or array.dtype.kind not in "biuf":
        raise InputError(
            f"`scorer` must return numbers of shape ({users.size}, {width}) for "
            f"{counted(users.size, 'user')} and {counted(width, 'item')}, not {array.dtype} of "
            f"shape {array.shape}."
        )
    if array.dtype in (np.float32, np.float64):
        return array
    if array.dtype == np.float16:
        return array.astype(np.float32)
    return array.astype(np.float64)
