"""LightFM models: embeddings and biases, with the rows of the fitted matrix."""

from __future__ import annotations

from typing import Any

from fullrank.scorers.factors import FactorScorer
from fullrank.scorers.foreign.common import derives, from_library, unfitted


def scorer_of(model: Any, n_users: int | None = None) -> Any:
    """Return the scorer of a LightFM model without feature matrices; None for anything else.

    A model with feature matrices has a row for each feature. It does not keep the matrices, so
    its factors are `get_user_representations(features)` and `get_item_representations(features)`.
    """
    if not any(derives(model, name, "LightFM") for name in ("lightfm", "lightfm_next")):
        return None
    if model.item_embeddings is None:
        raise unfitted(model, "LightFM")
    user_bias, users = model.get_user_representations()
    item_bias, items = model.get_item_representations()
    scorer = FactorScorer(users, items, item_bias=item_bias, user_bias=user_bias)
    scorer.rows_advice = (
        " A LightFM model with feature matrices has a row for each feature. Pass the results of "
        "get_user_representations(features) and get_item_representations(features) to "
        "fr.FactorScorer."
    )
    return from_library(scorer)
