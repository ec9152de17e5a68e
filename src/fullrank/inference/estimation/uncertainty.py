"""How far an estimate is from the metric: its standard error, for two questions.

*Of the population* (all users like these): the users are a sample, and so are the items. With φ
the influence of the outcomes on the estimate, the variance is that of φ over users, over their
number M.

*Of these users* (what ranking every item for them would have given): only what the drawn items
leave open counts. A user of rank R adds φ(o) - w(R), whose variance under P̂ is

    Σ_R P̂(R) Var(φ | R)  +  Var(E[φ | R] - w(R)):

the noise of the draws, and what the estimator cannot resolve however the draws come out.
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
from fullrank.inference.statistics.interval import Interval
from fullrank.metrics import Metric
from fullrank.samples import RankSample

TARGETS = ("population", "users")
SHARED = (
    "No intervals: users were given the same candidates, so that their ranks are not "
    "independent, and one sample does not tell how much."
)
_SEVERAL = (
    "No intervals for these users alone where users are multi-target: the draws of one user "
    'are shared by the user\'s targets. Use target="population".'
)
_OWN = (
    "No interval of {} for these users alone where users have catalogues of their own. "
    'target="population" has it.'
)


@dataclass(frozen=True)
class Spread:
    """The centre of each metric's interval, and its standard error for either question."""

    centre: Floats
    population: Floats  # standard errors; NaN where there is no argument for one
    users: Floats
    notes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # why there is none

    def standard_error(self, target: str) -> Floats:
        return self.population if target == "population" else self.users

    def first(self, number: int) -> Spread:
        """Keep the first metrics alone."""
        return replace(
            self,
            centre=self.centre[:number],
            population=self.population[:number],
            users=self.users[:number],
        )


def spread(
    sample: RankSample, metrics: tuple[Metric, ...], chosen: Chosen, grid: RankGrid
) -> Spread:
    """Standard errors by the influence of each outcome."""
    none = np.full(len(metrics), np.nan)
    if sample.design.shared_draws:
        return Spread(none, none, none, {"population": (SHARED,), "users": (SHARED,)})
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
        centre=np.concatenate([found.centre, rest.centre])[order],
        population=np.concatenate([found.population, rest.population])[order],
        users=np.concatenate([found.users, rest.users])[order],
        notes=notes if sample.rows is not None else notes | {"population": (names,)},
    )


def _by_outcome(
    sample: RankSample, metrics: list[Metric], chosen: Chosen, grid: RankGrid
) -> Spread:
    if not metrics:
        return Spread(np.zeros(0), np.zeros(0), np.zeros(0))
    gains = np.column_stack([grid.averages(metric) for metric in metrics])
    found = chosen.sensitivity(sample, gains, grid)
    moves = found.gradient - found.system.observed @ found.gradient
    people = squared_weights(sample)
    return Spread(
        centre=found.centre,
        population=np.sqrt(found.system.observed @ moves**2 * people + found.bias_square),
        users=np.sqrt(of_these_users(found, gains) * people + found.bias_square),
    )


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
    """The same over users who may have several targets: what they add together."""
    none = np.full(len(metrics), np.nan)
    rows = sample.rows
    if rows is None:
        return Spread(none, none, none)
    parts, _ = contributions(sample, metrics, chosen, grid)
    each = (
        np.arange(rows.rank.size)
        if rows.user is None
        else np.unique(rows.user, return_inverse=True)[1]
    )
    sums = np.column_stack([np.bincount(each, part) for part in parts.T])
    weight = np.bincount(each, rows.weight / rows.n_targets)
    centre = sums.sum(axis=0)
    moves = sums - centre * weight[:, None] / weight.sum()
    return Spread(centre=centre, population=np.sqrt((moves**2).sum(axis=0)), users=none)


def squared_weights(sample: RankSample) -> float:
    """Σw²/(Σw)²: one over the number of users, or of as many users as the weights leave."""
    if sample.rows is not None:
        squares = float((sample.rows.weight**2).sum())
    else:  # of counts, targets with the same outcome weigh alike
        squares = float((sample.weight**2 / sample.count).sum())
    return squares / float(sample.weight.sum()) ** 2


def interval(
    centre: float, standard_error: float, confidence_level: float, n_users: float | None = None
) -> Interval:
    """Normal on the logit scale, so that both ends lie where a metric can.

    A metric is positive, and near 0 its estimates are skewed as those of a small share are; no
    end is further than three times as far as it would be without the scale. Where the sample
    shows no spread at all, `n_users` leave open what Wilson's interval of a share leaves open.
    """
    from scipy.special import ndtri

    if not np.isfinite(standard_error):
        return Interval(float("nan"), float("nan"))
    z = float(ndtri(0.5 + 0.5 * confidence_level))
    if standard_error <= 1e-12 and n_users is not None:
        return Interval(*_wilson(min(max(centre, 0.0), 1.0), n_users, z))
    reach = z * standard_error
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


def _wilson(share: float, n_users: float, z: float) -> tuple[float, float]:
    shrink = 1.0 + z * z / n_users
    middle = (share + z * z / (2.0 * n_users)) / shrink
    half = z / shrink * np.sqrt(share * (1.0 - share) / n_users + (z / (2.0 * n_users)) ** 2)
    return max(float(middle - half), 0.0), min(float(middle + half), 1.0)
