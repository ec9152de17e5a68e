"""Estimators of the distribution of true ranks, and the linear system behind them.

Imports `_lib` to `ranking` in the order of the folders; inference and reporting may import it.
"""

from fullrank.estimators.anchors import anchored, jointly
from fullrank.estimators.registry import METHODS, Method, register, unregister
from fullrank.estimators.system import Sensitivity
from fullrank.estimators.uniform.entropy import mes
from fullrank.estimators.uniform.least_squares import cls
from fullrank.estimators.uniform.likelihood import mle
from fullrank.estimators.uniform.linear import bv, mn
from fullrank.estimators.uniform.mapping import Mapping, alignment_errors, fit_beta
from fullrank.estimators.uniform.naive import unbiased_rank_metric, unbiased_ranks
from fullrank.estimators.uniform.smoothed import smoothed
from fullrank.estimators.uniform.weighted import weighted_mle

__all__ = [
    "METHODS",
    "Mapping",
    "Method",
    "Sensitivity",
    "alignment_errors",
    "anchored",
    "bv",
    "cls",
    "fit_beta",
    "jointly",
    "mes",
    "mle",
    "mn",
    "register",
    "smoothed",
    "unbiased_rank_metric",
    "unbiased_ranks",
    "unregister",
    "weighted_mle",
]
