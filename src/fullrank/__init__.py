"""What would this recommender score if every item in the catalogue had been ranked?

Each name below is loaded when it is first used, so ``import fullrank`` is fast and loads neither
compilers nor file formats. Everything else is in its own module: ``fullrank.designs``,
``fullrank.metrics``, ``fullrank.models``, ….
"""

from __future__ import annotations

import importlib as _importlib
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

__version__ = "0.2.0"

__all__ = [
    "Design",
    "ExactRanks",
    "FactorScorer",
    "Interactions",
    "ItemItemScorer",
    "ItemScorer",
    "RankSample",
    "__version__",
    "anchored",
    "as_scorer",
    "bounds",
    "compare",
    "data",
    "datasets",
    "designs",
    "engines",
    "errors",
    "estimate",
    "estimators",
    "evaluate",
    "evaluation",
    "explain",
    "inference",
    "integrations",
    "jointly",
    "losses",
    "metrics",
    "models",
    "plan",
    "rank",
    "ranking",
    "read_candidates",
    "read_ranks",
    "report",
    "reporting",
    "sample_ranks",
    "sample_users",
    "samples",
    "scorers",
    "simulate",
    "testing",
    "users_needed",
]

if _TYPE_CHECKING:  # the tables below, for type checkers and editors; a test keeps them equal
    from fullrank import data as data
    from fullrank import designs as designs
    from fullrank import engines as engines
    from fullrank import errors as errors
    from fullrank import estimators as estimators
    from fullrank import evaluation as evaluation
    from fullrank import inference as inference
    from fullrank import integrations as integrations
    from fullrank import losses as losses
    from fullrank import metrics as metrics
    from fullrank import models as models
    from fullrank import ranking as ranking
    from fullrank import reporting as reporting
    from fullrank import samples as samples
    from fullrank import scorers as scorers
    from fullrank import testing as testing
    from fullrank import torch as torch
    from fullrank.data import Interactions as Interactions
    from fullrank.data import sample_users as sample_users
    from fullrank.data.sets import datasets as datasets
    from fullrank.designs import Design as Design
    from fullrank.estimators import anchored as anchored
    from fullrank.estimators import jointly as jointly
    from fullrank.evaluation import evaluate as evaluate
    from fullrank.inference import bounds as bounds
    from fullrank.inference import compare as compare
    from fullrank.inference import estimate as estimate
    from fullrank.inference import explain as explain
    from fullrank.inference import plan as plan
    from fullrank.inference import users_needed as users_needed
    from fullrank.ranking import rank as rank
    from fullrank.ranking import sample_ranks as sample_ranks
    from fullrank.reporting import report as report
    from fullrank.samples import ExactRanks as ExactRanks
    from fullrank.samples import RankSample as RankSample
    from fullrank.samples import read_candidates as read_candidates
    from fullrank.samples import read_ranks as read_ranks
    from fullrank.samples import simulate as simulate
    from fullrank.scorers import FactorScorer as FactorScorer
    from fullrank.scorers import ItemItemScorer as ItemItemScorer
    from fullrank.scorers import ItemScorer as ItemScorer
    from fullrank.scorers import as_scorer as as_scorer

# Where each name comes from; a module that has the name is what is meant. `torch` is not in
# `__all__`: a star import would hide PyTorch, and load it.
_HOMES = {
    "Design": "fullrank.designs",
    "ExactRanks": "fullrank.samples",
    "FactorScorer": "fullrank.scorers",
    "Interactions": "fullrank.data",
    "ItemItemScorer": "fullrank.scorers",
    "ItemScorer": "fullrank.scorers",
    "RankSample": "fullrank.samples",
    "anchored": "fullrank.estimators",
    "as_scorer": "fullrank.scorers",
    "bounds": "fullrank.inference",
    "compare": "fullrank.inference",
    "data": "fullrank.data",
    "datasets": "fullrank.data.sets.datasets",
    "designs": "fullrank.designs",
    "engines": "fullrank.engines",
    "errors": "fullrank.errors",
    "estimate": "fullrank.inference",
    "estimators": "fullrank.estimators",
    "evaluate": "fullrank.evaluation",
    "evaluation": "fullrank.evaluation",
    "explain": "fullrank.inference",
    "inference": "fullrank.inference",
    "integrations": "fullrank.integrations",
    "jointly": "fullrank.estimators",
    "losses": "fullrank.losses",
    "metrics": "fullrank.metrics",
    "models": "fullrank.models",
    "plan": "fullrank.inference",
    "rank": "fullrank.ranking",
    "ranking": "fullrank.ranking",
    "read_candidates": "fullrank.samples",
    "read_ranks": "fullrank.samples",
    "report": "fullrank.reporting",
    "reporting": "fullrank.reporting",
    "sample_ranks": "fullrank.ranking",
    "sample_users": "fullrank.data",
    "samples": "fullrank.samples",
    "scorers": "fullrank.scorers",
    "simulate": "fullrank.samples",
    "testing": "fullrank.testing",
    "torch": "fullrank.torch",
    "users_needed": "fullrank.inference",
}


def __getattr__(name: str) -> _Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'fullrank' has no attribute {name!r}")
    value: _Any = _importlib.import_module(_HOMES[name])
    if _HOMES[name].rpartition(".")[2] != name:
        value = getattr(value, name)
    globals()[name] = value  # the next look-up does not come here
    return value


def __dir__() -> list[str]:
    return sorted([*_HOMES, "__version__"])
