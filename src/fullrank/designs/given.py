"""Candidates that were drawn earlier: reading, checking, saving and sharing them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fullrank._lib import checks, memory
from fullrank._lib.checks import RandomState
from fullrank._lib.files import PathLike
from fullrank._lib.text import counted
from fullrank._lib.types import Array, Ints
from fullrank.data.named_rows import in_rows, named_items
from fullrank.data.targets import Exclusion, Targets, clean_exclude, clean_targets, n_candidates
from fullrank.designs.design import POOLS, Design
from fullrank.designs.draws import make_pools, seed_key
from fullrank.designs.exact import Exact
from fullrank.designs.uniform import Uniform
from fullrank.errors import DataWarning, InputError
from fullrank.tables import ids as _ids
from fullrank.tables.ids import are_rows

_MOST = 2**31 - 1  # the last row that there can be


@dataclass(frozen=True, kw_only=True, eq=False)
class Negatives:
    """One row of drawn items for each user, or for each target.

    Parameters
    ----------
    user_rows : array (k,)
    items : array (k, n), int32
        Item rows; -1 fills up rows that are shorter.
    target_rows : array (k,), optional
        The item row of the target that a row was drawn for. Without it a row serves every target
        of its user.
    replacement, pool : how they were drawn, or None if that is unknown
    seed : the key of the draw, if fullrank drew them
    user_ids, item_ids : the ids of the rows, which files hold; None if rows have no ids
    """

    user_rows: Ints
    items: NDArray[np.int32]
    target_rows: Ints | None = None
    replacement: bool | None = None
    pool: str | None = None
    seed: int | None = None
    user_ids: Array | None = field(default=None, repr=False)
    item_ids: Array | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        items = checks.as_array("items", self.items)
        if items.ndim != 2 or items.dtype.kind not in "iu":
            raise InputError(
                "`items` must be a two-dimensional array of item rows, with one row for each "
                f"user, not {items.dtype} of shape {items.shape}."
            )
        bad = (items < -1) | (items >= 2**31)
        if bad.any():
            raise InputError(f"`items` must lie in 0..2^31 - 1, or be -1; got {items[bad][0]}.")
        users = checks.integers("user_rows", self.user_rows, size=items.shape[0], low=0, high=_MOST)
        object.__setattr__(self, "user_rows", checks.frozen(users))
        object.__setattr__(self, "items", checks.frozen(_packed(items).astype(np.int32)))
        if self.target_rows is not None:
            target = checks.integers(
                "target_rows", self.target_rows, size=users.size, low=0, high=_MOST
            )
            object.__setattr__(self, "target_rows", checks.frozen(target))
        if self.replacement is not None:
            checks.flag("replacement", self.replacement)
        if self.pool is not None:
            checks.choice("pool", self.pool, POOLS)

    @classmethod
    def read_ncf(
        cls,
        path: PathLike,
        *,
        user_ids: ArrayLike | None = None,
        item_ids: ArrayLike | None = None,
        replacement: bool | None = None,
        pool: str | None = None,
    ) -> Negatives:
        """Read the ``.test.negative`` format: ``(user,item)``, then the negatives, tab-separated.

        The numbers are row numbers, or ids where `user_ids` and `item_ids` (position = row) say
        how to translate them.
        """
        from fullrank.designs import given_files

        columns = given_files.read_ncf(path, user_ids=user_ids, item_ids=item_ids)
        return cls(**columns, replacement=replacement, pool=pool)

    @classmethod
    def read(
        cls,
        path: PathLike,
        *,
        user_ids: ArrayLike | None = None,
        item_ids: ArrayLike | None = None,
        replacement: bool | None = None,
        pool: str | None = None,
    ) -> Negatives:
        """Read a Parquet file with columns `user`, `negative` and maybe `target`.

        `negative` holds a list of items per row, or one item per row. Files written by fullrank
        state how the items were drawn; arguments must not contradict it.
        """
        from fullrank.designs import given_files

        return cls(
            **given_files.read_parquet(
                path, user_ids=user_ids, item_ids=item_ids, replacement=replacement, pool=pool
            )
        )

    def write(self, path: PathLike) -> None:
        """Write a Parquet file for `read`."""
        from fullrank.designs import given_files

        given_files.save(self, path)

    def in_rows(self, *, user_ids: Array | None, item_ids: Array | None) -> Negatives:
        """The same draws in the rows that these ids name."""
        named = (self.user_ids, self.item_ids)
        if all(_ids.same(own, ids) for own, ids in zip(named, (user_ids, item_ids), strict=True)):
            return self
        for side, own, ids in zip(("user", "item"), named, (user_ids, item_ids), strict=True):
            known = ids if own is None else own
            if (own is None) != (ids is None) and known is not None and not are_rows(known):
                raise InputError(
                    f"`negatives` must identify {side}s as the targets do: give {side}_ids for "
                    "both, or for neither."
                )
        users = _moved("user", self.user_rows, self.user_ids, user_ids)
        target = self.target_rows
        return replace(
            self,
            user_rows=users,
            target_rows=target
            if target is None
            else _moved("item", target, self.item_ids, item_ids),
            items=_moved("item", self.items, self.item_ids, item_ids),
            user_ids=user_ids,
            item_ids=item_ids,
        )

    def rows_of(self, user_rows: Ints, item_rows: Ints) -> Ints:
        """The row of items that belongs to each target."""
        width = 1 + max(
            int(item_rows.max()), 0 if self.target_rows is None else int(self.target_rows.max())
        )
        own, wanted = self.user_rows, user_rows
        if self.target_rows is not None:
            own, wanted = own * width + self.target_rows, wanted * width + item_rows
        order = np.argsort(own, kind="stable")
        repeated = np.zeros(own.size, bool)
        repeated[order[1:]] = np.diff(own[order]) == 0
        if repeated.any():
            n, first = int(repeated.sum()), int(np.argmax(repeated))
            raise InputError(
                f"`negatives` must have only one row for each user and target; {n:,} of "
                f"{counted(own.size, 'row')} {'repeats' if n == 1 else 'repeat'} another (first: "
                f"negatives[{first}], of user row {self.user_rows[first]})."
            )
        at = np.minimum(np.searchsorted(own[order], wanted), own.size - 1)
        missing = own[order][at] != wanted
        if missing.any():
            first = int(np.argmax(missing))
            raise InputError(
                "`negatives` must have a row for every target; it is missing for "
                f"{int(missing.sum())} of {wanted.size} (first: item row {item_rows[first]} of "
                f"user row {user_rows[first]})."
            )
        return order[at]

    def declared(
        self,
        drawn: NDArray[np.int32],
        targets: Targets,
        exclusion: Exclusion | None,
        *,
        n_items: int,
        items: Ints | None = None,
        design: Design | None = None,
    ) -> Design:
        """How `drawn` came about: as given here or in the file, or inferred with a warning."""
        if design is not None and (design.adaptive or isinstance(design, Exact)):
            raise InputError(
                f"`design` must have a fixed size if negatives are given, not {design}."
            )
        replacement = self._agreed("replacement", design)
        pool = self._agreed("pool", design)
        _check_rows(drawn, targets, n_items, items)
        size = n_items if items is None else items.size
        repeats = _repeats(drawn)
        inferred = []
        if replacement is None:
            replacement = bool(repeats.any())
            inferred.append(_about_repeats(drawn, repeats, size))
        elif not replacement and repeats.any():
            first = int(np.argmax(repeats))
            raise InputError(
                "`negatives` must not repeat an item in a row if drawn without replacement; items "
                f"are repeated in {int(repeats.sum())} of {repeats.size} rows (first: that of user "
                f"row {targets.user_rows[first]})."
            )
        seen = np.zeros(drawn.shape, bool)
        expected = 0.0
        if exclusion is not None:
            seen = _among(drawn, targets.user_rows, exclusion, n_items)
            share = np.diff(exclusion.indptr)[targets.user_rows] / size
            expected = float((share * np.count_nonzero(drawn >= 0, axis=1)).sum())
        if pool is None:
            pool = "all" if exclusion is None or seen.any() else "unseen"
            inferred.append(_about_pool(pool, exclusion is not None, int(seen.sum()), expected))
        elif pool == "unseen" and exclusion is None:
            raise InputError(
                '`exclude` must be given with pool="unseen", because it holds the seen items.'
            )
        elif pool == "unseen" and seen.any():
            first, n_seen = int(np.argmax(seen.any(axis=1))), int(seen.sum())
            raise InputError(
                f"`negatives` must not contain excluded items if the pool is 'unseen'; {n_seen} "
                f"of {drawn.size} {'is' if n_seen == 1 else 'are'} excluded (first: for user "
                f"row {targets.user_rows[first]})."
            )
        if inferred:
            warnings.warn(
                f"`negatives` do not state how they were drawn: {'; '.join(inferred)}. State this "
                "with `design`, as in 'sampled:replacement=true,pool=unseen'.",
                DataWarning,
                stacklevel=4,
            )
        said = Uniform() if design is None else design
        said = said.with_(replacement=replacement, pool=pool)
        _check_sizes(drawn, said, targets, exclusion, size)
        return said

    def _agreed(self, name: str, design: Design | None) -> Any:
        own, value = getattr(self, name), None if design is None else getattr(design, name)
        if own is not None and value is not None and own != value:
            raise InputError(
                f"`design` must have {name}={own!r}, as the negatives state, not {value!r}."
            )
        return own if value is None else value


def draw_negatives(
    targets: Any,
    n_items: int,
    *,
    design: str | Design = "sampled:100",
    exclude: Any = None,
    items: Any = None,
    rng: RandomState = None,
) -> Negatives:
    """Draw the candidates that `sample_ranks` would draw with the same arguments.

    The design must have a fixed, stated sample size, such as ``"sampled:100"``.

    Parameters
    ----------
    targets : Interactions, or a pair (user_rows, item_rows)
        A user's targets are never drawn for that user.
    n_items : int
        The number of items of the scorers that will rank the candidates.
    design : Design or text, default "sampled:100"
        How items are drawn, and how many. The sample size includes the target, so one item fewer
        is drawn.
    exclude : Interactions, or sparse matrix or sparse tensor (users × items), optional
        Items that are not drawn in the pool "unseen", which needs them, such as training items. In
        the pool "all" they can be drawn.
    items : array of item ids (rows where items have no ids) or boolean mask, optional
        The catalogue; all items by default.
    rng : None, int, SeedSequence or Generator
        Random seed; the same seed gives the same draws as in `sample_ranks`.

    Returns
    -------
    Negatives

    Examples
    --------
    >>> from fullrank.designs.given import draw_negatives
    >>> drawn = draw_negatives(([0, 1], [5, 3]), 8, design="sampled:4", rng=1)
    >>> drawn.items.shape
    (2, 3)
    """
    n_items = checks.integer("n_items", n_items, low=1)
    drawn_by = Design.of(design)
    size = checks.integer("sample_size", drawn_by.size_for(n_items), low=2)
    clean = clean_targets(targets, n_users=None, n_items=n_items)
    ids = {name: getattr(targets, name, None) for name in ("user_ids", "item_ids")}
    catalogue = named_items(items, ids["item_ids"], n_items=n_items, targets=clean)
    seen = in_rows(exclude, **ids, n_items=n_items)
    exclusion = clean_exclude(seen, n_items=n_items, targets=clean, items=catalogue)
    pools = make_pools(
        clean, n_items=n_items, items=catalogue, exclusion=exclusion,
        pool=drawn_by.pool,
    )  # fmt: skip
    key = seed_key(rng)
    rounds = drawn_by.rounds(n_items)
    count = drawn_by.reachable(size, pools.sizes + 1) - 1
    groups = np.arange(clean.users.size)
    width = int(count.max())
    what = f"{clean.users.size:,} users × {width:,} drawn items"
    memory.ask("sample_size", 8 * clean.users.size * width, what)
    drawn = rounds.draw(pools, key, groups, np.zeros_like(groups), count)
    return Negatives(
        user_rows=clean.users, items=drawn, replacement=drawn_by.replacement, pool=drawn_by.pool,
        seed=key,
        **ids,
    )  # fmt: skip


def as_negatives(
    value: Any, targets: Targets, *, user_ids: Array | None, item_ids: Array | None
) -> Negatives:
    """Negatives in the rows that these ids name: given, from a file of ids, or from an array.

    An array holds item ids where items have any, else rows; -1 fills up.
    """
    ids: dict[str, Any] = {"user_ids": user_ids, "item_ids": item_ids}
    if isinstance(value, Negatives):
        return value.in_rows(**ids)
    if isinstance(value, str) or hasattr(value, "__fspath__"):
        if Path(value).suffix in (".parquet", ".pq"):
            return Negatives.read(value, **ids)
        return Negatives.read_ncf(value, **ids)
    user_rows, item_rows = targets.user_rows, targets.item_rows
    try:
        array = np.asarray(value)
    except ValueError:
        raise InputError(
            "`negatives` must have rows of equal length; pad shorter ones with -1."
        ) from None
    if array.ndim != 2 or array.shape[0] != user_rows.size:
        raise InputError(
            f"`negatives` must have one row for each of the {user_rows.size} targets, in their "
            f"order, not shape {array.shape}."
        )
    if item_ids is not None and not are_rows(item_ids):
        array = _found(array, item_ids)
    return Negatives(user_rows=user_rows, target_rows=item_rows, items=array)


def _moved(side: str, rows: Array, own: Array | None, ids: Array | None) -> Array:
    """The rows under other ids; -1 stays."""
    if own is None or ids is None or _ids.same(own, ids):
        return rows
    there = _ids.find("negatives", own, ids)
    moved = np.where(rows < 0, -1, there[np.maximum(rows, 0)])
    strange = (moved < 0) & (rows >= 0)
    if strange.any():
        what, size = f"{side} ids of the data", int(np.count_nonzero(rows >= 0))
        raise checks.holding("negatives", what, own[rows[strange]], size)
    return moved


def _found(array: Array, item_ids: Array) -> Array:
    """The rows of item ids; what fills up short rows (-1, or empty text) stays -1."""
    empty = array == ("" if array.dtype.kind == "U" else -1)
    rows = np.full(array.shape, -1, np.int64)
    rows[~empty] = _ids.look_up("negatives", array[~empty], item_ids)
    return rows


def _check_sizes(
    drawn: Array, design: Design, targets: Targets, exclusion: Exclusion | None, size: int
) -> None:
    """As many items as the design says, or all of a smaller pool."""
    if not isinstance(design, Uniform) or design.sample_size is None:
        return
    left_out = exclusion if design.pool == "unseen" else None
    items = n_candidates(targets, n_items=size, items=None, exclusion=left_out)
    wanted = design.reachable(design.sample_size, items - targets.n_targets + 1) - 1
    held = np.count_nonzero(drawn >= 0, axis=1)
    wrong = held != wanted
    if wrong.any():
        n, first = int(wrong.sum()), int(np.argmax(wrong))
        raise InputError(
            f"`negatives` must hold {design.sample_size - 1} items for each target; {n:,} of "
            f"{counted(held.size, 'row')} {'does' if n == 1 else 'do'} not "
            f"(negatives[{first}] holds {held[first]}). Leave the size out of `design` to take the "
            "negatives as they are."
        )


def _check_rows(drawn: Array, targets: Targets, n_items: int, items: Ints | None) -> None:
    outside = (drawn >= n_items) if items is None else (drawn >= 0) & ~np.isin(drawn, items)
    what = f"lie in 0..{n_items - 1}" if items is None else "lie in `items`"
    if outside.any():
        row, column = (int(one) for one in np.argwhere(outside)[0])
        at = f"{drawn[row, column]} for user row {targets.user_rows[row]}"
        found = checks.failing(what, int(outside.sum()), drawn.size, at)
        raise InputError(f"`negatives` must {what}; {found}.")


def without_targets(drawn: Array, targets: Targets, n_items: int) -> NDArray[np.int32]:
    """Remove candidates that are a target of their user, with a warning that counts them.

    Published negatives contain some (NCF's for ml-1m contain 156). The rest of a uniform draw is
    uniform on the other items, so the sample remains valid but is smaller.
    """
    pairs = np.where(drawn < 0, -1, targets.user_rows[:, None] * n_items + drawn)
    hit = np.isin(pairs, targets.user_rows * n_items + targets.item_rows)
    if not hit.any():
        return drawn
    row, column = (int(one) for one in np.argwhere(hit)[0])
    warnings.warn(
        "`negatives` must not contain targets of the same user; these were left out: "
        f"{int(hit.sum())} of {drawn.size} (first: item row {drawn[row, column]} of user row "
        f"{targets.user_rows[row]}).",
        DataWarning,
        stacklevel=4,
    )
    return _packed(np.where(hit, -1, drawn)).astype(np.int32)


def _packed(items: Array) -> Array:
    """Empty places last, so that a row ends at its first -1."""
    return np.take_along_axis(items, np.argsort(items < 0, axis=1, kind="stable"), axis=1)


def _repeats(drawn: Array) -> NDArray[np.bool_]:
    """Which rows hold an item twice."""
    ordered = np.sort(drawn, axis=1)
    return np.asarray(((np.diff(ordered, axis=1) == 0) & (ordered[:, 1:] >= 0)).any(axis=1))


def _among(drawn: Array, users: Ints, exclusion: Exclusion, n_items: int) -> NDArray[np.bool_]:
    owner = np.repeat(np.arange(exclusion.indptr.size - 1), np.diff(exclusion.indptr))
    pairs = np.where(drawn < 0, -1, users[:, None] * n_items + drawn)
    return np.isin(pairs, owner * n_items + exclusion.indices)


def _about_repeats(drawn: Array, repeats: NDArray[np.bool_], size: int) -> str:
    if repeats.any():
        return (
            f"items are repeated in {int(repeats.sum())} of {repeats.size} rows, so drawing with "
            "replacement is assumed"
        )
    n = np.count_nonzero(drawn >= 0, axis=1).astype(np.float64)
    expected = float((n * (n - 1) / 2).sum() / max(size, 1))
    return (
        "no row repeats an item, so drawing without replacement is assumed (with replacement, "
        f"about {expected:.3g} repeats would be expected)"
    )


def _about_pool(pool: str, told: bool, n_seen: int, expected: float) -> str:
    if not told:
        return "no items are excluded, so the pool is assumed to be 'all'"
    if pool == "all":
        return f"they contain excluded items ({n_seen}), so the pool is assumed to be 'all'"
    return (
        "they contain no excluded items, so the pool is assumed to be 'unseen' (from all items, "
        f"about {expected:.3g} would be expected)"
    )
