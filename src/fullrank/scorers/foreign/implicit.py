"""Models of implicit: factors on the CPU or a GPU, with the rows of the fitted matrix."""

from __future__ import annotations

from typing import Any

from fullrank.errors import InputError
from fullrank.scorers.factors import FactorScorer
from fullrank.scorers.foreign.common import derives, from_library, unfitted, vectors


def scorer_of(model: Any, n_users: int | None = None) -> Any:
    """Return the scorer of a factor model (ALS, BPR or LMF); None for anything else.

    A score is the product of two rows, as `recommend` computes it; the biases of BPR and LMF are
    columns of these. An approximate index (`implicit.ann`) is ranked by the model that it holds.
    """
    if not derives(model, "implicit", "RecommenderBase"):
        return None
    held = getattr(model, "model", None)
    if held is not None and not hasattr(model, "item_factors"):
        return scorer_of(held, n_users)
    if hasattr(model, "similarity"):
        raise InputError(
            f"`scorer` must come with the users' histories, which {type(model).__name__} from "
            "implicit does not store: use fr.ItemItemScorer(train, model.similarity)."
        )
    if not hasattr(model, "user_factors"):
        raise InputError(
            f"`scorer` must be a factor model from implicit; {type(model).__name__} has no "
            "user_factors. Wrap it in a function: fullrank.scorers.CallableScorer(f, n_items=…)."
        )
    if model.user_factors is None or model.item_factors is None:
        raise unfitted(model, "implicit")
    users, items = (
        vectors(name, getattr(model, name), model, "implicit")
        for name in ("user_factors", "item_factors")
    )
    return from_library(FactorScorer(users, items))
