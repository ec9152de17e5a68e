"""Exact ranks need no estimator: their metrics are those of the ranks, never of a rank grid.

Only the metric over the population is uncertain, because the users are a sample of it. With v_u the
metric of user u and w_u the user's weight, the standard error is
√Σ w_u²(v_u - v̄)² / Σ w_u.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fullrank._lib.types import Floats
from fullrank.designs import RankGrid
from fullrank.errors import InputError
from fullrank.inference.estimation.diagnosis import FEW, Diagnosis, few, reasons
from fullrank.inference.estimation.influence import pseudo_values
from fullrank.inference.estimation.result import Estimate
from fullrank.inference.estimation.uncertainty import interval
from fullrank.inference.statistics.normal import Interval
from fullrank.inference.statistics.resampled_means import bootstrap_means
from fullrank.metrics import ByMetric, Metric
from fullrank.samples import ExactRanks, RankDistribution, RankSample

NAME = "exact"
REASON = "every target was ranked among all items in its user's pool"
UP_TO = f"{REASON}, up to rank {{:,}}"


def estimate_exact(
    ranks: ExactRanks,
    given: RankSample | ExactRanks,
    metrics: tuple[Metric, ...],
    *,
    also: tuple[Metric, ...],
    grid: RankGrid | None,
    level: float | None,
    interval_for: str,
    uncertainty: str,
    n_resamples: int,
    rng: Callable[[], np.random.Generator],
) -> Estimate:
    """The metrics of exact ranks, with intervals for the population."""
    ranks.check_metrics((*metrics, *also))
    names = [metric.name for metric in metrics]
    values = ranks.metrics(metrics)
    errors, people = np.full(len(metrics), np.nan), None
    notes: tuple[str, ...] = ()
    if level is not None and interval_for == "users":
        errors = np.zeros(len(metrics))  # of these very users nothing is left open
    elif level is not None and uncertainty == "bootstrap":
        errors, people = _resampled(ranks, metrics, n_resamples, rng())
    elif level is not None:
        errors, people, notes = _errors(ranks, metrics, values)
    ends = {
        name: interval(value, float(error), level or 0.95, people)
        for (name, value), error in zip(values.items(), errors, strict=True)
    }
    hits = {metric.name: _hits(ranks, metric) for metric in metrics}
    return Estimate(
        values=ByMetric(values),
        standard_error=ByMetric(dict(zip(names, errors.tolist(), strict=True))),
        confidence_interval=ByMetric(ends),
        also=ByMetric(exact_values(ranks, also, level)),
        confidence_level=level,
        interval_for=interval_for,
        uncertainty=uncertainty,
        diagnosis=Diagnosis(
            blind_share=0.0,
            resolution=1.0,
            hits=hits,
            leans=dict.fromkeys(names, 0.0),
            warnings=ByMetric(
                {
                    metric.name: _warnings(
                        ranks, metric, hits[metric.name], interval_for, bool(np.isfinite(error))
                    )
                    for metric, error in zip(metrics, errors, strict=True)
                }
            ),
            notes=notes,
        ),
        naive=None,
        method=NAME,
        reason=REASON if ranks.max_rank is None else UP_TO.format(ranks.max_rank),
        distribution=_distribution(ranks, grid),
        recovers_exact=True,
        n_targets=ranks.total_targets,
        n_users=ranks.n_users,
        n_items=ranks.n_items,
        average_size=ranks.average_size,
        sample=given,
    )


def exact_values(
    ranks: ExactRanks, metrics: tuple[Metric, ...], level: float | None
) -> dict[str, tuple[float, Interval]]:
    """Each metric with its interval for the population, as `estimate` gives them."""
    if not metrics:
        return {}
    values = ranks.metrics(metrics)
    if level is None:
        none = Interval(float("nan"), float("nan"))
        return {name: (value, none) for name, value in values.items()}
    errors, people, _ = _errors(ranks, metrics, values)
    return {
        name: (value, interval(value, float(error), level, people))
        for (name, value), error in zip(values.items(), errors, strict=True)
    }


def _errors(
    ranks: ExactRanks, metrics: tuple[Metric, ...], values: dict[str, float]
) -> tuple[Floats, float | None, tuple[str, ...]]:
    """Standard errors, how many users these are worth, and why there are none."""
    if ranks.several and ranks.user is None:
        why = (
            "There are no intervals, because counts alone do not show which targets belong to the "
            "same user."
        )
        return np.full(len(metrics), np.nan), None, (why,)
    each, weight = None, ranks.weight
    # targets with the same outcome weigh alike: a row of c targets is c users of weight w/c
    squares = weight**2 if ranks.count is None else weight**2 / ranks.count
    if ranks.several and ranks.user is not None:
        _, first, each = np.unique(ranks.user, return_index=True, return_inverse=True)
        weight, squares = weight[first], squares[first]
    total = float(weight.sum())
    errors = []
    for metric in metrics:  # one at a time: users may be millions
        gains = ranks.gains(metric)
        users = gains if each is None else np.bincount(each, gains, weight.size)
        # not a product of vectors, whose last bit depends on the number of cores
        errors.append(np.sqrt(np.sum(squares * (users - values[metric.name]) ** 2)) / total)
    return np.array(errors), total**2 / float(squares.sum()), ()


def _resampled(
    ranks: ExactRanks,
    metrics: tuple[Metric, ...],
    n_resamples: int,
    rng: np.random.Generator,
) -> tuple[Floats, float]:
    """Standard errors from resampled users."""
    if ranks.count is not None:
        raise InputError(
            '`uncertainty` must not be "bootstrap" for counts without rows, because users cannot '
            "be resampled from counts."
        )
    each = pseudo_values(ranks, metrics)
    means = bootstrap_means(each.values, each.weight, n_resamples, rng)
    return means.std(axis=0, ddof=1), float(each.weight.sum()) ** 2 / float((each.weight**2).sum())


def _hits(ranks: ExactRanks, metric: Metric) -> float:
    """Targets in the top K."""
    inside = np.ones(ranks.ranks.size, bool) if metric.k is None else ranks.ranks <= metric.k
    return float(inside.sum() if ranks.count is None else ranks.count[inside].sum())


def _warnings(
    ranks: ExactRanks, metric: Metric, hits: float, interval_for: str, computed: bool
) -> tuple[str, ...]:
    """Where users are nearly all alike, the population is hardly seen."""
    if interval_for == "users":
        return ()
    why = reasons(metric, ranks=1.0, hits=hits, honest=True, computed=computed)
    if hits >= FEW and metric.k is not None and ranks.total_targets - hits < FEW:
        why.append(few("outside", computed))
    return tuple(why)


def _distribution(ranks: ExactRanks, grid: RankGrid | None) -> RankDistribution | None:
    """P(R) for the curves, if there is one and it is known; a rank between two is half at each."""
    if ranks.several or ranks.max_rank is not None:
        return None
    grid = grid or RankGrid.default(int(ranks.candidates.max()))
    both = np.concatenate([np.floor(ranks.ranks), np.ceil(ranks.ranks)]).astype(np.int64)
    return RankDistribution.from_ranks(
        both,
        n_items=grid.n_items,
        weight=np.concatenate([ranks.weight, ranks.weight]),
        grid=grid,
        method=NAME,
    )
