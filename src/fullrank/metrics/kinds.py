"""Families of metrics by name, each with the promises that other folders rely on.

An estimate, a bound or a plan asks a metric what it promises (`Promises`), never for its name, so
that a metric registered from outside is treated like those of fullrank.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from fullrank._lib import checks
from fullrank._lib.names.registry import Registry
from fullrank._lib.types import Floats
from fullrank.errors import InputError

SEVERAL = ("mean", "first", None)
_PROBED = 1000  # ranks at which the promises of a new metric are checked


@dataclass(frozen=True, kw_only=True)
class Promises:
    """What a metric promises; whoever needs a promise refuses metrics that do not give it.

    Attributes
    ----------
    decreasing : the gain never rises with the rank; bounds need it
    smooth : the gain is smooth in the rank but for the cut-off, so that the mean over a wide bin
        of ranks is that of a few of them; otherwise it is summed rank by rank
    even : all ranks in the top K weigh alike, or the first ones not more than others
    hits : with one target it is the hit rate at K, which alone has a mapping between a sample's
        cut-off and the catalogue's
    uses_catalogue : the gain depends on the number of items
    share_below : it is the share of non-targets below a target, so that its mean over draws is
        itself
    reciprocal : with one target, the gain is 1/R
    multi_target : whether it is defined for multi-target users
    needs_cutoff : only with ``@K``
    """

    decreasing: bool = True
    smooth: bool = True
    even: bool = False
    hits: bool = False
    uses_catalogue: bool = False
    share_below: bool = False
    reciprocal: bool = False
    multi_target: bool = True
    needs_cutoff: bool = False


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One family of metrics: what it measures, how, and what it promises."""

    says: str
    factor: Callable[[Floats, Floats], Floats]  # (|T|, K)
    shape: Callable[[Floats, Floats, Floats, Floats], Floats]  # (R, o, N, |T|)
    first_only: bool = False  # only the best-ranked target counts
    promises: Promises = Promises()


def _one(rank: Floats, offset: Floats, n_items: Floats, n_targets: Floats) -> Floats:
    return np.ones_like(rank)


def _precision_at_target(
    rank: Floats, offset: Floats, n_items: Floats, n_targets: Floats
) -> Floats:
    return (offset + 1.0) / rank


def _discount(rank: Floats, offset: Floats, n_items: Floats, n_targets: Floats) -> Floats:
    return 1.0 / np.log2(rank + 1.0)


def _share_below(rank: Floats, offset: Floats, n_items: Floats, n_targets: Floats) -> Floats:
    # equation 4 per target: the share of non-targets that stand below it. A catalogue of
    # targets alone has no pair to get wrong, which counts as 1.
    non_targets = n_items - n_targets
    return 1.0 - (rank - 1.0 - offset) / np.maximum(non_targets, 1.0)


def _ideal_gain(n_targets: Floats, k: Floats) -> Floats:
    """Sum of 1/log2(i+1) over i = 1..min(|T|, K) (the denominator of equation 8)."""
    depth = np.minimum(n_targets, k)
    if depth.size == 0:
        return depth
    steps = np.arange(1.0, float(depth.max()) + 1.0)
    return np.asarray(np.cumsum(1.0 / np.log2(steps + 1.0))[depth.astype(np.int64) - 1])


KINDS: Registry[Kind] = Registry(
    "metric",
    {
        "recall": Kind(
            says="targets in the top K, over all targets |T|",
            factor=lambda n_targets, k: 1.0 / n_targets,
            shape=_one,
            promises=Promises(even=True, hits=True),
        ),
        "capped_recall": Kind(
            says="targets in the top K, over min(K, |T|)",
            factor=lambda n_targets, k: 1.0 / np.minimum(n_targets, k),
            shape=_one,
            promises=Promises(even=True, hits=True),
        ),
        "hit_rate": Kind(
            says="1 if any target is in the top K",
            factor=lambda n_targets, k: np.ones_like(k),
            shape=_one,
            first_only=True,
            promises=Promises(even=True, hits=True),
        ),
        "precision": Kind(
            says="targets in the top K, over K",
            factor=lambda n_targets, k: 1.0 / k,
            shape=_one,
            promises=Promises(even=True),
        ),
        "ndcg": Kind(
            says="sum of 1/log2(R+1) over the targets in the top K, divided by its ideal value",
            factor=lambda n_targets, k: 1.0 / _ideal_gain(n_targets, k),
            shape=_discount,
        ),
        "ap": Kind(
            says="sum of the precision at each target in the top K, over min(K, |T|)",
            factor=lambda n_targets, k: 1.0 / np.minimum(n_targets, k),
            shape=_precision_at_target,
            promises=Promises(reciprocal=True),
        ),
        "rr": Kind(
            says="1/R of the best-ranked target, if it is in the top K",
            factor=lambda n_targets, k: np.ones_like(k),
            shape=lambda rank, offset, n_items, n_targets: 1.0 / rank,
            first_only=True,
            promises=Promises(reciprocal=True),
        ),
        "auc": Kind(
            says="share of non-targets below each target (0 for a target beyond K)",
            factor=lambda n_targets, k: 1.0 / n_targets,
            shape=_share_below,
            promises=Promises(even=True, uses_catalogue=True, share_below=True),
        ),
    },
    aliases={
        "hit_rate": ("hr", "hit", "hits", "hit_ratio"),
        "precision": ("prec",),
        "ap": ("map", "average_precision"),
        "rr": ("mrr", "reciprocal_rank"),
    },
)


def register(
    name: str,
    gain: Callable[..., Any],
    *,
    says: str = "",
    decreasing: bool = True,
    smooth: bool = True,
    even: bool = False,
    uses_catalogue: bool = False,
    multi_target: str | None = "mean",
    needs_cutoff: bool = False,
    aliases: tuple[str, ...] = (),
) -> None:
    """Register your own metric by the gain of a target at each rank.

    Every function and command then accepts its name, with ``@K`` and, unless `needs_cutoff`,
    without.

    Parameters
    ----------
    name : what it is called, such as ``"rbp"``
    gain : function of an array of ranks, from 1, that returns gains between 0 and 1; with
        `uses_catalogue`, of ranks and the number of items. A cut-off is applied to it afterwards.
    says : what it measures, for lists of metrics; default: the first line of the docstring
    decreasing : whether the gain never rises with the rank; `bounds` needs it
    smooth : whether it is smooth in the rank, as 1/R is; one with steps is summed rank by rank,
        which takes time in large catalogues
    even : whether the first ranks weigh no more than others, as in recall
    uses_catalogue : whether it depends on the number of items
    multi_target : {"mean", "first", None}
        For multi-target users: the mean over the targets, the gain of the best-ranked target, or
        not defined
    needs_cutoff : whether it makes sense with ``@K`` alone
    aliases : further names

    Examples
    --------
    >>> from fullrank import metrics
    >>> metrics.register("rbp", lambda rank: 0.9 ** (rank - 1.0), says="rank-biased precision")
    >>> metrics.evaluate([1, 2, 11], "rbp@10", n_items=50)
    {'rbp@10': 0.6333333333333333}
    >>> metrics.unregister("rbp")
    """
    checks.flag("decreasing", decreasing)
    looks = checks.flag("uses_catalogue", uses_catalogue)
    if multi_target not in SEVERAL:
        raise InputError(
            f'`multi_target` must be "mean", "first" or None, not {checks.shown(multi_target)}.'
        )
    kind = Kind(
        says=says or next(iter((getattr(gain, "__doc__", None) or "").strip().splitlines()), name),
        factor=_mean_factor if multi_target == "mean" else _whole_factor,
        shape=_Shape(name, gain, looks),
        first_only=multi_target == "first",
        promises=Promises(
            decreasing=decreasing,
            smooth=checks.flag("smooth", smooth),
            even=checks.flag("even", even),
            uses_catalogue=looks,
            multi_target=multi_target is not None,
            needs_cutoff=checks.flag("needs_cutoff", needs_cutoff),
        ),
    )
    _probe(name, kind)
    KINDS.register(name, kind, aliases=tuple(aliases))


def unregister(name: str) -> None:
    """Remove a metric that was registered."""
    KINDS.unregister(name)


def names() -> dict[str, str]:
    """Every metric with a description.

    Each can be used with ``@K`` and, unless it needs a cut-off, without.
    """
    return {name: kind.says for name, kind in KINDS.items()}


def _mean_factor(n_targets: Floats, k: Floats) -> Floats:
    return 1.0 / n_targets


def _whole_factor(n_targets: Floats, k: Floats) -> Floats:
    return np.ones_like(k)


class _Shape:
    """A gain of the caller's as the shape of a metric, its answers checked."""

    def __init__(self, name: str, gain: Callable[..., Any], looks: bool) -> None:
        if not callable(gain):
            raise InputError(
                f"`gain` must be a function of an array of ranks, not {checks.shown(gain)}."
            )
        self.name, self.gain, self.looks = name, gain, looks

    def __call__(self, rank: Floats, offset: Floats, n_items: Floats, n_targets: Floats) -> Floats:
        given = (rank, n_items) if self.looks else (rank,)
        try:
            found = np.asarray(self.gain(*given), dtype=np.float64)
        except (TypeError, ValueError) as error:  # such as those of a function of one rank
            what = "arrays of ranks and of numbers of items" if self.looks else "an array of ranks"
            raise InputError(
                f"`gain` of {self.name} must take {what} and return an array; it raises "
                f"{type(error).__name__}: {checks.because(error)}."
            ) from error
        if found.shape != rank.shape:
            raise InputError(
                f"`gain` of {self.name} must return one number for each rank, shape {rank.shape}, "
                f"not {found.shape}."
            )
        bad = ~((found >= 0.0) & (found <= 1.0))
        if bad.any():
            at = int(np.argmax(bad))
            hint = " Divide all gains by the largest gain, and multiply the metric by it."
            raise InputError(
                f"`gain` of {self.name} must lie in 0..1; that of rank {rank.flat[at]:g} is "
                f"{found.flat[at]:g}.{hint if found.flat[at] > 1.0 else ''}"
            )
        return found


def _probe(name: str, kind: Kind) -> None:
    """Look at the first ranks, where a promise is most easily broken."""
    rank = np.arange(1.0, _PROBED + 1.0)
    ones = np.ones_like(rank)
    found = kind.shape(rank, 0.0 * ones, _PROBED * ones, ones)
    rises = np.flatnonzero(np.diff(found) > 0.0)
    if kind.promises.decreasing and rises.size:
        at = int(rises[0])
        raise InputError(
            f"`gain` of {name} must not rise with the rank, or `decreasing` must be False; at rank "
            f"{at + 2} it is {found[at + 1]:g} after {found[at]:g}."
        )
