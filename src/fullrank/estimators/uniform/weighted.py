"""Weighted maximum likelihood: outcomes count by a weight w(r) that favours small ranks.

Jin et al. 2021, equations 22-23, in two forms:

- "literal": EM with the observed shares multiplied by w, as printed. It estimates a tilted
  distribution, not P(R): small ranks are over-represented in what it is shown.
- "tilted": the weighted likelihood inside the family of tilted distributions. Under the
  weighting, outcome o of rank R has the probability w_o P(o|R)/E[w|R], and rank R the
  probability P(R) E[w|R] up to a constant; EM finds the latter, and dividing by E[w|R] and
  normalising gives back P(R). It starts from what untilts to the uniform distribution.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from fullrank._lib import checks
from fullrank._lib.types import Floats
from fullrank.designs import RankGrid
from fullrank.estimators.system import Sensitivity, System, observed_system, possible_system
from fullrank.estimators.uniform.likelihood import default_steps, gradient, plain_path, uniform
from fullrank.metrics import Metric, parse
from fullrank.samples import RankDistribution, RankSample

FORMS = ("tilted", "literal")


def weighted_mle(
    sample: RankSample,
    *,
    weight: str | Metric = "ndcg",
    scale: float = 10.0,
    form: str = "tilted",
    iterations: int | None = None,
    grid: RankGrid | None = None,
) -> RankDistribution:
    """Maximum likelihood with the weights w(r) = M(r / C) of a metric M without cut-off.

    Parameters
    ----------
    sample : one target for each user; fixed or adaptive
    weight : the metric M, "ndcg" or "ap" in the paper
    scale : C; with adaptive designs r is taken relative to the first level
    form : "tilted" (estimates P(R)) or "literal" (as printed; estimates a tilted P(R))
    iterations : plain EM steps, as in `mle`
    grid : rank grid
    """
    fitted = _fit(sample, observed_system(sample, grid), weight, scale, form, iterations)
    name = "WMLE" if form == "tilted" else "WMLE literal"
    return fitted.system.distribution(fitted.mass, f"{name}, {fitted.path.shape[0] - 1} steps")


def weighted_sensitivity(
    sample: RankSample,
    values: Floats,
    *,
    weight: str | Metric = "ndcg",
    scale: float = 10.0,
    form: str = "tilted",
    iterations: int | None = None,
    grid: RankGrid | None = None,
) -> Sensitivity:
    """How `weighted_mle` moves with the sample: back through untilting, steps and weighting."""
    system = possible_system(sample, grid)
    fitted = _fit(sample, system, weight, scale, form, iterations)
    last = fitted.path[-1]
    untilted = float((last / fitted.tilt).sum())
    toward = (values - fitted.mass @ values) / fitted.tilt[:, None] / untilted
    pulled = gradient(fitted.system, fitted.path[:-1], toward)
    total = float(system.observed @ fitted.weights)
    pulled = fitted.weights[:, None] * (pulled - fitted.system.observed @ pulled) / total
    return Sensitivity(
        system=system, mass=fitted.mass, gradient=pulled, centre=fitted.mass @ values
    )


@dataclass(frozen=True)
class _Fitted:
    system: System  # weighted and tilted
    path: Floats  # the tilted distribution before each step and after the last
    mass: Floats  # untilted
    tilt: Floats
    weights: Floats


def _fit(
    sample: RankSample,
    system: System,
    weight: str | Metric,
    scale: float,
    form: str,
    iterations: int | None,
) -> _Fitted:
    """EM on the weighted outcomes of `system`, which may be the observed or all possible."""
    form = checks.choice("form", form, FORMS)
    scale = checks.real("scale", scale, low=1e-6)
    metric = parse(weight)
    steps = default_steps(sample) if iterations is None else iterations
    steps = checks.integer("iterations", steps, low=1)
    weights = _weights(metric, system, sample, scale)
    shares = system.observed * weights
    tilt = np.ones(system.grid.n_bins)
    table = system.table
    if form == "tilted":
        possible = possible_system(sample, system.grid)
        tilt = possible.table @ _weights(metric, possible, sample, scale)  # E[w | R]
        table = table * weights / tilt[:, None]
    tilted = replace(system, table=table, observed=shares / shares.sum())
    start = uniform(system) * tilt
    path = plain_path(tilted, steps, start / start.sum())
    mass = path[-1] / tilt
    return _Fitted(tilted, path, mass / mass.sum(), tilt, weights)


def _weights(metric: Metric, system: System, sample: RankSample, scale: float) -> Floats:
    """w(r) = M(r / C), ranks among more candidates brought to the first size."""
    first = float(sample.sample_size.min())
    if sample.design.adaptive:
        first = float(sample.design.rounds(int(sample.pool.max())).sizes[0])
    rank = system.place * first + 0.5  # r itself where n is the first size
    return metric.shape(rank / scale, first)
