"""The settings of the five models that are tried for the stored ranks, the likeliest first.

The λ of EASE on ml-1m and pinterest gives values close to the published ones; the papers print no
settings. The other models on ml-1m have the settings that the studies `ml1m_models`, `ml1m_ials`
and `ml1m_neural` found in larger grids, read from their results.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from reproduction.common.kept import stored

TUNED_BY = "recall@10"
METRICS = ("recall@10", "ndcg@10", "ap@10")
REFERENCE_LAMBDA = {"ml-1m": 1500.0, "pinterest-20-part": 1500.0}
NEURAL = ("MultiVAE", "NeuMF")
_TRAINED = {"metric": TUNED_BY, "patience": 3, "min_learning_rate": 0.001}
FIXED: dict[str, dict[str, Any]] = {
    "EASE": {},
    "itemKNN": {"similarity": "cosine"},
    "iALS": {"epochs": 6},
    "MultiVAE": _TRAINED | {"epochs": 40, "annealing": 20},
    "NeuMF": _TRAINED | {"epochs": 15, "batch_size": 4096, "hidden": [32, 16, 8]},
}
# all combinations
GRIDS: dict[str, dict[str, list[Any]]] = {
    "EASE": {"regularization": [200.0, 1500.0, 500.0, 50.0, 5000.0]},
    "itemKNN": {
        "shrinkage": [30.0, 0.0, 10.0, 100.0],
        "weighting": ["none", "tfidf"],
        "n_neighbors": [5, 20, 10, 50, 200],
    },
    "iALS": {
        "n_factors": [64, 16, 128],
        "unobserved_weight": [0.01, 0.1, 0.03, 0.003],
        "regularization": [0.003, 0.001, 0.01],
    },
    "MultiVAE": {
        "hidden": [[600], []],
        "beta": [0.2, 1.0],
        "dropout": [0.5, 0.8],
        "learning_rate": [0.005],
    },
    "NeuMF": {"n_negatives": [4, 1], "learning_rate": [0.005, 0.002], "n_factors": [8, 32]},
}
QUICK: dict[str, dict[str, Any]] = {  # and one combination, or two of those that take no time
    "iALS": {"epochs": 2, "n_factors": 16},
    "MultiVAE": {"epochs": 1, "hidden": [], "n_factors": 16},
    "NeuMF": {"epochs": 1, "n_negatives": 1},
}
_ML_1M = {  # the study's file, and the model's name in it
    "itemKNN": ("ml1m_models", "ItemKNN"),
    "MultiVAE": ("ml1m_neural", "MultiVAE"),
    "NeuMF": ("ml1m_neural", "NeuMF"),
}


def combinations(data: str, model: str, *, quick: bool = False) -> list[dict[str, Any]]:
    """All settings that are tried; only one where they are known already."""
    known = found_before(data, model)
    if known is not None:
        return [known["settings"]]
    grid = list(_product(GRIDS[model]))
    if quick:
        some = grid[: 2 if model in ("itemKNN", "iALS") else 1]
        return [FIXED[model] | chosen | QUICK.get(model, {}) for chosen in some]
    return [FIXED[model] | chosen for chosen in grid]


def found_before(data: str, model: str) -> dict[str, Any] | None:
    """Settings of the reference figures or of another study, with the rates of a neural model."""
    if model == "EASE" and data in REFERENCE_LAMBDA:
        return {"settings": {"regularization": REFERENCE_LAMBDA[data]}, "source": "reference"}
    if data != "ml-1m":
        return None
    if model == "iALS":
        return {"settings": stored("ml1m_ials")["best"], "source": "ml1m_ials"}
    study, name = _ML_1M[model]
    found = next(one for one in stored(study)["models"] if one["model"] == name)
    best = next(one for one in found["validation"] if one["settings"] == found["best"])
    rates = {"rates": best["rates"]} if "rates" in best else {}
    return {"settings": found["best"], "source": study} | rates


def _product(grid: dict[str, list[Any]]) -> Iterator[dict[str, Any]]:
    for values in itertools.product(*grid.values()):
        yield dict(zip(grid, values, strict=True))
