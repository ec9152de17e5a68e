"""Which rows of several results belong to the same users and the same targets.

Rows are matched by the user's ids of users and items, never by position; if no result has item ids,
by user only. A user is compared if every result has the same targets of that user; the other users
are left out and counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullrank._lib.types import Array, Ints
from fullrank.errors import InputError

_FEW = 30  # common users from which models are paired by default, if each has many more


class Names(NamedTuple):
    """The user and the item of each row; None if they have no ids."""

    user: Array | None
    item: Array | None
    size: int

    @property
    def n_users(self) -> int:
        return self.size if self.user is None else int(np.unique(self.user).size)


@dataclass(frozen=True, kw_only=True, eq=False)
class Pairing:
    """The rows to compare, or the fact that users are not paired.

    Attributes
    ----------
    paired : whether users are paired
    by_name : whether they are paired by id; otherwise row i of every result is the same user
    keep : for each model the rows to compare; empty if none is left out
    notes : sentences about the pairing
    """

    paired: bool
    by_name: bool = False
    keep: Mapping[str, NDArray[np.bool_]]
    notes: tuple[str, ...]


def pair(names: Mapping[str, Names], paired: bool | None, *, plain: bool) -> Pairing:
    """Match the rows of all models; where some are `plain` values of users, these have no items."""
    sizes = {name: one.n_users for name, one in names.items()}
    shown = ", ".join(f"{name}: {size:,} users" for name, size in sizes.items())
    for name, size in sizes.items():
        if size < 2:
            raise InputError(
                f"`ranks` must have at least two users in each model; {name} has {size}."
            )
    if paired is False:
        return _different(f"The users are not paired, as requested ({shown}).")
    unnamed = [name for name, one in names.items() if one.user is None]
    if len(unnamed) == len(names):
        return _unnamed(paired, plain, sizes, shown)
    if unnamed:
        raise InputError(
            f"`ranks` must have user ids in every model or in none; {unnamed[0]} has none. Give "
            "them as `user=`."
        )
    users = _coded("user", {name: one.user for name, one in names.items()})
    items = None
    bare = [name for name, one in names.items() if one.item is None]
    if not bare:
        items = _coded("item", {name: one.item for name, one in names.items()})
    elif len(bare) < len(names) and not plain:
        raise InputError(
            f"`ranks` must have item ids in every model or in none; {bare[0]} has none. Give them "
            "as `item=`."
        )
    keep, common = _common(users, items)
    n_common = int(np.unique(users[next(iter(users))][keep[next(iter(keep))]]).size)
    if n_common >= 2:
        return _by_name(items, keep, common, sizes, paired, n_common, shown)
    for (a, first), (b, second) in combinations(users.items(), 2):
        shared = np.intersect1d(first, second).size
        if shared:
            same = "users" if items is None else "users with the same targets"
            raise InputError(
                f"`ranks` must have at least two {same} in all models, or no users in common; "
                f"users in common: {shared:,} between {a} and {b}; {same} in all models: "
                f"{n_common}. "
                "Compare the models pair by pair, or set paired=False."
            )
    if paired:
        raise InputError(
            "`paired=True` must not be given, because no user is in more than one result "
            f"({shown})."
        )
    return _different(
        f"The users are not paired, because no user is in more than one result ({shown})."
    )


def _unnamed(paired: bool | None, plain: bool, sizes: Mapping[str, int], shown: str) -> Pairing:
    """Pair rows without ids only if the caller requests it for arrays."""
    if paired and plain and len(set(sizes.values())) == 1:
        note = "The users have no ids, so row i of every model is assumed to be the same user."
        return Pairing(paired=True, keep={}, notes=(note,))
    if paired:
        why = ": ranks are paired by user id"
        if plain:
            why = f" if the models have different numbers of users ({shown})"
        raise InputError(
            f"`paired=True` must not be given for users without ids{why}. Give their ids as "
            "`user=`."
        )
    note = (
        f"The users are not paired, because they have no ids ({shown}). Give their ids as `user=` "
        "to detect smaller differences."
    )
    return _different(note)


def _different(note: str) -> Pairing:
    return Pairing(paired=False, keep={}, notes=(note,))


def _coded(what: str, ids: Mapping[str, Array | None]) -> dict[str, Ints]:
    """The same id the same number in every result; 7 and "7" are different ids, and refused."""
    known = {name: one for name, one in ids.items() if one is not None}
    if len({one.dtype.kind in "iu" for one in known.values()}) > 1:
        raise InputError(
            f"`ranks` must have {what} ids that are all numbers or all text; they are mixed."
        )
    _, codes = np.unique(np.concatenate(list(known.values())), return_inverse=True)
    ends = np.cumsum([one.size for one in known.values()])[:-1]
    return dict(zip(known, np.split(codes, ends), strict=True))


def _common(
    users: Mapping[str, Ints], items: Mapping[str, Ints] | None
) -> tuple[dict[str, NDArray[np.bool_]], int]:
    """The rows of users whose targets are the same in every result; how many pairs these are."""
    n_users = 1 + max(int(one.max()) for one in users.values())
    if items is None:
        present = [np.bincount(one, minlength=n_users) > 0 for one in users.values()]
        common = np.all(present, axis=0)
        return {name: common[one] for name, one in users.items()}, int(common.sum())
    width = 1 + max(int(one.max()) for one in items.values())
    pairs = {name: users[name] * width + items[name] for name in users}
    both = reduce(np.intersect1d, pairs.values())
    shared = np.bincount(both // width, minlength=n_users)
    common = shared > 0
    for one in users.values():
        common &= np.bincount(one, minlength=n_users) == shared
    return {name: common[one] for name, one in users.items()}, int(common[both // width].sum())


def _by_name(
    items: Mapping[str, Ints] | None,
    keep: Mapping[str, NDArray[np.bool_]],
    common: int,
    sizes: Mapping[str, int],
    paired: bool | None,
    n_common: int,
    shown: str,
) -> Pairing:
    left = {name: int((~rows).sum()) for name, rows in keep.items() if not rows.all()}
    if left and paired is None and n_common < _FEW and min(sizes.values()) > 2 * n_common:
        raise InputError(
            "It must be stated whether the models are paired, because the results share only "
            f"{n_common} of their users ({shown}). With paired=True, only these are compared; with "
            "paired=False, all users, without pairing."
        )
    notes: tuple[str, ...] = ()
    if left:
        what = "users" if items is None else "user–item pairs"
        more = ", ".join(f"{name} has {n:,} more" for name, n in left.items())
        notes = (f"{common:,} {what} are in every result; the others are left out ({more}).",)
    return Pairing(paired=True, by_name=True, keep=keep, notes=notes)
