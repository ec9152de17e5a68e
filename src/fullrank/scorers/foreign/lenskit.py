"""LensKit's pipelines and scoring components: embeddings with biases, or one query per user."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from fullrank._lib.types import Array, Ints
from fullrank.errors import InputError
from fullrank.scorers.callables import CallableScorer
from fullrank.scorers.factors import FactorScorer
from fullrank.scorers.foreign.common import Rows, by_factors, derives, from_library, unfitted
from fullrank.scorers.item_scores import ItemScorer

# What components call their factors: those of users, those of items.
_FACTORS = (
    ("user_embeddings", "item_embeddings"),
    ("user_components", "item_components"),
    ("user_features_", "item_features_"),
)


class Asked:
    """The scores of a pipeline, or of a component by itself, for queries of a user id."""

    def __init__(self, source: Any, user_ids: Array, item_ids: Array) -> None:
        self.source = source
        self.user_ids = user_ids
        self.item_ids = item_ids
        self._list: Any = None

    def __call__(self, user: int, items: Ints) -> Array:
        """The scores of a user for some items, by row; NaN where LensKit has none."""
        if self._list is None:
            self._list = importlib.import_module("lenskit.data").ItemList(self.item_ids)
        query = _plain(self.user_ids[user])
        if callable(getattr(self.source, "run", None)):
            found = self.source.run("scorer", query=query, items=self._list)
        else:
            found = self.source(query=query, items=self._list)
        scores = found.scores()
        if scores is None:
            return np.full(items.size, np.nan)
        return np.asarray(scores, np.float64)[items]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_list": None}


def scorer_of(model: Any, n_users: int | None = None) -> Any:
    """Return the scorer of a trained pipeline or component; None for anything else.

    A pipeline is queried as LensKit does: its history lookup finds the user's training items, and a
    component that computes the user's embedding from them does so. A component alone is queried
    with the user's id only, and scores with what it learned about the user.
    """
    if derives(model, "lenskit", "Pipeline"):
        scorer = _of_pipeline(model, n_users)
    elif derives(model, "lenskit", "Component"):
        scorer = _of_component(model, n_users)
    else:
        return None
    return from_library(scorer)


def _plain(user_id: Any) -> Any:
    """An id as LensKit takes it: an int or text of Python."""
    return user_id.item() if isinstance(user_id, np.generic) else user_id


def _of_pipeline(pipeline: Any, n_users: int | None) -> Any:
    node = pipeline.node("scorer", missing="none")
    component = None if node is None else pipeline.component("scorer")
    if component is None:
        raise InputError(
            "`scorer` must be a pipeline with a component `scorer`; this LensKit pipeline has "
            f"{', '.join(pipeline.component_names()) or 'none'}."
        )
    items = _vocabulary(component, "item")
    lookup = _lookup(pipeline)
    known = getattr(lookup, "interactions", None)
    users = _vocabulary(component, "user") if known is None else known.row_vocabulary
    items = items if items is not None or known is None else known.col_vocabulary
    if items is None:
        raise unfitted(component, "LensKit", "train")
    if users is None:
        return _for_all(component, items, n_users)
    ids = {"user_ids": users.ids(), "item_ids": items.ids()}
    asked = Asked(pipeline, ids["user_ids"], ids["item_ids"])
    vectors = _factors(component)
    scorer = _for_each(component, ids)
    if scorer is None and vectors is not None:
        embeddings = _of_queries(pipeline, component, users)
        scorer = _with_biases(component, embeddings, vectors[1], ids)
    if scorer is not None and by_factors(scorer, asked):
        return scorer
    return CallableScorer(Rows(asked, len(items), type(component).__name__), **ids)


def _of_component(component: Any, n_users: int | None) -> Any:
    users, items = (_vocabulary(component, side) for side in ("user", "item"))
    if items is None:
        raise unfitted(component, "LensKit", "train")
    if users is None:
        return _for_all(component, items, n_users)
    ids = {"user_ids": users.ids(), "item_ids": items.ids()}
    scorer = _for_each(component, ids)
    vectors = _factors(component)
    if scorer is None and vectors is not None:
        scorer = _with_biases(component, vectors[0], vectors[1], ids)
    if scorer is None or not by_factors(scorer, Asked(component, **ids)):
        raise _needs_pipeline(component)
    return scorer


def _needs_pipeline(component: Any) -> InputError:
    return InputError(
        "`scorer` must be the trained LensKit pipeline that contains this "
        f"{type(component).__name__}, which scores users from histories that the pipeline looks up."
    )


def _for_all(component: Any, items: Any, n_users: int | None) -> ItemScorer:
    """A component that knows no users and scores for all of them alike."""
    values = _item_values(component)
    if values is None:
        raise _needs_pipeline(component)
    if n_users is None:
        raise InputError(
            "`scorer` must be the trained LensKit pipeline that contains this "
            f"{type(component).__name__}, or come with its user ids: "
            "fr.as_scorer(model, user_ids=train.user_ids)."
        )
    return ItemScorer(values, n_users=n_users, item_ids=items.ids())


def _for_each(component: Any, ids: Any) -> FactorScorer | None:
    values = _item_values(component)
    return None if values is None else ItemScorer(values, n_users=len(ids["user_ids"]), **ids)


def _item_values(component: Any) -> Any:
    """What all users share: popularity, or the item biases of a bias model."""
    bias = getattr(component, "model_", None)
    return getattr(component, "item_scores_", getattr(bias, "item_biases", None))


def _vocabulary(component: Any, side: str) -> Any:
    """The ids of a component's users or items; None where it has learned none."""
    holders = (component, getattr(component, "model_", None))
    names = (f"{side}s", f"{side}s_")
    found = (getattr(holder, name, None) for holder in holders for name in names)
    return next((one for one in found if callable(getattr(one, "ids", None))), None)


def _factors(component: Any) -> tuple[Any, Any] | None:
    for pair in _FACTORS:
        users, items = (getattr(component, name, None) for name in pair)
        if items is not None:
            return users, items
    return None


def _with_biases(component: Any, users: Any, items: Any, ids: Any) -> FactorScorer | None:
    if users is None:
        return None
    bias = getattr(component, "bias", getattr(component, "bias_", None))
    return FactorScorer(users, items, item_bias=getattr(bias, "item_biases", None), **ids)


def _lookup(pipeline: Any) -> Any:
    """The component that gives the scorer its query, such as the lookup of histories."""
    source = pipeline.node_input_connections("scorer").get("query")
    return None if source is None else getattr(source, "component", None)


def _of_queries(pipeline: Any, component: Any, users: Any) -> Any:
    """The embedding of each user as LensKit finds it for a query of the user's id.

    That of training, unless the component computes it anew from the items of the query.
    """
    known = _factors(component)
    trained = None if known is None else known[0]
    anew = callable(getattr(component, "new_user_embedding", None))
    if not anew or getattr(component.config, "user_embeddings", None) == "prefer":
        return trained
    source = pipeline.node_input_connections("scorer").get("query")
    found = []
    for row, user in enumerate(users.ids()):
        query = pipeline.run(source, query=_plain(user))
        items = getattr(query, "query_items", None)
        if items is not None and len(items):
            found.append(component.new_user_embedding(row, items)[0])
        elif trained is not None:
            found.append(trained[row])
        else:
            return None
    return np.stack(found)
