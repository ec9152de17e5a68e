"""Common parts of all libraries: check whether factors give a model's scores, or score by user."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank._lib.types import Array, Ints
from fullrank.errors import InputError, NotFittedError
from fullrank.scorers.callables import CallableScorer
from fullrank.scorers.carried_ids import CarriesIds
from fullrank.scorers.factors import FactorScorer
from fullrank.scorers.item_scores import ItemScorer
from fullrank.scorers.offers import offers
from fullrank.tables import ids as _ids

OwnScores = Callable[[int, Ints], Array]  # of a user row and item rows
_CHECKED = 5  # users whose scores are compared


def derives(model: Any, library: str, name: str) -> bool:
    """Return whether a model is of a library's class of that name, or of one derived from it."""
    return any(
        kind.__name__ == name and kind.__module__.partition(".")[0] == library
        for kind in type(model).__mro__
    )


def unfitted(model: Any, library: str, method: str = "fit") -> NotFittedError:
    """Return the error for a model that is not fitted."""
    return NotFittedError(
        f"`scorer` must be fitted; this {type(model).__name__} from {library} is not. Call its "
        f"`{method}` first."
    )


def by_factors(scorer: FactorScorer, own: OwnScores, items: Ints | None = None) -> bool:
    """Return whether the factors give a model's own scores, compared for a few users.

    What all items of a user share does not count, and neither does the rounding of sums in single
    precision.

    Parameters
    ----------
    own : function of a user row and item rows
    items : the item rows that are compared, all by default
    """
    rows = np.arange(scorer.n_items) if items is None else items
    users = np.unique(np.linspace(0, scorer.n_users - 1, _CHECKED).astype(np.int64))
    return all(_agree(scorer, int(user), rows, own(int(user), rows)) for user in users)


def _agree(scorer: FactorScorer, user: int, items: Ints, own: Array) -> bool:
    own = np.asarray(own, np.float64)
    ours = scorer.scores([user], items)[0]
    if own.shape != ours.shape or not np.isfinite(own).all() or not np.isfinite(ours).all():
        return False
    sizes = np.abs(scorer.item_factors[items]).astype(np.float64) @ np.abs(
        scorer.user_factors[user].astype(np.float64)
    )
    largest = sizes.max() + np.abs(ours).max() + np.abs(own).max()
    terms = scorer.user_factors.shape[1] + 4
    rounding = 4 * terms * float(np.finfo(np.float32).eps) * largest
    return bool(np.ptp(own - ours) <= rounding)


class Rows:
    """A function of users, as `CallableScorer` takes it, from the scores of one user at a time.

    A missing score (NaN) is -inf: the library does not recommend that item, and it ranks last.
    """

    def __init__(self, own: OwnScores, n_items: int, name: str) -> None:
        self.own = own
        self.items = np.arange(n_items)
        self.__name__ = name

    def __call__(self, users: Ints) -> NDArray[np.float64]:
        """A row for each user."""
        out = np.empty((users.size, self.items.size))
        for place, user in enumerate(users):
            out[place] = self.own(int(user), self.items)
        out[np.isnan(out)] = -np.inf
        return out


def with_items(scorer: Any, item_ids: Any) -> Any:
    """The scorer with further items, which it cannot score: their score is -inf, so they rank last.

    Parameters
    ----------
    scorer : of another library's model, with item ids
    item_ids : ids, some of which it may have
    """
    new = item_ids[_ids.find("item_ids", item_ids, scorer.item_ids) < 0]
    if not new.size:
        return scorer
    ids = {"user_ids": scorer.user_ids, "item_ids": np.concatenate([scorer.item_ids, new])}
    last = np.full(new.size, -np.inf)
    if offers(scorer, "item_scores"):
        values = np.concatenate([scorer.values, last])
        return from_library(ItemScorer(values, n_users=scorer.n_users, **ids))
    if offers(scorer, "factors"):
        bias = np.zeros(scorer.n_items) if scorer.item_bias is None else scorer.item_bias
        none = np.zeros((new.size, scorer.item_factors.shape[1]), scorer.item_factors.dtype)
        longer = FactorScorer(
            scorer.user_factors,
            np.concatenate([scorer.item_factors, none]),
            item_bias=np.concatenate([bias, last]),
            user_bias=scorer.user_bias,
            **ids,
        )
        return from_library(longer)
    function = Padded(scorer.function, new.size)
    n_items = scorer.n_items + new.size
    padded = CallableScorer(function, n_items=n_items, n_users=scorer.n_users, **ids)
    return from_library(padded)


class Padded:
    """A function of users with further items, whose score is -inf."""

    def __init__(self, function: Any, n_further: int) -> None:
        self.function = function
        self.n_further = n_further
        self.__name__ = getattr(function, "__name__", type(function).__name__)

    def __call__(self, users: Ints) -> Array:
        """A row for each user."""
        found = self.function(users)
        return np.pad(found, ((0, 0), (0, self.n_further)), constant_values=-np.inf)


def from_library(scorer: Any) -> Any:
    """The scorer as one that `as_scorer` has made of another library's model."""
    scorer.ids_advice = CarriesIds.ids_advice  # the caller has no FactorScorer
    scorer.takes_items = True
    return scorer


def vectors(name: str, value: Any, model: Any, library: str) -> Array:
    """Factors as an array, also of a GPU or a sparse matrix."""
    for method in ("to_numpy", "toarray"):
        if callable(getattr(value, method, None)):
            value = getattr(value, method)()
    array = np.asarray(value)
    if array.ndim != 2 or array.dtype.kind != "f":
        raise InputError(
            f"`scorer` must have a matrix of floating-point numbers as {name}; this "
            f"{type(model).__name__} from {library} has {array.dtype} of shape {array.shape}."
        )
    return array
