"""Multi-target users: one fit for each number of other targets above, and weighting.

All targets are scored, so the number o of other targets above each is known; only z, the
non-targets above it, is sampled, and R = 1 + o + z. Offset and rank depend on each other, so
that a common distribution of z would be wrong (Recall@10 by a fifth on Gowalla). With Q_o the
distribution of z among the targets of offset o, each weighted by the metric's own factor,

    metric = Σ_o Ω_o Σ_z Q_o(z) shape(1 + o + z, o),      Ω_o = Σ factor / number of users.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fullrank._lib.types import Floats
from fullrank.designs import RankGrid
from fullrank.errors import InputError
from fullrank.metrics import Metric
from fullrank.samples import RankSample


@dataclass(frozen=True)
class Mean:
    """The mean of a gain over the targets of a sample.

    `moves` is how each target moves it and `bias` a bound on what smoothing does to it; both are 0
    where only the mean is wanted.
    """

    value: float
    moves: Floats | float = 0.0
    bias: float = 0.0


@dataclass(frozen=True)
class Parts:
    """What each target adds to a metric, and a bound on the bias of their sum."""

    each: Floats
    bias: float = 0.0

    def plus(self, other: Parts, sign: float = 1.0) -> Parts:
        """The biases of two fits may point the same way: their bounds add up."""
        return Parts(self.each + sign * other.each, self.bias + other.bias)


# the key is the same for the same sample
Fitted = Callable[[Hashable, RankSample, Floats], Mean]
Values = Callable[[RankSample, tuple[Metric, ...]], dict[str, float]]


def several_targets(
    sample: RankSample, metrics: tuple[Metric, ...], mean: Fitted, grid: RankGrid
) -> dict[str, Parts]:
    """What each target adds to each metric; the metric is their sum."""
    rows = sample.rows
    if rows is None or (sample.several and rows.user is None):
        raise InputError("`sample` must have rows for multi-target users.")
    n_users = float((rows.weight / rows.n_targets).sum())
    fits = _Fits(sample, mean, grid)
    found = {metric.name: _contributions(metric, fits) for metric in metrics}
    return {name: Parts(one.each / n_users, one.bias / n_users) for name, one in found.items()}


class _Fits:
    """Sums over the targets of one offset, each weighted by its own factor."""

    def __init__(self, sample: RankSample, mean: Fitted, grid: RankGrid) -> None:
        assert sample.rows is not None
        self.sample, self.rows, self.mean, self.grid = sample, sample.rows, mean, grid

    def contributions(self, offset: int, weight: Floats, gain: Floats) -> Parts:
        """Weight × (the mean gain of the targets with this offset, and its move by the target)."""
        parts = np.zeros(weight.size)
        here = np.flatnonzero((self.rows.offset == offset) & (weight > 0.0))
        if not here.size:
            return Parts(parts)
        total = float(weight[here].sum())
        shares = weight[here] / total
        key = (offset, shares.round(15).tobytes())
        mean = self.mean(key, _single(self.sample, here, shares), gain)
        parts[here] = weight[here] * (mean.value + mean.moves)
        return Parts(parts, total * mean.bias)


def _contributions(metric: Metric, parts: _Fits) -> Parts:
    """Σ_o factor × E[shape], target by target."""
    rows, grid = parts.rows, parts.grid
    factor = rows.weight * metric.factor(rows.n_targets, rows.n_items)
    _check_own(metric)
    total = Parts(np.zeros(factor.size))
    for offset in np.unique(rows.offset).tolist():
        if (metric.k is not None and offset >= metric.k) or (metric.first_only and offset):
            continue
        if metric.promises.uses_catalogue:
            total = total.plus(_auc(parts, metric, offset, factor))
        else:
            # the gain without its factor, which is in the weights
            gain = grid.averages(metric, offset=offset) / float(metric.factor(1, grid.n_items))
            total = total.plus(parts.contributions(offset, factor, gain))
    return total


def own_catalogues(
    sample: RankSample, metrics: tuple[Metric, ...], n_items: int, fit: Values
) -> dict[str, float]:
    """The metrics that look at the size of a user's own catalogue, one target for each user.

    They are AUC and precision without a cut-off. With z the non-targets above, AUC is the mean
    of 1[R≤K] (1 - z/own): one more fit, to users weighted by 1/own, gives z/own from the AUC of
    a common catalogue of `n_items`. `fit` estimates metrics in such a catalogue.
    """
    values = {}
    weight = sample.weight / np.maximum(sample.pool - 1.0, 1.0)
    tilted = replace(sample, weight=weight, rows=None)
    share = float(weight.sum() / sample.weight.sum()) * (n_items - 1.0)
    for metric in metrics:
        if not metric.looks_at_catalogue:
            continue
        _check_own(metric)
        if not metric.promises.share_below:  # its factor does, and all ranks are in the top K
            factor = metric.factor(1, sample.pool)
            values[metric.name] = float(np.average(factor, weights=sample.weight))
        else:
            recall = Metric("recall", metric.k)
            counted = 1.0 if metric.k is None else fit(sample, (recall,))[recall.name]
            parts = fit(tilted, (recall, metric))
            values[metric.name] = counted - share * (parts[recall.name] - parts[metric.name])
    return values


def _check_own(metric: Metric) -> None:
    """What a metric makes of users' own numbers of items is known of shares alone."""
    if metric.promises.uses_catalogue and not metric.promises.share_below:
        raise InputError(
            "`metrics` must not depend on the size of the catalogue if users' catalogues "
            f"differ in size; {metric.name} does (uses_catalogue)."
        )


def _auc(parts: _Fits, metric: Metric, offset: int, factor: Floats) -> Parts:
    """AUC counts z over each user's own number of non-targets: Σ factor 1[R≤K] (1 - z/own)."""
    counted = parts.grid.averages(Metric("recall", metric.k), offset=offset)
    gain = parts.grid.averages(metric, offset=offset)
    above = (counted - gain) * (parts.grid.n_items - 1.0)  # z 1[R≤K]
    own = np.maximum(parts.rows.pool - 1.0, 1.0)
    found = parts.contributions(offset, factor, counted)
    return found.plus(parts.contributions(offset, factor / own, above), -1.0)


def _single(sample: RankSample, here: NDArray[np.int64], shares: Floats) -> RankSample:
    """The targets of one offset as if each were its user's only one, among z + 1 items."""
    rows = sample.rows
    assert rows is not None
    design = sample.design
    found = RankSample.from_ranks(
        rows.rank[here],
        sample_size=rows.sample_size[here],
        n_items=rows.pool[here],
        design=design.with_(pool="unseen"),
        weight=shares * here.size,
    )
    known = replace(found.design, excluded=design.excluded)
    return replace(found, design=known, anchor=sample.anchor)
