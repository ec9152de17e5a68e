"""Surprise's algorithms: factors with biases, or estimates of one pair at a time."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from fullrank._lib.types import Array, Ints
from fullrank.scorers.callables import CallableScorer
from fullrank.scorers.factors import FactorScorer
from fullrank.scorers.foreign.common import Rows, by_factors, derives, from_library, unfitted
from fullrank.scorers.item_scores import ItemScorer

_COMPARED = 200  # items; an estimate takes microseconds
_VECTORS = ("SVD", "SVDpp", "NMF", "BaselineOnly")  # which estimate by them; others may have them


class Estimates:
    """What an algorithm estimates: without the clipping of `predict`, which would make ties."""

    def __init__(self, algorithm: Any) -> None:
        self.algorithm = algorithm
        module = importlib.import_module("surprise.prediction_algorithms.predictions")
        self.impossible: type[Exception] = module.PredictionImpossible

    def __call__(self, user: int, items: Ints) -> Array:
        """The estimates of a user for some items, by row."""
        return np.array([self._one(user, int(item)) for item in items], np.float64)

    def _one(self, user: int, item: int) -> float:
        try:
            found = self.algorithm.estimate(user, item)
        except self.impossible:  # as `predict` does
            found = self.algorithm.default_prediction()
        return float(found[0] if isinstance(found, tuple) else found)


def scorer_of(model: Any, n_users: int | None = None) -> Any:
    """Return the scorer of a fitted algorithm; None for anything else.

    SVD, SVD++, NMF and BaselineOnly are ranked by their factors and biases, if these give the
    algorithm's estimates for some users; any other algorithm estimates every pair.
    """
    if not derives(model, "surprise", "AlgoBase"):
        return None
    trainset = getattr(model, "trainset", None)
    if trainset is None:
        raise unfitted(model, "Surprise")
    ids: dict[str, Any] = {
        "user_ids": [trainset.to_raw_uid(row) for row in range(trainset.n_users)],
        "item_ids": [trainset.to_raw_iid(row) for row in range(trainset.n_items)],
    }
    own = Estimates(model)
    scorer: Any = _factors(model, trainset, ids) if _by_vectors(model) else None
    some = np.unique(np.linspace(0, trainset.n_items - 1, _COMPARED).astype(np.int64))
    if scorer is None or not by_factors(scorer, own, some):
        rows = Rows(own, trainset.n_items, type(model).__name__)
        scorer = CallableScorer(rows, n_items=trainset.n_items, **ids)
    return from_library(scorer)


def _by_vectors(model: Any) -> bool:
    """Whether the class that defines `estimate` is Surprise's own and one of those with vectors.

    KNNBaseline has the biases of items too, and where few ratings are its estimates may be these.
    """
    own = next((one for one in type(model).__mro__ if "estimate" in vars(one)), type(model))
    return own.__module__.partition(".")[0] == "surprise" and own.__name__ in _VECTORS


def _factors(model: Any, trainset: Any, ids: Any) -> FactorScorer | None:
    users, items = getattr(model, "pu", None), getattr(model, "qi", None)
    biased = getattr(model, "biased", True)
    item_bias = getattr(model, "bi", None) if biased else None
    if users is None or items is None:
        if item_bias is None:
            return None
        return ItemScorer(item_bias, n_users=trainset.n_users, **ids)
    if getattr(model, "yj", None) is not None:  # SVD++: items that were rated, whatever the rating
        users = users + np.array(
            [_implied(model.yj, trainset.ur[row]) for row in range(len(users))]
        )
    user_bias = getattr(model, "bu", None) if biased else None
    return FactorScorer(users, items, item_bias=item_bias, user_bias=user_bias, **ids)


def _implied(item_factors: Array, rated: Any) -> Array:
    items = [item for item, _ in rated]
    total: Array = item_factors[items].sum(axis=0) / np.sqrt(max(len(items), 1))
    return total
