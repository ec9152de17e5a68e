"""Evaluation: data × models × a strategy, from scores to a comparison, in runs that resume."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fullrank.evaluation.factor_files import FactorFiles as FactorFiles
    from fullrank.evaluation.result import Evaluation as Evaluation
    from fullrank.evaluation.running import evaluate as evaluate
    from fullrank.evaluation.scorers import make_model as make_model
    from fullrank.evaluation.sources import load_interactions as load_interactions
    from fullrank.evaluation.sources import load_split as load_split
    from fullrank.evaluation.strategies import Strategy as Strategy
    from fullrank.evaluation.training import train_model as train_model
    from fullrank.evaluation.user_files import UserFactors as UserFactors
    from fullrank.evaluation.user_files import UserFile as UserFile
    from fullrank.evaluation.user_files import write_users as write_users

_HOME = {
    "Evaluation": "result",
    "FactorFiles": "factor_files",
    "Strategy": "strategies",
    "UserFactors": "user_files",
    "UserFile": "user_files",
    "evaluate": "running",
    "load_interactions": "sources",
    "load_split": "sources",
    "make_model": "scorers",
    "train_model": "training",
    "write_users": "user_files",
}
__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
