"""From samples and exact ranks to a report."""

from __future__ import annotations

import platform
import time
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

import numpy as np

from fullrank import __version__
from fullrank._lib import checks
from fullrank._lib.files import PathLike
from fullrank._lib.rng import RandomState
from fullrank.errors import InputError
from fullrank.inference import Comparison, compare
from fullrank.inference.estimation.estimate import check_level
from fullrank.metrics import Metric, parse_all
from fullrank.reporting.conclusions import summary
from fullrank.reporting.escaping import clean, short
from fullrank.reporting.figures.comparison_figures import comparison_figures
from fullrank.reporting.figures.rank_figures import blind_figure, efficiency_figure, rank_figure
from fullrank.reporting.figures.recall_figures import recall_figures
from fullrank.reporting.measurement import Measurement, described, measure, n_items, unique
from fullrank.reporting.result import Report
from fullrank.samples import ExactRanks, RankSample

_LONGEST = 80  # characters of a name
METRICS = ("recall@10", "ndcg@10", "ap@10")
_WHISKERS = 9  # cut-offs at which bounds are shown, at most, beside those asked for


def build_report(
    samples: Mapping[str, RankSample | ExactRanks],
    *,
    exact: Mapping[str, ExactRanks | RankSample] | None = None,
    metrics: str | Metric | Iterable[str | Metric] = METRICS,
    title: str | None = None,
    measured: Mapping[str, Any] | None = None,
    method: str = "auto",
    confidence_level: float = 0.95,
    bounds: bool = True,
    rng: RandomState = None,
) -> Report:
    """Everything that ranks say about one model or several, ready to be written as a page.

    Parameters
    ----------
    samples : name to RankSample or ExactRanks, one model or more
    exact : name to the exact ranks of the same users, where they are known beside a sample:
        ExactRanks, or a RankSample that holds every item
    metrics : names such as ``"ndcg@10"``; the first is the one that the summary speaks of
    title : of the page
    measured : label to text, shown under "How it was measured": the data, the seed, the time
    method : the estimator for samples, as in `fullrank.estimate`
    confidence_level : of the intervals and bounds
    bounds : whether to compute what each sample allows without any assumption
    rng : None, int, SeedSequence or Generator, for the probabilities of being the best

    Returns
    -------
    Report
        `write_html` writes the page, `plot` draws one of its figures.

    Notes
    -----
    Parts that do not apply are left out, and `notes` says why where it is not plain: models whose
    users cannot be paired are not compared, samples of multi-target users have neither
    bounds nor one distribution of ranks. It takes about half a second for each model.

    Examples
    --------
    >>> from fullrank.samples import simulate
    >>> samples = {
    ...     name: simulate(
    ...         [1 + u * step % 2000 for u in range(800)], n_items=2000, sample_size=100, rng=0
    ...     )
    ...     for name, step in (("old", 7), ("new", 2))
    ... }
    >>> report = build_report(samples, metrics="recall@100", rng=0)
    >>> list(report.figures)
    ['recall', 'recall-1', 'recall-2', 'ranks', 'blind-spot', 'differences', 'winner']
    >>> report.summary[0]
    'Two models were measured on 800 users: each held-out item was ranked among 100 of 2,000 items, drawn at random.'
    """  # noqa: E501 (the last line of the example is one sentence)
    started = time.perf_counter()
    known = _check(samples, exact)
    wanted = unique(parse_all(metrics))
    level = check_level(confidence_level)
    cuts = _whisker_cuts(samples.values(), wanted)
    models = tuple(
        measure(
            label,
            samples[name],
            known.get(name),
            metrics=wanted,
            cuts=cuts,
            method=method,
            confidence_level=level,
            with_bounds=checks.flag("bounds", bounds),
        )
        for name, label in _printable(samples).items()
    )
    comparison, notes = _compared(samples, wanted, method, level, rng)
    names = [model.name for model in models]
    largest = max((metric.k for metric in wanted if metric.k is not None), default=10)
    figures = [
        *recall_figures(models, largest),
        rank_figure(models),
        blind_figure(models),
        *(comparison_figures(comparison, names) if comparison is not None else ()),
        efficiency_figure(models),
    ]
    told = {clean(str(label)): clean(str(text)) for label, text in (measured or {}).items()}
    made = {
        "what was ranked": "; ".join(dict.fromkeys(described(model.given) for model in models)),
        "fullrank": __version__,
        "Python": platform.python_version(),
        "numpy": np.__version__,
        "report made on": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "time to make it": f"{time.perf_counter() - started:.1f} s",
    }
    return Report(
        title=clean(_default_title(models) if title is None else str(title)),
        summary=summary(models, comparison, wanted[0].name, level),
        models=models,
        metrics=tuple(metric.name for metric in wanted),
        confidence_level=level,
        comparison=comparison,
        figures=MappingProxyType({one.name: one for one in figures if one is not None}),
        notes=notes,
        measured=MappingProxyType(told | {k: v for k, v in made.items() if k not in told}),
    )


def write_report(
    samples: Mapping[str, RankSample | ExactRanks], path: PathLike, **settings: Any
) -> Report:
    """Build a report and write it as one HTML file; `settings` are those of `build_report`.

    Examples
    --------
    >>> from fullrank.samples import simulate
    >>> sample = simulate([3, 8, 20, 50] * 50, n_items=100, sample_size=20, rng=0)
    >>> report = write_report({"model": sample}, "report.html")  # doctest: +SKIP
    """
    report = build_report(samples, **settings)
    report.write_html(path)
    return report


def _check(samples: Any, exact: Any) -> Mapping[str, ExactRanks | RankSample]:
    """The exact ranks by name, once both arguments are what they must be."""
    if not isinstance(samples, Mapping) or not samples:
        raise InputError("`samples` must map the name of a model, or of several, to its ranks.")
    for name, given in samples.items():
        if not isinstance(name, str):
            raise InputError(f"`samples` must name its models by text, not {name!r}.")
        if not isinstance(given, RankSample | ExactRanks):
            raise InputError(
                f"`samples` must hold RankSample or ExactRanks; {name} is a {type(given).__name__}."
            )
    known = {} if exact is None else exact
    if not isinstance(known, Mapping):
        raise InputError("`exact` must map names of models to their exact ranks.")
    for name, ranks in known.items():
        if name not in samples:
            raise InputError(f"`exact` must name models of `samples`; {name!r} is none.")
        whole = isinstance(ranks, RankSample) and ranks.exhausted
        if not (whole or isinstance(ranks, ExactRanks)):
            raise InputError(
                f"`exact` must hold ExactRanks, or samples of every item; {name} is neither."
            )
        if n_items(ranks) > n_items(samples[name]):  # fewer where training items are left out
            raise InputError(
                f"`exact` must be of the same catalogue; {name} has {n_items(ranks):,} items "
                f"there and {n_items(samples[name]):,} in its sample."
            )
    return known


def _printable(names: Iterable[str]) -> dict[str, str]:
    """Each name as it can be printed, cut if very long; those that look alike then are numbered."""
    found: dict[str, str] = {}
    for name in names:
        label = short(clean(name), _LONGEST) or "(no name)"
        taken = sum(label == other.rsplit(" #", 1)[0] for other in found.values())
        found[name] = f"{label} #{taken + 1}" if taken else label
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
    samples: Mapping[str, Any],
    metrics: tuple[Metric, ...],
    method: str,
    level: float,
    rng: RandomState,
) -> tuple[Comparison | None, tuple[str, ...]]:
    """The comparison, or why there is none."""
    if len(samples) < 2:
        return None, ()
    try:
        found = compare(samples, metrics, method=method, confidence_level=level, rng=rng)
    except InputError as error:
        return None, (clean(f"The models were not compared: {error}".replace("`", "")),)
    told = (note.replace("`estimate` gives", "the table of metrics gives") for note in found.notes)
    return found, tuple(clean(note.replace("`", "")) for note in told)


def _default_title(models: tuple[Measurement, ...]) -> str:
    if len(models) == 1:
        return f"{models[0].name} on the full catalogue"
    return f"{len(models)} models on the full catalogue"
