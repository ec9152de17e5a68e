"""What a scorer offers, and the count that goes with it: the one table of ranking.

A kernel is given what the scorer's method returns, never the scorer itself, and nothing here looks
at a class. A scorer that offers none of these is called for its `scores`.
"""

from __future__ import annotations

from collections.abc import Collection
from importlib.util import find_spec
from typing import Any

from fullrank._lib.types import Ints
from fullrank.scorers.offers import offers

# in this order; what each method returns has the arrays that the kernels of that name take
CAPABILITIES = ("item_scores", "factors", "item_item", "torch_pairs", "torch_blocks")


def offer(scorer: Any, counted: Collection[str] = CAPABILITIES) -> tuple[str, Any]:
    """The first capability that a scorer has and that is `counted`, and what its method returns.

    ("scores", scorer) where it has none of them.

    Examples
    --------
    >>> from fullrank.scorers import FactorScorer, ScoreArray
    >>> offer(FactorScorer([[1.0]], [[2.0]]))
    ('factors', FactorScorer(1 users × 1 items, d=1, float64, dot))
    >>> offer(ScoreArray([[1.0]]))
    ('scores', ScoreArray(1 users × 1 items, float64))
    """
    for name in CAPABILITIES:
        if name in counted and offers(scorer, name):
            return name, getattr(scorer, name)()
    return "scores", scorer


def gpu_of(scorer: Any, users: Ints) -> str | None:
    """The GPU on which the blocks of users come out, where they can be counted; None elsewhere."""
    if not offers(scorer, "torch_blocks") or find_spec("triton") is None:
        return None
    device = scorer.torch_blocks().device_for(users)
    return str(device) if getattr(device, "type", None) == "cuda" else None
