"""The ids that a scorer may carry, for its user rows and item rows."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np

from fullrank.errors import InputError
from fullrank.tables import ids as _ids
from fullrank.tables.ids import Ids


class CarriesIds:
    """The base of scorers whose rows may have ids.

    Attributes
    ----------
    user_ids, item_ids : array or None
        The id of each user row and of each item row: int64 or text. None where rows have none.
    """

    user_ids: Ids | None = None
    item_ids: Ids | None = None
    ids_advice = "fr.as_scorer(model, user_ids=…, item_ids=…)"  # how whatever it is gets ids
    rows_advice: str | None = (
        None  # why there may be other rows than users; there must be as many where it is
    )
    takes_items = False  # whether `as_scorer` adds items that it lacks, which rank last

    def with_ids(self, user_ids: Ids | None, item_ids: Ids | None) -> Self:
        """Return a copy with these ids, which must be valid and of the right sizes."""
        named = copy.copy(self)
        named.user_ids, named.item_ids = user_ids, item_ids
        return named

    def _ids_shown(self) -> str:
        """What `repr` says of the ids."""
        return "" if self.user_ids is None and self.item_ids is None else ", with ids"


def ids_argument(name: str, values: Any, size: int | None) -> Ids | None:
    """Ids in the order of the rows: unique, as many as there are rows."""
    if values is None:
        return None
    ids = _ids.unique(name, values)
    if size is not None and ids.size != size:
        side = name.removesuffix("_ids")
        raise InputError(
            f"`{name}` must have one id for each of the {size:,} {side} rows of the scorer; there "
            f"are {ids.size:,}."
        )
    if isinstance(values, np.ndarray) and values.dtype == ids.dtype and not values.flags.writeable:
        return values  # the very ids of the data: `aligned` need not compare them one by one
    return ids


def agreed(name: str, has: Ids | None, given: Ids | None, holder: str) -> Ids | None:
    """Return the given ids, which must not contradict those that the scorer has."""
    if has is None or given is None:
        return given if has is None else has
    if not _ids.same(has, given):
        raise InputError(
            f"`{name}` must be omitted or be the ids of {holder}, in the same order; "
            f"{_differing(has, given)}."
        )
    return has


def _differing(has: Ids, given: Ids) -> str:
    """Where two arrays of ids differ, in words."""
    if has.size != given.size:
        return f"there are {has.size:,} ids, not {given.size:,}"
    at = 0
    if (has.dtype.kind == "U") == (given.dtype.kind == "U"):
        at = int(np.argmax(has != given))
    return f"row {at} has the id {has[at].item()!r} there, not {given[at].item()!r}"
