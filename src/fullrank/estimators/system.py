"""The linear system behind every estimator: P(outcome) = sum over R of P(outcome | R) P(R).

Outcomes are columns, bins of the rank grid are rows. Likelihood estimators need the observed
outcomes alone; linear and entropy estimators need all that could have been observed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from fullrank._lib.types import Floats, Ints
from fullrank.designs import Design, RankGrid
from fullrank.errors import InputError
from fullrank.samples import RankDistribution, RankSample

_POOL_RATIO = 1.02  # catalogues of users' own that differ by less share a kernel
_POOLS = 48  # unless there are so few that each can have its own
_SINGLE = 1_024  # largest fixed size whose possible outcomes are all kept apart
BASE, ALL = 2**31, 2**31 - 1  # an outcome as one number; the size that means all items
_OUTCOME_RATIO = 1.02  # growth of the merged outcomes beyond the first _SINGLE / 2


# forgotten with the sample
_SYSTEMS: WeakKeyDictionary[RankSample, dict[tuple[str, bytes], System]] = WeakKeyDictionary()


@dataclass(frozen=True)
class Prior:
    """What is assumed of the ranks above those that the sample resolves.

    Real densities flatten towards rank 1: they are smooth in log(R + shift). Where training items
    are candidates they take the first ranks, of which a coarse sample sees nothing; where they are
    excluded a power of R does well unless it is continued far. The slope at rank 1 is that of the
    anchor, or a usual one, give or take `slope_spread`: the further a sample must be continued, the
    more that counts. `slope_error` is how far slopes were off, over data sets and models. All were
    chosen on the tuning part of the rank bank (docs/studies/hundred.md).
    """

    ranks: float = 1.0  # that rank 1 of the sample covers
    shift: float = 0.0
    slope_spread: float = np.inf
    slope_error: float = 0.0
    anchor: Floats | None = None  # log-density of other models on the same data, in each bin


@dataclass(frozen=True)
class System:
    """Outcome probabilities on the grid, and how often each outcome was observed."""

    grid: RankGrid
    table: Floats  # (n_bins, n_outcomes)
    observed: Floats  # share of the targets (by weight) at each outcome; sums to 1
    n_targets: int
    place: Floats  # where each outcome points to, as a share of the catalogue
    keys: Ints | None = None  # of all possible outcomes: the first that each column holds
    prior: Prior = Prior()

    def distribution(self, mass: Floats, method: str) -> RankDistribution:
        """Pack an estimate."""
        return RankDistribution(grid=self.grid, mass=mass, method=method)


@dataclass(frozen=True)
class Sensitivity:
    """How functionals Σ_R values_R P̂(R) move with the sample, to first order.

    `gradient` has a row for each possible outcome and a column for each functional: the
    derivative with respect to the outcome's share. `centre` is their value where the derivative
    was taken, and `mass` a P(R) without negative entries that goes with it. `bias` bounds what
    smoothing does to each.
    """

    system: System
    mass: Floats
    gradient: Floats
    centre: Floats
    bias: Floats | float = 0.0


def resolution(sample: RankSample) -> float:
    """How many ranks of the catalogue rank 1 covers, about N / n.

    Of an adaptive design at its last level; of fixed sizes that differ, for half of the targets
    at least.
    """
    ranks = sample.pool / sample.sample_size
    if sample.design.adaptive:
        return float(sample.pool.max() / sample.sample_size.max())
    order = np.argsort(ranks)
    half = np.searchsorted(np.cumsum(sample.weight[order]), 0.5 * sample.weight.sum())
    return float(ranks[order][min(int(half), ranks.size - 1)])


def prior_of(
    design: Design, ranks: float, anchor: Floats | None = None, anchor_error: float = 0.0
) -> Prior:
    """By what is known of the training items: excluded, kept, or between the two."""
    if design.excluded is None:
        shift = min(2.5, ranks / 50.0)
    else:
        shift = min(1.0, ranks / 200.0) if design.excluded else min(5.0, max(0.0, ranks - 1.0))
    return Prior(
        ranks=ranks,
        shift=shift,
        slope_spread=0.3 * max(1.0, 500.0 / ranks) if anchor is None else 0.25,
        slope_error=float(np.hypot(0.08 if design.excluded else 0.13, anchor_error)),
        anchor=anchor,
    )


def check_sample(sample: RankSample) -> None:
    """Only samples with one target for each user have a single distribution of ranks."""
    if not isinstance(sample, RankSample):
        raise InputError(f"`sample` must be a RankSample, not {type(sample).__name__}.")
    if sample.stratified:
        raise InputError(
            "`sample` must have candidates drawn uniformly; these come from several strata, which "
            "no estimator supports."
        )
    if sample.several:
        raise InputError(
            "`sample` must have one target for each user here. Use `estimate` for multi-target "
            "users."
        )


def default_grid(sample: RankSample, grid: RankGrid | None) -> RankGrid:
    """The given grid if it fits, else the default for the sample's catalogue."""
    n_items = int(sample.pool.max())
    if grid is None:
        return RankGrid.default(n_items)
    if grid.n_items < n_items:
        raise InputError(
            f"`grid` must cover the {n_items} items of the sample; it ends at {grid.n_items}."
        )
    return grid


def observed_system(sample: RankSample, grid: RankGrid | None = None) -> System:
    """Columns for the outcomes that were observed, up to a factor free of the rank.

    The likelihood is not affected by the factor c_j(r) of an adaptive design, and it can be too
    small for a float: the columns hold the kernel of each outcome's own size.
    """
    return _kept(_observed_system, sample, grid)


def _observed_system(sample: RankSample, grid: RankGrid) -> System:
    merged = pooled(sample, grid.n_items)
    return System(
        grid=grid,
        table=sample.design.likelihood(
            merged.rank, merged.sample_size, n_items=merged.pool, grid=grid
        ),
        observed=merged.weight / merged.weight.sum(),
        n_targets=sample.n_targets,
        place=(merged.rank - 0.5) / merged.sample_size,
        prior=_prior(sample, grid),
    )


def possible_system(sample: RankSample, grid: RankGrid | None = None) -> System:
    """Columns for every outcome (r, n) that the design could have given, observed or not.

    Of a fixed design with several sizes each target's size was known beforehand: an
    outcome's probability is its kernel times the share of its size. The same goes for
    catalogues of the users' own, which are not told apart: the probability of (r, n) is the
    mean over them. Beyond the first few hundred, outcomes of a large size are merged with
    their neighbours.
    """
    return _kept(_possible_system, sample, grid)


def _possible_system(sample: RankSample, grid: RankGrid) -> System:
    merged = pooled(sample, grid.n_items)
    total = float(merged.weight.sum())
    groups = _groups(merged)
    keys = np.unique(
        np.concatenate([_key(merged.design, pool, rank, n) for pool, _, rank, n in groups])
    )
    table, observed = np.zeros((grid.n_bins, keys.size)), np.zeros(keys.size)
    for pool, here, rank, n in groups:
        share = float(merged.weight[here].sum()) / total
        where = np.searchsorted(keys, _key(merged.design, pool, rank, n))
        table[:, where] += share * _probabilities(merged.design, rank, n, pool, grid)
        key = _key(merged.design, pool, merged.rank[here], merged.sample_size[here])
        np.add.at(observed, np.searchsorted(keys, key), merged.weight[here] / total)
    size, rank = np.divmod(keys, BASE)
    size[size == ALL] = grid.n_items
    starts = _merge(size, grid.head / grid.n_items)
    return System(
        grid=grid,
        table=np.add.reduceat(table, starts, axis=1),
        observed=np.add.reduceat(observed, starts),
        n_targets=sample.n_targets,
        place=_means((rank - 0.5) / size, starts),
        keys=keys[starts],
        prior=_prior(sample, grid),
    )


def expected_system(
    design: Design, mass: Floats, grid: RankGrid, n_targets: int
) -> tuple[System, float]:
    """What a design would show of ranks distributed as `mass`, and its mean sample size."""
    pool = grid.n_items
    rank, n = design.likely(pool)
    table = _probabilities(design, rank, n, pool, grid)
    observed = mass @ table
    observed /= observed.sum()
    starts = _merge(n, grid.head / pool)
    system = System(
        grid=grid,
        table=np.add.reduceat(table, starts, axis=1),
        observed=np.add.reduceat(observed, starts),
        n_targets=n_targets,
        place=_means((rank - 0.5) / n, starts),
        prior=prior_of(design, pool / n.max()),
    )
    return system, float(observed @ n)


def _prior(sample: RankSample, grid: RankGrid) -> Prior:
    design, ranks = sample.design, resolution(sample)
    if sample.anchor is None:
        return prior_of(design, ranks)
    return prior_of(design, ranks, np.log(sample.anchor.density(grid)), sample.anchor.slope_error)


def _kept(
    make: Callable[[RankSample, RankGrid], System], sample: RankSample, grid: RankGrid | None
) -> System:
    """A system made once for a sample and grid: fits, standard errors and refits share it."""
    check_sample(sample)
    grid = default_grid(sample, grid)
    systems = _SYSTEMS.setdefault(sample, {})
    key = (make.__name__, grid.edges.tobytes())
    if key not in systems:
        systems[key] = make(sample, grid)
    return systems[key]


def exhausted_system(sample: RankSample, grid: RankGrid | None = None) -> System:
    """A column for each bin of the grid, where every target was ranked among all its items."""
    check_sample(sample)
    grid = default_grid(sample, grid)
    observed = np.bincount(grid.bin_of(sample.rank), sample.weight, grid.n_bins)
    return System(
        grid=grid,
        table=np.eye(grid.n_bins),
        observed=observed / observed.sum(),
        n_targets=sample.n_targets,
        place=(grid.edges[:-1] + 0.5) / grid.n_items,
        keys=ALL * BASE + grid.edges[:-1] + 1,
        prior=prior_of(sample.design, 1.0),
    )


def columns_of(system: System, sample: RankSample) -> Ints:
    """For each row of the sample the column of the possible outcomes that it belongs to."""
    rows = sample.rows
    assert rows is not None
    assert system.keys is not None
    found = np.zeros(rows.rank.size, np.int64)  # rows of weight 0 count nowhere
    seen = rows.weight > 0.0
    columns = (rows.rank[seen], rows.sample_size[seen], rows.pool[seen])
    rank, size, pool = _comparable(sample.design, system.grid.n_items, *columns, rows.weight[seen])
    keys = _key(sample.design, pool, rank, size)
    found[seen] = np.searchsorted(system.keys, keys, side="right") - 1
    return found


def pooled(sample: RankSample, n_items: int) -> RankSample:
    """The sample with comparable outcomes, each once, and without those of weight 0."""
    seen = sample.weight > 0.0
    columns = (sample.rank[seen], sample.sample_size[seen], sample.pool[seen])
    weight = sample.weight[seen]
    rank, size, pool = _comparable(sample.design, n_items, *columns, weight)
    merged = replace(sample, rank=rank, sample_size=size, pool=pool)
    return merged._merged(sample.count[seen], weight)


def _comparable(
    design: Design, n_items: int, rank: Ints, size: Ints, pool: Ints, weight: Floats
) -> tuple[Ints, Ints, Ints]:
    """Outcomes (r, n, N) with nearly equal catalogues made equal.

    A target ranked among all of its items has an exact rank whatever their number: those of a
    fixed design go to a catalogue of `n_items`, the end of the grid.
    """
    exhausted = design.exhausted(size, pool)
    if not design.adaptive:
        size, pool = (np.where(exhausted, n_items, column) for column in (size, pool))
    if np.unique(pool).size > _POOLS:
        near = _near(pool, weight, np.where(exhausted, 1, size))
        if design.adaptive:  # exhausted or not, a user stays with users of like catalogues
            size = np.where(exhausted, near, size)
            rank, pool = np.minimum(rank, size), near
        else:
            pool = np.where(exhausted, pool, near)
    return rank, size, pool


def _key(design: Design, pool: int | Ints, rank: Ints, n: Ints) -> Ints:
    """One number for each outcome (r, n), the last sizes; n = N_u is "all items" for everybody."""
    return np.asarray(np.where(design.exhausted(n, pool), ALL, n) * BASE + rank)


def _near(pool: Ints, weight: Floats, least: Ints) -> Ints:
    """The mean of the catalogues within two percent of each, at least the largest `least`."""
    group = np.floor(np.log(pool) / np.log(_POOL_RATIO)).astype(np.int64)
    _, index = np.unique(group, return_inverse=True)
    mean = np.bincount(index, pool * weight) / np.bincount(index, weight)
    near: Ints = np.rint(mean).astype(np.int64)
    np.maximum.at(near, index, least)
    return near[index]


def _groups(merged: RankSample) -> list[tuple[int, NDArray[np.bool_], Ints, Ints]]:
    """For each catalogue (and fixed size): its outcomes seen, and its outcomes possible."""
    groups = []
    for pool in np.unique(merged.pool).tolist():
        here = merged.pool == pool
        if merged.design.adaptive:
            groups.append((pool, here, *_likely(merged, here, pool)))
            continue
        for size in np.unique(merged.sample_size[here]).tolist():
            of_size = here & (merged.sample_size == size)
            groups.append((pool, of_size, *merged.design.possible(pool, size)))
    return groups


def _likely(merged: RankSample, here: NDArray[np.bool_], pool: int) -> tuple[Ints, Ints]:
    """The outcomes of an adaptive design but those that could hardly ever be seen, and are not."""
    rank, n = merged.design.likely(pool)
    keys = np.concatenate([n * BASE + rank, (merged.sample_size * BASE + merged.rank)[here]])
    n, rank = np.divmod(np.unique(keys), BASE)
    return rank, n


def _probabilities(design: Design, rank: Ints, n: Ints, pool: int, grid: RankGrid) -> Floats:
    """P(outcome | R); a rank beyond a user's own catalogue counts as its last."""
    table = design.probabilities(rank, n, n_items=pool, grid=grid)
    if grid.n_items > pool:  # all draws rank above the last rank: r = n, at the first level
        last = int(np.flatnonzero(rank == n)[0])
        table[:, last] += np.maximum(1.0 - table.sum(axis=1), 0.0)
    return table


def _means(values: Floats, starts: Ints) -> Floats:
    return np.asarray(np.add.reduceat(values, starts) / np.diff([*starts, values.size]))


def _merge(n: Ints, head: float) -> Ints:
    """Where each column of merged outcomes starts.

    The first few hundred stay single, and all that point to the `head`, the share of the
    catalogue whose ranks are kept one by one.
    """
    starts: list[Ints] = []
    for first, last in _runs(n):
        size = last - first
        if size <= _SINGLE:
            starts.append(np.arange(first, last))
            continue
        singles = np.arange(min(max(_SINGLE // 2, int(np.ceil(head * size))), size))
        steps = int(np.log(size / singles.size) / np.log(_OUTCOME_RATIO)) + 1
        rest = np.geomspace(singles.size, size, steps, endpoint=False).astype(np.int64)
        starts.append(first + np.unique(np.concatenate([singles, rest])))
    return np.concatenate(starts)


def _runs(n: Ints) -> list[tuple[int, int]]:
    ends = [0, *(np.flatnonzero(np.diff(n)) + 1).tolist(), n.size]
    return list(pairwise(ends))
