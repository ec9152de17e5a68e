"""A simulated data set that resembles a small MovieLens."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fullrank._lib import checks, memory
from fullrank.data.interactions import Interactions

_DAY = 86_400
_START = 946_684_800  # the first second of the year 2000


def simulate(
    *,
    n_users: int = 1_000,
    n_items: int = 3_000,
    mean_interactions: float = 80.0,
    n_factors: int = 20,
    rng: checks.RandomState = 0,
) -> Interactions:
    """Simulate interactions with long tails, taste clusters, ratings and times.

    Item popularity and user activity are log-normal, and no user has fewer than ten items.
    Each item belongs mostly to one of `n_factors` genres and each user likes a few of them; a
    user's items are drawn one after the other without replacement, with probabilities proportional
    to popularity × exp(taste). Recall@20 of popularity and of EASE (λ = 100) was 0.06–0.09 and
    0.24–0.26 on three random splits. On a split of ml-latest-small, to which the strength of taste
    was fitted, it was 0.10 and 0.29. The tail is lighter than that of ml-latest-small: a tenth of
    the items has 0.37 of the interactions, not 0.60. The default takes a fraction of a second;
    memory is a few arrays of n_users × n_items.

    Parameters
    ----------
    n_users, n_items : int
        At least 1 and 20.
    mean_interactions : float
        The approximate number of items of an average user, from 10 to half of `n_items`.
    n_factors : int
    rng : None, int, SeedSequence or Generator
        Default: 0, so that the same call makes the same data.

    Examples
    --------
    >>> simulate()
    Interactions(1,000 users × 3,000 items, 79,490 interactions, with values and timestamps)
    """
    n_users = checks.integer("n_users", n_users, low=1)
    n_items = checks.integer("n_items", n_items, low=20)
    n_factors = checks.integer("n_factors", n_factors, low=1)
    mean = checks.real("mean_interactions", mean_interactions, low=10, high=n_items // 2)
    generator = checks.generator(rng)
    memory.ask(
        "n_users",
        8 * (5 * n_users * n_items + n_factors * (n_users + n_items)),
        f"{n_users:,} users × {n_items:,} items, {n_factors:,} factors",
    )

    taste = _taste(n_users, n_items, n_factors, generator)
    popularity = generator.normal(scale=1.2, size=n_items)
    activity = generator.lognormal(sigma=0.9, size=n_users)
    counts = np.clip(10 + activity * (mean - 10) / activity.mean(), 10, n_items / 2).astype(int)

    # The largest of log-weight + Gumbel noise are draws without replacement, in their order.
    noise = generator.gumbel(size=(n_users, n_items))
    order = np.argsort(-(popularity + taste + noise), axis=1)
    drawn = np.arange(n_items) < counts[:, None]
    users, items = np.repeat(np.arange(n_users), counts), order[drawn]

    liking = 3.0 + 0.3 * popularity[items] + 0.12 * taste[users, items]
    stars = np.clip(np.round(liking + generator.normal(scale=0.8, size=items.size)), 1, 5)
    return Interactions.from_arrays(
        users,
        items,
        value=stars,
        timestamp=_times(counts, generator),
        user_ids=np.arange(n_users),
        item_ids=np.arange(n_items),
    )


def _taste(
    n_users: int, n_items: int, n_factors: int, generator: np.random.Generator
) -> NDArray[np.float64]:
    """How much each user likes each item, about zero on average for every user."""
    genres = generator.dirichlet(np.full(n_factors, 0.1), size=n_items)
    likes = generator.dirichlet(np.full(n_factors, 0.2), size=n_users)
    taste = 16.0 * likes @ genres.T
    return np.asarray(taste - taste.mean(axis=1, keepdims=True))


def _times(counts: NDArray[np.int64], generator: np.random.Generator) -> NDArray[np.int64]:
    """Users arrive over three years and then come back after ever different pauses."""
    arrival = generator.uniform(0, 3 * 365 * _DAY, size=counts.size)
    pauses = generator.lognormal(mean=5.0, sigma=2.5, size=int(counts.sum()))
    elapsed = np.cumsum(pauses)
    first = np.repeat(np.cumsum(counts) - counts, counts)
    return (_START + np.repeat(arrival, counts) + elapsed - elapsed[first]).astype(np.int64)
