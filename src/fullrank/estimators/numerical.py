"""How an estimator without a derivative moves with its sample: by trying.

Each outcome is given a little more weight and the estimate fitted again. The step is the size of
what chance does to a share, 1/√M: what an estimator makes of smaller changes (a stopping rule, a
grid of settings) is not what another sample would show.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from fullrank._lib.types import Floats, Ints
from fullrank.designs import RankGrid
from fullrank.estimators.system import Sensitivity, System, columns_of, possible_system
from fullrank.samples import RankDistribution, RankSample
from fullrank.samples.sample import Rows


def numerical_sensitivity(
    fit: Callable[[RankSample], RankDistribution],
    sample: RankSample,
    values: Floats,
    grid: RankGrid,
) -> Sensitivity:
    """The derivatives with respect to the outcomes that were seen; those of others are left at 0.

    Parameters
    ----------
    fit : the estimator, at the grid
    sample : one target for each user
    values : (n_bins, n_functionals)

    Notes
    -----
    Cost: a fit for each distinct outcome.
    """
    system = possible_system(sample, grid)
    found = fit(sample)
    centre = found.mass @ values
    gradient = np.zeros((system.observed.size, values.shape[1]))
    step = 1.0 / np.sqrt(max(sample.n_targets, 4))
    column = _columns(system, sample)
    for here in np.unique(column[sample.weight > 0.0]).tolist():
        moved = fit(_heavier(sample, column == here, step)).mass @ values
        gradient[here] = (moved - centre) * (1.0 + step) / step
    return Sensitivity(
        system=system, mass=np.maximum(found.mass, 0.0), gradient=gradient, centre=centre
    )


def _columns(system: System, sample: RankSample) -> Ints:
    """The column of each distinct outcome of the sample."""
    ones = np.ones(sample.rank.size, np.int64)
    rows = Rows(
        rank=sample.rank,
        sample_size=sample.sample_size,
        n_items=sample.pool,
        weight=sample.weight,
        n_targets=ones,
        offset=0 * ones,
    )
    return columns_of(system, replace(sample, rows=rows))


def _heavier(sample: RankSample, here: np.ndarray, step: float) -> RankSample:
    """The sample with a share of `step` more at some outcomes."""
    weight = sample.weight.copy()
    weight[here] *= 1.0 + step * float(weight.sum()) / float(weight[here].sum())
    return replace(sample, weight=weight, rows=None)
