"""What a sampled metric means: its cut-off in the catalogue, and its mean by true rank."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from fullrank._lib import checks
from fullrank._lib.tabular import takes_several
from fullrank.designs import Design, expected_metric
from fullrank.errors import InputError
from fullrank.estimators.uniform import mapping
from fullrank.inference.estimation.doubts import size_doubts
from fullrank.inference.explanation.result import Explanation, Explanations
from fullrank.metrics import DEFAULT, Metric, parse_all
from fullrank.samples import ExactRanks, RankSample
from fullrank.samples.as_ranks import Ranks, as_ranks

_SAYS = {
    "linear": "the rank at which a target's sampled rank is {k} on average",
    "bound": "the rank at which a target has about an even chance of being in the sampled top {k}",
    "beta": "assumes that better ranks are likelier, with P(R) proportional to R^{power:.2g}",
    "fitted": "the same, with the exponent fitted to the ranks",
}


@takes_several(Explanations)
def explain(
    ranks: Ranks | None = None,
    metrics: str | Metric | Iterable[str | Metric] = DEFAULT,
    *,
    n_items: int | None = None,
    design: str | Design | None = None,
) -> Explanation:
    """Explain what metrics of ranks among sampled candidates mean in the full catalogue.

    Parameters
    ----------
    ranks : a RankSample, ExactRanks, or an array, series or tensor of ranks, to which the mapping
        function beta@a is fitted; a mapping from names of models to any of these returns
        `Explanations`; or None
    metrics : names such as ``"hr@10"``, computed among the candidates
    n_items, design : for an array, or without ranks: the number of items, including the target,
        and how candidates are drawn, such as ``"sampled:100"``

    Notes
    -----
    Only the hit rate (with one target, recall) at k has a corresponding cut-off: SHR@k ≈
    HR@f(k) with the mapping functions of Li et al. (2020). For other metrics the table has the
    mean of the sampled metric at each true rank (Rendle 2019).

    Examples
    --------
    >>> said = explain(metrics="hr@10", design="sampled:100", n_items=10_000)
    >>> {how: round(place) for how, place in said.stands_for["hr@10"].items()}
    {'linear': 910, 'bound': 960, 'beta@0.5': 979}
    >>> said.expected["hr@10"][said.true_rank == 500].round(2)
    array([0.97])
    """
    wanted = parse_all(metrics)
    fitted = sample = None
    if ranks is not None:
        taken = as_ranks(ranks, n_items=n_items, design=design)
        sample = taken.whole_sample() if isinstance(taken, ExactRanks) else taken
        n, items = _one_size(sample)
        drawn = sample.design.of_size(n)
        fitted = mapping.fit_beta(sample) if drawn.uniform else None
    else:
        items = checks.integer("n_items", n_items, low=2)
        if design is None:
            raise InputError(
                "`design`, such as 'sampled:100', must be given if there are no ranks."
            )
        drawn = Design.of(design)
        if drawn.adaptive or len(drawn.rounds(items).sizes) > 1:
            raise InputError(
                "`design` must have one sample size if there are no ranks, as in sampled:100, not "
                f"{drawn}."
            )
        n = checks.integer("sample_size", drawn.size_for(items), low=2)
    true = _shown_ranks(items)
    expected = {m.name: expected_metric(true, m, n_items=items, design=drawn) for m in wanted}
    # the mapping functions are those of uniform draws
    stands, why = _stands_for(wanted, n, items, fitted) if drawn.uniform else ({}, {})
    return Explanation(
        metrics=tuple(metric.name for metric in wanted),
        sample_size=n,
        n_items=items,
        design=drawn,
        resolution=items / n,
        stands_for=stands,
        true_rank=checks.frozen(true),
        exact={m.name: checks.frozen(m.weights(true, items)) for m in wanted},
        expected={m: checks.frozen(values) for m, values in expected.items()},
        needed={m.name: math.ceil(items / m.k) for m in wanted if m.k is not None and m.k <= items},
        sampled=None if sample is None else {m.name: sample.naive(m) for m in wanted},
        why=why,
        notes=() if sample is None else size_doubts([sample]),
    )


def _one_size(sample: RankSample) -> tuple[int, int]:
    """Candidates and items, which all targets share."""
    sizes = np.unique(sample.sample_size)
    if sample.design.adaptive or sizes.size != 1:
        have = f"these have {sizes[0]:,} to {sizes[-1]:,}"
        if sizes.size == 1:
            have = f"their design, {sample.design}, is adaptive"
        raise InputError(
            f"`ranks` must have the same number of candidates for every target; {have}."
        )
    if sample.n_items is None:
        raise InputError(
            "`ranks` must have one catalogue for all users; these users have their own."
        )
    return int(sizes[0]), sample.n_items


def _stands_for(
    metrics: tuple[Metric, ...], n: int, items: int, fitted: mapping.Mapping | None
) -> tuple[dict[str, dict[str, float]], dict[str, tuple[str, ...]]]:
    functions = [mapping.Mapping(kind=kind, sample_size=n, n_items=items) for kind in mapping.KINDS]
    if fitted is not None:
        functions.append(fitted)
    stands: dict[str, dict[str, float]] = {}
    why = {}
    for metric in metrics:
        if not metric.promises.hits or metric.k is None or metric.k >= n:
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
