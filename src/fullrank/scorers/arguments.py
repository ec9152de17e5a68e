"""Checks of the two arguments of every `scores` method."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fullrank._lib import checks
from fullrank._lib.text import counted
from fullrank._lib.types import Ints
from fullrank.errors import InputError


def user_argument(user_rows: ArrayLike, n_users: int | None) -> Ints:
    """Return row numbers of users, 1-D."""
    high = None if n_users is None else n_users - 1
    return checks.integers("user_rows", user_rows, low=0, high=high)


def item_argument(item_rows: ArrayLike | None, n_items: int, n_users: int) -> NDArray[Any] | None:
    """Return None, or item rows: 1-D for all users, or 2-D with one row for each user."""
    if item_rows is None:
        return None
    items = checks.as_array("item_rows", item_rows)
    if items.ndim == 1:
        return checks.integers("item_rows", items, low=0, high=n_items - 1)
    if items.ndim != 2 or items.shape[0] != n_users or items.dtype.kind not in "iu":
        raise InputError(
            "`item_rows` must be whole numbers in one dimension (the same items for every user) "
            f"or in two, with one row for each of {counted(n_users, 'user')}; got {items.dtype} "
            f"of shape {items.shape}."
        )
    bad = (items < 0) | (items >= n_items)
    if bad.any():
        row, column = (int(x) for x in np.argwhere(bad)[0])
        must = f"lie in 0..{n_items - 1}"
        first = f"item_rows[{row}, {column}] = {items[row, column]}"
        said = checks.failing(must, int(bad.sum()), items.size, first)
        raise InputError(f"`item_rows` must {must}; {said}.")
    return items
