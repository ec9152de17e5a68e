"""Estimators of the full-catalogue rank distribution, one a file."""

from fullrank.estimators.entropy import mes
from fullrank.estimators.least_squares import cls
from fullrank.estimators.likelihood import mle
from fullrank.estimators.linear import bv, mn
from fullrank.estimators.mapping import Mapping, alignment_errors, fit_beta
from fullrank.estimators.methods import METHODS
from fullrank.estimators.naive import unbiased_rank_metric, unbiased_ranks
from fullrank.estimators.smoothed import smoothed
from fullrank.estimators.weighted import weighted_mle

__all__ = [
    "METHODS",
    "Mapping",
    "alignment_errors",
    "bv",
    "cls",
    "fit_beta",
    "mes",
    "mle",
    "mn",
    "smoothed",
    "unbiased_rank_metric",
    "unbiased_ranks",
    "weighted_mle",
]
