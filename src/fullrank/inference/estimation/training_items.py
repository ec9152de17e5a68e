"""Were training items excluded? Where that is not known, estimates assume something in between."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fullrank.estimators import METHODS
from fullrank.samples import RankSample

_UNKNOWN = "Whether training items were excluded is not known; say {}."
ARGUMENT = "`excluded`, True or False"


def unknown(sample: Any, method: Any = "auto") -> bool:
    """Whether an estimate depends on what the sample does not say of training items.

    It does for a smoothed estimate of a fixed sample that does not hold every item.
    """
    if not isinstance(sample, RankSample) or sample.exhausted or sample.design.adaptive:
        return False
    return borrows(method) and sample.design.excluded is None


def borrows(method: Any) -> bool:
    """Whether a method uses what is known of training items, and takes the shape of others."""
    if not isinstance(method, str):
        return False
    known = METHODS.get(method)
    return method.lower() == "auto" or (known is not None and known.borrows)


def training_notes(
    samples: Iterable[Any], method: Any = "auto", say: str = ARGUMENT
) -> tuple[str, ...]:
    """One sentence for all samples, where some of them do not say; `say` is how to.

    Examples
    --------
    >>> from fullrank.samples import simulate
    >>> training_notes([simulate([3, 8, 20], n_items=100, design="sampled:10", rng=0)])
    ('Whether training items were excluded is not known; say `excluded`, True or False.',)
    """
    return (_UNKNOWN.format(say),) if any(unknown(one, method) for one in samples) else ()
