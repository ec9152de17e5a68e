"""The contract of designs, on which sampling, estimators, bounds, plans and files rely."""

from __future__ import annotations

import numpy as np

from fullrank.designs import Design, RankGrid
from fullrank.samples import RankSample, simulate
from fullrank.testing.expect import expect

N_ITEMS = 60
_USERS = 40_000
_FAR = 6.0  # standard errors that a share of simulated outcomes may be off


def check_design(design: Design) -> None:
    """Check that a design keeps the contract; its samples must fit 60 items.

    Examples
    --------
    >>> from fullrank.designs import Adaptive
    >>> check_design(Adaptive(5, limit=40, refine_rank=2))
    """
    fixed = design.drawable(N_ITEMS)
    expect(Design.of(str(fixed)) == fixed, "`Design.of(str(design))` must equal the design")
    again = Design.from_dict(fixed.to_dict())
    expect(again == fixed, "`Design.from_dict(design.to_dict())` must equal the design")
    expect(fixed.joined(fixed) == fixed, "two samples of the same design must be compatible")
    expect(bool(fixed.describe()), "`describe` must return text")
    _probabilities(fixed)
    _simulated(fixed)


def _probabilities(design: Design) -> None:
    """Outcomes have probabilities that sum to 1, and a likelihood that is one up to a factor."""
    rank, size = design.possible(N_ITEMS)
    true = np.arange(1, N_ITEMS + 1)
    table = design.probabilities_at(true, rank, size, n_items=N_ITEMS)
    expect(np.allclose(table.sum(axis=1), 1.0), "probabilities must sum to 1 for every true rank")
    expect(bool((table >= 0.0).all()), "no probability may be negative")
    grid = RankGrid(np.arange(N_ITEMS + 1))
    binned = design.probabilities(rank, size, n_items=N_ITEMS, grid=grid)
    expect(np.allclose(binned, table), "`probabilities` must agree with `probabilities_at`")
    likelihood = design.likelihood(rank, size, n_items=N_ITEMS, grid=grid)
    share = np.divide(table, likelihood, out=np.zeros_like(table), where=likelihood > 1e-9)
    largest, smallest = share.max(axis=0), np.where(share > 0.0, share, np.inf).min(axis=0)
    expect(
        bool((largest <= smallest * (1.0 + 1e-6)).all()),
        "`likelihood` must equal `probabilities` up to a factor that does not depend on the true "
        "rank",
    )


def _simulated(design: Design) -> None:
    """What is drawn is what the probabilities say, for targets near the top and far from it."""
    for true in (1, 7, N_ITEMS // 2):
        ranks = np.full(_USERS, true)
        sample = simulate(ranks, n_items=N_ITEMS, design=design, rng=true)
        chance = design.probabilities_at([true], sample.rank, sample.sample_size, n_items=N_ITEMS)
        share = sample.count / _USERS
        error = np.sqrt(chance[0] * (1.0 - chance[0]) / _USERS) + 1.0 / _USERS
        expect(
            bool((np.abs(share - chance[0]) <= _FAR * error).all()),
            f"outcomes simulated for true rank {true} must agree with `probabilities_at`",
        )
        design.check(sample.rank, sample.sample_size, sample.pool)
        both = sample + sample
        expect(isinstance(both, RankSample), "adding samples of a design must give a RankSample")
