"""Draw a sample for targets whose true ranks are known, without any scores."""

from __future__ import annotations

from numpy.typing import ArrayLike

from fullrank._lib import checks
from fullrank.designs.design import Design
from fullrank.errors import InputError
from fullrank.samples.sample import RankSample


def simulate(
    true_ranks: ArrayLike,
    *,
    n_items: int,
    design: str | Design,
    user: ArrayLike | None = None,
    rng: checks.RandomState = None,
) -> RankSample:
    """Simulate the sampled ranks of targets with known true ranks, one target per user.

    A study that keeps exact ranks can repeat only this step: a hundred repeats take seconds.

    Parameters
    ----------
    true_ranks : ranks R in 1..n_items
    n_items : catalogue size N
    design : how candidates are drawn, such as ``"sampled:100"``; `excluded` in it says whether
        training items were left out of `true_ranks`
    user : ids of the users, kept in the rows
    rng : seed or generator

    Examples
    --------
    >>> simulate([1, 50, 99], n_items=99, design="sampled:99").rows.rank
    array([ 1, 50, 99])
    """
    n_items = checks.integer("n_items", n_items, low=2, high=10**9)  # numpy's own limit
    ranks = checks.integers(
        "true_ranks", true_ranks, low=1, high=n_items, hint="Ranks are 1-based."
    )
    drawn = Design.of(design).settled(n_items)
    rounds = drawn.rounds(n_items)
    if rounds.within(n_items).sizes[-1] < rounds.sizes[-1]:
        raise InputError(
            f"`design` must draw at most `n_items` = {n_items} candidates without replacement, "
            f"not {rounds.sizes[-1]}."
        )
    above, size = rounds.simulated(ranks, n_items, checks.generator(rng))
    return RankSample.from_ranks(
        above + 1, n_items=n_items, sample_size=size + 1, design=drawn, user=user
    )
