"""Ranks as a sample or exact ranks: as they are, or from an array with its settings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from numpy.typing import ArrayLike

from fullrank._lib import checks
from fullrank.designs import Design, Exact
from fullrank.errors import InputError
from fullrank.metrics import DEFAULT
from fullrank.samples.exact_ranks import ExactRanks
from fullrank.samples.sample import RankSample
from fullrank.samples.seeds import Seeds

Ranks = RankSample | ExactRanks | ArrayLike


def as_ranks(
    ranks: Any,
    *,
    n_items: Any = None,
    design: str | Design | None = None,
    name: str = "ranks",
) -> RankSample | ExactRanks:
    """A sample or exact ranks as they are; an array, series or tensor of ranks as a sample.

    Parameters
    ----------
    ranks : RankSample, ExactRanks, or ranks in one dimension
    n_items, design : for plain ranks only: the catalogue size, and how the candidates were drawn
    name : the argument that error messages name

    Examples
    --------
    >>> print(as_ranks([1, 3, 1], n_items=50, design="sampled:10"))
    3 targets ranked among 10 of 50 items, target included (without replacement from all items)
    """
    told = {"n_items": n_items, "design": design}
    if isinstance(ranks, RankSample | ExactRanks):
        for key, value in told.items():
            if value is not None:
                kind = type(ranks).__name__
                raise InputError(f"`{key}` must not be given, because the {kind} has its own.")
        return ranks
    if isinstance(ranks, list | tuple) and any(
        isinstance(one, RankSample | ExactRanks) for one in ranks
    ):
        raise InputError(
            f"`{name}` must be a mapping from names of models to their ranks, such as "
            '{"a": …, "b": …}, not a list.'
        )
    if hasattr(ranks, "columns"):
        raise InputError(
            f"`{name}` must be a one-dimensional array of ranks, not a table. Use "
            "RankSample.from_frame to read a table."
        )
    if isinstance(ranks, str | bytes) or ranks is None:
        raise InputError(
            f"`{name}` must be a RankSample, ExactRanks or an array, not {checks.shown(ranks)}."
        )
    if n_items is None or design is None:
        missing = "n_items" if n_items is None else "design"
        which = "" if name == "ranks" else f" such as {name} ({type(ranks).__name__})"
        raise InputError(
            f"`{missing}` must be given with plain ranks{which}, as in n_items=3706, "
            'design="sampled:100".'
        )
    drawn = Design.of(design)
    if isinstance(drawn, Exact):  # of ranks up to K, those beyond may be NaN
        return ExactRanks.from_ranks(ranks, n_items=n_items, max_rank=drawn.max_rank)
    return RankSample.from_ranks(ranks, n_items=n_items, design=drawn)


def within_reach(metrics: Any, ranks: Iterable[Any]) -> Any:
    """The metrics as given; the default ones end at the smallest `max_rank` of these ranks.

    >>> top = ExactRanks.from_ranks([1, 3, 7], n_items=50, max_rank=5)
    >>> [metric.name for metric in within_reach(DEFAULT, [top])]
    ['recall@5', 'ndcg@5']
    >>> within_reach("recall@10", [top])
    'recall@10'
    """
    if metrics is not DEFAULT:
        return metrics
    runs = [
        run for one in ranks for run in (one.samples.values() if isinstance(one, Seeds) else (one,))
    ]
    known = [one.max_rank for one in runs if isinstance(one, ExactRanks)]
    limits = [limit for limit in known if limit is not None]
    return Exact(min(limits)).within(metrics) if limits else metrics
