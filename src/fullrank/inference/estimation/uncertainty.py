"""The standard error of an estimate, for two questions.

*Of the population* of users: the users are a sample, and so are the items. With φ
the influence of the outcomes on the estimate, the variance is that of φ over users, over their
number M.

*Of these users* (what ranking every item for them would have given): only what the drawn items
leave open counts. A user of rank R adds φ(o) - w(R), whose variance under P̂ is

    Σ_R P̂(R) Var(φ | R)  +  Var(E[φ | R] - w(R)):

the noise of the draws, and what the estimator cannot resolve however the draws come out.

Neither sees the bias of smoothing. Its bound b makes the interval wider, T ± cv(b/se)·se with cv(t)
the quantile of |N(t, 1)| (Armstrong and Kolesár 2018): the value and its interval are of one fit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from fullrank._lib.types import Floats
from fullrank.designs import RankGrid
from fullrank.estimators.methods import Chosen
from fullrank.estimators.system import Sensitivity
from fullrank.inference.estimation.influence import contributions, needs_own_catalogue
from fullrank.inference.statistics.normal import Interval, biased_quantile
from fullrank.inference.statistics.proportions import wilson
from fullrank.metrics import Metric
from fullrank.samples import RankSample

TARGETS = ("population", "users")
_SEVERAL = (
    'There are no intervals with interval_for="users" for multi-target users, whose targets share '
    'the same draws. Use interval_for="population".'
)
_OWN = (
    'There is no interval for {} with interval_for="users", because each user has a catalogue of '
    'their own. Use interval_for="population".'
)


@dataclass(frozen=True)
class Spread:
    """The standard error of each metric for either question, and a bound on its bias."""

    population: Floats  # standard errors; NaN where there is no argument for one
    users: Floats
    bias: Floats | float = 0.0
    notes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # why there is none

    def sampling_error(self, interval_for: str) -> Floats:
        """What another sample would change."""
        return self.population if interval_for == "population" else self.users

    def standard_error(self, interval_for: str) -> Floats:
        """The same with the bias, as comparisons have it."""
        return np.hypot(self.sampling_error(interval_for), self.bias)

    def first(self, number: int) -> Spread:
        """Keep the first metrics alone."""
        bias = np.broadcast_to(self.bias, self.population.shape)[:number]
        return replace(
            self, population=self.population[:number], users=self.users[:number], bias=bias
        )


def spread(
    sample: RankSample, metrics: tuple[Metric, ...], chosen: Chosen, grid: RankGrid
) -> Spread:
    """Standard errors by the influence of each outcome."""
    if sample.several:
        return replace(_by_user(sample, metrics, chosen, grid), notes={"users": (_SEVERAL,)})
    own = needs_own_catalogue(sample, metrics, grid)
    plain = [metric for metric, odd in zip(metrics, own, strict=True) if not odd]
    found = _by_outcome(sample, plain, chosen, grid)
    if not own.any():
        return found
    odd = tuple(metric for metric, odd in zip(metrics, own, strict=True) if odd)
    names = _OWN.format(", ".join(metric.name for metric in odd))
    rest, notes = _by_user(sample, odd, chosen, grid), {"users": (names,)}
    order = np.argsort(np.argsort(own, kind="stable"), kind="stable")
    return Spread(
        population=np.concatenate([found.population, rest.population])[order],
        users=np.concatenate([found.users, rest.users])[order],
        bias=np.concatenate([_each(found), _each(rest)])[order],
        notes=notes if sample.rows is not None else notes | {"population": (names,)},
    )


def _by_outcome(
    sample: RankSample, metrics: list[Metric], chosen: Chosen, grid: RankGrid
) -> Spread:
    if not metrics:
        return Spread(np.zeros(0), np.zeros(0))
    gains = np.column_stack([grid.averages(metric) for metric in metrics])
    found = chosen.sensitivity(sample, gains, grid)
    moves = found.gradient - found.system.observed @ found.gradient
    people = squared_weights(sample)
    return Spread(
        population=np.sqrt(found.system.observed @ moves**2 * people),
        users=np.sqrt(of_these_users(found, gains) * people),
        bias=found.bias,
    )


def _each(found: Spread) -> Floats:
    """The bias of each metric."""
    return np.broadcast_to(found.bias, found.population.shape)


def of_these_users(found: Sensitivity, gains: Floats) -> Floats:
    """The variance of "these users", of one user."""
    table, mass = found.system.table, found.mass
    moves = found.gradient - found.system.observed @ found.gradient
    expected = table @ moves
    draws = mass @ np.maximum(table @ moves**2 - expected**2, 0.0)
    missed = expected - gains
    return np.asarray(draws + mass @ (missed - mass @ missed) ** 2)


def _by_user(
    sample: RankSample, metrics: tuple[Metric, ...], chosen: Chosen, grid: RankGrid
) -> Spread:
    """The same for multi-target users, whose targets add up."""
    none = np.full(len(metrics), np.nan)
    rows = sample.rows
    if rows is None:
        return Spread(none, none)
    parts, bias = contributions(sample, metrics, chosen, grid)
    each = (
        np.arange(rows.rank.size)
        if rows.user is None
        else np.unique(rows.user, return_inverse=True)[1]
    )
    sums = np.column_stack([np.bincount(each, part) for part in parts.T])
    weight = np.bincount(each, rows.weight / rows.n_targets)
    moves = sums - sums.sum(axis=0) * weight[:, None] / weight.sum()
    return Spread(population=np.sqrt((moves**2).sum(axis=0)), users=none, bias=bias)


def squared_weights(sample: RankSample) -> float:
    """Σw²/(Σw)²: one over the number of users, or of as many users as the weights leave."""
    if sample.rows is not None:
        squares = float((sample.rows.weight**2).sum())
    else:  # of counts, targets with the same outcome weigh alike
        squares = float((sample.weight**2 / sample.count).sum())
    return squares / float(sample.weight.sum()) ** 2


def interval(
    centre: float,
    standard_error: float,
    confidence_level: float,
    n_users: float | None = None,
    *,
    bias: float = 0.0,
) -> Interval:
    """Normal on the logit scale, so that both ends lie where a metric can.

    A metric is positive, and near 0 its estimates are skewed as those of a small share are; no
    end is further than three times as far as it would be without the scale. `bias` bounds what the
    standard error does not hold. Where the sample shows no spread at all, `n_users` leave open what
    Wilson's interval of a share leaves open.
    """
    if not np.isfinite(standard_error):
        return Interval(float("nan"), float("nan"))
    if standard_error <= 1e-12 and n_users is not None:
        hits = min(max(centre, 0.0), 1.0) * n_users
        return wilson(hits, n_users, confidence_level=confidence_level)
    reach = bias
    if standard_error > 0.0:
        shift = min(bias / standard_error, 1e12)
        reach = float(biased_quantile(confidence_level, shift)) * standard_error
    if reach == 0.0 or not 0.0 < centre < 1.0:
        return Interval(max(centre - reach, 0.0), min(centre + reach, 1.0))
    slope = centre * (1.0 - centre)
    odds = (1.0 - centre) / centre
    with np.errstate(over="ignore"):  # of a centre next to 0, whose low end is 0
        low, high = (
            1.0 / (1.0 + odds * np.exp(np.clip(-move / slope, -500.0, 500.0)))
            for move in (-reach, reach)
        )
    return Interval(max(float(low), centre - 3.0 * reach), min(float(high), centre + 3.0 * reach))
