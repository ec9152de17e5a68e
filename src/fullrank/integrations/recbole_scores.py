"""Scores of a RecBole model: by its vectors if they are products, otherwise as it returns them.

A query is a user, or a row of sequential data; item 0 is RecBole's padding.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fullrank._lib.types import Array, Ints
from fullrank.scorers import BlockScorer, FactorScorer

_TRIED = 4  # queries whose scores are compared with the products of their vectors
_GENERAL = "recbole.model.general_recommender"


def block_scorer(trainer: Any, loader: Any, n_queries: int) -> BlockScorer:
    """Scores as `full_sort_predict` gives them: all items for a block of queries."""
    dataset = loader._dataset
    # what `Trainer.evaluate` sets before its first batch
    trainer.tot_item_num = int(dataset.item_num)
    if trainer.item_tensor is None:
        trainer.item_tensor = dataset.get_item_feature().to(trainer.device)

    def recbole_scores(queries: Any) -> Any:
        batch = loader.collate_fn(queries.cpu().numpy())
        return trainer._full_sort_batch_eval(batch)[1]

    return BlockScorer(recbole_scores, trainer.tot_item_num, n_users=n_queries)


def factor_scorer(model: Any, loader: Any, users: Ints) -> FactorScorer | None:
    """The model by its vectors, a row for each query; None where its scores are not products.

    Who scores is told by the class that defines `full_sort_predict`, so that a subclass with one of
    its own is not taken for its parent.
    """
    scoring = type(model).full_sort_predict
    vectors = _VECTORS.get(f"{scoring.__module__}.{scoring.__qualname__.partition('.')[0]}")
    if vectors is None:
        return None
    tried = loader.collate_fn(np.arange(min(_TRIED, users.size)))[0].to(model.device)
    scores = model.full_sort_predict(tried)  # which makes what the model keeps of its vectors
    rows, items = vectors(model, users)
    scorer = FactorScorer(rows, items)
    return scorer if _agree(scorer, scores.float().cpu().numpy()) else None


def _embedded(model: Any, users: Ints) -> tuple[Any, Any]:
    import torch

    embed = getattr(model, "get_user_embedding", None) or model.user_embedding
    rows = embed(torch.from_numpy(users).to(model.device))
    return _numpy(rows), _numpy(model.item_embedding.weight)


def _propagated(model: Any, users: Ints) -> tuple[Any, Any]:
    import torch

    rows = model.restore_user_e[torch.from_numpy(users).to(model.restore_user_e.device)]
    return _numpy(rows), _numpy(model.restore_item_e)


def _numpy(tensor: Any) -> Array:
    array: Array = tensor.detach().float().cpu().numpy()
    return array


def _agree(scorer: FactorScorer, scores: Array) -> bool:
    """Whether the scores of the first queries are the products, up to the rounding of float32."""
    given = scores.reshape(-1, scorer.n_items).astype(np.float64)
    users, items = scorer.user_factors[: given.shape[0]], scorer.item_factors
    products = users.astype(np.float64) @ items.T.astype(np.float64)
    size = np.abs(users).astype(np.float64) @ np.abs(items).T.astype(np.float64)
    bound = (users.shape[1] + 2) * np.finfo(np.float32).eps * size
    return bool((np.abs(given - products) <= bound + np.finfo(np.float32).tiny).all())


_VECTORS: dict[str, Callable[[Any, Ints], tuple[Any, Any]]] = {
    f"{_GENERAL}.bpr.BPR": _embedded,
    f"{_GENERAL}.line.LINE": _embedded,
    f"{_GENERAL}.lightgcn.LightGCN": _propagated,
    f"{_GENERAL}.ngcf.NGCF": _propagated,
    f"{_GENERAL}.dgcf.DGCF": _propagated,
    f"{_GENERAL}.sgl.SGL": _propagated,
    f"{_GENERAL}.ncl.NCL": _propagated,
    f"{_GENERAL}.spectralcf.SpectralCF": _propagated,
}
