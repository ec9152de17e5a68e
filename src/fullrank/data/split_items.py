"""Splits of interactions: one item of each user, or a share of the interactions."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from fullrank._lib import checks
from fullrank.data.interactions import Interactions
from fullrank.data.shares import Keys, Mask, from_the_end, keys, n_of, settings_of
from fullrank.data.split import Split
from fullrank.data.split_users import strong
from fullrank.errors import InputError


def leave_one_out(
    interactions: Interactions,
    *,
    by: str = "auto",
    min_interactions: int = 2,
    valid: float = 0.0,
    rng: checks.RandomState = None,
) -> Split:
    """Hold out one item of each user for testing.

    Users with fewer than `min_interactions` keep all interactions in the training part and have no
    test item; `n_skipped` counts them. The result does not depend on the order in which the
    interactions were read.

    Parameters
    ----------
    interactions : Interactions
    by : {"auto", "last", "random"}
        The item with the latest timestamp (of equal times the one with the greatest item row,
        which by default is the greatest id), or any of the user's items with equal chance. "auto"
        is "last" if the interactions have times that are not all equal, otherwise "random".
    min_interactions : int
        At least 2, so that an interaction is left for training.
    valid : float
        The share of the test users of whom another item, chosen by the same rule from the remaining
        ones, goes to the validation part: 1 for all of them. Users who would have nothing left for
        training are left out.
    rng : None, int, SeedSequence or Generator
        Random seed for random items and for the choice of validation users. The test items are the
        same with and without a validation part.

    Examples
    --------
    >>> data = Interactions.from_arrays(
    ...     ["a", "a", "b", "c", "c"], [1, 2, 2, 1, 3], timestamp=[8, 9, 5, 4, 3]
    ... )
    >>> split = leave_one_out(data, by="last")
    >>> split.test.pairs(), split.n_skipped
    ((array([0, 2], dtype=int32), array([1, 0], dtype=int32)), 1)
    """
    chosen_by = _auto(interactions) if checks.choice("by", by, ("auto", *_PICKS)) == "auto" else by
    pick = _PICKS[chosen_by]
    least = checks.integer("min_interactions", min_interactions, low=2)
    share = checks.real("valid", valid, low=0, high=1)
    generator = checks.generator(rng)
    counts = interactions.user_counts()
    enough = counts >= least
    if not enough.any():
        raise InputError(
            f"`interactions` must have a user with at least {least} interactions, so that one can "
            f"be held out; no user has more than {counts.max()}."
        )
    in_test = np.zeros(interactions.n_interactions, bool)
    in_test[pick(interactions, generator)[enough]] = True
    rest = interactions.select(~in_test)
    train, held = rest, None
    if share:
        able = enough & (rest.user_counts() >= 2)
        chosen = np.flatnonzero(able)[generator.permutation(np.count_nonzero(able))]
        chosen = chosen[: n_of(share, chosen.size)]
        in_valid = np.zeros(rest.n_interactions, bool)
        in_valid[pick(rest, generator)[chosen]] = True
        train, held = rest.select(~in_valid), rest.select(in_valid)
    return Split(
        train=train,
        test=interactions.select(in_test),
        valid=held,
        kind="leave-one-out",
        settings=settings_of(
            by=chosen_by,
            min_interactions=least,
            valid=share,
            rng=rng,
            **({"without_times": True} if by == "auto" and chosen_by == "random" else {}),
        ),
        n_skipped=int(np.count_nonzero(~enough)),
    )


def ratio(
    interactions: Interactions,
    *,
    test: float = 0.2,
    valid: float = 0.0,
    by: str = "random",
    per: str = "user",
    rng: checks.RandomState = None,
) -> Split:
    """Hold out a share of the interactions, of each user or of all.

    Shares are rounded down: `test` = 0.2 takes one of a user's five to nine interactions and none
    of four. `n_skipped` counts the users without a test item.

    Parameters
    ----------
    interactions : Interactions
    test, valid : float
        Shares for the test and the validation part, together below 1; `valid` may be 0.
    by : {"random", "last"}
        At random, or the latest by timestamp: the test part comes last and the validation part
        before it.
    per : {"user", "all"}
        A share of each user's interactions, or of all of them together. ``per="all", by="last"``
        cuts at two times, the same for every user, so that a model does not learn from the future;
        interactions at the time of a cut go to the later part.
    rng : None, int, SeedSequence or Generator
        Random seed for `by="random"`. The test items are the same with and without a validation
        part.

    Examples
    --------
    >>> data = Interactions.from_arrays([1] * 5 + [2] * 4, [*range(5), *range(4)])
    >>> split = ratio(data, test=0.2, rng=0)
    >>> split.test.user_counts(), split.n_skipped
    (array([1, 0]), 1)
    """
    checks.choice("by", by, _PICKS)
    checks.choice("per", per, _CUTS)
    shares = (
        checks.real("test", test, low=0, high=1),
        checks.real("valid", valid, low=0, high=1),
    )
    if shares[0] == 0 or sum(shares) >= 1:
        raise InputError(
            f"`test` must be above 0, and its sum with `valid` below 1; got {shares[0]:g} and "
            f"{shares[1]:g}."
        )
    key = keys(interactions, by, checks.generator(rng))
    in_test, in_valid = _CUTS[per](interactions, key, *shares)
    if not in_test.any() or (in_test | in_valid).all():
        raise InputError(
            f"`test` must leave interactions in every part; of {in_test.size} interactions, "
            f"{np.count_nonzero(in_test)} went to the test part and {np.count_nonzero(in_valid)} "
            "to the validation part."
        )
    held = interactions.select(in_test)
    return Split(
        train=interactions.select(~(in_test | in_valid)),
        test=held,
        valid=interactions.select(in_valid) if shares[1] else None,
        kind="ratio",
        settings=settings_of(test=shares[0], valid=shares[1], by=by, per=per, rng=rng),
        n_skipped=int(np.count_nonzero(held.user_counts() == 0)),
    )


def _auto(interactions: Interactions) -> str:
    """By time where there are times: of a constant, the last is the greatest item row."""
    times = interactions.timestamps
    return "random" if times is None or not np.ptp(times) else "last"


def _cut_users(
    interactions: Interactions, key: Keys, test: float, valid: float
) -> tuple[Mask, Mask]:
    """A share of each user's interactions, those with the greatest keys."""
    users, place = interactions.pairs()[0], from_the_end(interactions, key)
    counts = interactions.user_counts()
    n_test, n_valid = n_of(test, counts), n_of(valid, counts)
    in_test = place < n_test[users]
    return in_test, ~in_test & (place < (n_test + n_valid)[users])


def _cut_all(interactions: Interactions, key: Keys, test: float, valid: float) -> tuple[Mask, Mask]:
    """A share of all interactions; equal keys are never parted."""
    ordered = np.append(np.sort(key), np.inf)
    n_test, n_valid = n_of(test, key.size), n_of(valid, key.size)
    in_test = key >= ordered[key.size - n_test]
    return in_test, ~in_test & (key >= ordered[key.size - n_test - n_valid])


def _pick_random(interactions: Interactions, rng: np.random.Generator) -> NDArray[np.int64]:
    # one number per user row, whether used or not: no user's draw depends on another's items
    share = rng.random(interactions.n_users)
    step = np.floor(share * interactions.user_counts()).astype(np.int64)
    return interactions.indptr[:-1] + step


def _pick_last(interactions: Interactions, rng: np.random.Generator) -> NDArray[np.int64]:
    timestamps = keys(interactions, "last", rng)
    counts = interactions.user_counts()
    some = counts > 0
    latest = np.maximum.reduceat(timestamps, interactions.indptr[:-1][some])
    at_latest = np.flatnonzero(timestamps == np.repeat(latest, counts[some]))
    # the last position at or before each user's end; items ascend, so the greatest wins a tie
    return at_latest[np.searchsorted(at_latest, interactions.indptr[1:]) - 1]


_PICKS: Mapping[str, Callable[[Interactions, np.random.Generator], NDArray[np.int64]]] = {
    "random": _pick_random,
    "last": _pick_last,
}
_CUTS: Mapping[str, Callable[[Interactions, Keys, float, float], tuple[Mask, Mask]]] = {
    "user": _cut_users,
    "all": _cut_all,
}

SPLITS: Mapping[str, Callable[..., Split]] = {
    "leave-one-out": leave_one_out,
    "ratio": ratio,
    "strong": strong,
}
