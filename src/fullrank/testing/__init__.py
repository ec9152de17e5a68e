"""Contracts to run on a design, an estimator, a metric, a model or a scorer of your own.

They raise AssertionError with a sentence; no test framework is needed. Above all other folders:
may import any of them; none imports it.
"""

from fullrank.testing.designs import check_design
from fullrank.testing.estimators import check_estimator
from fullrank.testing.metrics import check_metric
from fullrank.testing.models import check_model
from fullrank.testing.scorers import check_scorer

__all__ = ["check_design", "check_estimator", "check_metric", "check_model", "check_scorer"]
