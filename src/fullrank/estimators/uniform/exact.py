"""Ranks among all items need no estimator: their distribution is what the sample shows."""

from __future__ import annotations

from fullrank._lib.types import Floats
from fullrank.designs import RankGrid
from fullrank.errors import InputError
from fullrank.estimators.system import Sensitivity, exhausted_system
from fullrank.samples import RankDistribution, RankSample


def exact(sample: RankSample, *, grid: RankGrid | None = None) -> RankDistribution:
    """The distribution of ranks that the sample itself shows."""
    _check(sample)
    system = exhausted_system(sample, grid)
    return system.distribution(system.observed, "exact")


def exact_sensitivity(
    sample: RankSample, values: Floats, *, grid: RankGrid | None = None
) -> Sensitivity:
    """A target's rank adds its own value."""
    _check(sample)
    system = exhausted_system(sample, grid)
    return Sensitivity(
        system=system,
        mass=system.observed,
        gradient=values,
        centre=system.observed @ values,
    )


def _check(sample: RankSample) -> None:
    if not sample.exhausted:
        raise InputError('`method` must not be "exact": the sample does not hold every item.')
