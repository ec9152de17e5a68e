"""Samples of users: simple or stratified, with the weights that make them represent all users."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fullrank._lib import checks, memory, tabular
from fullrank._lib.checks import RandomState, generator
from fullrank._lib.types import Array, Floats, Ints
from fullrank.data.targets import ANY, clean_targets
from fullrank.errors import InputError
from fullrank.tables import ids as _ids

ALLOCATIONS = ("proportional", "neyman")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class UserSample(tabular.Tabular):
    """Users drawn without replacement, in the order of their rows.

    Attributes
    ----------
    user_rows : the users
    user : their ids, where they were drawn from an Interactions; else their rows
    weight : for each sampled user, how many users of the population it represents; the sum is
        `n_users`
    n_users : the number of users in the population
    stratum, strata : the stratum number of each user and the labels of the strata, or None
    stratum_sizes : users of the population in each stratum, or None
    """

    user_rows: Ints
    weight: Floats
    n_users: int
    stratum: Ints | None = None
    strata: Array | None = None
    stratum_sizes: Ints | None = None
    user: Array

    def subset(self, targets: Any) -> tuple[Any, Floats]:
        """Return the targets of the sampled users and their weights, as arguments of `rank`.

        Interactions give Interactions, whose users and items keep their ids; a pair (user_rows,
        item_rows) gives a pair.
        """
        users, items = _pairs(targets)
        ids = getattr(targets, "user_ids", None)
        # by id where there are ids: the rows may be those of other users
        rows = self.user_rows if ids is None else _ids.find("targets", self.user, ids)
        order = np.argsort(rows)
        at = np.minimum(np.searchsorted(rows[order], users), rows.size - 1)
        at = order[at]
        inside = rows[at] == users
        weight = self.weight[at[inside]]
        if hasattr(targets, "select"):
            return targets.select(inside), weight
        return (users[inside], items[inside]), weight

    def _title(self) -> str:
        return str(self)

    def _records(self) -> list[dict[str, Any]]:
        strata = [None] * self.user.size
        if self.strata is not None and self.stratum is not None:
            strata = self.strata[self.stratum].tolist()
        rows = zip(self.user.tolist(), self.weight.tolist(), strata, strict=True)
        return [{"user": user, "weight": weight, "stratum": one} for user, weight, one in rows]

    def _table(self) -> tuple[list[str], list[list[str]]]:
        rows = [[name, f"{n:,}", f"{of:,}"] for name, n, of in self._drawn()]
        return ["stratum", "drawn", "users"], rows

    def _drawn(self) -> list[tuple[str, int, int]]:
        """For each stratum how many users were drawn, and of how many."""
        if self.strata is None or self.stratum is None or self.stratum_sizes is None:
            return [("all", self.user_rows.size, self.n_users)]
        drawn = np.bincount(self.stratum, minlength=self.strata.size).tolist()
        names = map(checks.printable, self.strata)
        return list(zip(names, drawn, self.stratum_sizes.tolist(), strict=True))

    def plot(self, ax: Any = None) -> Any:
        """Plot how many users were sampled from each stratum, and return the axes."""
        ax, parts = tabular.axes(ax), self._drawn()
        ax.bar([name for name, _, _ in parts], [n for _, n, _ in parts])
        ax.set_ylabel("users drawn")
        return ax

    def __str__(self) -> str:
        of = f"{self.user_rows.size:,} of {self.n_users:,} users"
        if self.strata is None:
            return of
        return f"{of} in {self.strata.size} {'stratum' if self.strata.size == 1 else 'strata'}"


def sample_users(
    users: Any,
    size: int,
    *,
    strata: ArrayLike | None = None,
    allocation: str | Mapping[Any, int] = "proportional",
    spread: ArrayLike | Mapping[Any, float] | None = None,
    rng: RandomState = None,
) -> UserSample:
    """Sample users, with or without strata, and compute their weights.

    Parameters
    ----------
    users : int, Interactions, or a pair (user_rows, item_rows)
        The number of users; or targets, in which case the population is the users with targets.
    size : int
        How many users to draw in all.
    strata : array with a label for each user of the population, in the order of their rows
        Users are sampled from each stratum separately.
    allocation : "proportional", "neyman", or a mapping from labels to numbers of users
        "proportional" to the strata's sizes; "neyman" to size × `spread`, which makes the
        variance of a weighted mean smallest. Each stratum gets at least one user.
    spread : mapping from labels to standard deviations, or an array of pilot values of the metric
        for each user (NaN where unknown), for "neyman".
    rng : None, int, SeedSequence or Generator

    Returns
    -------
    UserSample
        A user of stratum h weighs N_h/n_h.

    Examples
    --------
    >>> from fullrank.data import sample_users
    >>> chosen = sample_users(6, 3, strata=["new", "new", "old", "old", "old", "old"], rng=0)
    >>> print(chosen)
    3 of 6 users in 2 strata
    >>> chosen.weight
    array([2., 2., 2.])
    """
    rows = _population(users)
    ids = getattr(users, "user_ids", None)
    names = rows if ids is None else ids[rows]
    size = checks.integer("size", size, low=1, high=rows.size)
    random = generator(rng)
    if strata is None:
        if allocation != "proportional" or spread is not None:
            raise InputError("`strata` must be given with `allocation` or `spread`.")
        at = np.sort(random.choice(rows.size, size, replace=False))
        return UserSample(
            user_rows=checks.frozen(rows[at]),
            user=checks.frozen(names[at]),
            weight=checks.frozen(np.full(size, rows.size / size)),
            n_users=int(rows.size),
        )
    labels, stratum = _strata(strata, rows.size)
    sizes = np.bincount(stratum, minlength=labels.size)
    numbers = _numbers(allocation, size, labels, sizes, stratum, spread)
    parts = [
        random.choice(np.flatnonzero(stratum == h), int(n), replace=False)
        for h, n in enumerate(numbers)
    ]
    at = np.sort(np.concatenate(parts))
    return UserSample(
        user_rows=checks.frozen(rows[at]),
        user=checks.frozen(names[at]),
        weight=checks.frozen((sizes / numbers)[stratum[at]]),
        n_users=int(rows.size),
        stratum=checks.frozen(stratum[at]),
        strata=checks.frozen(labels),
        stratum_sizes=checks.frozen(sizes),
    )


def _population(users: Any) -> Ints:
    if isinstance(users, int | np.integer) and not isinstance(users, bool):
        number = checks.integer("users", users, low=1)
        memory.ask("users", 16 * number, f"{number:,} users")
        return np.arange(number)
    return np.unique(_pairs(users)[0])


def _pairs(targets: Any) -> tuple[Ints, Ints]:
    clean = clean_targets(targets, n_users=None, n_items=ANY)
    return clean.user_rows, clean.item_rows


def _strata(strata: ArrayLike, size: int) -> tuple[Array, Ints]:
    values = checks.labels("strata", strata, size, "user")
    labels, stratum = np.unique(values, return_inverse=True)
    return labels, stratum.astype(np.int64)


def _numbers(
    allocation: Any, size: int, labels: Array, sizes: Ints, stratum: Ints, spread: Any
) -> Ints:
    """Users to draw from each stratum."""
    if isinstance(allocation, Mapping):
        return _given(allocation, size, labels, sizes)
    checks.choice("allocation", allocation, ALLOCATIONS)
    if size < labels.size:
        raise InputError(
            f"`size` must be at least {labels.size}, the number of strata, not {size}."
        )
    if allocation == "proportional":
        if spread is not None:
            raise InputError('`spread` must not be given unless allocation="neyman".')
        return _shared_out(size, sizes.astype(np.float64), sizes)
    if spread is None:
        raise InputError('`spread` must be given with allocation="neyman".')
    return _shared_out(size, sizes * _spread(spread, labels, stratum), sizes)


def _given(allocation: Mapping[Any, int], size: int, labels: Array, sizes: Ints) -> Ints:
    if set(allocation) != set(labels.tolist()):
        raise InputError(
            "`allocation` must have a number for each stratum "
            f"({', '.join(map(checks.printable, labels))}) and no other; it has numbers for "
            f"{', '.join(map(checks.printable, allocation)) or 'none'}."
        )
    numbers = np.array(
        [
            checks.integer(f"allocation[{label!r}]", allocation[label], low=1, high=int(n))
            for label, n in zip(labels.tolist(), sizes, strict=True)
        ]
    )
    if numbers.sum() != size:
        raise InputError(f"`allocation` must sum to `size`, {size}, not {numbers.sum()}.")
    return numbers


def _spread(spread: Any, labels: Array, stratum: Ints) -> Floats:
    if isinstance(spread, Mapping):
        missing = [label for label in labels.tolist() if label not in spread]
        if missing:
            raise InputError(
                f"`spread` must have a number for each stratum; {missing[0]!r} has none."
            )
        return checks.reals("spread", [spread[label] for label in labels.tolist()], low=0.0)
    values = checks.vector("spread", spread, size=stratum.size).astype(np.float64)
    known = np.isfinite(values)
    large = known & (np.abs(values) > checks.LARGEST)
    checks.reject("spread", values, large, f"lie within ±{checks.LARGEST:g}")
    out = np.empty(labels.size)
    for h, label in enumerate(labels.tolist()):
        inside = values[known & (stratum == h)]
        if inside.size < 2:
            raise InputError(
                f"`spread` must have at least two known values in each stratum; {label!r} has "
                f"{inside.size}."
            )
        out[h] = inside.std(ddof=1)
    return out


def _shared_out(size: int, share: Floats, sizes: Ints) -> Ints:
    """Places clip(c·share, 1, stratum) with c such that they sum to `size`, in whole numbers.

    What rounding down leaves over goes to the largest remainders.
    """
    # a stratum without spread gets what is left when all others are full
    share = share / max(share.max(), 1.0) + 1e-12 * sizes
    low, high = 0.0, float((sizes / share).max())
    for _ in range(200):
        middle = (low + high) / 2
        if np.clip(middle * share, 1, sizes).sum() < size:
            low = middle
        else:
            high = middle
    ideal = np.clip(high * share, 1, sizes)
    numbers = np.floor(ideal).astype(np.int64)
    order = np.argsort(numbers - ideal, kind="stable")
    numbers[order[: size - numbers.sum()]] += 1
    return numbers
