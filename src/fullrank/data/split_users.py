"""A split by users: models learn from some users and are evaluated on others."""

from __future__ import annotations

from typing import Any

import numpy as np

from fullrank._lib import checks
from fullrank.data import filters
from fullrank.data.interactions import Interactions
from fullrank.data.shares import Mask, from_the_end, keys, n_of, settings_of
from fullrank.data.split import Split
from fullrank.errors import InputError

_ITEMS = ("train", "all")
_BY = ("random", "last")


def strong(
    interactions: Interactions,
    *,
    test: float = 0.1,
    valid: float = 0.0,
    fold_in: float = 0.8,
    by: str = "random",
    items: str = "train",
    min_interactions: int = 5,
    rng: checks.RandomState = None,
) -> Split:
    """Hold out whole users (strong generalisation).

    A model learns from the training users only. It is then given a share `fold_in` of each held-out
    user's interactions, `split.fold_in`, and evaluated on the rest, `split.test`. Every part has
    rows for all users, so that ``ItemItemScorer(split.fold_in, weights)`` scores the test users
    unchanged.

    Parameters
    ----------
    interactions : Interactions
    test, valid : float or int
        How many users are held out for testing and for validation: a share of the users with
        interactions, or a whole number. `valid` may be 0. The test users are the same with and
        without a validation part.
    fold_in : float
        The share of a held-out user's interactions that the model is given; the rest is rounded
        down.
    by : {"random", "last"}
        Which interactions are held out: random ones, or the latest by timestamp.
    items : {"train", "all"}
        "train" limits the catalogue to the items of training users and drops the others
        (`n_dropped` interactions of held-out users go with them), as the published protocol does;
        "all" keeps the catalogue.
    min_interactions : int
        At least 2. Held-out users with fewer have all interactions folded in and none held out.
        `n_skipped` counts the test users with nothing held out, including those whose share rounds
        down to 0.
    rng : None, int, SeedSequence or Generator

    Notes
    -----
    This is the protocol of Liang et al. (2018), section 4.1, which Li's dissertation follows in
    chapter 3: 80 % are folded in. They held out 10,000 users of MovieLens 20M for each part, 40,000
    of Netflix and 50,000 of the Million Song Data, among users with at least five films rated 4 or
    more, or 20 songs: ``data.select(data.values >= 4).k_core(items_per_user=5, users_per_item=1)``.

    Examples
    --------
    >>> from fullrank.data import simulate
    >>> print(simulate(n_users=100, n_items=50, mean_interactions=15).split("strong", rng=0))
    strong split (test=0.1, valid=0.0, fold_in=0.8, by='random', items='train', \
min_interactions=5, rng=0)
                        users      items  interactions
    train                  90         49         1,262
    fold_in                10         41           120
    test                   10         18            25
    all                   100         49
    """
    share = checks.real("fold_in", fold_in, low=0, high=1)
    checks.choice("by", by, _BY)
    checks.choice("items", items, _ITEMS)
    least = checks.integer("min_interactions", min_interactions, low=2)
    generator = checks.generator(rng)
    active = np.flatnonzero(interactions.user_counts())
    n_test, n_valid = _n_users("test", test, active.size), _n_users("valid", valid, active.size)
    if n_test == 0 or n_test + n_valid >= active.size:
        raise InputError(
            "`test` must hold out at least one user and, with `valid`, leave at least one for "
            f"training; of {active.size} users with interactions, {n_test} would go to the test "
            f"part and {n_valid} to the validation part."
        )
    order = generator.permutation(active)
    group = np.zeros(interactions.n_users, np.int8)  # 0 for training, 1 for the test, 2 for valid
    group[order[:n_test]] = 1
    group[order[n_test : n_test + n_valid]] = 2

    data, n_dropped = _with_items(interactions, group == 0, items)
    in_group = group[data.pairs()[0]]
    asked = _asked(data, share, by, least, generator) & (in_group > 0)
    held = data.select(asked & (in_group == 1))
    if held.n_interactions == 0:
        none = "the only test user has none left"
        if n_test > 1:
            none = f"none of the {n_test} test users has any left"
        raise InputError(
            f"`fold_in` must leave interactions to evaluate; {none} with a share of {share:g} and "
            f"`min_interactions` {least}."
        )
    return Split(
        train=data.select(in_group == 0),
        fold_in=data.select(~asked & (in_group == 1)),
        test=held,
        valid_fold_in=data.select(~asked & (in_group == 2)) if n_valid else None,
        valid=data.select(asked & (in_group == 2)) if n_valid else None,
        kind="strong",
        settings=settings_of(
            test=test,
            valid=valid,
            fold_in=share,
            by=by,
            items=items,
            min_interactions=least,
            rng=rng,
        ),
        n_skipped=n_test - int(np.count_nonzero(held.user_counts())),
        n_dropped=n_dropped,
    )


def _n_users(name: str, value: Any, n_users: int) -> int:
    """A number of users, given as one or as a share."""
    if isinstance(value, int | np.integer) and not isinstance(value, bool) and value != 0:
        return checks.integer(name, value, low=0, high=n_users)
    return n_of(checks.real(name, value, low=0, high=1), n_users)


def _with_items(data: Interactions, training: Mask, items: str) -> tuple[Interactions, int]:
    """The interactions over the catalogue that was asked for, and how many that drops."""
    if items == "all":
        return data, 0
    known = data.select(training[data.pairs()[0]]).item_counts() > 0
    kept = filters.of_items(data, known)
    return kept, data.n_interactions - kept.n_interactions


def _asked(
    data: Interactions, share: float, by: str, least: int, generator: np.random.Generator
) -> Mask:
    """Which interactions their user would be asked about, were the user held out."""
    counts = data.user_counts()
    n_asked = np.where(counts >= least, n_of(1 - share, counts), 0)
    place = from_the_end(data, keys(data, by, generator))
    return place < n_asked[data.pairs()[0]]
