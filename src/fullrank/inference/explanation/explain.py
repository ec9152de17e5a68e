"""What a sampled metric means: the catalogue's cut-off, and what ranks look like."""

from __future__ import annotations

import math
from collections.abc import Iterable
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from fullrank._lib import checks
from fullrank.designs import Design, expected_metric
from fullrank.errors import InputError
from fullrank.estimators.uniform import mapping
from fullrank.inference.estimation.doubts import size_doubts
from fullrank.inference.explanation.result import Explanation
from fullrank.metrics import Metric, parse_all
from fullrank.samples import ExactRanks, RankSample

METRICS = ("hit_rate@10",)
MAPPED = ("hit_rate", "recall", "capped_recall")  # the same where users have one target
_SAYS = {
    "linear": "the rank whose sampled rank is {k} on average",
    "bound": "the rank that is about as likely in the sampled top {k} as not",
    "beta": "if good ranks are the likelier, P(R) falling as R^{power:.2g}",
    "fitted": "the same, fitted to the ranks given",
}


def explain(
    sample: RankSample | ExactRanks | None = None,
    metrics: str | Metric | Iterable[str | Metric] = METRICS,
    *,
    design: str | Design | None = None,
    n_items: int | None = None,
) -> Explanation:
    """Say what metrics of ranks among sampled candidates mean in the catalogue.

    Parameters
    ----------
    sample : ranks, to which the mapping function beta@a is fitted; optional
    metrics : names such as ``"hr@10"``, computed among the candidates
    design, n_items : without a sample: how candidates are drawn, such as ``"sampled:100"``, and
        the number of items, including the target

    Notes
    -----
    Only the hit rate (with one target, recall) at k has a corresponding cut-off: SHR@k ≈
    HR@f(k) with the mapping functions of Li et al. 2020. For other metrics there is the mean of
    the sampled metric at each true rank (Rendle 2019).

    Examples
    --------
    >>> said = explain(metrics="hr@10", design="sampled:100", n_items=10_000)
    >>> {how: round(place) for how, place in said.stands_for["hit_rate@10"].items()}
    {'linear': 910, 'bound': 960, 'beta@0.5': 979}
    >>> said.expected["hit_rate@10"][said.true_rank == 500].round(2)
    array([0.97])
    """
    wanted = parse_all(metrics)
    fitted = None
    if isinstance(sample, ExactRanks):
        sample = sample.whole_sample()
    if sample is not None:
        for name, value in (("design", design), ("n_items", n_items)):
            if value is not None:
                raise InputError(f"`{name}` must not be given: the sample carries it.")
        fitted = mapping.fit_beta(sample)
        n, items = fitted.sample_size, fitted.n_items
        drawn = sample.design.of_size(n)
    else:
        items = checks.integer("n_items", n_items, low=2)
        if design is None:
            raise InputError("`design` must be given without a sample, such as 'sampled:100'.")
        drawn = Design.of(design)
        n = checks.integer("sample_size", drawn.size_for(items), low=2)
    true = _shown_ranks(items)
    expected = {m.name: expected_metric(true, m, n_items=items, design=drawn) for m in wanted}
    stands, why = _stands_for(wanted, n, items, fitted)
    return Explanation(
        metrics=tuple(metric.name for metric in wanted),
        sample_size=n,
        n_items=items,
        design=drawn,
        resolution=items / n,
        stands_for=stands,
        true_rank=checks.frozen(true),
        exact=MappingProxyType({m.name: checks.frozen(m.weights(true, items)) for m in wanted}),
        expected=MappingProxyType({m: checks.frozen(values) for m, values in expected.items()}),
        needed=MappingProxyType(
            {m.name: math.ceil(items / m.k) for m in wanted if m.k is not None and m.k <= items}
        ),
        sampled=None
        if sample is None
        else MappingProxyType({metric.name: sample.naive(metric) for metric in wanted}),
        _why=why,
        notes=() if sample is None else size_doubts([sample]),
    )


def _stands_for(
    metrics: tuple[Metric, ...], n: int, items: int, fitted: mapping.Mapping | None
) -> tuple[dict[str, dict[str, float]], dict[str, tuple[str, ...]]]:
    functions = [mapping.Mapping(kind=kind, sample_size=n, n_items=items) for kind in mapping.KINDS]
    if fitted is not None:
        functions.append(fitted)
    stands: dict[str, dict[str, float]] = {}
    why = {}
    for metric in metrics:
        if metric.kind not in MAPPED or metric.k is None or metric.k >= n:
            continue
        says = []
        stands[metric.name] = {}
        for one in functions:
            label = f"{one} (fitted)" if one is fitted else str(one)
            stands[metric.name][label] = one(metric.k)
            said = _SAYS["fitted" if one is fitted else one.kind]
            says.append(said.format(k=metric.k, power=one.a - 1.0))
        why[metric.name] = tuple(says)
    return stands, why


def _shown_ranks(n_items: int) -> NDArray[np.int64]:
    """1, 2, 5, 10, … and the last."""
    steps = [d * 10**e for e in range(19) for d in (1, 2, 5) if d * 10**e < n_items]
    return np.array([*steps, n_items], dtype=np.int64)
