"""What is ranked against what, in one row space: the rows of the data, found by id.

Targets, excluded items and scorers come with ids of their own or without. Where two sides have ids
they are matched by id; where one has none, it has row numbers, and the ids of the other must be
exactly 0 … n - 1. Draws and ties depend on the data's rows alone, so that scorers whose rows lie in
different orders get the same candidates.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from fullrank._lib import checks
from fullrank._lib.types import Array, Ints
from fullrank.data.named_rows import in_rows, named_items
from fullrank.data.targets import Exclusion, Targets, clean_exclude, clean_targets
from fullrank.errors import InputError
from fullrank.scorers.alignment import aligned
from fullrank.scorers.scorer import Scorer, as_scorer
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

    @contextmanager
    def named(self) -> Iterator[None]:
        """Errors about rows say the ids of these, which are the caller's."""
        try:
            yield
        except InputError as error:
            rows = getattr(error, "rows", None)
            if rows is None or self.user_ids is None or self.item_ids is None:
                raise
            user, item = self.user_ids[rows[0]], self.item_ids[rows[1]]
            raise InputError(
                f"`scorer` must give numbers; its score for user {checks.printable(user)} and item "
                f"{checks.printable(item)} is NaN."
            ) from error


def make_request(scorer: Any, targets: Any, *, exclude: Any, items: Any) -> Request:
    """Clean what belongs together; everything in the result has the data's rows."""
    scorer = as_scorer(scorer)
    if isinstance(targets, Targets):  # made by the same call as what is excluded
        exclusion = clean_exclude(exclude, n_items=scorer.n_items, targets=targets)
        return Request(
            scorer=scorer, targets=targets, exclusion=exclusion, items=None,
            user_ids=getattr(scorer, "user_ids", None), item_ids=getattr(scorer, "item_ids", None),
        )  # fmt: skip
    user_ids, item_ids = (getattr(targets, side, None) for side in _SIDES)
    # `aligned` compares the sizes where ids are matched, or where it has more to say of them
    named = (
        getattr(scorer, "item_ids", None) is not None
        or bool(getattr(scorer, "rows_advice", None))
        or (item_ids is not None and not are_rows(item_ids))
    )
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
    catalogue = named_items(items, item_ids, n_items=scorer.n_items, targets=clean)
    seen = in_rows(exclude, user_ids=user_ids, item_ids=item_ids, n_items=scorer.n_items)
    exclusion = clean_exclude(seen, n_items=scorer.n_items, targets=clean, items=catalogue)
    return Request(
        scorer=scorer, targets=clean, exclusion=exclusion, items=catalogue,
        user_ids=user_ids, item_ids=item_ids,
    )  # fmt: skip
