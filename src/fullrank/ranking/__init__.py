"""From scores to ranks: exact, sampled and adaptive.

>>> from fullrank.ranking import rank
>>> print(rank([[0.9, 0.1, 0.5, 0.3]], ([0], [2])).ranks)
[2.]
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fullrank.ranking.adaptive import adaptive_ranks as adaptive_ranks
    from fullrank.ranking.exact import ExactRanks as ExactRanks
    from fullrank.ranking.exact import rank as rank
    from fullrank.ranking.factors import FactorScorer as FactorScorer
    from fullrank.ranking.item_item import ItemItemScorer as ItemItemScorer
    from fullrank.ranking.sampled import sample_ranks as sample_ranks
    from fullrank.ranking.scorers import CallableScorer as CallableScorer
    from fullrank.ranking.scorers import ScoreArray as ScoreArray
    from fullrank.ranking.scorers import Scorer as Scorer
    from fullrank.ranking.scorers import as_scorer as as_scorer
    from fullrank.ranking.torch_scorer import TorchScorer as TorchScorer
    from fullrank.ranking.users import sample_users as sample_users

_HOME = {
    "CallableScorer": "scorers",
    "ExactRanks": "exact",
    "FactorScorer": "factors",
    "ItemItemScorer": "item_item",
    "ScoreArray": "scorers",
    "Scorer": "scorers",
    "TorchScorer": "torch_scorer",
    "adaptive_ranks": "adaptive",
    "as_scorer": "scorers",
    "rank": "exact",
    "sample_ranks": "sampled",
    "sample_users": "users",
}
__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
