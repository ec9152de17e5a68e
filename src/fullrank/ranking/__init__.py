"""From scores to ranks: exact, sampled and adaptive.

>>> from fullrank.ranking import rank
>>> print(rank([[0.9, 0.1, 0.5, 0.3]], ([0], [2])).ranks)
[2.]
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fullrank.ranking.adaptive import SamplingEfficiency as SamplingEfficiency
    from fullrank.ranking.adaptive import adaptive_ranks as adaptive_ranks
    from fullrank.ranking.adaptive import recommend_limit as recommend_limit
    from fullrank.ranking.adaptive import sampling_efficiency as sampling_efficiency
    from fullrank.ranking.exact import ExactRanks as ExactRanks
    from fullrank.ranking.exact import rank as rank
    from fullrank.ranking.factors import FactorScorer as FactorScorer
    from fullrank.ranking.item_item import ItemItemScorer as ItemItemScorer
    from fullrank.ranking.negatives import Negatives as Negatives
    from fullrank.ranking.negatives import draw_negatives as draw_negatives
    from fullrank.ranking.sampled import sample_ranks as sample_ranks
    from fullrank.ranking.scorers import CallableScorer as CallableScorer
    from fullrank.ranking.scorers import ScoreArray as ScoreArray
    from fullrank.ranking.scorers import Scorer as Scorer
    from fullrank.ranking.scorers import as_scorer as as_scorer
    from fullrank.ranking.torch_scorer import TorchScorer as TorchScorer
    from fullrank.ranking.users import UserSample as UserSample
    from fullrank.ranking.users import sample_users as sample_users

_HOME = {
    "CallableScorer": "scorers",
    "ExactRanks": "exact",
    "FactorScorer": "factors",
    "ItemItemScorer": "item_item",
    "Negatives": "negatives",
    "SamplingEfficiency": "adaptive",
    "ScoreArray": "scorers",
    "Scorer": "scorers",
    "TorchScorer": "torch_scorer",
    "UserSample": "users",
    "adaptive_ranks": "adaptive",
    "as_scorer": "scorers",
    "draw_negatives": "negatives",
    "rank": "exact",
    "recommend_limit": "adaptive",
    "sample_ranks": "sampled",
    "sample_users": "users",
    "sampling_efficiency": "adaptive",
}
__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
