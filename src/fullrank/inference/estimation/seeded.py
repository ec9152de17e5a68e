"""Several seeds of one model: averaged within users, so that users stay the unit of intervals.

With v_us what user u adds under seed s (the pseudo-value of `influence`), the estimate is the mean
over seeds of the estimates, and user u has v_u = mean over s of v_us. The standard error for the
population is that of the mean of the v_u: however many seeds there are, as many values are
independent as there are users. For these users alone, whose draws may be the same under every seed,
it is the mean of the standard errors of the seeds, which no correlation between seeds exceeds. The
bound on the bias of smoothing is the mean of those of the seeds, for it may be common to them.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeVar, cast

import numpy as np

from fullrank._lib import checks
from fullrank._lib.types import Floats
from fullrank.inference.estimation.influence import PseudoValues, pseudo_values
from fullrank.inference.estimation.result import Estimate
from fullrank.inference.estimation.several_models import Estimates
from fullrank.inference.estimation.uncertainty import interval
from fullrank.inference.statistics.normal import Interval
from fullrank.metrics import DEFAULT, Metric, parse_all
from fullrank.samples import RankDistribution, Seeds, read_ranks
from fullrank.samples.as_ranks import within_reach
from fullrank.tables.columnar import is_frame

_OF_FRAME = ("n_items", "sample_size", "design", "excluded", "columns")


Verb = TypeVar("Verb", bound=Callable[..., Any])


def asks_within_reach(estimate: Verb) -> Verb:
    """Let default metrics end at the smallest `max_rank` of exact ranks up to K."""

    @functools.wraps(estimate)
    def called(ranks: Any = None, metrics: Any = DEFAULT, **settings: Any) -> Any:
        several = ranks.values() if isinstance(ranks, Mapping) else (ranks,)
        return estimate(ranks, within_reach(metrics, several), **settings)

    return cast("Verb", called)


def takes_seeds(estimate: Callable[..., Estimate]) -> Callable[..., Any]:
    """Let an estimate of one sample take several seeds of a model, or a data frame of ranks."""

    @functools.wraps(estimate)
    def called(ranks: Any = None, *given: Any, **settings: Any) -> Any:
        if isinstance(ranks, Seeds):
            bound = inspect.signature(estimate).bind(ranks, *given, **settings).arguments
            bound |= bound.pop("settings", {})
            bound.pop("ranks")
            return seeded_estimate(ranks, estimate, **{"metrics": DEFAULT, **bound})
        if not is_frame(ranks):
            return estimate(ranks, *given, **settings)
        told = {key: settings.pop(key) for key in _OF_FRAME if key in settings}
        read = read_ranks(ranks, **told)
        metrics, *others = given or (DEFAULT,)
        wanted = within_reach(metrics, read.values())
        found = {name: called(one, wanted, *others, **settings) for name, one in read.items()}
        if len(found) > 1:
            several = Estimates.of(found)
            return replace(several, assumed=tuple(dict.fromkeys((*read.notes, *several.assumed))))
        (one,) = found.values()
        assumed = tuple(dict.fromkeys((*read.notes, *one.diagnosis.assumed)))
        return replace(one, diagnosis=replace(one.diagnosis, assumed=assumed))

    return called


def averaged(samples: Iterable[PseudoValues]) -> PseudoValues:
    """What each user adds to the estimates, averaged over the seeds of a model."""
    found = [_by_user(one) for one in samples]
    bias = np.mean([np.sqrt(_bias_square(one)) for one in found], axis=0)
    return replace(
        found[0],
        values=checks.frozen(np.mean([one.values for one in found], axis=0)),
        estimate=checks.frozen(np.mean([one.estimate for one in found], axis=0)),
        bias_square=checks.frozen(bias**2),
    )


def _by_user(found: PseudoValues) -> PseudoValues:
    assert found.user is not None  # Seeds insist on names
    order = np.argsort(found.user, kind="stable")
    return replace(
        found, user=found.user[order], values=found.values[order], weight=found.weight[order]
    )


def _bias_square(found: PseudoValues) -> Floats:
    return np.broadcast_to(np.asarray(found.bias_square, float), (len(found.metrics),))


def seeded_estimate(
    seeds: Seeds,
    estimate: Callable[..., Estimate],
    *,
    metrics: str | Metric | Iterable[str | Metric],
    **settings: Any,
) -> Estimate:
    """The estimate of each seed, averaged; with intervals over users and the spread over seeds."""
    each = {seed: estimate(one, metrics=metrics, **settings) for seed, one in seeds.samples.items()}
    first = next(iter(each.values()))
    names = tuple(first.values)
    values = {name: float(np.mean([one.values[name] for one in each.values()])) for name in names}
    errors, ends = _uncertainty(seeds, each, values, settings)
    spread = _spread(each, names)
    notes = (*first.diagnosis.notes, *_note(each, spread), *seeds.notes)
    return replace(
        first,
        values=values,
        standard_error=errors,
        confidence_interval=ends,
        naive=_mean_naive(each),
        also=_mean_also(each),
        distribution=_mixture(each),
        diagnosis=replace(first.diagnosis, notes=notes),
        seeds=spread,
    )


def _uncertainty(
    seeds: Seeds,
    each: Mapping[str, Estimate],
    values: Mapping[str, float],
    settings: Mapping[str, Any],
) -> tuple[dict[str, float], dict[str, Interval]]:
    """The standard error and the interval of each metric."""
    first = next(iter(each.values()))
    level, names = first.confidence_level, list(values)
    if level is None:
        nan = Interval(float("nan"), float("nan"))
        return dict.fromkeys(names, float("nan")), dict.fromkeys(names, nan)
    bias, people = np.zeros(len(names)), None
    if first.interval_for == "population" and first.uncertainty == "influence":
        how = {key: value for key, value in settings.items() if key in _FIT}
        wanted = parse_all(names)
        found = averaged(pseudo_values(one, wanted, **how) for one in seeds.samples.values())
        share = found.weight / found.weight.sum()
        moves = share[:, None] * (found.values - found.estimate)
        sampling = np.sqrt((moves**2).sum(axis=0))
        bias = np.sqrt(_bias_square(found))
        people = float(1.0 / (share**2).sum())
    else:  # no correlation between seeds makes the error of their mean larger than this
        sampling = np.mean(
            [[one.standard_error[name] for name in names] for one in each.values()], axis=0
        )
    ends = {
        name: interval(values[name], float(error), level, people, bias=float(wide)).with_(
            values[name]
        )
        for name, error, wide in zip(names, sampling, bias, strict=True)
    }
    total = np.hypot(sampling, bias)
    return dict(zip(names, total.tolist(), strict=True)), ends


_FIT = ("method", "grid", "prior", "penalty", "iterations", "tol", "gamma", "eta")


def _spread(each: Mapping[str, Estimate], names: Iterable[str]) -> dict[str, float]:
    """The standard deviation of each metric over seeds."""
    return {
        name: float(np.std([one.values[name] for one in each.values()], ddof=1)) for name in names
    }


def _note(each: Mapping[str, Estimate], spread: Mapping[str, float]) -> tuple[str, ...]:
    parts = ", ".join(f"{sd:.4f} for {name}" for name, sd in spread.items())
    says = (
        f"Values are averaged over {len(each)} seeds ({', '.join(each)}) within users. The "
        f"standard deviation over seeds is {parts}."
    )
    return (says,)


def _mean_naive(each: Mapping[str, Estimate]) -> Mapping[str, float] | None:
    found = [one.naive for one in each.values()]
    if any(one is None for one in found):
        return None
    return {name: float(np.mean([one[name] for one in found if one])) for name in found[0] or {}}


def _mean_also(each: Mapping[str, Estimate]) -> Mapping[str, tuple[float, Interval]]:
    """Further metrics, whose intervals are no shorter than those of the first seed."""
    first = next(iter(each.values()))
    means = {
        name: float(np.mean([one.also[name][0] for one in each.values()])) for name in first.also
    }
    return {name: (mean, first.also[name][1].with_(mean)) for name, mean in means.items()}


def _mixture(each: Mapping[str, Estimate]) -> RankDistribution | None:
    """P(R) over the targets of all seeds."""
    found = [one.distribution for one in each.values() if one.distribution is not None]
    if len(found) < len(each):
        return None
    return replace(found[0], mass=checks.frozen(np.mean([one.mass for one in found], axis=0)))
