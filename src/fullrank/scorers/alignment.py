"""Align a scorer's rows with the data: users and items are matched by their ids.

Nothing is matched by position, unless the ids of the data are 0 … n−1 and so are the rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fullrank._lib.types import Ints
from fullrank.errors import InputError
from fullrank.scorers.carried_ids import CarriesIds
from fullrank.scorers.offers import offers
from fullrank.scorers.reordered import Reordered
from fullrank.scorers.scorer import Scorer, scorer_ids
from fullrank.tables import ids as _ids
from fullrank.tables.ids import Ids

_ADVICE = " To rank these items last, use fr.as_scorer(model, item_ids=…) with the ids of the data."


class MissingIdsError(InputError):
    """The data have ids, but the scorer has none to match them with.

    Attributes
    ----------
    side : "user" or "item"
    name : what the scorer is called
    """

    def __init__(self, text: str, side: str = "user", name: str = "scorer") -> None:
        super().__init__(text)
        self.side = side
        self.name = name


def aligned(
    scorer: Scorer,
    *,
    user_ids: Ids | None,
    item_ids: Ids | None,
    users: ArrayLike | None = None,
    name: str = "scorer",
) -> Scorer:
    """Return the scorer with its rows in the order of the data.

    Parameters
    ----------
    scorer : any scorer; its `user_ids` and `item_ids` are matched, if it has them
    user_ids, item_ids : arrays, or None where the data have plain rows
        The data's ids. User row u of the result is user u of the data. Its items are those of
        the data, in the data's order, and then the scorer's further items by ascending id: the
        catalogue is what the scorer can score.
    users : rows of the data's users with targets; default: all
        The scorer must know them.
    name : what errors call the scorer

    Returns
    -------
    Scorer
        The scorer itself where the order is the same. Scores are the same to the last bit.

    Notes
    -----
    If one side has no ids, those of the other must be exactly 0 … n−1, in that order.

    Examples
    --------
    >>> import numpy as np
    >>> from fullrank.scorers import FactorScorer
    >>> scorer = FactorScorer(
    ...     [[1.0], [2.0]], [[3.0], [5.0], [7.0]],
    ...     user_ids=["bob", "ann"], item_ids=["tea", "cake", "jam"],
    ... )  # fmt: skip
    >>> asked = aligned(scorer, user_ids=np.array(["ann"]), item_ids=np.array(["cake", "tea"]))
    >>> asked.scores([0]), asked.item_ids.tolist()
    (array([[10.,  6., 14.]]), ['cake', 'tea', 'jam'])
    """
    has_users, has_items = scorer_ids(scorer)
    by_user = _user_order(has_users, user_ids, users, scorer, name)
    by_item = _item_order(has_items, item_ids, scorer, name)
    if by_user is None and by_item is None:
        return scorer
    other = _reordered(scorer, by_user and by_user.rows, by_item and by_item.rows)
    named: Scorer = other.with_ids(
        has_users if by_user is None else by_user.ids, has_items if by_item is None else by_item.ids
    )
    return named


class Order(NamedTuple):
    """The scorer's row for each row of the data, and the ids of the rows."""

    rows: Ints
    ids: Ids


def _reordered(scorer: Any, user_rows: Ints | None, item_rows: Ints | None) -> Any:
    if offers(scorer, "reordered"):
        return scorer.reordered(user_rows, item_rows)
    return Reordered(scorer, user_rows, item_rows)


def _user_order(
    has: Ids | None, wanted: Ids | None, users: ArrayLike | None, scorer: Scorer, name: str
) -> Order | None:
    if has is None or wanted is None:
        _check_numbered("user", has, wanted, scorer, name)
        return None
    if _ids.same(has, wanted):
        return None
    rows = _found("user", wanted, has, name)
    asked = np.arange(rows.size) if users is None else np.unique(np.asarray(users, np.int64))
    _check_known("user", wanted[asked], rows[asked], name)
    # no one asks about the other users, so any row will do for those whom the scorer lacks
    return Order(np.maximum(rows, 0), wanted)


def _item_order(has: Ids | None, wanted: Ids | None, scorer: Scorer, name: str) -> Order | None:
    if has is None or wanted is None:
        _check_numbered("item", has, wanted, scorer, name)
        return None
    if _ids.same(has, wanted):
        return None
    rows = _found("item", wanted, has, name)
    takes_items = getattr(scorer, "takes_items", False)
    _check_known("item", wanted, rows, name, _ADVICE if takes_items else "")
    further = np.ones(has.size, bool)
    further[rows] = False
    others = np.flatnonzero(further)
    order = np.concatenate([rows, others[np.argsort(has[others], kind="stable")]])
    if np.array_equal(order, np.arange(order.size)):
        return None
    return Order(order, has[order])


def _found(side: str, wanted: Ids, has: Ids, name: str) -> Ints:
    """The scorer's row of each of the data's ids, or -1."""
    if (wanted.dtype.kind == "U") != (has.dtype.kind == "U"):
        needs, got = ("text", "numbers") if wanted.dtype.kind == "U" else ("numbers", "text")
        raise InputError(
            f"`{name}` must have {side}_ids that are {needs}, like those of the data, not {got}: "
            '7 and "7" are different ids.'
        )
    return _ids.find(f"{side}_ids", wanted, has).astype(np.int64)


def _check_known(side: str, wanted: Ids, rows: Ints, name: str, advice: str = "") -> None:
    missing = rows < 0
    if missing.any():
        which = "with targets " if side == "user" else ""
        first = repr(wanted[int(np.argmax(missing))].item())
        lacks = f"of them is not in its {side}_ids: {first}"
        if missing.sum() > 1:
            lacks = f"of them are not in its {side}_ids (first: {first})"
        raise InputError(
            f"`{name}` must have all {wanted.size:,} {side}s {which}of the data; "
            f"{int(missing.sum()):,} {lacks}.{advice}"
        )


def _check_numbered(
    side: str, has: Ids | None, wanted: Ids | None, scorer: Scorer, name: str
) -> None:
    """Where one side has no ids, those of the other are the row numbers, or nothing is known."""
    n_rows = scorer.n_users if side == "user" else scorer.n_items
    if wanted is not None:
        ids_advice = getattr(scorer, "ids_advice", CarriesIds.ids_advice)
        rows_advice = getattr(scorer, "rows_advice", None) or ""
        if not _ids.are_rows(wanted):
            raise MissingIdsError(
                f"`{name}` must have {side}_ids, because the {side}s of the data are not "
                f"numbered 0 … {wanted.size - 1}: use {ids_advice.format(side=side)}.",
                side,
                name,
            )
        if n_rows is not None and (
            n_rows < wanted.size or ((side == "item" or rows_advice) and n_rows > wanted.size)
        ):
            raise InputError(
                f"`{name}` must have a row for each of the {wanted.size:,} {side}s of the data; it "
                f"has {n_rows:,}.{rows_advice}"
            )
    elif has is not None and not _ids.are_rows(has):
        raise InputError(
            f"`targets` must have {side} ids, as Interactions do, because the {side}_ids of the "
            f"scorer are not 0 … {has.size - 1}."
        )
