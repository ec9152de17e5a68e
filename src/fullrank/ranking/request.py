"""What is ranked against what, in one row space: the rows of the data, found by id.

Targets, excluded items and scorers come with ids of their own or without. Where two sides have ids
they are matched by id; where one has none, it has row numbers, and the ids of the other must be
exactly 0 … n - 1. Draws and ties depend on the data's rows alone, so that scorers whose rows lie in
different orders meet the same candidates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fullrank._lib import checks
from fullrank._lib.types import Array, Ints
from fullrank.data.shards import Seen
from fullrank.data.targets import (
    Exclusion,
    Targets,
    by_rows,
    check_width,
    clean_exclude,
    clean_items,
    clean_targets,
)
from fullrank.errors import InputError
from fullrank.scorers.alignment import aligned
from fullrank.scorers.scorer import Scorer, as_scorer
from fullrank.tables import ids as _ids
from fullrank.tables.ids import are_rows

_SIDES = ("user_ids", "item_ids")


@dataclass(frozen=True, kw_only=True, eq=False)
class Request:
    """The cleaned arguments that every way of ranking shares.

    `user_ids` and `item_ids` name the rows; None where rows have no other names.
    """

    scorer: Scorer
    targets: Targets
    exclusion: Exclusion | None
    items: Ints | None
    user_ids: Array | None
    item_ids: Array | None

    @property
    def n_items(self) -> int:
        """The size of the catalogue."""
        return self.scorer.n_items if self.items is None else int(self.items.size)


def make_request(scorer: Any, targets: Any, *, exclude: Any, items: Any) -> Request:
    """Clean what belongs together; everything in the result has the data's rows."""
    scorer = as_scorer(scorer)
    if isinstance(targets, Targets):  # made by the same call as what is excluded
        exclusion = clean_exclude(exclude, n_items=scorer.n_items, targets=targets)
        return Request(
            scorer=scorer, targets=targets, exclusion=exclusion, items=None,
            user_ids=None, item_ids=None,
        )  # fmt: skip
    user_ids, item_ids = (getattr(targets, side, None) for side in _SIDES)
    named = getattr(scorer, "item_ids", None) is not None
    has_users = getattr(scorer, "user_ids", None) is not None
    clean = clean_targets(
        targets,
        n_users=None if has_users and user_ids is not None else scorer.n_users,
        n_items=int(item_ids.size) if named and item_ids is not None else scorer.n_items,
    )
    scorer = aligned(scorer, user_ids=user_ids, item_ids=item_ids, users=clean.users)
    if item_ids is not None:
        # a scorer that knows more items than the data has them behind those of the data
        item_ids = item_ids if scorer.n_items == item_ids.size else scorer.item_ids
    catalogue = _catalogue(items, item_ids, scorer.n_items, clean)
    seen = in_rows(exclude, user_ids=user_ids, item_ids=item_ids, n_items=scorer.n_items)
    exclusion = clean_exclude(seen, n_items=scorer.n_items, targets=clean, items=catalogue)
    return Request(
        scorer=scorer, targets=clean, exclusion=exclusion, items=catalogue,
        user_ids=user_ids, item_ids=item_ids,
    )  # fmt: skip


def in_rows(exclude: Any, *, user_ids: Array | None, item_ids: Array | None, n_items: int) -> Any:
    """What is excluded, in the rows that these ids name."""
    if exclude is None:
        return None
    exclude = by_rows(exclude)
    own = [getattr(exclude, side, None) for side in _SIDES]
    wanted = [user_ids, item_ids]
    if all(_ids.same(mine, theirs) for mine, theirs in zip(own, wanted, strict=True)):
        if item_ids is None:
            check_width("exclude", exclude, n_items)
        return exclude
    if own[0] is None or own[1] is None:
        _reject_unnamed("exclude", wanted)
        check_width("exclude", exclude, n_items)
        return exclude
    if user_ids is None or item_ids is None:
        _reject_unnamed("targets", own)
        check_width("exclude", exclude, n_items)
        return exclude
    return _moved(exclude, user_ids, item_ids)


def _reject_unnamed(name: str, ids: list[Array | None]) -> None:
    """Rows without names may meet names that are the rows, and no others."""
    for side, known in zip(("users", "items"), ids, strict=True):
        if known is not None and not are_rows(known):
            raise InputError(
                f"`{name}` must be an Interactions, which names its {side}: the others are named "
                f"{checks.printable(known[0])} …, so that row numbers do not tell who is who."
            )


def _moved(exclude: Any, user_ids: Array, item_ids: Array) -> Seen:
    """The exclusion of other rows; users without targets and items that none can score go."""
    users = _ids.find("exclude", exclude.user_ids, user_ids)
    items = _ids.find("exclude", exclude.item_ids, item_ids)
    indptr = np.asarray(exclude.indptr, np.int64)
    row = np.repeat(users, np.diff(indptr))
    column = items[np.asarray(exclude.indices)]
    keep = (row >= 0) & (column >= 0)
    row, column = row[keep], column[keep]
    order = np.lexsort((column, row))
    counts = np.bincount(row, minlength=user_ids.size)
    return Seen(np.concatenate(([0], np.cumsum(counts))), column[order], int(item_ids.size))


def _catalogue(
    items: ArrayLike | None, item_ids: Array | None, n_items: int, targets: Targets
) -> Ints | None:
    """Rows of the items to rank among: ids where items have any, rows or a mask otherwise."""
    if items is None or item_ids is None:
        return clean_items(items, n_items=n_items, targets=targets)
    given = checks.as_array("items", items)
    if given.dtype != np.bool_:
        given = _ids.look_up("items", given, item_ids)
    return clean_items(given, n_items=n_items, targets=targets)
