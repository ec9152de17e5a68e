"""Evaluation: data × models × a strategy, from scores to a comparison, and runs that go on."""

from fullrank.data.sets.sources import load_interactions, load_split
from fullrank.evaluation.factor_files import FactorFiles
from fullrank.evaluation.result import Evaluation
from fullrank.evaluation.running import evaluate
from fullrank.evaluation.scorers import make_model
from fullrank.evaluation.strategies import Strategy
from fullrank.evaluation.training import train_model
from fullrank.evaluation.user_files import UserFactors, UserFile, write_users

__all__ = [
    "Evaluation",
    "FactorFiles",
    "Strategy",
    "UserFactors",
    "UserFile",
    "evaluate",
    "load_interactions",
    "load_split",
    "make_model",
    "train_model",
    "write_users",
]
