"""The arguments that define what is ranked among which items: targets, exclude, items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fullrank._lib import checks
from fullrank._lib.types import Array, Ints
from fullrank.errors import InputError

ANY = 2**31 - 1  # where no scorer says how many items there are


@dataclass(frozen=True, kw_only=True, eq=False)
class Targets:
    """Targets grouped by user: those of users[g] are order[starts[g]:starts[g + 1]].

    `user_rows` and `item_rows` are as given; `order` puts them by user and, within a user, in
    the order given. `user` and `item` are the caller's own ids of each target, which results
    carry; row numbers stay inside.
    """

    user_rows: Ints
    item_rows: Ints
    users: Ints
    starts: Ints
    order: Ints
    user: Array
    item: Array
    time: Ints | None = None

    @property
    def n_targets(self) -> Ints:
        """|T|, the number of targets of its user, for each target in the order given."""
        out = np.empty(self.user_rows.size, np.int64)
        sizes = np.diff(self.starts)
        out[self.order] = np.repeat(sizes, sizes)
        return out


@dataclass(frozen=True, kw_only=True, eq=False)
class Exclusion:
    """Items that are excluded for each user, sorted and without repeats.

    Those of user row u are indices[indptr[u]:indptr[u + 1]].
    """

    indptr: Ints
    indices: NDArray[np.int32]


def clean_targets(targets: Any, *, n_users: int | None, n_items: int) -> Targets:
    """Return the targets of Interactions or of a pair (user_rows, item_rows)."""
    if isinstance(targets, Targets):  # of the same call, cleaned before
        return targets
    targets = checks.sparse_array(targets)
    check_width("targets", targets, n_items)
    user_rows, item_rows = pairs(targets)
    user_rows = checks.integers(
        "targets", user_rows, low=0, high=None if n_users is None else n_users - 1,
        hint="The values are row numbers of the scorer's users.",
    )  # fmt: skip
    item_rows = checks.integers(
        "targets", item_rows, size=user_rows.size, low=0, high=n_items - 1,
        hint="The values are row numbers of the scorer's items.",
    )  # fmt: skip
    if user_rows.size == 0:
        raise InputError("`targets` must hold at least one target; it is empty.")
    order = np.argsort(user_rows, kind="stable")
    users, first = np.unique(user_rows[order], return_index=True)
    if users.size < user_rows.size:
        _reject_repeats(user_rows, item_rows)
    ids = (getattr(targets, name, None) for name in ("user_ids", "item_ids"))
    user, item = (
        rows if known is None else known[rows]
        for known, rows in zip(ids, (user_rows, item_rows), strict=True)
    )
    return Targets(
        user_rows=user_rows,
        item_rows=item_rows,
        users=users,
        starts=np.append(first, user_rows.size).astype(np.int64),
        order=order.astype(np.int64),
        user=user,
        item=item,
        time=getattr(targets, "timestamps", None),
    )


def by_rows(exclude: Any) -> Any:
    """An Interactions or a sparse matrix as something with `indptr` and `indices` by users."""
    exclude = checks.sparse_array(exclude)
    if hasattr(exclude, "tocsr"):
        exclude = exclude.tocsr()
    if not (hasattr(exclude, "indptr") and hasattr(exclude, "indices")):
        raise InputError(
            "`exclude` must be Interactions or a sparse matrix of users × items, not "
            f"{type(exclude).__name__}."
        )
    return exclude


def clean_exclude(
    exclude: Any, *, n_items: int, targets: Targets, items: Ints | None = None
) -> Exclusion | None:
    """Return the excluded items of each user, without targets and items not in `items`.

    `exclude` is an Interactions or a sparse matrix (users × items) whose stored entries are the
    excluded items; users beyond its last row have nothing excluded.
    """
    if exclude is None:
        return None
    exclude = by_rows(exclude)
    indptr = np.asarray(exclude.indptr, np.int64)
    indices = np.asarray(exclude.indices)
    if indices.size and not 0 <= int(indices.min()) <= int(indices.max()) < n_items:
        raise InputError(
            f"`exclude` must hold item rows in 0..{n_items - 1}; they run from "
            f"{int(indices.min())} to {int(indices.max())}."
        )
    from fullrank.data import target_kernels as kernels

    if not kernels.is_sorted(indptr, indices):
        rows = np.repeat(np.arange(indptr.size - 1), np.diff(indptr))
        rows, indices = np.divmod(np.unique(rows * n_items + indices), n_items)
        counts = np.bincount(rows, minlength=indptr.size - 1)
        indptr = np.concatenate(([0], np.cumsum(counts)))
    indices = indices.astype(np.int32)  # a copy, which kernels take as they take other arrays
    own = targets.user_rows[targets.order], targets.item_rows[targets.order]
    if items is None and not kernels.holds_any(indptr, indices, *own):
        missing = max(0, int(targets.users[-1]) + 2 - indptr.size)
        indptr = np.concatenate([indptr, np.full(missing, indptr[-1])])
        return Exclusion(indptr=indptr, indices=indices)
    outside = np.empty(0, np.bool_)
    if items is not None:
        outside = np.ones(n_items, np.bool_)
        outside[items] = False
    indptr, indices = kernels.without(indptr, indices, *own, outside)
    return Exclusion(indptr=indptr, indices=indices)


def clean_items(items: ArrayLike | None, *, n_items: int, targets: Targets) -> Ints | None:
    """Return the catalogue as sorted item rows; None for all items."""
    if items is None:
        return None
    array = checks.as_array("items", items)
    if array.dtype == np.bool_ and array.shape == (n_items,):
        array = np.flatnonzero(array)
    rows = checks.integers("items", array, low=0, high=n_items - 1)
    unique = np.unique(rows)
    n_repeats = rows.size - unique.size
    if n_repeats:
        raise InputError(
            f"`items` must name each item once; {n_repeats} of {rows.size} "
            f"{'is a repeat' if n_repeats == 1 else 'are repeats'}."
        )
    if unique.size == 0:
        raise InputError("`items` must hold at least one item; it is empty.")
    checks.reject(
        "targets", targets.item_rows, ~np.isin(targets.item_rows, unique), "lie in `items`",
        "Drop the targets that are not in `items`, or add them to it.",
    )  # fmt: skip
    return unique


def n_candidates(
    targets: Targets, *, n_items: int, items: Ints | None, exclusion: Exclusion | None
) -> Ints:
    """The size of each target's catalogue, the target included."""
    size = n_items if items is None else items.size
    if exclusion is None:
        return np.full(targets.user_rows.size, size, np.int64)
    return size - np.diff(exclusion.indptr)[targets.user_rows]


def pairs(targets: Any) -> tuple[Any, Any]:
    """User rows and item rows of an Interactions, a sparse matrix or a pair, unchecked."""
    targets = checks.sparse_array(targets)
    if hasattr(targets, "tocsr"):
        targets = targets.tocsr()
    if hasattr(targets, "indptr") and hasattr(targets, "indices"):
        indptr = np.asarray(targets.indptr, np.int64)
        users = np.repeat(np.arange(indptr.size - 1), np.diff(indptr))
        return users, np.asarray(targets.indices, np.int64)
    try:
        user_rows, item_rows = targets
    except (TypeError, ValueError):
        raise InputError(
            "`targets` must be Interactions or a pair (user_rows, item_rows), not "
            f"{type(targets).__name__}."
        ) from None
    return user_rows, item_rows


def check_width(name: str, table: Any, n_items: int) -> None:
    """Refuse rows of another catalogue."""
    shape = getattr(table, "shape", None) if hasattr(table, "tocsr") else None
    width = shape[1] if shape is not None else getattr(table, "n_items", n_items)
    if n_items != ANY and width != n_items:
        raise InputError(f"`{name}` must have as many items as the scorer, {n_items}, not {width}.")


def _reject_repeats(user_rows: Ints, item_rows: Ints) -> None:
    if max(user_rows.max(), item_rows.max()) < ANY:
        both = np.sort(user_rows * ANY + item_rows)  # much faster than an order by two keys
        if (both[1:] != both[:-1]).all():
            return
    order = np.lexsort((item_rows, user_rows))
    u, i = user_rows[order], item_rows[order]
    same = np.flatnonzero((u[1:] == u[:-1]) & (i[1:] == i[:-1]))
    if same.size:
        at = int(same[0])
        first = f"item row {i[at]} of user row {u[at]}"
        repeats = f"are repeats (first: {first})" if same.size > 1 else f"is a repeat: {first}"
        raise InputError(
            f"`targets` must name each item once per user; {same.size} of {u.size} {repeats}."
        )
