"""Splits that come with the data: a column with the labels train, valid and test."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fullrank._lib import checks
from fullrank._lib.text import listed
from fullrank.data.interactions import Interactions
from fullrank.data.rows import clean
from fullrank.data.shares import from_the_end, keys, n_of, settings_of
from fullrank.data.split import PARTS, Split
from fullrank.errors import DataWarning, InputError
from fullrank.tables import columns as _columns
from fullrank.tables import ids
from fullrank.tables.table import AUTO, Asked

_SAME = {
    "training": "train", "testing": "test", "validation": "valid", "val": "valid", "dev": "valid"
}  # fmt: skip


def read_split(
    source: Any,
    *,
    user: str = AUTO,
    item: str = AUTO,
    value: str | None = AUTO,
    timestamp: str | None = AUTO,
    split: str = AUTO,
    user_ids: ArrayLike | None = None,
    item_ids: ArrayLike | None = None,
    valid: float = 0.0,
    encoding: str | None = None,
    rng: checks.RandomState = None,
) -> Split:
    """Read a split from a column of labels (train, valid, test), or from a file for each part.

    All parts share the users and items of the whole. A DataWarning reports pairs that are in two
    parts, because a model would be evaluated on its training data.

    Parameters
    ----------
    source : path, data frame, or mapping
        A file of any format that :meth:`Interactions.read` takes, or any data frame that
        :meth:`Interactions.from_frame` takes; or a mapping from "train", "test" and optionally
        "valid" to such files or frames.
    user, item, value, timestamp, split : str
        Column names, "auto" for the usual ones, as in :meth:`Interactions.from_frame`. The split
        column has the labels 'train', 'test' and optionally 'valid'; for a split by users also
        'fold_in' and optionally 'valid_fold_in', for the known interactions of the users in 'test'
        and 'valid'. Case does not matter, and 'training', 'testing', 'validation', 'val' and 'dev'
        are understood.
    user_ids, item_ids : array_like, optional
        All ids. Give `item_ids` if the catalogue has items that no user in the file interacted
        with: they are ranked too.
    valid : float
        The share of each user's training interactions, rounded down, that becomes the validation
        part of a source without one.
    encoding : str, optional
        As in :meth:`Interactions.from_csv`.
    rng : None, int, SeedSequence or Generator
        Random seed of `valid`.

    Examples
    --------
    >>> import pyarrow as pa
    >>> columns = {"user": [3, 3, 4], "item": [1, 2, 1], "split": ["train", "test", "train"]}
    >>> read_split(pa.table(columns), item_ids=range(10)).train
    Interactions(2 users × 10 items, 2 interactions)
    """
    asked = {"user": user, "item": item, "value": value, "timestamp": timestamp, "split": split}
    columns = _read(source, asked, encoding)
    part, labels = _labels(columns["split"])
    table = clean(columns, user_ids=user_ids, item_ids=item_ids)
    parts = {
        label: Interactions._pack(table.where(part == code)) for code, label in enumerate(labels)
    }
    _warn_of_overlap(parts)
    if isinstance(source, Mapping):
        _check_that_files_meet(parts["train"], parts["test"])
    share = checks.real("valid", valid, low=0, high=1)
    if share:
        if "valid" in parts or "fold_in" in parts:
            raise InputError(
                "`valid` must be 0 for a source that has a validation part or holds out whole "
                "users."
            )
        parts["train"], parts["valid"] = _parted(parts["train"], share, rng)
    n_empty = int(np.count_nonzero(parts["test"].user_counts() == 0))
    if "fold_in" in parts:
        has = parts["fold_in"].user_counts() > 0
        n_empty = int(np.count_nonzero(has & (parts["test"].user_counts() == 0)))
    return Split(
        train=parts["train"],
        test=parts["test"],
        valid=parts.get("valid"),
        fold_in=parts.get("fold_in"),
        valid_fold_in=parts.get("valid_fold_in"),
        settings=settings_of(valid=share, rng=rng) if share else {},
        n_skipped=n_empty,
    )


def _read(source: Any, asked: Asked, encoding: str | None) -> _columns.Columns:
    if not isinstance(source, Mapping):
        return _columns.read(source, asked, encoding=encoding)
    if not {"train", "test"} <= set(source) <= set(PARTS):
        raise InputError(
            "`source` must have a file for 'train', one for 'test' and optionally one for "
            f"'valid'; it has {listed(map(str, source)) or 'none'}."
        )
    whole = {role: name for role, name in asked.items() if role != "split"}
    return _columns.read_parts(source, whole, encoding=encoding)


def part_of(label: str) -> str:
    """Return the part of a split that a label means, or the label.

    >>> part_of("Training"), part_of("dev"), part_of("7")
    ('train', 'valid', '7')
    """
    plain = label.strip().lower()
    return _SAME.get(plain, plain if plain in PARTS else label)


def _labels(column: Any) -> tuple[NDArray[np.int32], list[str]]:
    part, found = ids.encode("split", column)
    parts = [part_of(str(label)) for label in found]
    labels = sorted(set(parts))
    said = set(labels)
    alone = {"valid_fold_in"} <= said and not {"valid", "fold_in"} <= said
    if not {"train", "test"} <= said <= set(PARTS) or alone:
        raise InputError(
            "The split column must have the labels 'train', 'test' and optionally 'valid', each at "
            f"least once; it has {listed(map(str, found))}. A split by users also has the label "
            "'fold_in' and, with 'valid', 'valid_fold_in'."
        )
    codes = np.array([labels.index(one) for one in parts], np.int32)
    return codes[part], labels


def _check_that_files_meet(train: Interactions, test: Interactions) -> None:
    """Refuse two files without a common user, and say what else of the test part is new."""
    known, asked = train.user_counts() > 0, test.user_counts() > 0
    new = asked & ~known
    if (new == asked).all():
        first, number = checks.printable(test.user_ids[int(np.argmax(asked))]), int(asked.sum())
        none = f"none of its {number:,} users (the first is {first}) is"
        if number == 1:
            none = f"its only user, {first}, is not"
        raise InputError(
            f"`test` must hold users of the training part; {none} in that part. Write ids in the "
            "same way in both."
        )
    said = []
    if new.any():
        said.append(f"{int(new.sum()):,} of {int(asked.sum()):,} users")
    known, asked = train.item_counts() > 0, test.item_counts() > 0
    new = asked & ~known
    if (new == asked).all():
        said.append(f"{int(asked.sum()):,} of {int(asked.sum()):,} items")
    if said:
        warnings.warn(
            f"The training part lacks {' and '.join(said)} of the test part.",
            DataWarning,
            stacklevel=3,
        )


def _warn_of_overlap(parts: dict[str, Interactions]) -> None:
    """Say which pairs are in two parts."""
    n_items = next(iter(parts.values())).n_items
    pair = {}
    for name in (name for name in PARTS if name in parts):
        users, items = parts[name].pairs()
        pair[name] = users.astype(np.int64) * n_items + items
    for one, two in combinations(pair, 2):
        place = np.searchsorted(pair[one], pair[two])  # both ascend
        n_both = np.count_nonzero(np.append(pair[one], -1)[place] == pair[two])
        if n_both:
            warnings.warn(
                f"The {one!r} part also contains {n_both} of {pair[two].size} interactions of the "
                f"{two!r} part; nothing was removed.",
                DataWarning,
                stacklevel=3,
            )


def _parted(
    train: Interactions, share: float, rng: checks.RandomState
) -> tuple[Interactions, Interactions]:
    place = from_the_end(train, keys(train, "random", checks.generator(rng)))
    held = place < n_of(share, train.user_counts())[train.pairs()[0]]
    return train.select(~held), train.select(held)
