"""Standard errors by repeating the estimate: the bootstrap, for both questions.

*Of the population*: draw as many users again and fit again. *Of these users*:
draw users from P̂, give each an outcome by the design, fit again, and compare with the metric of
the very users drawn. (Holding M·P̂(R) users at each R instead would leave out what no draw
resolves: which of the ranks that look alike these users have.)

A refit repeats the estimator exactly, from the same start with the same number of steps. Those of
EM run side by side, a column each.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fullrank._lib import memory
from fullrank._lib.progress import Progress
from fullrank._lib.types import Floats, Ints
from fullrank.designs import RankGrid
from fullrank.errors import InputError
from fullrank.estimators.methods import Chosen, point, values_of
from fullrank.estimators.system import observed_system
from fullrank.estimators.uniform.likelihood import default_steps, mle, refits
from fullrank.metrics import Metric
from fullrank.samples import RankDistribution, RankSample, simulate
from fullrank.samples.sample import Rows

_BLOCK = 100  # refits that run side by side


def resampled(
    sample: RankSample,
    metrics: tuple[Metric, ...],
    chosen: Chosen,
    grid: RankGrid,
    *,
    interval_for: str,
    n_resamples: int,
    rng: np.random.Generator,
    report: Progress | None = None,
) -> Floats:
    """How far each refit is from its own truth: (n_resamples, n_metrics)."""
    memory.ask("n_resamples", 16 * n_resamples * len(metrics), f"{n_resamples:,} refits")
    values, distribution = point(sample, metrics, chosen, grid)
    errors = []
    for start in range(0, n_resamples, _BLOCK):
        number = min(_BLOCK, n_resamples - start)
        if interval_for == "population":
            samples = [_users_again(sample, rng) for _ in range(number)]
            truth = np.array([list(values.values())])
        else:
            drawn = [_ranks(sample, distribution, rng) for _ in range(number)]
            samples = [_outcomes_again(sample, ranks, rng) for ranks in drawn]
            n_items = int(sample.pool.max())
            truth = np.array(
                [[metric.weights(ranks, n_items).mean() for metric in metrics] for ranks in drawn]
            )
        errors.append(_fitted(samples, metrics, chosen, grid) - truth)
        if report is not None:
            report(start + number, n_resamples)
    return np.concatenate(errors)


def can_refit(sample: RankSample, target: str) -> bool:
    """Whether the sample can be resampled."""
    if target == "population":
        return True
    plain = not sample.several and sample.n_items is not None
    return plain and np.array_equal(sample.weight, sample.count)


def _fitted(
    samples: list[RankSample], metrics: tuple[Metric, ...], chosen: Chosen, grid: RankGrid
) -> Floats:
    """The estimates of each sample."""
    steps = _plain_steps(chosen, samples[0])
    if steps is None:
        return np.array([values_of(one, metrics, chosen, grid) for one in samples])
    every = sum(_counts(one) for one in samples)
    assert isinstance(every, RankSample)
    keys = _keys(every)
    observed = np.zeros((keys.size, len(samples)))
    for column, one in enumerate(samples):
        observed[np.searchsorted(keys, _keys(one)), column] = one.weight / one.weight.sum()
    gains = np.column_stack([grid.averages(metric) for metric in metrics])
    return np.asarray(refits(observed_system(every, grid), steps, observed).T @ gains)


def _plain_steps(chosen: Chosen, sample: RankSample) -> int | None:
    """The number of EM steps, where EM in one catalogue is all there is to an estimate."""
    if (
        chosen.method.fit is not mle
        or chosen.settings.get("tol") is not None
        or sample.n_items is None
    ):
        return None
    if sample.several:
        return None
    steps = chosen.settings.get("iterations")
    return default_steps(sample) if steps is None else int(steps)


def _keys(sample: RankSample) -> Ints:
    """One number for each outcome of a common catalogue, in the order of a merged sample."""
    return np.asarray(sample.sample_size * (2**31) + sample.rank)


def _counts(sample: RankSample) -> RankSample:
    return replace(sample, rows=None)


def _users_again(sample: RankSample, rng: np.random.Generator) -> RankSample:
    """As many users, each drawn from all of them."""
    rows = sample.rows
    if rows is None or (not sample.several and np.array_equal(sample.weight, sample.count)):
        count = rng.multinomial(sample.n_targets, sample.count / sample.n_targets)
        weight = sample.weight * count / sample.count
        seen = count > 0
        columns = ("rank", "sample_size", "pool")
        return replace(
            sample,
            rows=None,
            count=count[seen],
            weight=weight[seen],
            **{name: getattr(sample, name)[seen] for name in columns},
        )
    return RankSample._from_rows(sample.design, _rows_again(rows, rng)).anchored(sample.anchor)


def _rows_again(rows: Rows, rng: np.random.Generator) -> Rows:
    """Whole users with all their targets; one drawn twice counts as two."""
    each = np.arange(rows.rank.size)
    if rows.user is not None:
        each = np.unique(rows.user, return_inverse=True)[1]
    order = np.argsort(each, kind="stable")
    starts = np.searchsorted(each[order], np.arange(each.max() + 2))
    drawn = rng.integers(0, each.max() + 1, each.max() + 1)
    sizes = np.diff(starts)[drawn]
    first = np.repeat(starts[drawn] - np.concatenate([[0], np.cumsum(sizes)[:-1]]), sizes)
    at = order[first + np.arange(sizes.sum())]
    columns = ("rank", "sample_size", "n_items", "weight", "n_targets", "offset")
    return Rows(
        **{name: getattr(rows, name)[at] for name in columns},
        user=np.repeat(np.arange(drawn.size), sizes),
    )


def _ranks(
    sample: RankSample, distribution: RankDistribution | None, rng: np.random.Generator
) -> Ints:
    """The true ranks of as many users, drawn from P̂."""
    if distribution is None or sample.n_items is None:
        raise InputError(
            '`interval_for` must be "population" for multi-target users and for users with '
            "catalogues of their own, whose samples cannot be repeated."
        )
    if not np.array_equal(sample.weight, sample.count):
        raise InputError('`interval_for` must be "population" where users have weights.')
    mass = np.maximum(distribution.mass, 0.0)
    grid = distribution.grid
    bins = np.repeat(np.arange(mass.size), rng.multinomial(sample.n_targets, mass / mass.sum()))
    return grid.edges[bins] + 1 + rng.integers(0, grid.widths[bins])


def _outcomes_again(sample: RankSample, ranks: Ints, rng: np.random.Generator) -> RankSample:
    """An outcome for each true rank, by the design."""
    design, n_items = sample.design, int(sample.pool.max())
    if design.adaptive:
        again = simulate(ranks, n_items=n_items, design=design, rng=rng)
        return _counts(again).anchored(sample.anchor)
    sizes, counts = np.unique(np.repeat(sample.sample_size, sample.count), return_counts=True)
    parts = np.split(rng.permutation(ranks), np.cumsum(counts)[:-1])
    joined = sum(
        _counts(simulate(part, n_items=n_items, design=design.of_size(int(size)), rng=rng))
        for size, part in zip(sizes, parts, strict=True)
    )
    assert isinstance(joined, RankSample)
    return joined.anchored(sample.anchor)
