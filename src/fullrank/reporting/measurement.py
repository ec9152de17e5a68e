"""One model as the report shows it: estimated, exact and naive values, bounds, and notes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fullrank.designs import RankGrid
from fullrank.estimators.uniform.mapping import fit_beta
from fullrank.inference import Bounds, Estimate, Interval, bounds, estimate
from fullrank.inference.bounding.bounds import unbounded, unmet
from fullrank.inference.estimation.exact import exact_values
from fullrank.metrics import ByMetric, Metric, parse
from fullrank.samples import ExactRanks, RankDistribution, RankSample

Metrics = tuple[Metric, ...]

_NONE = Interval(float("nan"), float("nan"))
_PER_DECADE = 12  # points of a curve
_SEVERAL = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100)  # where each K costs fits of its own

_CONTRADICTED = (
    "There are no bounds: no distribution of ranks is consistent with the sampled ranks, so the "
    "candidates were not drawn as the design states."
)


@dataclass(frozen=True, kw_only=True)
class Value:
    """A metric of one model: NaN or None for what is not known.

    Attributes
    ----------
    metric : its name
    estimate, low, high, standard_error : on the full catalogue, with its interval
    naive : the metric among the sampled candidates
    exact : from exact ranks of the same users
    least, most : the bounds (see `fullrank.bounds`)
    warnings : why the interval may miss more often than it says
    marked : whether the sample says little about the estimate, as `Estimate.marked` has it
    """

    metric: str
    estimate: float
    low: float
    high: float
    standard_error: float
    naive: float | None = None
    exact: float | None = None
    least: float | None = None
    most: float | None = None
    warnings: tuple[str, ...] = ()
    marked: bool = False


@dataclass(frozen=True, kw_only=True, eq=False)
class Measurement:
    """One model.

    Attributes
    ----------
    name : printable
    given, exact : the ranks that were measured, and exact ranks of the same users, if known
    values : metric name to Value, for the requested metrics
    curve : recall at many K
    whiskers : recall at a few K, with bounds
    mapped : the sampled curve in global coordinates, (K, recall); empty where there is none
    mapping : the name of its mapping function
    estimate, bounds : where the model was sampled, and where there are any
    notes : further remarks
    """

    name: str
    given: RankSample | ExactRanks
    exact: ExactRanks | RankSample | None
    values: Mapping[str, Value]
    curve: tuple[tuple[int, Value], ...]
    whiskers: tuple[tuple[int, Value], ...]
    mapped: tuple[tuple[float, float], ...]
    mapping: str
    estimate: Estimate | None
    bounds: Bounds | None
    notes: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", ByMetric(self.values))

    @property
    def sampled(self) -> bool:
        """Whether there was anything to estimate."""
        return isinstance(self.given, RankSample) and not self.given.exhausted

    @property
    def n_items(self) -> int:
        """Items of the catalogue; of the largest where users have their own."""
        return n_items(self.given)

    @property
    def reach(self) -> int:
        """The last cut-off of its curve."""
        return reach(self.given)

    @property
    def resolution(self) -> float:
        """How many ranks rank 1 of the sample covers; 1 for exact ranks."""
        found = self.estimate
        return found.diagnosis.resolution if self.sampled and found is not None else 1.0

    @property
    def first_exact(self) -> bool:
        """Whether rank 1 of the sample, at its largest size, is rank 1 of the catalogue."""
        given = self.given
        if isinstance(given, ExactRanks):
            return True
        whole = given.design.exhausted(given.sample_size, given.pool)
        return self.resolution <= 1.0 and bool(whole.any())


def n_items(given: RankSample | ExactRanks) -> int:
    """Items of the catalogue; of the largest where users have their own."""
    if isinstance(given, ExactRanks):
        return int(given.candidates.max())
    rows = given.rows
    return given.n_items or int(given.pool.max() if rows is None else rows.n_items.max())


def reach(given: RankSample | ExactRanks) -> int:
    """The largest cut-off at which recall is known: N, or K of ranks up to K."""
    known = given.max_rank if isinstance(given, ExactRanks) else None
    return n_items(given) if known is None else min(known, n_items(given))


def best_first(models: Sequence[Measurement], metric: str) -> list[int]:
    """The rows of the models, the one with the highest value of a metric first."""
    return sorted(range(len(models)), key=lambda i: -models[i].values[metric].estimate)


def doubts(models: Iterable[Measurement]) -> tuple[str, ...]:
    """What ▲ marks in a table of the models: what the sample says little about, and warnings."""
    models = tuple(models)
    marked = [one for model in models for one in model.values.values() if one.marked]
    reach, why = [], dict[str, None]()
    for model in models:
        found = model.estimate
        if found is not None and any(found.diagnosis.marks(one) for one in model.values):
            reach.append(round(found.resolution))
        why |= dict.fromkeys(reason for one in model.values.values() for reason in one.warnings)
    told = [
        one if all(one in value.warnings for value in marked) else f"in some cases, {one}"
        for one in why
    ]
    reasons = [f"{one[0].upper()}{one[1:]}" for one in told]
    if not reach and why:
        return ("values with a warning.", *reasons)
    if not reach:
        return ()
    least, most = min(reach), max(reach)
    alike = f"the sample hardly distinguishes ranks 1–{most:,}"
    if least != most:
        alike = f"the samples hardly distinguish the first {least:,} to {most:,} ranks"
    says = (
        f"a metric about which the sample says little: {alike}, so the estimate depends on the "
        "smoothness assumption."
    )
    return (says, *reasons)


def described(given: RankSample | ExactRanks) -> str:
    """What was ranked among what, in a line."""
    return str(given) if isinstance(given, RankSample) else given.about()


def measure(
    name: str,
    given: RankSample | ExactRanks | Estimate,
    exact: ExactRanks | RankSample | None,
    *,
    metrics: Metrics,
    cuts: tuple[int, ...],
    method: str,
    confidence_level: float,
    limits: Bounds | bool,
) -> Measurement:
    """Everything about one model that the report shows: what is given, and the rest once."""
    ranks = given.sample if isinstance(given, Estimate) else given
    curve, few = drawn_cuts(ranks, cuts)
    recalls = recalls_at((*curve, *few))
    allowed: Bounds | None = None
    notes: tuple[str, ...] = ()
    found = given if isinstance(given, Estimate) else estimate(
        ranks, metrics, also=recalls, method=method, confidence_level=confidence_level
    )  # fmt: skip
    limits = limits if found.bounds is None else found.bounds
    averaged = bool(found.seeds)  # `ranks` are those of the first seed alone
    if averaged:
        known = _known(exact, (*metrics, *recalls))
    elif isinstance(ranks, RankSample) and not ranks.exhausted:
        allowed, notes = _bounds(ranks, metrics, recalls_at(few), confidence_level, limits)
        known = _known(exact, (*metrics, *recalls))
    else:
        whole = ranks if isinstance(ranks, ExactRanks) else ExactRanks.of_sample(ranks)
        curve_values = exact_values(whole, recalls, confidence_level)
        found = replace(found, also={**curve_values, **found.also})
        known = _known(found, (*metrics, *recalls))
    values = ByMetric(_values(found, allowed, known, recalls, n_items(ranks)))
    mapped, mapping = ((), "") if averaged else _mapped(ranks)
    return Measurement(
        name=name,
        given=ranks,
        exact=exact,
        values={metric.name: values[metric] for metric in metrics},
        curve=_at(values, curve),
        whiskers=tuple(pair for pair in _at(values, few) if pair[1].least is not None),
        mapped=mapped,
        mapping=mapping,
        estimate=found,
        bounds=allowed,
        notes=notes,
    )


def _at(values: ByMetric[Value], cuts: tuple[int, ...]) -> tuple[tuple[int, Value], ...]:
    """Recall at the cut-offs where it is known."""
    recalls = ((k, Metric("recall", k)) for k in cuts)
    return tuple((k, values[metric]) for k, metric in recalls if metric.name in values)


def recalls_at(cuts: Iterable[int]) -> Metrics:
    """Recall at each cut-off."""
    return unique(Metric("recall", k) for k in cuts)


def drawn_cuts(
    given: RankSample | ExactRanks, cuts: tuple[int, ...]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The cut-offs of the curve, and those of the whiskers, as far as there are items."""
    items = reach(given)
    several = isinstance(given, RankSample) and given.several
    curve = _SEVERAL if several else curve_cuts(items)
    return tuple(k for k in curve if k <= items), tuple(k for k in cuts if k <= items)


def curve_cuts(items: int) -> tuple[int, ...]:
    """Cut-offs from 1 to the number of items, evenly on a log axis."""
    steps = int(np.ceil(_PER_DECADE * np.log10(max(items, 2)))) + 1
    return tuple(np.unique(np.rint(np.geomspace(1, items, steps)).astype(int)).tolist())


def distribution_of(ranks: ExactRanks | RankSample | None) -> RankDistribution | None:
    """P(R) of exact ranks with one target for each user; half ranks count as the next.

    There is none for ranks up to K.
    """
    if isinstance(ranks, ExactRanks) and ranks.max_rank is not None:
        return None
    if isinstance(ranks, ExactRanks) and not (ranks.n_targets > 1).any():
        items, whole = int(ranks.candidates.max()), np.ceil(ranks.ranks).astype(np.int64)
        return RankDistribution.from_ranks(whole, n_items=items, weight=ranks.weight)
    if isinstance(ranks, RankSample) and not ranks.several:
        items = int(ranks.pool.max())
        return RankDistribution.from_ranks(ranks.rank, n_items=items, weight=ranks.weight)
    return None


def unique(metrics: Iterable[Metric]) -> Metrics:
    """Each metric once."""
    return tuple(dict.fromkeys(metrics))


def _bounds(
    sample: RankSample,
    metrics: Metrics,
    recalls: Metrics,
    confidence_level: float,
    given: Bounds | bool,
) -> tuple[Bounds | None, tuple[str, ...]]:
    """The bounds, or why there are none."""
    if given is False:
        return None, ()
    if given is True:
        need = unmet(sample)
        if need is not None:
            return None, (f"There are no bounds, because they need {need.what}.",)
        odd = unbounded(metrics, sample)
        if odd is not None:
            return None, (f"There are no bounds: metrics must {odd}",)
        # the grid of the metrics asked for: one made for K near N would keep every rank
        grid = RankGrid.for_metrics(int(sample.pool.max()), metrics)
        asked, level = unique((*metrics, *recalls)), max(confidence_level, 0.5)
        given = bounds(sample, asked, grid=grid, confidence_level=level)
    return (given, ()) if given.contradicted is None else (None, (_CONTRADICTED,))


def _known(exact: Any, metrics: Metrics) -> Mapping[str, float]:
    """Exact values where there are exact ranks."""
    if exact is None:
        return ByMetric({})
    if isinstance(exact, Estimate):
        beside = {name: value for name, (value, _) in exact.also.items()}
        return ByMetric({**beside, **exact.values})
    if isinstance(exact, ExactRanks):
        last = exact.max_rank
        within = [one for one in metrics if last is None or (one.k is not None and one.k <= last)]
        return ByMetric(exact.metrics(within) if within else {})
    found: Estimate = estimate(exact, metrics, confidence_level=None)
    return found.values


def _values(
    found: Estimate, limits: Bounds | None, known: Mapping[str, float], recalls: Metrics, items: int
) -> dict[str, Value]:
    """Of the metrics asked for, and of recalls as far as the same fit tells them."""
    told = {
        parse(name): (value, found.confidence_interval[name], found.standard_error[name])
        for name, value in found.values.items()
    }
    for metric in (one for one in recalls if one not in told):
        if metric.name in found.also:
            told[metric] = (*found.also[metric.name], np.nan)
        elif found.distribution is not None:  # of the fit, but nobody asked for its interval
            told[metric] = (found.distribution.metric(metric), _NONE, np.nan)
        if metric in told and metric.k is not None and metric.k >= items:  # by definition
            ends = told[metric][1]
            told[metric] = (1.0, Interval(1.0, 1.0) if np.isfinite(ends.low) else ends, np.nan)
    naive = _naive(found, recalls)
    within = ByMetric({} if limits is None else limits.intervals)
    return {
        metric.name: Value(
            metric=metric.name,
            estimate=value,
            low=ends.low,
            high=ends.high,
            standard_error=error,
            naive=naive.get(metric),
            exact=known.get(metric.name),
            least=within[metric].low if metric.name in within else None,
            most=within[metric].high if metric.name in within else None,
            warnings=found.diagnosis.warnings.get(metric.name, ()),
            marked=found.marked(metric.name),
        )
        for metric, (value, ends, error) in told.items()
    }


def _naive(found: Estimate, recalls: Metrics) -> dict[Metric, float]:
    """The sampled metrics as they are, where there are any."""
    if found.naive is None or found.sample.exhausted or not isinstance(found.sample, RankSample):
        return {}
    of_recalls = {} if found.seeds else {metric: found.sample.naive(metric) for metric in recalls}
    return of_recalls | {parse(name): value for name, value in found.naive.items()}


def _mapped(given: Any) -> tuple[tuple[tuple[float, float], ...], str]:
    """The sampled curve in global coordinates, where there is one sampled K for each."""
    if not isinstance(given, RankSample) or given.several or given.design.adaptive:
        return (), ""
    sizes = np.unique(given.sample_size)
    if given.n_items is None or given.n_items < 2 or sizes.size > 1 or sizes[0] < 2:
        return (), ""
    if given.exhausted or not given.design.uniform:
        return (), ""
    mapping = fit_beta(given)
    places, shares = mapping.curve(given)
    kept = np.array(curve_cuts(int(sizes[0]))) - 1
    pairs = zip(places[kept].tolist(), shares[kept].tolist(), strict=True)
    return tuple(pairs), str(mapping)
