"""Shapes that a sample borrows from models ranked exactly on the same data, or from each other.

A sample of 100 candidates of N shows how many targets are in the first N/100 ranks, but hardly
where among them. If training items are excluded, this differs more between data sets than between
models of one data set. If they are kept, it depends on how highly a model ranks its training
items, and borrowing does not help (docs/studies/hundred.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from fullrank._lib.types import Floats
from fullrank.designs import RankGrid
from fullrank.errors import InputError
from fullrank.estimators.system import System, exhausted_system, observed_system
from fullrank.estimators.uniform.smoothed import Fit, best_fit, bias_square, tilts
from fullrank.metrics import Metric
from fullrank.samples import ExactRanks, RankDistribution, RankSample

_OTHER = 2.0  # times as many items are another catalogue
_WHAT = "ExactRanks, a RankDistribution or a list of them"


def anchored(samples: Any, anchor: Any) -> Any:
    """Anchor samples: their estimates borrow the shape of models ranked exactly on the same data.

    Parameters
    ----------
    samples : a RankSample, or a mapping from names to RankSample
    anchor : ExactRanks of a cheap personalised model (item-kNN, SVD) for users of the same data,
        ranked by the same protocol; a list of them, whose shapes are averaged; or their P(R)

    Examples
    --------
    >>> from fullrank.samples import ExactRanks, simulate
    >>> true = [1 + 7 * u % 900 for u in range(500)]
    >>> sample = simulate(true, n_items=1000, design="sampled:20", rng=0)
    >>> cheap = ExactRanks.from_ranks([1 + 5 * u % 1000 for u in range(500)], n_items=1000)
    >>> anchored(sample, cheap).anchor.n_items
    1000
    """
    if isinstance(samples, Mapping):
        return {name: anchored(sample, anchor) for name, sample in samples.items()}
    if not isinstance(samples, RankSample):
        raise InputError(f"`samples` must be a RankSample, not {type(samples).__name__}.")
    if samples.design.excluded is False:
        raise InputError(
            "`anchor` must not be given if training items are kept: an anchor helps only if they "
            "are excluded."
        )
    if samples.several:
        raise InputError("`samples` must have one target for each user if an `anchor` is given.")
    n_items = samples.n_items if samples.n_items is not None else int(samples.pool.max())
    return samples.anchored(shape(anchor, n_items))


def shape(anchor: Any, n_items: int) -> RankDistribution:
    """One smooth P(R) of what was given: the mean of the log-densities, scaled to sum to 1."""
    several = anchor if isinstance(anchor, list | tuple) else [anchor]
    if not several:
        raise InputError(f"`anchor` must be {_WHAT}; the list is empty.")
    shapes = [smooth(one) for one in several]
    for one in shapes:
        if not n_items / _OTHER <= one.n_items <= n_items * _OTHER:
            raise InputError(
                f"`anchor` must come from the catalogue of the sample, {n_items:,} items; it has "
                f"{one.n_items:,}."
            )
    grid = RankGrid.default(n_items)
    density = np.mean([np.log(one.density(grid)) for one in shapes], axis=0)
    error = float(np.sqrt(sum(one.slope_error**2 for one in shapes))) / len(shapes)
    mass = np.exp(density - density.max()) * grid.widths
    return RankDistribution(grid=grid, mass=mass / mass.sum(), method="anchor", slope_error=error)


def jointly(samples: Mapping[str, RankSample]) -> dict[str, RankSample]:
    """Let the estimates of several models on one data set share a shape.

    The shape is the smoothed fit of all samples together; each model may depart from it if its own
    sample requires it.

    Parameters
    ----------
    samples : a mapping from at least two names to RankSamples of the same design and catalogue,
        with one target for each user
    """
    if not isinstance(samples, Mapping) or len(samples) < 2:
        raise InputError("`samples` must map the names of at least two models to their samples.")
    for name, one in samples.items():
        _check_joint(name, one)
    alone = [one.anchored(None).without_rows() for one in samples.values()]
    together = sum(alone[1:], alone[0])
    grid = RankGrid.default(int(together.pool.max()))
    system = observed_system(together, grid)
    fit = best_fit(system)
    common = RankDistribution(
        grid=grid,
        mass=fit.mass,
        method="smoothed, from all models together",
        slope_error=_joint_error(system, fit),
    )
    return {name: sample.anchored(common) for name, sample in samples.items()}


def _joint_error(system: System, fit: Fit) -> float:
    """The slope error that would explain how uncertain the joint fit itself is, at K = 10."""
    values = system.grid.averages(Metric("recall", 10))[:, None]
    moves = float(np.abs(tilts(system, fit.mass, values))[0])
    return float(np.sqrt(bias_square(system, fit, values)[0])) / moves if moves > 0.0 else 0.0


def _check_joint(name: str, sample: Any) -> None:
    if not isinstance(sample, RankSample):
        kind = type(sample).__name__
        raise InputError(f"`samples` must hold RankSamples; the value of {name} is of type {kind}.")
    if sample.several:
        raise InputError(
            f"`samples` must have one target for each user; {name} has multi-target users."
        )
    if sample.design.excluded is False:
        raise InputError(
            "`samples` must not be drawn with training items kept: a common shape helps only if "
            "they are excluded."
        )


def smooth(anchor: Any) -> RankDistribution:
    """P(R) of what was given, smooth; or an error that says what it must be."""
    if isinstance(anchor, RankDistribution):
        return _smoothed(anchor)
    if not isinstance(anchor, ExactRanks):
        raise InputError(f"`anchor` must be {_WHAT}, not {type(anchor).__name__}.")
    if anchor.several:
        raise InputError("`anchor` must have one target for each user.")
    anchor.check_all_known("anchor")
    sample = anchor.whole_sample().anchored(None)
    system = exhausted_system(sample)
    if anchor.ties == "mean":
        system = replace(system, observed=spread_ties(anchor, system.grid))
    # of H targets at the top, the slope of a power has a standard error of about half of 1/√H
    top = float(sample.count[sample.rank <= max(1, system.grid.n_items // 100)].sum())
    return RankDistribution(
        grid=system.grid,
        mass=best_fit(system).mass,
        method="smoothed exact ranks",
        slope_error=0.5 / np.sqrt(max(top, 1.0)),
    )


def spread_ties(ranks: ExactRanks, grid: RankGrid) -> Floats:
    """The share of targets in each bin, on average over all orders of tied items.

    The rank bank judged anchors with a random order of ties. At the mean of their ranks, all
    targets that ItemKNN scores 0 would make a lump in the middle of the catalogue.
    """
    # in sorted order, because floating-point sums of shards depend on theirs
    key, which = np.unique(ranks.above * (grid.n_items + 1) + ranks.equal, return_inverse=True)
    above, equal = np.divmod(key, grid.n_items + 1)
    share = np.bincount(which, ranks.weight) / (equal + 1)
    up_to = [float(share @ np.clip(edge - above, 0, equal + 1)) for edge in grid.edges.tolist()]
    return np.diff(up_to) / up_to[-1]


def _smoothed(given: RankDistribution) -> RankDistribution:
    """A distribution without the lumps that some estimators leave, as if of a thousand targets."""
    mass = np.maximum(given.mass, 0.0)
    system = System(
        grid=given.grid,
        table=np.eye(given.grid.n_bins),
        observed=mass / mass.sum(),
        n_targets=1000,
        place=(given.grid.edges[:-1] + 0.5) / given.n_items,
    )
    return replace(given, mass=best_fit(system).mass)
