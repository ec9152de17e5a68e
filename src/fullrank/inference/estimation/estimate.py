"""Estimate full-catalogue metrics from a sample, with standard errors and intervals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from fullrank._lib import checks
from fullrank._lib.checks import RandomState, generator
from fullrank._lib.progress import Progress, reporter
from fullrank._lib.tabular import takes_several
from fullrank.designs import Design, RankGrid
from fullrank.errors import InputError
from fullrank.estimators.anchors import anchored
from fullrank.estimators.methods import METHODS, Chosen, Named, choose, point
from fullrank.inference.estimation.diagnosis import diagnose
from fullrank.inference.estimation.exact import estimate_exact
from fullrank.inference.estimation.influence import complete
from fullrank.inference.estimation.refits import can_refit, resampled
from fullrank.inference.estimation.result import Estimate
from fullrank.inference.estimation.seeded import asks_within_reach, takes_seeds
from fullrank.inference.estimation.several_models import Estimates
from fullrank.inference.estimation.uncertainty import (
    TARGETS,
    Spread,
    interval,
    spread,
    squared_weights,
)
from fullrank.inference.statistics.normal import Interval
from fullrank.metrics import DEFAULT, Metric, parse_all
from fullrank.samples import ExactRanks, RankSample
from fullrank.samples.as_ranks import Ranks, as_ranks

UNCERTAINTIES = ("influence", "bootstrap")
_NO_REFITS = (
    "There are no intervals, because {} has no derivative and this sample cannot be resampled."
)
_NONE = Interval(float("nan"), float("nan"))


@asks_within_reach
@takes_several(Estimates.of)
@takes_seeds
def estimate(
    ranks: Ranks,
    metrics: str | Metric | Iterable[str | Metric] = DEFAULT,
    *,
    method: Named = "auto",
    also: str | Metric | Iterable[str | Metric] = (),
    n_items: int | None = None,
    design: str | Design | None = None,
    anchor: Any = None,
    grid: RankGrid | None = None,
    interval_for: str = "population",
    uncertainty: str = "influence",
    confidence_level: float | None = 0.95,
    n_resamples: int = 500,
    progress: bool | Progress | None = None,
    rng: RandomState = None,
    **settings: Any,
) -> Estimate:
    r"""Estimate the metrics of the full catalogue from ranks among sampled candidates.

    Parameters
    ----------
    ranks : RankSample, ExactRanks or ranks
        An array, series or tensor of ranks needs `n_items` and `design`. `Seeds` of one model and
        a data frame with a column ``rank`` (see `read_ranks`) are accepted as well. A mapping
        from names of models to any of these returns `Estimates`, one table for all models.
    metrics : names such as ``"ndcg@10"``; all of them come from one fit
    method : "auto", the name of an estimator (``METHODS`` lists them), or a function of a sample
        and a grid that returns P(R) (`fullrank.estimators.register`)
    also : further metrics of the same fit, such as the points of a curve, for `Estimate.also`;
        they do not change the fit and are not printed
    n_items, design : for an array or a data frame of ranks: the catalogue size, and how the
        candidates were drawn, such as ``"sampled:100"``
    anchor : ExactRanks of a cheap model on the same data, or a list of them, whose shape the
        estimate borrows (`fullrank.anchored`); default: the anchor of the sample, if it has one
    grid : rank grid; the default depends on the catalogue only, so the value of a metric does not
        depend on the other metrics of the call
    interval_for : {"population", "users"}
        "population": intervals for the metric over the population of users. "users": intervals
        for the metric that ranking every item for exactly these users would give.
    uncertainty : {"influence", "bootstrap"}
        "influence": standard errors from the exact derivative of the estimate with respect to the
        share of each outcome, at the cost of one fit. "bootstrap": standard errors from
        `n_resamples` refits; estimators without a derivative always use it.
    confidence_level : level of the intervals; None computes no intervals, which saves time for
        multi-target users
    n_resamples : number of refits, at least 20
    progress : True prints a line on stderr during the refits; or a function of (done, total)
    rng : seed or generator of the refits
    settings : settings of the method, such as ``iterations``, ``tol``, ``gamma`` or ``prior``; for
        a data frame also ``sample_size``, ``excluded`` and ``columns`` (see `read_ranks`)

    Notes
    -----
    "auto" uses exact ranks as they are and smooths every other sample. Its assumption about the
    ranks that a sample does not resolve depends on whether training items were excluded.

    The value and its interval come from the same fit. Smoothing can bias an estimate by more than
    its standard error, so the interval is widened by a bound b on that bias: value ± cv(b/se)·se,
    where cv(t) is the quantile of |N(t, 1)|, computed on the logit scale, so that both ends lie in
    [0, 1] if the value does. `standard_error` is √(se² + b²). With refits, b is the size of their
    mean error, which shows only part of the bias, because refits repeat the smoothing. Measured
    coverage is in docs/studies/hundred.md.

    Examples
    --------
    >>> from fullrank.samples import simulate
    >>> sample = simulate(
    ...     [3, 8, 20, 50, 120, 400] * 100, n_items=2000, design="adaptive:25,limit=200", rng=0
    ... )
    >>> found = estimate(sample, "recall@100")
    >>> round(found["recall@100"], 1)
    0.7
    >>> found.confidence_interval["recall@100"].low < 2 / 3
    True
    """
    checks.no_slips(settings, estimate)
    taken = as_ranks(ranks, n_items=n_items, design=design)
    exact = complete(taken, method)
    if exact is not None:
        for key in (*(["anchor"] if anchor is not None else []), *settings):
            raise InputError(f"`{key}` must not be given for exact ranks, which are not estimated.")
        return estimate_exact(
            exact,
            taken,
            parse_all(metrics),
            also=_some(also),
            grid=_checked_grid(grid),
            level=None if confidence_level is None else check_level(confidence_level),
            interval_for=checks.choice("interval_for", interval_for, TARGETS),
            uncertainty=checks.choice("uncertainty", uncertainty, UNCERTAINTIES),
            n_resamples=checks.integer("n_resamples", n_resamples, low=20),
            rng=lambda: generator(rng),
        )
    if isinstance(taken, ExactRanks):
        raise InputError('`method` must be "auto" for exact ranks, which are not estimated.')
    _checked_grid(grid)
    asked = parse_all(metrics)
    beside = tuple(one for one in _some(also) if one not in asked)
    # for multi-target users each interval takes seconds, so a curve has none
    wanted = asked if taken.several else (*asked, *beside)
    interval_for = checks.choice("interval_for", interval_for, TARGETS)
    uncertainty = checks.choice("uncertainty", uncertainty, UNCERTAINTIES)
    level = None if confidence_level is None else check_level(confidence_level)
    chosen = choose(method, taken, settings)
    if anchor is not None:
        if not chosen.method.borrows:
            able = ", ".join(name for name, one in METHODS.items() if one.borrows)
            raise InputError(
                f"`anchor` must not be given to {chosen.name}. Methods that take one: {able}."
            )
        taken = anchored(taken, anchor)
        chosen = choose(method, taken, settings)
    if not chosen.analytic:  # without a derivative, refits show how it moves
        uncertainty = "bootstrap"
    on = grid if grid is not None else RankGrid.default(int(taken.pool.max()))
    fixed = chosen.settled(taken, on)
    values, distribution = point(taken, (*asked, *beside), fixed, on)
    if level is None:
        found = _nothing(len(wanted))
    elif not chosen.analytic and not can_refit(taken, interval_for):
        found = _nothing(len(wanted), {interval_for: (_NO_REFITS.format(chosen.name),)})
    elif uncertainty == "bootstrap":
        number = checks.integer("n_resamples", n_resamples, low=20)
        report = reporter(progress, "refits")
        found = _refitted(taken, wanted, chosen, on, interval_for, number, generator(rng), report)
    else:
        found = spread(taken, wanted, fixed, on)
    names = [metric.name for metric in wanted]
    errors, bias = found.sampling_error(interval_for), np.broadcast_to(found.bias, len(wanted))
    # a sample without spread still leaves open what it has not seen of the population
    unseen = 1.0 / squared_weights(taken) if interval_for == "population" else None
    ends = [
        interval(values[name], error, level or 0.95, unseen, bias=wide).with_(values[name])
        for name, error, wide in zip(names, errors.tolist(), bias.tolist(), strict=True)
    ]
    if taken.rank.size == 1 and unseen is not None:  # all alike: what errors there are is rounding
        none = [interval(values[name], 0.0, level or 0.95, unseen) for name in names]
        ends = [one.with_(low).with_(high) for one, (low, high) in zip(ends, none, strict=True)]
    own, known = len(asked), dict(zip(names, ends, strict=True))
    return Estimate(
        values={name: values[name] for name in names[:own]},
        standard_error=dict(
            zip(names, found.standard_error(interval_for)[:own].tolist(), strict=False)
        ),
        confidence_interval=dict(zip(names, ends[:own], strict=False)),
        also={one.name: (values[one.name], known.get(one.name, _NONE)) for one in beside},
        confidence_level=level,
        interval_for=interval_for,
        uncertainty=uncertainty,
        diagnosis=diagnose(
            taken,
            asked,
            found.first(own),
            fixed,
            distribution,
            interval_for,
            counts_smoothing=uncertainty == "influence",
        ),
        naive=_naive(taken, asked),
        method=chosen.name if distribution is None else distribution.method,
        reason=chosen.reason,
        distribution=distribution,
        recovers_exact=chosen.method.recovers,
        n_targets=taken.n_targets,
        n_users=taken.n_users or taken.n_targets,
        n_items=taken.n_items,
        average_size=taken.average_size,
        sample=taken,
    )


def _checked_grid(grid: Any) -> RankGrid | None:
    if grid is not None and not isinstance(grid, RankGrid):
        raise InputError(f"`grid` must be a RankGrid, not {type(grid).__name__}.")
    return grid


def _some(metrics: str | Metric | Iterable[str | Metric]) -> tuple[Metric, ...]:
    """The metrics named, or none: `parse_all` insists on one."""
    given = metrics if isinstance(metrics, str | Metric) else tuple(metrics)
    return parse_all(given) if given else ()


def check_level(level: Any) -> float:
    """A confidence level strictly between 0 and 1."""
    number = checks.real("confidence_level", level)
    if not 0.0 < number < 1.0:
        raise InputError(
            f"`confidence_level` must lie between 0 and 1, such as 0.95, not {number:g}."
        )
    return number


def _refitted(
    sample: RankSample,
    metrics: tuple[Metric, ...],
    chosen: Chosen,
    grid: RankGrid,
    interval_for: str,
    n_resamples: int,
    rng: np.random.Generator,
    report: Progress | None,
) -> Spread:
    """Standard errors of refits, and the bias that their mean error shows."""
    errors = resampled(
        sample,
        metrics,
        chosen,
        grid,
        interval_for=interval_for,
        n_resamples=n_resamples,
        rng=rng,
        report=report,
    )
    error = errors.std(axis=0, ddof=1)
    return Spread(population=error, users=error, bias=np.abs(errors.mean(axis=0)))


def _nothing(size: int, notes: Mapping[str, tuple[str, ...]] | None = None) -> Spread:
    none = np.full(size, np.nan)
    return Spread(none, none, notes=notes or {})


def _naive(sample: RankSample, metrics: tuple[Metric, ...]) -> Mapping[str, float] | None:
    if sample.design.adaptive or sample.several:
        return None
    return {metric.name: sample.naive(metric) for metric in metrics}
