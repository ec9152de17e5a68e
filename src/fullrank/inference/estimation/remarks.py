"""What is said beside the numbers of an estimate, and which naive values are worth printing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fullrank.estimators.uniform.mapping import fit_beta
from fullrank.inference.explanation.explain import MAPPED
from fullrank.metrics import parse
from fullrank.samples import RankSample

if TYPE_CHECKING:
    from fullrank.inference.estimation.result import Estimate

_APPROXIMATE = "This estimator stays biased even when every item is sampled."


def remarks(one: Estimate) -> Iterator[str]:
    """What to know about the numbers, the most useful first."""
    if one.bounds is not None and one.bounds.contradiction is not None:
        yield f"▲ {one.bounds.contradiction}"
    for name, stands in stands_for(one.sample, one.values).items():
        yield f"Your {name} among {stands['sample_size']:,} corresponds to about {stands['text']}."
    yield f"Estimated by {one.method}: {one.reason}."
    if not one.recovers_exact:
        yield _APPROXIMATE
    for place, note in enumerate(one.diagnosis.lines()):
        yield f"▲ {note}" if place == 0 and one.diagnosis.blind else note


def stands_for(sample: RankSample, metrics: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The catalogue's cut-off of every hit rate, where the design has a mapping function."""
    same = np.unique(sample.sample_size).size == 1 and sample.n_items is not None
    if sample.design.adaptive or sample.several or sample.exhausted or not same:
        return {}
    mapping = fit_beta(sample) if int(sample.sample_size[0]) > 1 else None
    found = {}
    for name in metrics:
        metric = parse(name)
        if mapping and metric.k and metric.k < mapping.sample_size and metric.kind in MAPPED:
            place = mapping(metric.k)
            found[name] = {
                "k": place,
                "mapping": str(mapping),
                "sample_size": mapping.sample_size,
                "text": f"{metric.kind}@{round(place):,} in the catalogue ({mapping})",
            }
    return found


def is_told(sample: RankSample, name: str) -> bool:
    """Whether the naive value says anything: among n candidates everything is in the top n."""
    cut = parse(name).k
    return cut is None or cut < int(sample.sample_size.max())
