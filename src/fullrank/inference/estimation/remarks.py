"""How estimates are printed: one table for all models, and remarks below it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fullrank._lib.results import markup
from fullrank.estimators.uniform.mapping import fit_beta
from fullrank.metrics import parse
from fullrank.samples import ExactRanks, RankSample, Seeds

if TYPE_CHECKING:
    from fullrank.inference.estimation.result import Estimate

_APPROXIMATE = "This estimator stays biased even when every item is sampled."
_ALLOWED = (
    "Smoothing leaves a bias that more users do not remove; the interval is widened to allow for "
    "it."
)


def page(models: Mapping[str, Estimate], assumed: tuple[str, ...] = ()) -> str:
    """What was ranked, the table, and the remarks, each once if it holds for all models."""
    head, rows = table(models, aligned=True)
    body = markup.text(head, rows, left=(0, 1) if len(models) > 1 else (0,))
    samples = {name: one.sample for name, one in models.items()}
    return "\n".join([*described(samples), *assumed, "", *body, "", *_remarks(models)])


def table(
    models: Mapping[str, Estimate], *, aligned: bool = False
) -> tuple[list[str], list[list[str]]]:
    """Models by metrics; `aligned` gives marks a place of their own, so that numbers line up."""
    several, rows, none = len(models) > 1, [], "  " if aligned else ""
    for name, one in models.items():
        for place, metric in enumerate(one.values):
            *cells, last = one.cells(metric)
            label = [name if place == 0 else ""] if several else []
            rows.append([*label, *cells, last + (" ▲" if one.marked(metric) else none)])
    *head, last = next(iter(models.values())).head()
    return [*(["model"] if several else []), *head, last + none], rows


def _remarks(models: Mapping[str, Estimate]) -> list[str]:
    """What holds for all models, then what holds for some, with their names."""
    lines: dict[str, list[str]] = {}
    for name, one in models.items():
        for line in one.remarks():
            lines.setdefault(line, []).append(name)
    some = {line: names for line, names in lines.items() if len(names) < len(models)}
    every = [line for line in lines if line not in some]
    return [*every, *(f"{', '.join(names)}: {line}" for line, names in some.items())]


def described(samples: Mapping[str, RankSample | ExactRanks | Seeds]) -> list[str]:
    """What was ranked among what: in a line, or in one for each model where they differ."""
    lines = {
        model: sample.about() if isinstance(sample, ExactRanks) else str(sample)
        for model, sample in samples.items()
    }
    if len(set(lines.values())) == 1:
        return list(lines.values())[:1]
    return [f"{model}: {line}" for model, line in lines.items()]


def remarks(one: Estimate) -> Iterator[str]:
    """Remarks on the numbers, the most useful first."""
    if one.bounds is not None and one.bounds.contradiction is not None:
        yield f"▲ {one.bounds.contradiction}"
    for name, stands in stands_for(one.sample, one.values).items():
        size = f"{stands['sample_size']:,} candidates"
        yield f"{name} among {size} corresponds to about {stands['text']}."
    if one.method == "exact":
        yield f"Exact: {one.reason}."
    else:
        yield f"Estimator: {one.method} ({one.reason})."
    if not one.recovers_exact:
        allowed = any(bound > 0.0 for bound in one.diagnosis.leans.values())
        yield _ALLOWED if allowed else _APPROXIMATE
    yield from one.diagnosis.lines()


def stands_for(
    sample: RankSample | ExactRanks, metrics: Mapping[str, Any]
) -> dict[str, dict[str, Any]]:
    """The catalogue's cut-off of every hit rate, where the design has a mapping function."""
    if isinstance(sample, ExactRanks):
        return {}
    same = np.unique(sample.sample_size).size == 1 and sample.n_items is not None
    if (
        sample.design.adaptive
        or sample.several
        or sample.exhausted
        or not same
        or not sample.design.uniform
    ):
        return {}
    mapping = fit_beta(sample) if int(sample.sample_size[0]) > 1 else None
    found = {}
    for name in metrics:
        metric = parse(name)
        if mapping and metric.k and metric.k < mapping.sample_size and metric.promises.hits:
            place = mapping(metric.k)
            found[name] = {
                "k": place,
                "mapping": str(mapping),
                "sample_size": mapping.sample_size,
                "text": f"{metric.word}@{round(place):,} in the catalogue (mapping {mapping})",
            }
    return found


def is_told(sample: RankSample | ExactRanks, name: str) -> bool:
    """Whether the naive value is informative: among n candidates everything is in the top n."""
    cut = parse(name).k
    if isinstance(sample, ExactRanks):
        return False
    return cut is None or cut < int(sample.sample_size.max())
