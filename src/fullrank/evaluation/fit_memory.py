"""Memory that fitting asks for, known before it is taken."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fullrank import models
from fullrank._lib import memory
from fullrank._lib.device import on_gpu
from fullrank.data import Interactions


def _pairs(bytes_each: float) -> Callable[[Any, Interactions], float]:
    """Bytes for each pair of items, as the models' documentation tells."""
    return lambda _, data: bytes_each * data.n_items**2


def _factors(model: Any, data: Interactions) -> float:
    return 12.0 * float(model.n_factors) * (data.n_users + data.n_items)


def _trained(model: Any, data: Interactions) -> float:
    """What a model that is trained by epochs says itself, without a validation part."""
    return 0.0 if on_gpu(model.device) else float(model.memory(data))


NEEDS: Mapping[type, Callable[[Any, Interactions], float]] = {
    models.EASE: _pairs(8),
    models.DebiasedEASE: _pairs(8),
    models.EDLAE: _pairs(8),
    models.DLAE: _pairs(12),
    models.LowRankEDLAE: _pairs(12),
    models.SLIM: _pairs(4),
    models.LambdaSearch: _pairs(8),
    models.HeadTail: _pairs(8),
    models.Sparsified: _pairs(8),
    models.IALS: _factors,
    models.DebiasedIALS: _factors,
    models.PureSVD: _factors,
    models.MF: _factors,
    models.LRR: _factors,
    models.EmbeddingMF: _trained,
    models.LightGCN: _trained,
    models.NeuMF: _trained,
    models.MultiDAE: _trained,
    models.MultiVAE: _trained,
    models.CDAE: _trained,
    models.Popularity: lambda _, data: 8.0 * (data.n_users + data.n_items),
    models.ItemKNN: lambda model, data: 16.0 * min(model.n_neighbors, data.n_items) * data.n_items,
}


def check_fit(name: str, model: Any, data: Interactions) -> None:
    """Refuse to fit what this machine cannot hold.

    Examples
    --------
    >>> from fullrank.data import load
    >>> check_fit("ease", models.EASE(), load("simulated"))
    """
    need = 24.0 * data.n_interactions
    if type(model) in NEEDS:
        need += NEEDS[type(model)](model, data)
    memory.ask("models", need, f"{name} for {data.n_items:,} items")
