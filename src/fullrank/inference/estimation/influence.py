"""What each user adds to an estimate, for comparisons user by user.

To first order an estimate is a mean over users: T̂ moves with the shares of the outcomes, and
each user holds a share of one. With φ(o) the derivative of T̂ with respect to the share of
outcome o, centred over the sample, user u has the *pseudo-value* T̂ + φ(o_u): their mean
is T̂, their spread is that of the estimate, and differences between models are paired by user.
Of exact ranks the pseudo-value is the user's own metric.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank._lib import checks
from fullrank._lib.checks import generator
from fullrank._lib.types import Array, Floats
from fullrank.designs import RankGrid
from fullrank.errors import InputError
from fullrank.estimators.methods import Chosen, Named, choose, values_of
from fullrank.estimators.multi_target import Mean, several_targets
from fullrank.estimators.system import columns_of
from fullrank.inference.estimation.refits import resampled
from fullrank.metrics import DEFAULT, Metric, parse_all
from fullrank.samples import ExactRanks, RankSample
from fullrank.samples.as_ranks import within_reach

# How alike smoothing biases models of the same users and design: part of it cancels in differences.
# Calibrated on the tuning part of the rank bank, by P(best) (docs/studies/hundred.md).
SHARED_BIAS = 0.6
REFITS = 200  # of an estimator without a derivative


@dataclass(frozen=True, kw_only=True, eq=False)
class PseudoValues:
    """The pseudo-value of each user in each metric.

    Attributes
    ----------
    metrics : names
    user : ids, sorted; None where the sample does not name its users
    values : (n_users, n_metrics); their weighted mean is the estimate
    estimate : of each metric, as `estimate` gives it
    weight : of each user
    method : the estimator; "exact" for exact ranks
    exact : whether the values are metrics of exact ranks
    bias_square : of each metric, the squared bound on the bias of smoothing, which belongs to the
        squared standard error
    """

    metrics: tuple[str, ...]
    user: Array | None
    values: Floats
    estimate: Floats
    weight: Floats
    method: str
    exact: bool
    bias_square: Floats | float = 0.0


def pseudo_values(
    ranks: RankSample | ExactRanks,
    metrics: str | Metric | Iterable[str | Metric] = DEFAULT,
    *,
    method: Named = "auto",
    grid: RankGrid | None = None,
    **settings: Any,
) -> PseudoValues:
    """Compute what each user adds to the estimates.

    Parameters
    ----------
    ranks : a RankSample with its rows, or ExactRanks
    metrics : names such as ``"ndcg@10"``
    method, grid, settings : as in `estimate`; exact ranks need none

    Examples
    --------
    >>> from fullrank.samples import simulate
    >>> sample = simulate([3, 8, 20, 50] * 50, n_items=100, design="sampled:20", rng=0)
    >>> found = pseudo_values(sample, "recall@10")
    >>> found.values.shape
    (200, 1)
    """
    wanted = parse_all(within_reach(metrics, [ranks]))
    exact = complete(ranks, method)
    if exact is not None:
        return _of_ranks(exact, wanted)
    if not isinstance(ranks, RankSample):
        raise InputError(f"`ranks` must be a RankSample or ExactRanks, not {type(ranks).__name__}.")
    if ranks.rows is None:
        raise InputError("`ranks` must have rows; counts alone do not distinguish users.")
    chosen = choose(method, ranks, settings)
    on = grid if grid is not None else RankGrid.default(int(ranks.pool.max()))
    rows = ranks.rows
    settled = chosen.settled(ranks, on)
    parts, bias = contributions(ranks, wanted, settled, on)
    each, weight = np.arange(rows.rank.size), rows.weight
    users = None
    if rows.user is not None:
        users, first, each = np.unique(rows.user, return_index=True, return_inverse=True)
        weight = rows.weight[first]
    values = np.column_stack([np.bincount(each, part, weight.size) for part in parts.T])
    share = weight[:, None] / weight.sum()
    values = np.divide(values, share, out=np.zeros_like(values), where=share > 0.0)
    estimate = np.array(values_of(ranks, wanted, settled, on))
    values += estimate - (share * values).sum(axis=0)  # but for rounding
    if not chosen.analytic:
        values = estimate + (values - estimate) * _refitted(
            ranks, wanted, settled, on, values, share
        )
    return PseudoValues(
        metrics=tuple(metric.name for metric in wanted),
        user=None if users is None else checks.frozen(users),
        values=checks.frozen(values),
        estimate=checks.frozen(estimate),
        weight=checks.frozen(weight),
        method=chosen.name,
        exact=chosen.method.exact,
        bias_square=checks.frozen(bias**2),
    )


def _refitted(
    sample: RankSample,
    metrics: tuple[Metric, ...],
    chosen: Chosen,
    grid: RankGrid,
    values: Floats,
    share: Floats,
) -> Floats:
    """What numerical derivatives are to be multiplied by, to have the spread of the bootstrap."""
    errors = resampled(
        sample,
        metrics,
        chosen,
        grid,
        interval_for="population",
        n_resamples=REFITS,
        rng=generator(0),
    )
    spread = np.sqrt(((share * (values - (share * values).sum(axis=0))) ** 2).sum(axis=0))
    wanted = errors.std(axis=0, ddof=1)
    return np.asarray(np.divide(wanted, spread, out=np.ones_like(wanted), where=spread > 0.0))


def complete(sample: Any, method: Any = "auto") -> ExactRanks | None:
    """The exact ranks in what was given, where nothing else was asked of them."""
    if str(method).lower() not in ("auto", "exact"):
        return None
    if isinstance(sample, RankSample) and sample.exhausted:
        return ExactRanks.of_sample(sample)
    return sample if isinstance(sample, ExactRanks) else None


def contributions(
    sample: RankSample, metrics: tuple[Metric, ...], chosen: Chosen, grid: RankGrid
) -> tuple[Floats, Floats]:
    """What each row adds to each metric, and a bound on the bias of smoothing.

    The rows sum to the estimate.
    """
    if sample.several or needs_own_catalogue(sample, metrics, grid).any():
        return _by_offset(sample, metrics, chosen, grid)
    rows = sample.rows
    assert rows is not None
    gains = np.column_stack([grid.averages(metric) for metric in metrics])
    found = chosen.sensitivity(sample, gains, grid)
    moves = found.gradient - found.system.observed @ found.gradient
    weight = rows.weight / rows.weight.sum()
    parts = weight[:, None] * (found.centre + moves[columns_of(found.system, sample)])
    return parts, np.broadcast_to(found.bias, (len(metrics),))


def needs_own_catalogue(
    sample: RankSample, metrics: tuple[Metric, ...], grid: RankGrid
) -> NDArray[np.bool_]:
    """Which metrics look at the size of a user's own catalogue, where catalogues differ."""
    differ = bool((sample.pool != grid.n_items).any())
    return np.array([metric.looks_at_catalogue for metric in metrics]) & differ


def _by_offset(
    sample: RankSample, metrics: tuple[Metric, ...], chosen: Chosen, grid: RankGrid
) -> tuple[Floats, Floats]:
    """The same where each number of other targets above (or weighting) has a fit of its own."""
    known: dict[Hashable, RankSample] = {}  # with its fit, which metrics share

    def mean(key: Hashable, one: RankSample, gain: Floats) -> Mean:
        one = known.setdefault(key, one)
        found = chosen.sensitivity(one, gain[:, None], grid)
        moves = found.gradient[:, 0] - float(found.system.observed @ found.gradient[:, 0])
        bias = float(np.max(found.bias))
        return Mean(float(found.centre[0]), moves[columns_of(found.system, one)], bias)

    found = several_targets(sample, metrics, mean, grid)
    parts = [found[metric.name] for metric in metrics]
    return np.column_stack([part.each for part in parts]), np.array([part.bias for part in parts])


def _of_ranks(ranks: ExactRanks, metrics: tuple[Metric, ...]) -> PseudoValues:
    if ranks.count is not None:
        raise InputError("`ranks` must have rows; counts alone do not distinguish users.")
    users, weight = None, ranks.weight
    values = np.column_stack([ranks.gains(metric) for metric in metrics])
    if ranks.user is not None and not ranks.several:  # by user, as others are
        order = np.argsort(ranks.user, kind="stable")
        users, weight, values = ranks.user[order], weight[order], values[order]
    elif ranks.user is not None:
        users, first, each = np.unique(ranks.user, return_index=True, return_inverse=True)
        weight = weight[first]
        values = np.column_stack([np.bincount(each, one, users.size) for one in values.T])
    return PseudoValues(
        metrics=tuple(metric.name for metric in metrics),
        user=None if users is None else checks.frozen(users),
        values=checks.frozen(values),
        estimate=checks.frozen(np.array(list(ranks.metrics(metrics).values()))),
        weight=checks.frozen(weight),
        method="exact",
        exact=True,
        bias_square=checks.frozen(np.zeros(len(metrics))),
    )
