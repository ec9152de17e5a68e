"""Contracts that anyone can run on a model of their own.

They raise AssertionError with a sentence; no test framework is needed.
"""

from fullrank.testing.models import check_model

__all__ = ["check_model"]
