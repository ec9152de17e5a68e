"""The shape that a sample borrows: of models ranked exactly on the same data, or of each other.

From 100 candidates of N a sample tells how many targets lie in the first N/100 ranks, and hardly
where among them. That differs more between data sets than between models of one data set, as long
as training items are excluded: where they are kept, how far a model lifts its training items is
the model's own, and borrowing does not help (docs/studies/hundred.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fullrank._lib.types import Floats
from fullrank.designs import RankGrid
from fullrank.errors import InputError
from fullrank.estimators.system import exhausted_system, observed_system
from fullrank.estimators.uniform.smoothed import best_fit
from fullrank.samples import ExactRanks, RankDistribution, RankSample

_HELPS = "it helps only where training items are excluded"
_WHAT = "ExactRanks, a RankDistribution or a list of them"


def anchored(samples: Any, anchor: Any) -> Any:
    """A sample, or a mapping of samples, with the shape of exactly ranked models of the same data.

    Parameters
    ----------
    samples : RankSample, or name to RankSample
    anchor : ExactRanks of a cheap personalised model (item-kNN, SVD) for users of the same data,
        ranked by the same protocol; a list of several, whose shapes are averaged; or their P(R)

    Examples
    --------
    >>> from fullrank.samples import ExactRanks, simulate
    >>> sample = simulate(
    ...     [1 + 7 * u % 900 for u in range(500)], n_items=1000, sample_size=20, rng=0
    ... )
    >>> cheap = ExactRanks.from_ranks([1 + 5 * u % 1000 for u in range(500)], n_items=1000)
    >>> anchored(sample, cheap).anchor.n_items
    1000
    """
    if isinstance(samples, Mapping):
        return {name: anchored(sample, anchor) for name, sample in samples.items()}
    if not isinstance(samples, RankSample):
        raise InputError(f"`samples` must be a RankSample, not {type(samples).__name__}.")
    if samples.design.excluded is False:
        raise InputError(f"`anchor` must be left out where training items are kept: {_HELPS}.")
    if samples.several:
        raise InputError("`samples` must have one target for each user to borrow a shape.")
    n_items = samples.n_items if samples.n_items is not None else int(samples.pool.max())
    return samples.anchored(shape(anchor, n_items))


def shape(anchor: Any, n_items: int) -> RankDistribution:
    """One smooth P(R) of what was given: the mean of the log-densities, scaled to sum to 1."""
    several = anchor if isinstance(anchor, list | tuple) else [anchor]
    if not several:
        raise InputError(f"`anchor` must be {_WHAT}; the list is empty.")
    grid = RankGrid.default(n_items)
    density = np.mean([np.log(_smooth(one).density(grid)) for one in several], axis=0)
    return _packed(grid, density)


def jointly(samples: Mapping[str, RankSample]) -> dict[str, RankSample]:
    """Samples of several models on one data set, each with the shape that they have in common.

    The shape is the smoothed fit of all of them together; each model may depart from it as its own
    sample asks.

    Parameters
    ----------
    samples : name to RankSample, two or more, of one design and catalogue, one target for each user
    """
    if not isinstance(samples, Mapping) or len(samples) < 2:
        raise InputError("`samples` must map the names of two models or more to their samples.")
    for name, one in samples.items():
        _check_joint(name, one)
    alone = [one.anchored(None).without_rows() for one in samples.values()]
    together = sum(alone[1:], alone[0])
    grid = RankGrid.default(int(together.pool.max()))
    mass = best_fit(observed_system(together, grid)).mass
    common = RankDistribution(grid=grid, mass=mass, method="smoothed, of all models together")
    return {name: sample.anchored(common) for name, sample in samples.items()}


def _check_joint(name: str, sample: Any) -> None:
    if not isinstance(sample, RankSample):
        kind = type(sample).__name__
        raise InputError(f"`samples` must hold RankSamples; {name} is a {kind}.")
    if sample.several:
        raise InputError(f"`samples` must have one target for each user; {name} has several.")
    if sample.design.excluded is False:
        raise InputError(
            f"`samples` must not share a shape where training items are kept: {_HELPS}."
        )


def _smooth(anchor: Any) -> RankDistribution:
    if isinstance(anchor, RankDistribution):
        return anchor
    if not isinstance(anchor, ExactRanks):
        raise InputError(f"`anchor` must be {_WHAT}, not {type(anchor).__name__}.")
    if anchor.several:
        raise InputError("`anchor` must have one target for each user.")
    system = exhausted_system(anchor.whole_sample().anchored(None))
    return system.distribution(best_fit(system).mass, "smoothed exact ranks")


def _packed(grid: RankGrid, log_density: Floats) -> RankDistribution:
    mass = np.exp(log_density - log_density.max()) * grid.widths
    return RankDistribution(grid=grid, mass=mass / mass.sum(), method="anchor")
