"""From scores to ranks: exact, sampled and adaptive.

>>> from fullrank.ranking import rank
>>> print(rank([[0.9, 0.1, 0.5, 0.3]], ([0], [2])).ranks)
[2.]
"""

from fullrank.ranking.adaptive import (
    SamplingEfficiency,
    adaptive_ranks,
    recommend_limit,
    sampling_efficiency,
)
from fullrank.ranking.exact import ExactRanks, rank
from fullrank.ranking.factors import FactorScorer
from fullrank.ranking.item_item import ItemItemScorer
from fullrank.ranking.sampled import sample_ranks
from fullrank.ranking.scorers import CallableScorer, ScoreArray, Scorer, as_scorer
from fullrank.ranking.torch_scorer import TorchScorer

__all__ = [
    "CallableScorer",
    "ExactRanks",
    "FactorScorer",
    "ItemItemScorer",
    "SamplingEfficiency",
    "ScoreArray",
    "Scorer",
    "TorchScorer",
    "adaptive_ranks",
    "as_scorer",
    "rank",
    "recommend_limit",
    "sample_ranks",
    "sampling_efficiency",
]
