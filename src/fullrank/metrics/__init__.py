"""Ranking metrics: by name, of ranks, per target and per user.

Imports `_lib`; every folder to its right may import it.

>>> from fullrank import metrics
>>> metrics.evaluate([1, 4, 30], ["recall@10", "ndcg@10"], n_items=100)
{'recall@10': 0.6666666666666666, 'ndcg@10': 0.47689218602446437}
"""

from functools import partial
from typing import Any

from fullrank.metrics.averages import evaluate, offsets, user_values, weighted_mean
from fullrank.metrics.kinds import Promises, names, register, unregister
from fullrank.metrics.metric import (
    DEFAULT,
    ByMetric,
    Metric,
    deepest,
    named,
    parse,
    parse_all,
    spelled,
)

__all__ = [
    "DEFAULT",
    "ByMetric",
    "Metric",
    "Promises",
    "deepest",
    "evaluate",
    "named",
    "names",
    "offsets",
    "parse",
    "parse_all",
    "register",
    "spelled",
    "unregister",
    "user_values",
    "weighted_mean",
]


def __getattr__(name: str) -> Any:
    """A metric by the name of its kind: ``recall(10)`` is ``parse("recall@10")``."""
    if name in names():
        return partial(Metric, name)
    raise AttributeError(f"module 'fullrank.metrics' has no attribute {name!r}")
