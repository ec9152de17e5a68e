"""Draw a sample for targets whose true ranks are known, without scoring anything."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from fullrank._lib import checks
from fullrank._lib.types import Ints
from fullrank.designs.design import Design
from fullrank.errors import InputError
from fullrank.samples.sample import RankSample

_ONE_OR_MORE = {"sample_size": "one number", "levels": "one number at least"}


def simulate(
    true_ranks: ArrayLike,
    *,
    n_items: int,
    sample_size: int | None = None,
    levels: ArrayLike | None = None,
    stop_rank: int = 1,
    replacement: bool = False,
    excluded: bool | None = None,
    user: ArrayLike | None = None,
    rng: checks.RandomState = None,
) -> RankSample:
    """The sampled ranks of targets with known true ranks, one target for each user.

    With exact ranks kept, a study repeats only this: seconds for a hundred repeats.

    Parameters
    ----------
    true_ranks : ranks R in 1..n_items
    n_items : catalogue size N
    sample_size : candidates n of a fixed design, including the target
    levels, stop_rank : sizes of an adaptive design, instead of `sample_size`
    replacement : whether candidates are drawn with replacement
    excluded : whether training items were left out of `true_ranks`, as in `Design`
    user : ids of the users, kept in the rows
    rng : seed or generator

    Examples
    --------
    >>> simulate([1, 50, 99], n_items=99, sample_size=99).rows.rank
    array([ 1, 50, 99])
    """
    n_items = checks.integer("n_items", n_items, low=2, high=10**9)  # numpy's own limit
    ranks = checks.integers(
        "true_ranks", true_ranks, low=1, high=n_items, hint="Ranks are 1-based."
    )
    if (sample_size is None) == (levels is None):
        raise InputError("`sample_size` must be given, or `levels`: one of the two.")
    name, given = ("sample_size", sample_size) if levels is None else ("levels", levels)
    flat = np.atleast_1d(checks.as_array(name, given))
    sizes = checks.integers(name, flat, low=1).tolist()
    if not sizes or (levels is None and len(sizes) > 1):
        raise InputError(f"`{name}` must be {_ONE_OR_MORE[name]}; got {len(sizes)}.")
    if not checks.flag("replacement", replacement) and sizes[-1] > n_items:
        raise InputError(
            f"`sample_size` must be at most `n_items` = {n_items} without replacement, "
            f"not {sizes[-1]}."
        )
    if levels is not None:  # the levels are checked before anything is drawn
        design = Design(replacement=replacement, levels=tuple(sizes), stop_rank=stop_rank)
        stop_rank = design.stop_rank
    above, drawn = _levels(ranks, n_items, sizes, stop_rank, replacement, checks.generator(rng))
    return RankSample.from_ranks(
        above + 1,
        sample_size=drawn + 1,
        n_items=n_items,
        replacement=replacement,
        levels=None if levels is None else sizes,
        stop_rank=stop_rank,
        excluded=excluded,
        user=user,
    )


def _levels(
    ranks: Ints,
    n_items: int,
    sizes: list[int],
    stop_rank: int,
    replacement: bool,
    rng: np.random.Generator,
) -> tuple[Ints, Ints]:
    """Drawn items above each target, and drawn items, when its last level is done."""
    above, drawn = np.zeros_like(ranks), np.zeros_like(ranks)
    going = np.arange(ranks.size)
    for size in sizes:
        going = going[(above[going] < stop_rank) | (drawn[going] == 0)]
        rank, step = ranks[going], size - 1 - drawn[going]
        if replacement:
            above[going] += rng.binomial(step, (rank - 1) / (n_items - 1))
        else:
            better = rank - 1 - above[going]
            worse = n_items - rank - (drawn[going] - above[going])
            above[going] += rng.hypergeometric(better, worse, step)
        drawn[going] = size - 1
    return above, drawn
