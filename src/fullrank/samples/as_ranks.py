"""Ranks from anywhere: a sample, exact ranks, or an array with what it does not tell."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from fullrank.errors import InputError
from fullrank.samples.exact_ranks import ExactRanks
from fullrank.samples.sample import RankSample

Ranks = RankSample | ExactRanks | ArrayLike


def as_ranks(
    ranks: Any,
    *,
    n_items: Any = None,
    sample_size: Any = None,
    replacement: bool | None = None,
    excluded: bool | None = None,
    name: str = "ranks",
) -> RankSample | ExactRanks:
    """A sample or exact ranks as they are; an array, series or tensor of ranks as a sample.

    Parameters
    ----------
    ranks : RankSample, ExactRanks, or ranks in one dimension
    n_items, sample_size, replacement, excluded : for plain ranks alone; default: drawn with
        replacement, and nothing known of training items
    name : the argument to blame

    Examples
    --------
    >>> print(as_ranks([1, 3, 1], n_items=50, sample_size=10))
    3 targets ranked among 10 of 50 items (with replacement from all items)
    """
    told = {
        "n_items": n_items, "sample_size": sample_size, "replacement": replacement,
        "excluded": excluded,
    }  # fmt: skip
    if isinstance(ranks, RankSample | ExactRanks):
        for key, value in told.items():
            if value is not None:
                kind = type(ranks).__name__
                raise InputError(f"`{key}` must not be given: the {kind} carries it.")
        return ranks
    if hasattr(ranks, "columns"):
        raise InputError(
            f"`{name}` must be ranks in one dimension, not a table. Read one by "
            "RankSample.from_frame."
        )
    if isinstance(ranks, str | bytes) or ranks is None:
        raise InputError(
            f"`{name}` must be a RankSample, ExactRanks or an array, not {ranks!r:.60}."
        )
    for key in ("n_items", "sample_size"):
        if told[key] is None:
            raise InputError(f"`{key}` must be given with a plain array of ranks.")
    return RankSample.from_ranks(
        ranks,
        sample_size=sample_size,
        n_items=n_items,
        replacement=True if replacement is None else replacement,
        excluded=excluded,
    )
