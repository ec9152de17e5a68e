"""In which order candidates are visited where ranks up to K are enough.

A target is out as soon as K candidates are above it, so that an order which has the likely ones
first leaves most of the catalogue unscored. It changes no rank.

============  =====================================================================================
"norms"       by falling length of the item factors, with a bound that ends the visit: factor models
"popularity"  by how many users have the item in `exclude`
"random"      by a fixed random order
item ids      the items of an array first, in its order
lists         each user's own items first: a mapping from user ids to items, a table with the
              columns user and item in the order of the visit, or an array with a row for each user,
              -1 where there are fewer, such as an index of nearest neighbours returns
a scorer      a proxy, such as last week's model: each user's best items by its scores first
============  =====================================================================================

What an order does not name comes behind, by popularity or at random. Lists, tables, arrays of
scores and of items may be files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fullrank._lib import checks
from fullrank._lib.types import Array, Ints
from fullrank.data.targets import Exclusion, Targets
from fullrank.errors import InputError
from fullrank.ranking.own_lists import (
    Names,
    from_array,
    from_mapping,
    from_rows,
    from_table,
    item_rows,
)
from fullrank.ranking.proxies import Best, as_proxy
from fullrank.scorers.offers import offers
from fullrank.scorers.scorer import Scorer
from fullrank.tables.columnar import is_frame
from fullrank.tables.table import PACKED, TEXT, TYPED

NAMES = ("norms", "popularity", "random")
_LEADING = 256  # items of a proxy that come first, for each user: most are out by then


class Own(Protocol):
    """What comes first for each user."""

    width: int

    def __call__(self, users: Ints) -> NDArray[np.int64]:
        """A row of `width` items for each of these users, -1 where there are fewer."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Order:
    """A cleaned order: `own` items of each user, if there are any, and then those `shared` by all.

    `name` is None where items, lists or a proxy were given.
    """

    name: str | None
    shared: Ints
    own: Own | None = None


def make_order(
    order: Any,
    *,
    max_rank: int,
    scorer: Scorer,
    targets: Targets,
    catalogue: Ints | None,
    exclusion: Exclusion | None,
    user_ids: Array | None,
    item_ids: Array | None,
) -> Order:
    """Check the requested order and put it into the rows of the data."""
    n_items = scorer.n_items
    items = np.arange(n_items) if catalogue is None else catalogue
    named = order is None or isinstance(order, str)
    if named and order in (None, "norms") and offers(scorer, "factors"):
        return Order(name="norms", shared=items)  # whoever has the factors knows the lengths
    usual = _by_popularity(items, n_items, exclusion)
    if order is None:
        return Order(name="popularity" if exclusion is not None else "random", shared=usual)
    if isinstance(order, str) and not _is_file(order):
        return _named(order, scorer, items, usual, exclusion)
    n_users = int(targets.users.max()) + 1 if user_ids is None else user_ids.size
    names = Names(user_ids, item_ids, n_users, n_items)
    given = _opened(order)
    if isinstance(given, Mapping):
        return Order(name=None, shared=usual, own=from_mapping(given, names))
    if is_frame(given) or _is_file(given):
        return Order(name=None, shared=usual, own=from_table(given, names))
    if isinstance(given, list | tuple) and given and _is_list(given[0]):
        return Order(name=None, shared=usual, own=from_rows(given, names))
    if isinstance(given, np.ndarray | list | tuple) or checks.is_tensor(given):
        array = checks.as_array("order", given)
        if array.ndim == 1:
            first = item_rows(array, names)
            return Order(name=None, shared=_first(first, items, usual, n_items))
        if array.ndim != 2 or array.dtype.kind != "f":
            return Order(name=None, shared=usual, own=from_array(array, names))
        given = array  # of scores
    proxy = as_proxy(given, names)
    width = max(_LEADING, 8 * max_rank)
    return Order(name=None, shared=usual, own=Best(proxy, items, n_items, exclusion, width))


def _named(
    order: str, scorer: Scorer, items: Ints, usual: Ints, exclusion: Exclusion | None
) -> Order:
    if order not in NAMES:
        raise InputError(
            f"`order` must be {', '.join(map(repr, NAMES))}, a file, items, lists of items or a "
            f"scorer, not {checks.shown(order)}."
        )
    if order == "norms":
        raise InputError(
            f"`order` must not be 'norms' for {type(scorer).__name__}, which has no factors."
        )
    if order == "popularity" and exclusion is None:
        raise InputError(
            "`order` must not be 'popularity' without `exclude`, in which popularity is counted."
        )
    return Order(name=order, shared=_shuffled(items) if order == "random" else usual)


def _is_file(order: Any) -> bool:
    """A path; text is one where it ends as files do."""
    if not isinstance(order, str):
        return hasattr(order, "__fspath__")
    name = order.lower()
    for packed in PACKED:
        name = name.removesuffix(packed)
    return name.endswith((*TEXT, *TYPED))


def _opened(order: Any) -> Any:
    """What an .npy file holds; anything else as it is."""
    if not _is_file(order) or not str(order).lower().endswith(".npy"):
        return order
    from fullrank._lib.files import existing

    source = existing(order, "order")
    try:
        return np.load(source, mmap_mode="r", allow_pickle=False)
    except Exception as error:  # of whatever the header says
        raise InputError(
            f"`order` must be an .npy file of numbers or text; {checks.printable(source)} is not: "
            f"{checks.because(error)}."
        ) from error


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple) or getattr(value, "ndim", 0) == 1


def _by_popularity(items: Ints, n_items: int, exclusion: Exclusion | None) -> Ints:
    """By falling number of users, items of the same number in a fixed random order."""
    shuffled = _shuffled(items)
    if exclusion is None:
        return shuffled
    users = np.bincount(exclusion.indices, minlength=n_items)[shuffled]
    return np.asarray(shuffled[np.argsort(-users, kind="stable")])


def _shuffled(items: Ints) -> Ints:
    return np.asarray(np.random.default_rng(0).permutation(items), np.int64)


def _first(given: Ints, items: Ints, usual: Ints, n_items: int) -> Ints:
    """The items of `given`, then the others."""
    wanted = np.zeros(n_items, np.bool_)
    wanted[items] = True
    _, at = np.unique(given, return_index=True)
    given = given[np.sort(at)]
    given = given[wanted[given]]
    wanted[given] = False
    return np.concatenate([given, usual[wanted[usual]]])
