"""Contracts that anyone can run on a model or an estimator of their own.

They raise AssertionError with a sentence; no test framework is needed. Above all other folders:
may import any of them; none imports it.
"""

from fullrank.testing.estimators import check_estimator
from fullrank.testing.models import check_model

__all__ = ["check_estimator", "check_model"]
