"""Scorers by their methods: factors, an item–item matrix, or scores of items, blocks or pairs.

A class of your own states with a method what it can do; it needs neither a base class nor
registration. The method decides how it is ranked.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from fullrank._lib import checks
from fullrank._lib.types import Array
from fullrank.errors import InputError
from fullrank.scorers.callables import CallableScorer
from fullrank.scorers.carried_ids import CarriesIds, ids_argument
from fullrank.scorers.factors import FactorScorer
from fullrank.scorers.item_item import ItemItemScorer
from fullrank.scorers.item_scores import ItemScorer

PAIRS = 1 << 18  # given to `pairs` at once


def offers(obj: Any, method: str) -> bool:
    """Return whether an object has a method of that name."""
    return callable(getattr(obj, method, None))


def scorer_of(obj: Any) -> Any:
    """Return the scorer of the first method that an object has: factors, item_item, …, pairs.

    None if it has none of them. An object with `scores` needs neither `block` nor `pairs`.
    """
    if getattr(obj, "n_items", None) is None:
        return None
    for method, make in _MADE.items():
        if offers(obj, method):
            return _named(make(obj), obj)
    if offers(obj, "scores"):
        return None
    if offers(obj, "block"):
        return _called(obj, obj.block)
    return _called(obj, ScoredPairs(obj)) if _scores_pairs(obj) else None


def _scores_pairs(obj: Any) -> bool:
    """Whether `pairs` takes users and items, unlike that of Interactions, which lists its own."""
    if not offers(obj, "pairs"):
        return False
    try:
        return len(inspect.signature(obj.pairs).parameters) >= 2
    except (TypeError, ValueError):  # of a function that is not written in Python
        return True


def _factors(obj: Any) -> FactorScorer:
    given = obj.factors()
    if isinstance(given, FactorScorer):
        return given
    if isinstance(given, Mapping):
        return FactorScorer(**given)
    users, items = _two("factors", given, "(user_factors, item_factors)")
    return FactorScorer(users, items)


def _item_item(obj: Any) -> ItemItemScorer:
    given = obj.item_item()
    if isinstance(given, ItemItemScorer):
        return given
    if isinstance(given, Mapping):
        return ItemItemScorer(**given)
    return ItemItemScorer(*_two("item_item", given, "(history, item_item)"))


def _item_scores(obj: Any) -> ItemScorer:
    given = obj.item_scores()
    return given if isinstance(given, ItemScorer) else ItemScorer(given, n_users=obj.n_users)


_MADE: Mapping[str, Callable[[Any], Any]] = {
    "factors": _factors,
    "item_item": _item_item,
    "item_scores": _item_scores,
}


def _two(method: str, given: Any, what: str) -> tuple[Any, Any]:
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise InputError(
            f"`{method}` must return {what}, or a mapping with these keys, not "
            f"{checks.shown(given)}."
        )
    return given[0], given[1]


def _named(scorer: Any, obj: Any) -> Any:
    """With the sizes checked, and with the ids that the object has."""
    for side in ("user", "item"):
        said, has = getattr(obj, f"n_{side}s", None), getattr(scorer, f"n_{side}s")
        if said is not None and int(said) != has:
            raise InputError(
                f"`n_{side}s` must be the number of {side} rows of the scorer, {has}, not {said}."
            )
    ids = {
        side: ids_argument(side, getattr(obj, side, None), getattr(scorer, f"n_{side[:4]}s"))
        for side in ("user_ids", "item_ids")
    }
    given = {side: getattr(scorer, side) if one is None else one for side, one in ids.items()}
    named = scorer.with_ids(given["user_ids"], given["item_ids"])
    named.ids_advice = CarriesIds.ids_advice  # the caller has the object, and no FactorScorer
    return named


def _called(obj: Any, function: Callable[..., Any]) -> CallableScorer:
    found = CallableScorer(
        function,
        n_items=obj.n_items,
        n_users=getattr(obj, "n_users", None),
        user_ids=getattr(obj, "user_ids", None),
        item_ids=getattr(obj, "item_ids", None),
    )
    found.thread_safe = getattr(obj, "thread_safe", False) is True
    return found


class ScoredPairs:
    """Scores of users against items from `pairs(users, items)`, two equally long arrays of rows."""

    def __init__(self, scorer: Any) -> None:
        self.scorer = scorer

    @property
    def __name__(self) -> str:
        return f"{type(self.scorer).__name__}.pairs"

    def __call__(self, users: Array, items: Array | None = None) -> Array:
        """A row for each user: all items, the same items (1-D) or the user's own (2-D)."""
        wanted = np.arange(self.scorer.n_items) if items is None else items
        wanted = np.broadcast_to(wanted, (users.size, wanted.shape[-1]))
        user = np.repeat(users, wanted.shape[1])
        item = np.ascontiguousarray(wanted).reshape(-1)
        parts = [
            self._scored(user[at : at + PAIRS], item[at : at + PAIRS])
            for at in range(0, user.size, PAIRS)
        ]
        flat = np.concatenate(parts) if parts else np.empty(0)
        return flat.reshape(wanted.shape)

    def _scored(self, users: Array, items: Array) -> Array:
        found = checks.numpy_of("pairs", self.scorer.pairs(users, items))
        if found.shape != users.shape or found.dtype.kind not in "biuf":
            raise InputError(
                f"`pairs` must return one number for each of {users.size} pairs, not "
                f"{found.dtype} of shape {found.shape}."
            )
        return found
