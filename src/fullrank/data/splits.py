"""Splits: what a model may learn from, and what it is asked about."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fullrank import _checks, _files, _rng
from fullrank.data import _ids, _tables
from fullrank.data._rows import clean
from fullrank.data.interactions import Interactions
from fullrank.errors import InputError


@dataclass(frozen=True, kw_only=True, eq=False)
class Split:
    """Training, test and perhaps validation interactions, over the same users and items.

    Attributes
    ----------
    train, test : Interactions
    valid : Interactions or None
    n_skipped : int
        Users without a test item.
    """

    train: Interactions
    test: Interactions
    valid: Interactions | None = None
    n_skipped: int = 0


def leave_one_out(
    interactions: Interactions,
    *,
    by: str = "random",
    min_interactions: int = 2,
    rng: _rng.RandomState = None,
) -> Split:
    """Hold out one item of each user for the test.

    Users with fewer than `min_interactions` keep all they have in the training part and have
    no test item; `n_skipped` counts them. The order in which the interactions were read
    changes nothing.

    Parameters
    ----------
    interactions : Interactions
    by : {"random", "last"}
        Any of the user's items with equal chance, or the one with the latest timestamp (of
        equal times the one with the greatest item row, which by default is the greatest id).
    min_interactions : int
        At least 2, so that something is left to learn from.
    rng : None, int, SeedSequence or Generator
        For `by="random"`.

    Examples
    --------
    >>> data = Interactions.from_arrays(
    ...     ["a", "a", "b", "c", "c"], [1, 2, 2, 1, 3], timestamp=[8, 9, 5, 4, 3]
    ... )
    >>> split = leave_one_out(data, by="last")
    >>> split.test.pairs(), split.n_skipped
    ((array([0, 2], dtype=int32), array([1, 0], dtype=int32)), 1)
    """
    pick = _PICKS[_checks.choice("by", by, _PICKS)]
    least = _checks.integer("min_interactions", min_interactions, low=2)
    generator = _rng.generator(rng)
    counts = interactions.user_counts()
    enough = counts >= least
    if not enough.any():
        raise InputError(
            f"`interactions` must have a user with at least {least} interactions to hold one out; "
            f"the most that any of {counts.size} has is {counts.max()}."
        )
    in_test = np.zeros(interactions.n_interactions, bool)
    in_test[pick(interactions, generator)[enough]] = True
    return Split(
        train=interactions.select(~in_test),
        test=interactions.select(in_test),
        n_skipped=int(np.count_nonzero(~enough)),
    )


def read_split(
    path: _files.PathLike,
    *,
    user: str = _tables.AUTO,
    item: str = _tables.AUTO,
    value: str | None = _tables.AUTO,
    timestamp: str | None = _tables.AUTO,
    split: str = _tables.AUTO,
    user_ids: ArrayLike | None = None,
    item_ids: ArrayLike | None = None,
) -> Split:
    """Read a Parquet file whose split column says train, valid or test.

    All parts share the users and items of the whole file.

    Parameters
    ----------
    path : path
    user, item, value, timestamp, split : str
        Column names, "auto" for the usual ones, as in :meth:`Interactions.from_csv`.
    user_ids, item_ids : array_like, optional
        All ids there are. Give `item_ids` where the catalogue holds items that nobody in the
        file has touched: they are ranked too.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pyarrow as pa, pyarrow.parquet as pq
    >>> columns = {"user": [3, 3, 4], "item": [1, 2, 1], "split": ["train", "test", "train"]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "given.parquet")
    ...     pq.write_table(pa.table(columns), path)
    ...     read_split(path, item_ids=range(10)).train
    Interactions(2 users × 10 items, 2 interactions)
    """
    asked = {"user": user, "item": item, "value": value, "timestamp": timestamp, "split": split}
    columns = _tables.read_parquet(path, asked)
    part, labels = _parts(columns["split"])
    table = clean(columns, user_ids=user_ids, item_ids=item_ids)
    parts = {}
    for code, label in enumerate(labels):
        parts[label] = Interactions._pack(table.where(part == code))
    n_skipped = int(np.count_nonzero(parts["test"].user_counts() == 0))
    return Split(
        train=parts["train"], test=parts["test"], valid=parts.get("valid"), n_skipped=n_skipped
    )


def _parts(column: Any) -> tuple[NDArray[np.int32], list[str]]:
    part, found = _ids.encode("split", column)
    labels = [str(label) for label in found]
    if not {"train", "test"} <= set(labels) <= {"train", "valid", "test"}:
        raise InputError(
            f"`split` must name a column that says 'train', 'test' and perhaps 'valid', "
            f"each at least once; it says {', '.join(map(repr, labels))}."
        )
    return part, labels


def _pick_random(interactions: Interactions, rng: np.random.Generator) -> NDArray[np.int64]:
    # one number per user row, whether used or not: no user's draw depends on another's items
    share = rng.random(interactions.n_users)
    step = np.floor(share * interactions.user_counts()).astype(np.int64)
    return interactions.indptr[:-1] + step


def _pick_last(interactions: Interactions, rng: np.random.Generator) -> NDArray[np.int64]:
    if interactions.timestamps is None:
        raise InputError("`by` must be 'random' for interactions without timestamps, not 'last'.")
    counts = interactions.user_counts()
    some = counts > 0
    latest = np.maximum.reduceat(interactions.timestamps, interactions.indptr[:-1][some])
    at_latest = np.flatnonzero(interactions.timestamps == np.repeat(latest, counts[some]))
    # the last position at or before each user's end; items ascend, so the greatest wins a tie
    return at_latest[np.searchsorted(at_latest, interactions.indptr[1:]) - 1]


_PICKS: Mapping[str, Callable[[Interactions, np.random.Generator], NDArray[np.int64]]] = {
    "random": _pick_random,
    "last": _pick_last,
}

SPLITS: Mapping[str, Callable[..., Split]] = {"leave-one-out": leave_one_out}
