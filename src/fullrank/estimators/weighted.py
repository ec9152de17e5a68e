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

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fullrank import _checks
from fullrank.estimators._system import System, observed_system, possible_system
from fullrank.estimators.likelihood import default_steps, step, uniform
from fullrank.metrics import Metric, parse
from fullrank.sampling import RankDistribution, RankGrid, RankSample

Floats = NDArray[np.float64]

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
    form = _checks.choice("form", form, FORMS)
    scale = _checks.real("scale", scale, low=1e-6)
    metric = parse(weight)
    steps = default_steps(sample) if iterations is None else iterations
    steps = _checks.integer("iterations", steps, low=1)
    system = observed_system(sample, grid)
    weights = _weights(metric, system, sample, scale)
    shares = system.observed * weights
    system = replace(system, observed=shares / shares.sum())
    mass = uniform(system)
    if form == "literal":
        for _ in range(steps):
            mass = step(system, mass)
        return system.distribution(mass, f"WMLE literal, {steps} steps")
    possible = possible_system(sample, system.grid)
    tilt = possible.table @ _weights(metric, possible, sample, scale)  # E[w | R]
    system = replace(system, table=system.table * weights / tilt[:, None])
    mass = mass * tilt / (mass @ tilt)
    for _ in range(steps):
        mass = step(system, mass)
    mass = mass / tilt
    return system.distribution(mass / mass.sum(), f"WMLE, {steps} steps")


def _weights(metric: Metric, system: System, sample: RankSample, scale: float) -> Floats:
    """w(r) = M(r / C), ranks among more candidates brought to the first size."""
    levels = sample.design.levels
    first = float(sample.sample_size.min() if levels is None else levels[0])
    rank = system.place * first + 0.5  # r itself where n is the first size
    return metric.shape(rank / scale, first)
