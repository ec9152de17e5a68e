"""Scorers: factor and item–item models, arrays, functions, PyTorch modules, files of factors.

Imports `_lib` to `samples` in the order of the folders; every folder to its right may import it.
"""

from fullrank.scorers.alignment import MissingIdsError, aligned
from fullrank.scorers.callables import CallableScorer
from fullrank.scorers.factor_files import FactorFiles
from fullrank.scorers.factors import FactorScorer
from fullrank.scorers.item_item import ItemItemScorer
from fullrank.scorers.item_scores import ItemScorer
from fullrank.scorers.modules.torch_block import BlockScorer
from fullrank.scorers.modules.torch_module import TorchScorer
from fullrank.scorers.registry import SCORERS, register, unregister
from fullrank.scorers.scorer import ScoreArray, Scorer, as_scorer
from fullrank.scorers.user_files import UserFactors, UserFile, write_users

__all__ = [
    "SCORERS",
    "BlockScorer",
    "CallableScorer",
    "FactorFiles",
    "FactorScorer",
    "ItemItemScorer",
    "ItemScorer",
    "MissingIdsError",
    "ScoreArray",
    "Scorer",
    "TorchScorer",
    "UserFactors",
    "UserFile",
    "aligned",
    "as_scorer",
    "register",
    "unregister",
    "write_users",
]
