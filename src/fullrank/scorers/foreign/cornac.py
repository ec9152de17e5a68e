"""Cornac's recommenders: by their vectors if these give their scores, otherwise by `score`."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from fullrank._lib.types import Array, Ints
from fullrank.errors import InputError
from fullrank.scorers.callables import CallableScorer
from fullrank.scorers.carried_ids import ids_argument
from fullrank.scorers.factors import FactorScorer
from fullrank.scorers.foreign.common import Rows, by_factors, derives, from_library, unfitted

_SIMILARITIES = {"dot product aka. inner product": "dot", "cosine similarity": "cosine"}


class Scored:
    """The scores of a recommender, one user at a time."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def __call__(self, user: int, items: Ints) -> Array:
        """The scores of a user for some items, by row."""
        return self.row(user)[items]

    def row(self, user: int) -> Array:
        """The scores of a user for all items that the model knows; some models make it a matrix."""
        return np.asarray(self.model.score(user), np.float64).reshape(-1)


def scorer_of(model: Any, n_users: int | None = None) -> Any:
    """Return the scorer of a fitted recommender; None for anything else.

    Cornac's vectors are made for its nearest-neighbour search, and for some models they give scores
    that differ from `score`. Both are compared for some users, and `score` decides.
    """
    if not derives(model, "cornac", "Recommender"):
        return None
    _check_user_scores(model)
    if model.uid_map is None or model.num_users is None:
        raise unfitted(model, "Cornac")
    own = Scored(model)
    n_items = own.row(0).size
    user_ids, item_ids = (_in_order(one) for one in (model.uid_map, model.iid_map))
    scorer: Any = _by_vectors(model, n_items)
    if scorer is None or not by_factors(scorer, own):
        rows = Rows(own, n_items, type(model).__name__)
        scorer = CallableScorer(
            rows, user_ids=user_ids[: model.num_users], item_ids=item_ids[:n_items]
        )
    else:
        scorer = scorer.with_ids(
            ids_argument("user_ids", user_ids[: scorer.n_users], None),
            ids_argument("item_ids", item_ids[:n_items], None),
        )
    return from_library(scorer)


def _check_user_scores(model: Any) -> None:
    """Whether `score` takes a user alone: next-item and next-basket models need the history."""
    needed = [
        one.name
        for one in list(inspect.signature(model.score).parameters.values())[1:]
        if one.default is one.empty and one.kind is one.POSITIONAL_OR_KEYWORD
    ]
    if needed:
        raise InputError(
            f"`scorer` must score users by row number alone; {type(model).__name__} from Cornac "
            f"also needs {needed[0]}. Give a function instead: "
            "fullrank.scorers.CallableScorer(f, n_items=…)."
        )


def _by_vectors(model: Any, n_items: int) -> FactorScorer | None:
    if not getattr(model, "_ann_supported", False):
        return None
    similarity = _SIMILARITIES.get(model.get_vector_measure())
    if similarity is None:  # a distance
        return None
    try:
        users, items = model.get_user_vectors(), model.get_item_vectors()
        sizes = np.shape(users)[1], np.shape(items)[1]
    except (AttributeError, IndexError, ValueError):  # some of these methods are wrong in 3.0.1
        return None
    dense = isinstance(users, np.ndarray) and isinstance(items, np.ndarray)
    if not dense or sizes[0] != sizes[1] or items.shape[0] < n_items:
        return None
    return FactorScorer(users[: model.num_users], items[:n_items], similarity=similarity)


def _in_order(numbers: Any) -> list[Any]:
    """The ids of a map from ids to numbers, in the order of these."""
    return sorted(numbers, key=numbers.__getitem__)
