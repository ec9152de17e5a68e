"""Ranks and metrics inside a training loop, counted on the device of the scores.

Above the flow (extra `torch`): imports `_lib` to `reporting`, `models` and `losses`; integrations,
testing and cli may import it.

>>> import torch
>>> from fullrank.torch import counts
>>> scores = torch.tensor([[0.9, 0.1, 0.5, 0.3], [0.2, 0.2, 0.8, 0.0]])
>>> counts(scores, torch.tensor([2, 0]))
tensor([[1, 0, 4],
        [1, 1, 4]])
"""

from __future__ import annotations

import importlib as _importlib
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from fullrank.torch.counting import counts

__all__ = [
    "BlockScorer",
    "RankCallback",
    "RankMetric",
    "compute_metrics",
    "counts",
    "preprocess_logits",
]

if _TYPE_CHECKING:
    from fullrank.scorers import BlockScorer as BlockScorer
    from fullrank.torch.lightning_callback import RankCallback as RankCallback
    from fullrank.torch.rank_metric import RankMetric as RankMetric
    from fullrank.torch.trainer_hooks import compute_metrics as compute_metrics
    from fullrank.torch.trainer_hooks import preprocess_logits as preprocess_logits

# What stands on a framework is made when it is first used: importing those takes seconds.
_HOMES = {
    "BlockScorer": "fullrank.scorers",
    "RankCallback": "fullrank.torch.lightning_callback",
    "RankMetric": "fullrank.torch.rank_metric",
    "compute_metrics": "fullrank.torch.trainer_hooks",
    "preprocess_logits": "fullrank.torch.trainer_hooks",
}


def __getattr__(name: str) -> _Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'fullrank.torch' has no attribute {name!r}")
    value = getattr(_importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
