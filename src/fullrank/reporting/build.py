"""From results, or the samples and exact ranks behind them, to a report."""

from __future__ import annotations

import platform
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain, count
from typing import Any

import numpy as np

from fullrank import __version__
from fullrank._lib import checks
from fullrank._lib.checks import RandomState
from fullrank._lib.files import PathLike
from fullrank.errors import InputError
from fullrank.inference import Bounds, Comparison, Estimate, Estimates, compare
from fullrank.inference.estimation.estimate import check_level
from fullrank.inference.estimation.result import PEOPLE
from fullrank.metrics import DEFAULT, ByMetric, Metric, named, parse_all, spelled
from fullrank.reporting.conclusions import foremost, leading, summary
from fullrank.reporting.escaping import clean, short
from fullrank.reporting.figures.comparison_figures import comparison_figures
from fullrank.reporting.figures.metric_figures import metric_figures
from fullrank.reporting.figures.rank_figures import blind_figure, efficiency_figure, rank_figure
from fullrank.reporting.figures.recall_figures import recall_figures
from fullrank.reporting.measurement import (
    Measurement,
    best_first,
    described,
    drawn_cuts,
    measure,
    n_items,
    recalls_at,
    unique,
)
from fullrank.reporting.result import Report, check_suffix
from fullrank.samples import ExactRanks, RankSample
from fullrank.samples.as_ranks import within_reach

Result = RankSample | ExactRanks | Estimate

_LONGEST = 80  # characters of a name
_WHISKERS = 9  # cut-offs at which bounds are shown, at most, beside those asked for


def report(
    results: Any,
    path: PathLike | None = None,
    *,
    title: str | None = None,
    exact: Mapping[str, ExactRanks | RankSample] | None = None,
    metrics: str | Metric | Iterable[str | Metric] | None = None,
    comparison: Comparison | None = None,
    bounds: bool | Mapping[str, Bounds] = True,
    measured: Mapping[str, Any] | None = None,
    method: str = "auto",
    confidence_level: float | None = None,
    rng: RandomState = None,
) -> Report:
    """Write a report on the results of one or more models.

    The page opens with the conclusions: which model is best, by how much, with what certainty, and
    what the sample does not show. Given results are shown unchanged; missing ones are computed, and
    each sample is estimated once.

    Parameters
    ----------
    results : an Evaluation; Estimates, or a mapping from names to Estimate, RankSample or
        ExactRanks; or one of these alone
    path : the file to write, completely or not at all: the page to ``.html``, or the numbers to
        ``.json`` or ``.parquet``; None writes no file
    title : the title of the page
    exact : a mapping from names to the exact ranks of the same users, if they are known in addition
        to a sample: ExactRanks, or a RankSample that holds every item
    metrics : names such as ``"ndcg@10"``; the summary is about the first. Default: those of the
        estimates or the comparison, otherwise recall@10 and ndcg@10
    comparison : a Comparison of the same models and full-catalogue metrics; default: computed from
        the samples, unless estimates have several seeds
    bounds : a mapping from names to Bounds, or whether to compute them; they assume nothing about
        the ranks
    measured : a mapping from labels to text, shown under "How it was measured": the data, the seed,
        the time. "data" and "date" are also shown below the title; the default date is today
    method : the estimator for samples, as in `fullrank.estimate`
    confidence_level : level of the intervals and bounds; default: that of the results, otherwise
        0.95
    rng : None, int, SeedSequence or Generator, for the probabilities of being the best

    Returns
    -------
    Report
        `write` writes the page, `plot` draws one of its figures.

    Notes
    -----
    Parts that do not apply are omitted, and `notes` gives the reason where it is not obvious:
    models whose users cannot be paired are not compared, and samples of multi-target users have
    neither bounds nor a single distribution of ranks. A report takes about half a second per
    model.

    Examples
    --------
    >>> from fullrank.samples import simulate
    >>> samples = {
    ...     name: simulate(
    ...         [1 + u * step % 2000 for u in range(800)], n_items=2000, design="sampled:100", rng=0
    ...     )
    ...     for name, step in (("old", 7), ("new", 2))
    ... }
    >>> page = report(samples, metrics="recall@100", rng=0)
    >>> list(page.figures)
    ['metrics', 'recall', 'recall-1', 'recall-2', 'ranks', 'blind-spot', 'differences', 'winner']
    >>> page.summary[-1]
    'Two models were evaluated on 800 users each. Each held-out item (target) was ranked among 100 of 2,000 items, drawn at random.'
    """  # noqa: E501 (the last line of the example is two sentences)
    if hasattr(results, "for_report"):
        told_by = results.for_report()
        results, metrics = told_by["results"], told_by["metrics"] if metrics is None else metrics
        comparison = told_by["comparison"] if comparison is None else comparison
        measured = told_by["measured"] if measured is None else measured
    elif isinstance(results, Estimates):
        results = results.models
    elif isinstance(results, RankSample | ExactRanks | Estimate):
        results = {"model": results}
    known, told = _check(results, exact), _told(measured)
    if path is not None:
        check_suffix(path)
    made: list[Estimate | Comparison]
    made = [one for one in results.values() if isinstance(one, Estimate)]
    if comparison is not None:
        made.append(_checked(comparison, results))
    samples = {name: _ranks(one) for name, one in results.items()}
    wanted = _metrics(made, metrics, within_reach(DEFAULT, samples.values()))
    level = _level(made, confidence_level)
    if comparison is not None:
        comparison = _narrowed(comparison, wanted)
    limits = _limits(bounds, results)
    cuts = _whisker_cuts(samples.values(), wanted)
    models = tuple(
        measure(
            label,
            results[name],
            known.get(name),
            metrics=wanted,
            cuts=cuts,
            method=method,
            confidence_level=level,
            limits=limits.get(name, False) if isinstance(limits, Mapping) else limits,
        )
        for name, label in _printable(results).items()
    )
    comparison, notes = (
        _compared(results, wanted, method, level, rng)
        if comparison is None
        else (comparison, comparison.notes)
    )
    names = [model.name for model in models]
    first = wanted[0].name
    best_at = {
        metric.name: row
        for metric in wanted
        if (row := leading(models, comparison, metric.name)) is not None
    }
    order = best_first(models, first)
    best = foremost(models, comparison, first)
    largest = max((metric.k for metric in wanted if metric.k is not None), default=10)
    figures = [
        *metric_figures(models, [metric.name for metric in wanted], best_at, comparison, level),
        *recall_figures(models, largest, best, order, level),
        rank_figure(models, order, first),
        blind_figure(models, order, first),
        *(comparison_figures(comparison, names) if comparison is not None else ()),
        efficiency_figure(models, order),
    ]
    how = {
        "what was ranked": "; ".join(dict.fromkeys(described(model.given) for model in models)),
        **_assumed(models),
        **_intervals(models),
        "fullrank": __version__,
        "Python": platform.python_version(),
        "numpy": np.__version__,
    }
    found = Report(
        title=clean(_default_title(models, told) if title is None else str(title)),
        date=told.get("date") or datetime.now(UTC).date().isoformat(),
        summary=summary(models, comparison, first, level),
        models=models,
        metrics=tuple(metric.name for metric in wanted),
        confidence_level=level,
        comparison=comparison,
        figures={one.name: one for one in figures if one is not None},
        notes=tuple(map(clean, (*notes, *_unknown(models)))),
        measured=told | {k: v for k, v in how.items() if k not in told},
    )
    if path is not None:
        found.write(path)
    return found


def drawn_metrics(
    ranks: Iterable[RankSample | ExactRanks],
    metrics: str | Metric | Iterable[str | Metric] = DEFAULT,
) -> tuple[Metric, ...]:
    """Return the recalls that a report of samples draws, for the argument `also` of `estimate`.

    Examples
    --------
    >>> from fullrank.samples import simulate
    >>> sample = simulate([3, 8, 20, 50] * 50, n_items=100, design="sampled:20", rng=0)
    >>> [metric.name for metric in drawn_metrics([sample], "recall@10")][:3]
    ['recall@1', 'recall@2', 'recall@3']
    """
    given = tuple(ranks)
    cuts = _whisker_cuts(given, parse_all(within_reach(metrics, given)))
    drawn = {k for one in given for some in drawn_cuts(one, cuts) for k in some}
    known = [one.max_rank for one in given if isinstance(one, ExactRanks)]
    limit = min((k for k in known if k is not None), default=None)  # of all, as `also` is
    return recalls_at(sorted(k for k in drawn if limit is None or k <= limit))


def _ranks(given: Result) -> RankSample | ExactRanks:
    return given.sample if isinstance(given, Estimate) else given


def _metrics(made: Iterable[Estimate | Comparison], asked: Any, usual: Any) -> tuple[Metric, ...]:
    """The metrics asked for, or those of what was given, which must have them all."""
    there = [one.values if isinstance(one, Estimate) else one.metrics for one in made]
    common = [
        name
        for name in (there[0] if there else ())
        if all(spelled(name, tuple(one)) is not None for one in there)
    ]
    if asked is None:
        if there and not common:
            raise InputError(
                "`results` must have a metric in common, but these have none. Estimate the same "
                "metrics for every model."
            )
        return unique(parse_all(common or usual))
    wanted = unique(parse_all(asked))
    for metric in wanted:
        if there and spelled(metric, common) is None:
            raise InputError(
                f"`metrics` must be among those of `results`, {', '.join(common)}, not {metric}."
            )
    return wanted


def _level(made: Iterable[Estimate | Comparison], asked: float | None) -> float:
    """The confidence level asked for, or that of what was given."""
    levels = {one.confidence_level for one in made if one.confidence_level is not None}
    if asked is not None:
        levels.add(check_level(asked))
    if len(levels) > 1:
        shown = ", ".join(f"{one:g}" for one in sorted(levels))
        raise InputError(f"`confidence_level` must be the same for the whole report, not {shown}.")
    return levels.pop() if levels else 0.95


def _checked(comparison: Any, results: Mapping[str, Result]) -> Comparison:
    if not isinstance(comparison, Comparison):
        kind = type(comparison).__name__
        raise InputError(f"`comparison` must be a Comparison, not {kind}.")
    if "naive" in comparison.methods:
        raise InputError(
            "`comparison` must compare full-catalogue metrics; this one compares sampled metrics "
            '(method="naive").'
        )
    if comparison.models != tuple(checks.printable(name) for name in results):
        raise InputError(
            f"`comparison` must compare the models of `results` in their order, "
            f"{', '.join(results)}; this one compares {', '.join(comparison.models)}."
        )
    return comparison


def _narrowed(comparison: Comparison, metrics: tuple[Metric, ...]) -> Comparison:
    """The comparison at the metrics of the report, in its order."""
    names = tuple(named(metric, comparison.metrics) for metric in metrics)
    if names == comparison.metrics:
        return comparison
    at = [comparison.metrics.index(name) for name in names]
    return replace(
        comparison,
        metrics=names,
        estimate=comparison.estimate[:, at],
        standard_error=comparison.standard_error[:, at],
        p_best=comparison.p_best[:, at],
        differences=tuple(one for one in comparison.differences if one.metric in names),
        naive_best=ByMetric({k: v for k, v in comparison.naive_best.items() if k in names}),
    )


def _intervals(models: tuple[Measurement, ...]) -> dict[str, str]:
    """Whom the intervals are about and how they were made, where it is not the usual."""
    kinds = {(one.estimate.interval_for, one.estimate.uncertainty): None for one in models
             if one.estimate is not None}  # fmt: skip
    if set(kinds) <= {("population", "influence")}:
        return {}
    ways = {"influence": "influence functions"}
    told = (f"for {PEOPLE[who]}, by {ways.get(how, how)}" for who, how in kinds)
    return {"intervals": "; ".join(told)}


def _unknown(models: tuple[Measurement, ...]) -> tuple[str, ...]:
    """Why there is no distribution of ranks of some models."""
    ranks = [(one.name, one.given.max_rank) for one in models if isinstance(one.given, ExactRanks)]
    some = [f"{name} (up to {known:,})" for name, known in ranks if known is not None]
    if not some:
        return ()
    says = "No distribution of ranks is drawn for models whose ranks are known only up to a limit"
    return (f"{says}: {', '.join(some)}.",)


def _assumed(models: tuple[Measurement, ...]) -> dict[str, str]:
    """What the estimates take for granted, each once."""
    found = [one.estimate.diagnosis.assumed for one in models if one.estimate is not None]
    notes = dict.fromkeys(note for some in found for note in some)
    return {"assumed": " ".join(notes)} if notes else {}


def _check(results: Any, exact: Any) -> Mapping[str, ExactRanks | RankSample]:
    """The exact ranks by name, once both arguments are what they must be."""
    if not isinstance(results, Mapping) or not results:
        got = "it is empty" if isinstance(results, Mapping) else f"got {type(results).__name__}"
        raise InputError(f"`results` must map names of models to their results; {got}.")
    for name, given in results.items():
        if not isinstance(name, str):
            raise InputError(f"`results` must have text as the names of models, not {name!r}.")
        if not isinstance(given, RankSample | ExactRanks | Estimate):
            raise InputError(
                f"`results` must hold Estimate, RankSample or ExactRanks; {name} is of type "
                f"{type(given).__name__}."
            )
    known = {} if exact is None else exact
    if not isinstance(known, Mapping):
        raise InputError(
            f"`exact` must map names of models to their exact ranks; got {type(known).__name__}."
        )
    for name, ranks in known.items():
        if name not in results:
            raise InputError(f"`exact` must name models of `results`; {name!r} is not one.")
        whole = isinstance(ranks, RankSample) and ranks.exhausted
        if not (whole or isinstance(ranks, ExactRanks)):
            raise InputError(
                f"`exact` must hold ExactRanks or complete samples; {name} is neither."
            )
        most = n_items(_ranks(results[name]))
        if n_items(ranks) > most:  # fewer where training items are left out
            raise InputError(
                f"`exact` must hold ranks in the same catalogue as `results`; {name} has "
                f"{n_items(ranks):,} items in `exact` and {most:,} in `results`."
            )
    return known


def _limits(bounds: Any, results: Mapping[str, Result]) -> Mapping[str, Bounds] | bool:
    """The bounds given by name, or whether to compute them."""
    if not isinstance(bounds, Mapping):
        return checks.flag("bounds", bounds)
    for name, one in bounds.items():
        if name not in results:
            raise InputError(f"`bounds` must name models of `results`; {name!r} is not one.")
        if not isinstance(one, Bounds):
            raise InputError(
                f"`bounds` must map names of models to Bounds; {name} is of type "
                f"{type(one).__name__}."
            )
        if one.shape is not None:  # the page says that bounds assume nothing about the ranks
            raise InputError(
                f"`bounds` must assume no shape; those of {name} assume shape={one.shape!r}."
            )
    return bounds


def _told(measured: Any) -> dict[str, str]:
    """What the caller says of the measurement, as it can be printed."""
    if not isinstance(measured, Mapping | None):
        raise InputError(f"`measured` must map labels to text; got {type(measured).__name__}.")
    return {clean(str(label)): clean(str(text)) for label, text in (measured or {}).items()}


def _printable(names: Iterable[str]) -> dict[str, str]:
    """Each name as it can be printed, cut if very long; those that look alike then are numbered."""
    labels = {name: short(clean(name), _LONGEST) or "(no name)" for name in names}
    kept, found = set(labels.values()), dict[str, str]()  # a number must not make another's name
    for name, label in labels.items():
        numbered = (f"{label} #{n}" for n in count(2) if f"{label} #{n}" not in kept)
        found[name] = next(one for one in chain((label,), numbered) if one not in found.values())
    return found


def _whisker_cuts(
    given: Iterable[RankSample | ExactRanks], metrics: Iterable[Metric]
) -> tuple[int, ...]:
    """1, 3, 10, 30, … and the cut-offs asked for, well beyond what rank 1 stands for."""
    asked = {metric.k for metric in metrics if metric.k is not None}
    reach = max(asked, default=10)
    for one in given:
        if isinstance(one, RankSample):
            reach = max(reach, n_items(one) // int(one.sample_size.max()))
    steps = [factor * 10**power for power in range(12) for factor in (1, 3)]
    kept = [k for k in steps if k <= 10 * reach]
    return tuple(sorted({*(kept if len(kept) <= _WHISKERS else kept[::2]), *asked}))


def _compared(
    results: Mapping[str, Result],
    metrics: tuple[Metric, ...],
    method: str,
    level: float,
    rng: RandomState,
) -> tuple[Comparison | None, tuple[str, ...]]:
    """The comparison, or why there is none."""
    if len(results) < 2:
        return None, ()
    if any(isinstance(one, Estimate) and one.seeds for one in results.values()):
        says = (
            "The models were not compared, because some have several seeds. Call `compare` with "
            "the same seeds and pass its result as `comparison=`."
        )
        return None, (says,)
    samples = {name: _ranks(one) for name, one in results.items()}
    try:
        found = compare(samples, metrics, method=method, confidence_level=level, rng=rng)
    except InputError as error:
        return None, (f"The models were not compared, because `compare` refuses them. {error}",)
    return found, found.notes


def _default_title(models: tuple[Measurement, ...], told: Mapping[str, str]) -> str:
    """The models, and the data set where its name is known: what comes before a colon or comma."""
    what = models[0].name if len(models) == 1 else f"{len(models)} models"
    data = re.split(r"[:;,]", (told.get("data") or told.get("Data", "")))[0].strip()
    return f"{what} on {data if data and data != 'as given' else 'the full catalogue'}"
