"""Were training items excluded? Where that is not known, estimates assume something in between."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fullrank.samples import RankSample

_UNKNOWN = "Whether training items were excluded is not known; say {}."
ARGUMENT = "`excluded`, True or False"


def unknown(sample: Any, method: str = "auto") -> bool:
    """Whether an estimate depends on what the sample does not say of training items.

    It does for a smoothed estimate of a fixed sample that does not hold every item.
    """
    if not isinstance(sample, RankSample) or sample.exhausted or sample.design.adaptive:
        return False
    smooths = isinstance(method, str) and method.lower() in ("auto", "smoothed")
    return smooths and sample.design.excluded is None


def training_notes(
    samples: Iterable[Any], method: str = "auto", say: str = ARGUMENT
) -> tuple[str, ...]:
    """One sentence for all samples, where some of them do not say; `say` is how to.

    Examples
    --------
    >>> from fullrank.samples import simulate
    >>> training_notes([simulate([3, 8, 20], n_items=100, design="sampled:10", rng=0)])
    ('Whether training items were excluded is not known; say `excluded`, True or False.',)
    """
    return (_UNKNOWN.format(say),) if any(unknown(one, method) for one in samples) else ()
