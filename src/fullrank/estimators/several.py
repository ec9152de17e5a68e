"""Several targets per user: one fit for each number of other targets above, and weighting.

All targets are scored, so the number o of other targets above each is known; only z, the
non-targets above it, is sampled, and R = 1 + o + z. Offset and rank depend on each other, so
that a common distribution of z would be wrong (Recall@10 by a fifth on Gowalla). With Q_o the
distribution of z among the targets of offset o, each weighted by the metric's own factor,

    metric = Σ_o Ω_o Σ_z Q_o(z) shape(1 + o + z, o),      Ω_o = Σ factor / number of users.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fullrank.errors import InputError
from fullrank.metrics import Metric
from fullrank.sampling import RankDistribution, RankGrid, RankSample

Floats = NDArray[np.float64]
Fit = Callable[[RankSample, RankGrid], RankDistribution]
Values = Callable[[RankSample, tuple[Metric, ...]], dict[str, float]]


def several_targets(
    sample: RankSample, metrics: tuple[Metric, ...], fit: Fit, grid: RankGrid | None = None
) -> dict[str, float]:
    """Estimate metrics of users with several targets; `fit` estimates one distribution."""
    rows = sample.rows
    if rows is None or rows.user is None:
        raise InputError("`sample` must have its rows where users have several targets.")
    _, user, n_targets = np.unique(rows.user, return_inverse=True, return_counts=True)
    n_users = float((rows.weight / n_targets[user]).sum())
    grid = grid if grid is not None else RankGrid.for_metrics(int(rows.pool.max()), metrics)
    fits = _Fits(sample, fit, grid)
    return {metric.name: _total(metric, fits) / n_users for metric in metrics}


class _Fits:
    """The distribution of z among the targets of an offset, by weighting; each fitted once."""

    def __init__(self, sample: RankSample, fit: Fit, grid: RankGrid) -> None:
        assert sample.rows is not None
        self.sample, self.rows, self.fit, self.grid = sample, sample.rows, fit, grid
        self.known: dict[tuple[int, bytes], RankDistribution] = {}

    def expected(self, offset: int, weight: Floats, gain: Floats) -> float:
        """Σ weight × the mean gain of the targets with this offset."""
        here = np.flatnonzero((self.rows.offset == offset) & (weight > 0.0))
        if here.size == 0:
            return 0.0
        total = float(weight[here].sum())
        shares = weight[here] / total
        key = (offset, shares.round(15).tobytes())
        if key not in self.known:
            self.known[key] = self.fit(_single(self.sample, here, shares), self.grid)
        return total * float(self.known[key].mass @ gain)


def _total(metric: Metric, fits: _Fits) -> float:
    """The metric summed over users: Σ_o Σ factor × E[shape]."""
    rows, grid = fits.rows, fits.grid
    factor = rows.weight * metric.factor(rows.n_targets, rows.n_items)
    total = 0.0
    for offset in np.unique(rows.offset).tolist():
        if (metric.k is not None and offset >= metric.k) or (metric.first_only and offset):
            continue
        if metric.kind == "auc":
            total += _auc(fits, metric, offset, factor)
        else:
            # the gain without its factor, which is in the weights
            gain = grid.averages(metric, offset=offset) / float(metric.factor(1, grid.n_items))
            total += fits.expected(offset, factor, gain)
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
        if metric.kind == "precision" and metric.k is None:
            values[metric.name] = float(np.average(1.0 / sample.pool, weights=sample.weight))
        elif metric.kind == "auc":
            recall = Metric("recall", metric.k)
            counted = 1.0 if metric.k is None else fit(sample, (recall,))[recall.name]
            parts = fit(tilted, (recall, metric))
            values[metric.name] = counted - share * (parts[recall.name] - parts[metric.name])
    return values


def _auc(fits: _Fits, metric: Metric, offset: int, factor: Floats) -> float:
    """AUC counts z over each user's own number of non-targets: Σ factor 1[R≤K] (1 - z/own)."""
    counted = fits.grid.averages(Metric("recall", metric.k), offset=offset)
    gain = fits.grid.averages(metric, offset=offset)
    above = (counted - gain) * (fits.grid.n_items - 1.0)  # z 1[R≤K]
    own = np.maximum(fits.rows.pool - 1.0, 1.0)
    found = fits.expected(offset, factor, counted)
    return found - fits.expected(offset, factor / own, above)


def _single(sample: RankSample, here: NDArray[np.int64], shares: Floats) -> RankSample:
    """The targets of one offset as if each were its user's only one, among z + 1 items."""
    rows = sample.rows
    assert rows is not None
    design = sample.design
    return RankSample.from_ranks(
        rows.rank[here],
        sample_size=rows.sample_size[here],
        n_items=rows.pool[here],
        replacement=design.replacement,
        levels=design.levels,
        stop_rank=design.stop_rank,
        pool="unseen",
        ties=design.ties,
        weight=shares * here.size,
    )
