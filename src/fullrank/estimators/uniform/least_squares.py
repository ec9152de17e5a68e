"""CLS: the least biased estimator among those that never grow with the sampled rank.

Krichene and Rendle 2020: a number x_o for each outcome so that its expectation given R comes as
close as possible to the metric, in least squares over all ranks alike, with x falling from
each outcome to the next. Without the constraint the solution would be exact on paper and
useless on a sample.
"""

from __future__ import annotations

import numpy as np

from fullrank._lib.types import Floats
from fullrank.designs import RankGrid
from fullrank.estimators.system import Sensitivity, System, possible_system
from fullrank.estimators.uniform.likelihood import default_steps, plain
from fullrank.metrics import Metric, parse
from fullrank.samples import RankDistribution, RankSample


def cls(
    sample: RankSample, metric: str | Metric | None = None, *, grid: RankGrid | None = None
) -> float | RankDistribution:
    """The constrained least-squares estimate of a metric, or of P(R) without one.

    The constraint makes the estimate of each metric a problem of its own. The distribution is
    that of the differences of the recall estimates at the ends of the bins (as equation 15 of
    Jin et al. 2021 has it for BV), and its metrics are not those estimated one by one.

    Outcomes of different sizes are sorted by (r - 1/2)/n, the share of the catalogue
    that they point to.
    """
    if metric is not None:
        return cls_value(sample, metric, grid=grid)
    return cls_distribution(sample, grid=grid)


def cls_value(sample: RankSample, metric: str | Metric, *, grid: RankGrid | None = None) -> float:
    """The estimate of one metric."""
    system = possible_system(sample, grid)
    return float(system.observed @ coefficients(system, system.grid.averages(parse(metric))))


def cls_distribution(sample: RankSample, *, grid: RankGrid | None = None) -> RankDistribution:
    """The differences of the recall estimates at the ends of the bins."""
    system = possible_system(sample, grid)
    recalls = [
        system.observed @ coefficients(system, system.grid.averages(Metric("recall", int(last))))
        for last in system.grid.edges[1:]
    ]
    mass = np.diff(np.concatenate([[0.0], recalls]))
    return system.distribution(mass / mass.sum(), "CLS")


def cls_sensitivity(
    sample: RankSample, values: Floats, *, grid: RankGrid | None = None
) -> Sensitivity:
    """How `cls` moves with the sample: by its numbers, which do not depend on the sample."""
    system = possible_system(sample, grid)
    numbers = np.column_stack([coefficients(system, column) for column in values.T])
    return Sensitivity(
        system=system,
        mass=plain(system, default_steps(sample)),
        gradient=numbers,
        centre=system.observed @ numbers,
    )


def coefficients(system: System, values: Floats) -> Floats:
    """The number x of every outcome: non-negative falls from each to the next, by NNLS.

    `values` is the metric on the grid.

    The last x may have either sign: as printed, the constraint is on the order alone.
    """
    from scipy.optimize import nnls

    order = np.argsort(system.place, kind="stable")
    root = np.sqrt(system.grid.widths / system.grid.n_items)[:, None]
    falls = root * np.cumsum(system.table[:, order], axis=1)  # x = sums of falls from the end
    target = root[:, 0] * values
    found, _ = nnls(np.column_stack([falls, -falls[:, -1]]), target)
    found[-2] -= found[-1]  # the last fall, to 0, as the difference of two numbers
    x = np.empty(order.size)
    x[order] = np.cumsum(found[-2::-1])[::-1]
    return x
