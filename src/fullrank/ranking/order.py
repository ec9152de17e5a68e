"""In which order candidates are visited where ranks up to K are enough.

A target is out as soon as K candidates are above it, so that an order which has the likely ones
first leaves most of the catalogue unscored. It changes no rank.

============  =====================================================================================
"norms"       by falling length of the item factors, with a bound that ends the visit: factor models
"popularity"  by how many users have the item in `exclude`
"random"      by a fixed random order
item ids      the items of an array first, in its order
lists         a row of items for each user, -1 where there are fewer, such as an index of nearest
              neighbours returns: each user's own items first
a scorer      a proxy, such as last week's model: each user's best items by its scores first
============  =====================================================================================

What an order does not name comes behind, by popularity or at random.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank._lib import checks
from fullrank._lib.types import Ints
from fullrank.data.targets import Exclusion, Targets
from fullrank.errors import InputError
from fullrank.scorers.scorer import Scorer, score_block

NAMES = ("norms", "popularity", "random")
_LEADING = 1024  # items of a proxy that come first, for each user


@dataclass(frozen=True, kw_only=True, eq=False)
class Order:
    """A cleaned order: `shared` by all users, after the `lists` or the best of a `proxy` of each.

    `name` is None where items, lists or a proxy were given.
    """

    name: str | None
    shared: Ints
    lists: Ints | None = None
    proxy: Scorer | None = None

    def own(self, users: Ints, catalogue: Ints | None, most: int) -> NDArray[np.int64] | None:
        """The items that come first for each user, -1 where there are fewer; or None."""
        if self.lists is not None:
            return self.lists[users]
        if self.proxy is None:
            return None
        scores = score_block(self.proxy, users, catalogue)
        n = min(scores.shape[1], most)
        best = np.argpartition(-scores, n - 1, axis=1)[:, :n]
        rows = np.take_along_axis(scores, best, axis=1)
        best = np.take_along_axis(best, np.argsort(-rows, axis=1, kind="stable"), axis=1)
        return np.asarray(best if catalogue is None else catalogue[best], np.int64)

    def leading(self, max_rank: int) -> int:
        """How many items of a proxy come first."""
        return max(_LEADING, 16 * max_rank)


def make_order(
    order: Any,
    *,
    scorer: Scorer,
    proxy: Scorer | None,
    targets: Targets,
    catalogue: Ints | None,
    exclusion: Exclusion | None,
) -> Order:
    """Check the requested order; `proxy` is the scorer that it names, in the same rows."""
    n_items = scorer.n_items
    items = np.arange(n_items) if catalogue is None else catalogue
    usual = _by_popularity(items, n_items, exclusion)
    if proxy is not None:
        return Order(name=None, shared=usual, proxy=proxy)
    if order is None:
        return Order(name="popularity" if exclusion is not None else "random", shared=usual)
    if isinstance(order, str):
        checks.choice("order", order, NAMES)
        if order == "popularity" and exclusion is None:
            raise InputError('`order` must not be "popularity" without `exclude`, which it counts.')
        if order == "random":
            usual = _shuffled(items)
        return Order(name=order, shared=usual)
    array = checks.as_array("order", order)
    if array.ndim == 1:
        return Order(name=None, shared=_first(array, items, usual, n_items))
    if array.ndim != 2 or array.shape[0] <= int(targets.users.max()):
        raise InputError(
            "`order` must be a name, items, a scorer, or a row of items for each user, "
            f"{int(targets.users.max()) + 1} of them at least; it has shape {array.shape}."
        )
    flat = checks.integers("order", array.ravel(), low=-1, high=n_items - 1)
    return Order(name=None, shared=usual, lists=flat.reshape(array.shape))


def _by_popularity(items: Ints, n_items: int, exclusion: Exclusion | None) -> Ints:
    """By falling number of users, items of the same number in a fixed random order."""
    shuffled = _shuffled(items)
    if exclusion is None:
        return shuffled
    users = np.bincount(exclusion.indices, minlength=n_items)[shuffled]
    return np.asarray(shuffled[np.argsort(-users, kind="stable")])


def _shuffled(items: Ints) -> Ints:
    return np.asarray(np.random.default_rng(0).permutation(items), np.int64)


def _first(array: Any, items: Ints, usual: Ints, n_items: int) -> Ints:
    """The items of `array`, then the others."""
    given = checks.integers("order", array, low=0, high=n_items - 1)
    wanted = np.zeros(n_items, np.bool_)
    wanted[items] = True
    _, at = np.unique(given, return_index=True)
    given = given[np.sort(at)]
    given = given[wanted[given]]
    wanted[given] = False
    return np.concatenate([given, usual[wanted[usual]]])
