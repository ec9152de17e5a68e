"""Is the sample size right? A file does not contain it, and a wrong one silently biases metrics.

Whatever the true ranks are, a rank among n candidates is one plus a binomial count, which the draws
blur by s² = k (1 - k/n) around k (less if none repeats). So ranks have no sharp end. With P(k)
the share of the targets that k candidates outrank, P(k) / C(n-1, k) is log-convex in k, as the
moments of any distribution are, and therefore

    P(k + w)  ≥  g P(k)² / P(k - w),    g = C(n-1, k-w) C(n-1, k+w) / C(n-1, k)²  ≈  exp(-w² / s²),

where g is 1 as soon as users differ by more than the blur. Where ranks are even up to some r
and none is beyond, as they do when r is the size of the sample, the last two windows of width s
predict targets beyond r that are not there. Where many targets all lie within a fifth of the
candidates, the size is questioned whatever their shape: a model so good is for its user to know.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank.estimators import METHODS
from fullrank.samples import RankSample

# targets that must be missing: none of 14 has probability e⁻¹⁴ < 1e-6. Sizes that people choose are
# believed sooner, for a largest rank that is one of them by chance is unlikely in itself.
_MISSING, _MISSING_OF_USUAL = 14.0, 3.0
_USUAL = frozenset(
    size + one for size in (50, 100, 200, 500, 1000, 2000, 5000, 10_000) for one in (0, 1)
)
_LEAST = 10  # below it, ranks are too few to have a shape
# of so many targets none beyond a fifth of the candidates: a model so good, or a size so wrong
_FAR, _MANY = 5, 100


def size_doubt(sample: RankSample) -> str | None:
    """A sentence where no rank comes near the size of a sample that should have such; or None.

    Examples
    --------
    >>> from fullrank.samples import simulate
    >>> true = [1 + u % 5000 for u in range(5000)]
    >>> ranks = simulate(true, n_items=5000, design="sampled:100", rng=0).rows.rank
    >>> size_doubt(RankSample.from_ranks(ranks, n_items=5000, design="sampled:1000"))
    'No rank exceeds 100 among 1,000 candidates: check the sample size.'
    >>> size_doubt(RankSample.from_ranks(ranks, n_items=5000, design="sampled:100"))
    """
    size = int(sample.sample_size.max())
    if sample.design.adaptive or sample.exhausted or (sample.sample_size != size).any():
        return None
    seen = sample.count > 0
    rank, count = sample.rank[seen], sample.count[seen]
    largest = int(rank.max())
    if not _LEAST <= largest <= size / 2:
        return None
    left = sample.design.spread(size, int(sample.pool.max()))
    blur = math.sqrt(largest * (1.0 - largest / size) * left)
    needed = _MISSING_OF_USUAL if largest in _USUAL else _MISSING
    far = largest <= size / _FAR and int(count.sum()) >= _MANY
    if not far and (blur < 1.0 or _missing(rank, count, round(blur)) < needed):
        return None
    return f"No rank exceeds {largest:,} among {size:,} candidates: check the sample size."


def _missing(rank: NDArray[np.int64], count: NDArray[np.int64], width: int) -> float:
    """How many targets should lie beyond the largest rank, going by the last two windows."""
    end = int(rank.max())
    last = float(count[rank > end - width].sum())
    before = float(count[(rank > end - 2 * width) & (rank <= end - width)].sum())
    if before == 0.0:  # a heap of equal ranks has no slope to continue
        return 0.0
    return last * min(1.0, last / before)


def size_doubts(results: Mapping[str, Any] | Iterable[Any]) -> tuple[str, ...]:
    """The doubts about samples among some results, each once, with its models where they differ."""
    named = results if isinstance(results, Mapping) else dict(enumerate(results))
    samples = {name: one for name, one in named.items() if isinstance(one, RankSample)}
    found: dict[str, list[str]] = {}
    for name, one in samples.items():
        says = size_doubt(one)
        if says is not None:
            found.setdefault(says, []).append(str(name))
    return tuple(
        says if len(names) == len(samples) else f"{', '.join(names)}: {says}"
        for says, names in found.items()
    )


_UNKNOWN = "It is not known whether training items were excluded. State this with {}."
ARGUMENT = "`excluded=true` or `excluded=false` in the design"


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
    if method.lower() == "auto":
        return True
    known = METHODS.get(method)
    return known is not None and bool(known.borrows)


def training_notes(
    samples: Iterable[Any], method: Any = "auto", say: str = ARGUMENT
) -> tuple[str, ...]:
    """One sentence for all samples, where some of them do not say; `say` is how to.

    Examples
    --------
    >>> from fullrank.samples import simulate
    >>> (note,) = training_notes([simulate([3, 8], n_items=100, design="sampled:10", rng=0)])
    >>> note.partition(". ")[0]
    'It is not known whether training items were excluded'
    """
    return (_UNKNOWN.format(say),) if any(unknown(one, method) for one in samples) else ()
