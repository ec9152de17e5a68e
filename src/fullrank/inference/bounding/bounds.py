"""The smallest and largest metrics that are consistent with a sample.

A sample can be uninformative: a hundred candidates out of seventeen thousand cannot distinguish
rank 1 from rank 100. All distributions P(R) under which the observed outcomes are likely enough
form a polytope, and the bounds of a metric over it are two linear programs. The events that make
the region are in `events`, the region in `region`, the bins in `polytope` and the linear programs
in `program`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from fullrank._lib import checks
from fullrank._lib.tabular import takes_several
from fullrank._lib.text import counted
from fullrank.designs import Design, RankGrid
from fullrank.errors import InputError
from fullrank.inference.bounding.events import Events
from fullrank.inference.bounding.polytope import Columns, edges_for
from fullrank.inference.bounding.program import Program
from fullrank.inference.bounding.region import chernoff, clopper_pearson
from fullrank.inference.bounding.result import Bounds, SeveralBounds
from fullrank.inference.estimation.doubts import size_doubts
from fullrank.inference.statistics.normal import Interval
from fullrank.metrics import DEFAULT, Metric, parse_all
from fullrank.samples import ExactRanks, RankSample
from fullrank.samples.as_ranks import Ranks, as_ranks

SHAPES = ("decreasing",)
REGIONS = {
    "population": ("Clopper–Pearson", clopper_pearson),
    "users": ("Chernoff", chernoff),
}
_POOLS = 8  # groups of users with like catalogues


@takes_several(SeveralBounds)
def bounds(
    ranks: Ranks,
    metrics: str | Metric | Iterable[str | Metric] = DEFAULT,
    *,
    n_items: int | None = None,
    design: str | Design | None = None,
    shape: str | None = None,
    until: int | None = None,
    n_events: int = 12,
    grid: RankGrid | None = None,
    interval_for: str = "population",
    confidence_level: float = 0.95,
) -> Bounds:
    """Compute the smallest and largest full-catalogue metrics consistent with a sample.

    Nothing is assumed about the ranks except `shape`. More candidates always narrow the bounds.
    More users narrow them only down to what the candidates cannot resolve.

    Parameters
    ----------
    ranks : a RankSample with one target for each user, of equal weights, the candidates of each
        user drawn independently; or an array, series or tensor of ranks, with `n_items` and
        `design`; or a mapping from names of models to any of these, for `SeveralBounds`
    metrics : names such as ``"ndcg@10"``; the bounds of all of them hold at once
    n_items, design : for a plain array alone, as in `estimate`
    shape : None or "decreasing". "decreasing" assumes that in the population of users no rank is
        likelier than a better one; the bounds are then narrower and hold for the population only
    until : the last rank for which the shape is assumed; default: all ranks
    n_events : the largest number of events that define the region
    grid : bins of ranks; default: one bin per rank up to 32,768 items, and at most 32,768 bins for
        more. A coarser grid is faster and gives wider bounds, never narrower ones
    interval_for : "population" bounds hold for the population of users and, without a shape, for
        these users as well; "users" bounds hold for these users only, and are narrower
    confidence_level : level of all bounds together, at least 0.5

    Returns
    -------
    Bounds
        ``bounds(...)["recall@10"]`` is an ``Interval(low, high)``. If no distribution fits the
        data, `contradicted` names the wrong assumption, the shape or the design, and the ends
        are NaN.

    Notes
    -----
    The ends are max and min of Σ_R w(R) P(R) subject to limits on m events, which the design and
    the requested cut-offs fix before the data are seen. For the population these are
    l_i ≤ Σ_R P(event_i | R) P(R) ≤ u_i with Clopper–Pearson limits at α/m; for these users,
    Chernoff limits at α/m, also linear in P(R). Users with catalogues of their own are grouped by
    catalogue size. Each group has its own P(R) (with a shape, there is one group), so ranks may
    depend on the size of the catalogue.

    Examples
    --------
    >>> from fullrank.samples import simulate
    >>> sample = simulate([1, 4, 20, 50, 120, 400] * 200, n_items=2000, design="sampled:100", rng=0)
    >>> print(bounds(sample, "recall@10, recall@100"))
    95 % bounds from 1,200 targets (Clopper–Pearson on 10 events)
    <BLANKLINE>
    metric           low      high
    recall@10     0.0000    0.5874
    recall@100    0.5128    0.8582
    """
    sample = _check_sample(as_ranks(ranks, n_items=n_items, design=design))
    wanted = parse_all(metrics)
    odd = unbounded(wanted, sample)
    if odd is not None:
        raise InputError(f"`metrics` must {odd}")
    items, size = int(sample.pool.max()), int(sample.sample_size.max())
    level = checks.real("confidence_level", confidence_level)
    if not 0.5 <= level < 1.0:  # fixed users need tails of 1/4 at most (`_bounds_region`)
        raise InputError(f"`confidence_level` must be at least 0.5 and below 1, not {level:g}.")
    until = _check_shape(shape, until, checks.choice("interval_for", interval_for, REGIONS), items)
    name, region = REGIONS[interval_for]
    edges = edges_for(grid, items, wanted, until)
    n_events = checks.integer("n_events", n_events, low=1)
    cuts = [metric.k for metric in wanted if metric.k is not None]
    events = Events.chosen(sample.design, size, items, n_events, cuts)
    columns = Columns.build(sample, events, edges, groups=_POOLS if shape is None else 1)

    def program(reach: int) -> Program:
        ends = columns.chances(reach)
        rows = region(events.counts(sample), sample.n_targets, 1.0 - level, *ends)
        return Program(*rows, columns.group, columns.mass)

    reach = 0 if shape is None else until or items
    solver, contradicted = program(reach), None
    if not solver.feasible():
        contradicted = "shape" if reach and program(0).feasible() else "design"
    nothing = Interval(np.nan, np.nan)
    return Bounds(
        intervals={
            metric.name: nothing if contradicted else _ends(solver, columns, metric, reach)
            for metric in wanted
        },
        contradicted=contradicted,
        confidence_level=level,
        interval_for=interval_for,
        shape=shape,
        until=until,
        region=f"{name} on {counted(int(events.rank.size), 'event')}",
        n_events=int(events.rank.size),
        n_bins=edges.size - 1,
        n_targets=sample.n_targets,
        n_items=sample.n_items,
        average_size=sample.average_size,
        notes=(*_advice(contradicted, until), *size_doubts([sample])),
    )


def _advice(contradicted: str | None, until: int | None) -> tuple[str, ...]:
    """What to do about a contradicted shape: in a note, in which the command names its options."""
    if contradicted != "shape":
        return ()
    how = "Use `until`" if until is None else "Use a smaller `until`"
    return (f"{how} to assume the shape for the first ranks only.",)


def _ends(solver: Program, columns: Columns, metric: Metric, reach: int) -> Interval:
    top, bottom = columns.gains(metric, reach)
    # 0.0 + makes 0 of -0
    low, high = 0.0 + -solver.maximum(-bottom), solver.maximum(top)
    return Interval(max(low, float(bottom.min())), min(high, float(top.max())))


def unbounded(metrics: tuple[Metric, ...], sample: RankSample) -> str | None:
    """What a metric must be to have bounds, the end of a sentence; None where all are.

    The ends of a bin bound a metric that never rises with the rank.
    """
    for metric in metrics:
        promises = metric.promises
        if not promises.decreasing:
            return (
                f"not increase with the rank, because bounds rely on that; {metric.name} was "
                "registered with decreasing=False."
            )
        if np.ptp(sample.pool) and promises.uses_catalogue and not promises.share_below:
            return (
                "not depend on the size of the catalogue if users' catalogues differ in size; "
                f"{metric.name} does (uses_catalogue)."
            )
    return None


def _check_shape(
    shape: str | None, until: int | None, interval_for: str, n_items: int
) -> int | None:
    if shape is None:
        if until is not None:
            raise InputError("`until` must not be given without a `shape`.")
        return None
    checks.choice("shape", shape, SHAPES)
    if interval_for == "users":
        raise InputError(
            '`shape` must not be given with interval_for="users", because a shape describes '
            "the population, and the ranks of given users never follow it exactly."
        )
    return None if until is None else checks.integer("until", until, low=1, high=n_items)


class Need(NamedTuple):
    """What bounds need of a sample, and why: together the end of a sentence."""

    what: str
    why: str


def unmet(sample: RankSample) -> Need | None:
    """What a sample lacks for an argument for bounds; None where nothing."""
    if sample.stratified:
        return Need("candidates drawn uniformly", "; these come from several strata.")
    if sample.several:
        return Need(
            "one target for each user",
            ": the outcomes of a user's targets are not independent. Take one of each user's "
            "targets at random.",
        )
    seen = sample.count > 0
    mean = sample.weight[seen] / sample.count[seen]
    each = mean if sample.rows is None else sample.rows.weight
    if max(np.ptp(mean), np.ptp(each)) > 1e-9 * each.max():
        return Need(
            "users of equal weight",
            "; otherwise the weighted share of an outcome differs from the share of users with it.",
        )
    size = int(sample.sample_size.max())
    most = sample.design.reachable(size, sample.pool)
    if not sample.design.adaptive and (sample.sample_size != most).any():
        return Need(
            "one sample size, or the levels of an adaptive design",
            "; sizes that differ between users may be related to their ranks. Compute the bounds "
            "of each size separately.",
        )
    return None


def _check_sample(sample: RankSample | ExactRanks) -> RankSample:
    """The sample, where there is an argument for bounds."""
    if isinstance(sample, ExactRanks):
        raise InputError(
            "`ranks` must be ranks among sampled candidates; exact ranks need no bounds. Use "
            "`estimate` for their values and intervals."
        )
    need = unmet(sample)
    if need is not None:
        raise InputError(f"`ranks` must have {need.what}{need.why}")
    return sample
