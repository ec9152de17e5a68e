"""What would this recommender score if every item in the catalogue had been ranked?

The names below are loaded when they are first used, so that ``import fullrank`` costs next to
nothing and brings in neither compilers nor file formats.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

__all__ = [
    "Design",
    "FactorScorer",
    "Interactions",
    "ItemItemScorer",
    "RankDistribution",
    "RankGrid",
    "RankSample",
    "__version__",
    "anchored",
    "bounds",
    "compare",
    "consistency",
    "data",
    "datasets",
    "designs",
    "engines",
    "errors",
    "estimate",
    "estimators",
    "evaluate",
    "evaluation",
    "inference",
    "jointly",
    "losses",
    "metrics",
    "models",
    "plan",
    "rank",
    "ranking",
    "report",
    "reporting",
    "sample_ranks",
    "sample_users",
    "samples",
    "scorers",
    "users_needed",
]

if TYPE_CHECKING:  # the tables below, for type checkers and editors; a test keeps them equal
    from fullrank import data as data
    from fullrank import designs as designs
    from fullrank import engines as engines
    from fullrank import errors as errors
    from fullrank import estimators as estimators
    from fullrank import evaluation as evaluation
    from fullrank import inference as inference
    from fullrank import losses as losses
    from fullrank import metrics as metrics
    from fullrank import models as models
    from fullrank import ranking as ranking
    from fullrank import reporting as reporting
    from fullrank import samples as samples
    from fullrank import scorers as scorers
    from fullrank.data import Interactions as Interactions
    from fullrank.data import sample_users as sample_users
    from fullrank.data.sets import datasets as datasets
    from fullrank.designs import Design as Design
    from fullrank.designs import RankGrid as RankGrid
    from fullrank.estimators import anchored as anchored
    from fullrank.estimators import jointly as jointly
    from fullrank.evaluation import evaluate as evaluate  # type: ignore[no-redef]
    from fullrank.inference import bounds as bounds
    from fullrank.inference import compare as compare
    from fullrank.inference import estimate as estimate
    from fullrank.inference import plan as plan
    from fullrank.inference import users_needed as users_needed
    from fullrank.ranking import rank as rank
    from fullrank.ranking import sample_ranks as sample_ranks
    from fullrank.reporting import report as report
    from fullrank.samples import RankDistribution as RankDistribution
    from fullrank.samples import RankSample as RankSample
    from fullrank.samples import consistency as consistency
    from fullrank.scorers import FactorScorer as FactorScorer
    from fullrank.scorers import ItemItemScorer as ItemItemScorer

# Where each name comes from; a module that has the name is what is meant.
_HOMES = {
    "Design": "fullrank.designs",
    "FactorScorer": "fullrank.scorers",
    "Interactions": "fullrank.data",
    "ItemItemScorer": "fullrank.scorers",
    "RankDistribution": "fullrank.samples",
    "RankGrid": "fullrank.designs",
    "RankSample": "fullrank.samples",
    "anchored": "fullrank.estimators",
    "bounds": "fullrank.inference",
    "compare": "fullrank.inference",
    "consistency": "fullrank.samples",
    "data": "fullrank.data",
    "datasets": "fullrank.data.sets.datasets",
    "designs": "fullrank.designs",
    "engines": "fullrank.engines",
    "errors": "fullrank.errors",
    "estimate": "fullrank.inference",
    "estimators": "fullrank.estimators",
    "evaluate": "fullrank.evaluation",
    "evaluation": "fullrank.evaluation",
    "inference": "fullrank.inference",
    "jointly": "fullrank.estimators",
    "losses": "fullrank.losses",
    "metrics": "fullrank.metrics",
    "models": "fullrank.models",
    "plan": "fullrank.inference",
    "rank": "fullrank.ranking",
    "ranking": "fullrank.ranking",
    "report": "fullrank.reporting",
    "reporting": "fullrank.reporting",
    "sample_ranks": "fullrank.ranking",
    "sample_users": "fullrank.data",
    "samples": "fullrank.samples",
    "scorers": "fullrank.scorers",
    "users_needed": "fullrank.inference",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'fullrank' has no attribute {name!r}")
    value: Any = importlib.import_module(_HOMES[name])
    if _HOMES[name].rpartition(".")[2] != name:
        value = getattr(value, name)
    globals()[name] = value  # the next look-up does not come here
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
