"""Evaluation: data × models × a strategy, from scores to a comparison, and runs that go on."""

from fullrank.data.sets.sources import load_interactions, load_split
from fullrank.evaluation.result import Evaluation
from fullrank.evaluation.running import evaluate
from fullrank.evaluation.scorers import make_model
from fullrank.evaluation.strategies import Strategy
from fullrank.evaluation.training import train_model

__all__ = [
    "Evaluation",
    "Strategy",
    "evaluate",
    "load_interactions",
    "load_split",
    "make_model",
    "train_model",
]
