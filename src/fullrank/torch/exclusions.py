"""The argument `exclude`: items of a block of scores that are not candidates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from fullrank._lib import checks
from fullrank.errors import InputError
from fullrank.torch.library import torch

CELLS = 1 << 18  # excluded columns that are looked at together, unless the block is very large
_SHARE = 1 << 13  # or one of so many scores of the block
_FORMS = (
    "a mask or sparse matrix of the scores' shape, a tensor of columns with one row for each "
    "row of scores, a pair (rows, columns) or a list with one sequence of columns for each row"
)


@dataclass(frozen=True)
class Exclusion:
    """Items that are not candidates: a mask of all scores, columns by row, or rows and columns.

    A row of `columns` is padded by negative numbers.
    """

    mask: Any = None
    columns: Any = None
    pairs: tuple[Any, Any] | None = None


def parse(exclude: Any, scores: Any) -> Exclusion:
    """Return the exclusion on the scores' device, with its shape and type checked."""
    if exclude is None:
        return Exclusion()
    check_real("exclude", exclude)
    leading = tuple(scores.shape[:-1])
    if isinstance(exclude, tuple):
        return Exclusion(pairs=_pairs(exclude, scores))
    if isinstance(exclude, list):
        return Exclusion(pairs=_listed(exclude, scores))
    if is_sparse(exclude):
        return Exclusion(pairs=_stored(exclude, scores))
    given = as_tensor("exclude", exclude, scores.device)
    if given.dtype == torch.bool:
        if given.shape != scores.shape:
            raise InputError(
                f"`exclude` must be a mask of the scores' shape {tuple(scores.shape)}, not "
                f"{tuple(given.shape)}."
            )
        return Exclusion(mask=given)
    _check_whole(given)
    if given.shape == scores.shape and (given.dtype == torch.uint8 or is_indicator(given)):
        raise InputError(
            f"`exclude` must be a mask of type bool, not {given.dtype}, whose numbers would be "
            "read as columns."
        )
    if given.ndim != scores.ndim or tuple(given.shape[:-1]) != leading:
        shape = ", ".join(map(str, (*leading, "any")))
        raise InputError(
            f"`exclude` must hold columns in shape ({shape}), not {tuple(given.shape)}."
        )
    return Exclusion(columns=given.flatten(0, -2))


def is_sparse(value: Any) -> bool:
    """Whether a value is a sparse tensor, or a sparse matrix or array of scipy."""
    if isinstance(value, torch.Tensor):
        return value.layout is not torch.strided
    return callable(getattr(value, "tocoo", None))


def is_indicator(numbers: Any) -> bool:
    """Whether the first row says 0 or 1 of each item, rather than which columns are meant.

    Columns would be repeated. This waits for the device, but hardly any columns have the shape of
    the scores.
    """
    if numbers.shape[-1] < 3 or not numbers.numel():
        return False
    first = numbers.flatten(0, -2)[0]
    return bool(((first == 0) | (first == 1)).all())


def check_real(name: str, value: Any) -> None:
    """Refuse tensors that have a shape alone."""
    if isinstance(value, torch.Tensor) and value.is_meta:
        raise InputError(f'`{name}` must hold numbers; a tensor on the device "meta" has none.')


def as_tensor(name: str, value: Any, device: Any) -> Any:
    """A tensor on a device, of a tensor or of whatever numpy makes an array of."""
    if isinstance(value, torch.Tensor):
        check_real(name, value)
        # a copy to the host that does not block is read before it has arrived
        return value.detach().to(device, non_blocking=torch.device(device).type != "cpu")
    try:
        array = np.asarray(value)
        if (
            not array.flags.writeable
            or array.dtype.byteorder == ">"
            or min(array.strides, default=0) < 0
        ):
            array = array.astype(array.dtype.newbyteorder("="))  # which torch cannot share
        return torch.as_tensor(array, device=device)
    except (TypeError, ValueError, RuntimeError):
        must = _FORMS if name == "exclude" else "a tensor"
        raise InputError(f"`{name}` must be {must}, not {checks.shown(value)}.") from None


def _check_whole(given: Any) -> None:
    if given.is_floating_point() or given.is_complex() or given.dtype == torch.bool:
        raise InputError(f"`exclude` must be {_FORMS}; it holds {given.dtype}.")


def _check_flat(kind: str, scores: Any) -> None:
    """Refuse a form of `exclude` that has rows only, for scores with rows and positions."""
    if scores.ndim != 2:
        raise InputError(
            f"`exclude` must be a mask or a tensor of columns for scores with {scores.ndim} "
            f"dimensions, not {kind}."
        )


def _pairs(exclude: Any, scores: Any) -> tuple[Any, Any]:
    _check_flat("a tuple", scores)
    if len(exclude) != 2:
        raise InputError(f"`exclude` must be {_FORMS}, not a tuple of length {len(exclude)}.")
    rows, columns = (as_tensor("exclude", one, scores.device) for one in exclude)
    for one in (rows, columns):
        if one.numel():  # what is empty has no type of its own
            _check_whole(one)
    if rows.ndim != 1 or rows.shape != columns.shape:
        raise InputError(
            "`exclude` must be a pair of vectors (rows, columns) of the same length; their shapes "
            f"are {tuple(rows.shape)} and {tuple(columns.shape)}."
        )
    return rows.long(), columns.long()


def _stored(exclude: Any, scores: Any) -> tuple[Any, Any]:
    """Rows and columns of what a sparse matrix holds, but for zeros."""
    _check_flat("a sparse matrix", scores)
    if tuple(exclude.shape) != tuple(scores.shape):
        raise InputError(
            f"`exclude` must be a sparse matrix of the scores' shape {tuple(scores.shape)}, not "
            f"{tuple(exclude.shape)}."
        )
    if isinstance(exclude, torch.Tensor):
        matrix = exclude.detach().to(scores.device)
        matrix = matrix if matrix.layout is torch.sparse_coo else matrix.to_sparse()
        matrix = matrix.coalesce()
        rows, columns = matrix.indices()[:, matrix.values() != 0]
        return rows, columns
    rows, columns = exclude.nonzero()
    return tuple(
        torch.from_numpy(one.astype(np.int64)).to(scores.device) for one in (rows, columns)
    )


def _listed(exclude: list[Any], scores: Any) -> tuple[Any, Any]:
    _check_flat("a list", scores)
    if len(exclude) != scores.shape[0]:
        raise InputError(
            "`exclude` must have one sequence of columns for each row of `scores`, "
            f"{scores.shape[0]} in all, not {len(exclude)}."
        )
    each = [checks.numpy_of("exclude", list(one) if isinstance(one, set) else one)
            for one in exclude]  # fmt: skip
    for one in each:
        if one.ndim != 1 or (one.size and one.dtype.kind not in "iu"):
            raise InputError(
                "`exclude` must have a sequence of whole numbers for each row; one sequence is "
                f"{one.dtype} of shape {one.shape}."
            )
    sizes = [one.size for one in each]
    columns = np.concatenate([one.astype(np.int64) for one in each] or [np.empty(0, np.int64)])
    rows = np.repeat(np.arange(len(each)), sizes)
    return torch.from_numpy(rows).to(scores.device), torch.from_numpy(columns).to(scores.device)


@dataclass(frozen=True)
class Cells:
    """Excluded cells, by rows (r, 1) and columns (r, any), or by vectors in the order of the rows.

    `keep` tells which of them count, each cell once, and `outside` which lie outside of the block.
    Columns that do not count are 0. `first` is the first of rows (r, 1).
    """

    rows: Any
    columns: Any
    keep: Any
    outside: Any
    first: int = 0

    def add(self, true: Any, found: Any) -> None:
        """Add to found[row, t] how many cells of the row are `true` for its target t."""
        if self.rows.ndim == 2:
            found[self.first : self.first + self.rows.shape[0]] += true.sum(1)
            return
        sums = torch.nn.functional.pad(true.cumsum(0), (0, 0, 1, 0))
        each = torch.arange(found.shape[0] + 1, device=found.device)
        ends = torch.searchsorted(self.rows, each)
        found += sums[ends[1:]] - sums[ends[:-1]]


def excluded_cells(exclusion: Exclusion, n_rows: int, n_items: int) -> Iterator[Cells]:
    """The excluded cells, in parts; rows that lie outside are given as the nearest one."""
    step = max(CELLS, n_rows * n_items // _SHARE)
    if exclusion.columns is not None:
        width = exclusion.columns.shape[1]
        each = max(1, step // max(1, width))
        for start in range(0, n_rows if width else 0, each):
            columns = exclusion.columns[start : start + each].long().sort(1).values
            rows = torch.arange(start, start + columns.shape[0], device=columns.device)
            repeat = torch.zeros_like(columns, dtype=torch.bool)
            repeat[:, 1:] = columns[:, 1:] == columns[:, :-1]
            outside = columns >= n_items
            keep = (columns >= 0) & ~outside & ~repeat
            yield Cells(rows[:, None], torch.where(keep, columns, 0), keep, outside, start)
    elif exclusion.pairs is not None and exclusion.pairs[0].numel():
        rows, columns = exclusion.pairs
        inside = (rows >= 0) & (rows < n_rows)
        rows, columns = rows.clamp(0, n_rows - 1), columns.clamp(-1, n_items)
        key, order = (rows * (n_items + 2) + columns + 1).sort()
        rows = torch.div(key, n_items + 2, rounding_mode="floor")
        columns, inside = key - rows * (n_items + 2) - 1, inside[order]
        new = torch.ones_like(inside)
        new[1:] = key[1:] != key[:-1]
        outside = (columns >= n_items) | (~inside & (columns >= 0))
        keep = (columns >= 0) & ~outside & new
        columns = torch.where(keep, columns, 0)
        for start in range(0, rows.numel(), step):
            part = slice(start, start + step)
            yield Cells(rows[part], columns[part], keep[part], outside[part])


@dataclass(frozen=True)
class SortedCells:
    """Excluded cells in ascending order, as kernels read them.

    With a `width` they are columns, so many for each row from `first` on; else keys, which are
    row · (n_items + 2) + column + 1. A column of -1 is padding, one of n_items lies outside.
    """

    cells: Any
    width: int = 0
    first: int = 0


def sorted_cells(exclusion: Exclusion, n_rows: int, n_items: int) -> Iterator[SortedCells]:
    """The excluded cells, in parts; rows that lie outside are the nearest one, and marked so."""
    if exclusion.columns is not None:
        width = exclusion.columns.shape[1]
        each = max(1, max(CELLS, n_rows * n_items // _SHARE) // max(1, width))
        for start in range(0, n_rows if width else 0, each):
            columns = exclusion.columns[start : start + each].long()
            yield SortedCells(columns.sort(1).values, width, start)
    elif exclusion.pairs is not None and exclusion.pairs[0].numel():
        rows, columns = exclusion.pairs
        inside = (rows >= 0) & (rows < n_rows)
        columns = torch.where(inside | (columns < 0), columns.clamp(-1, n_items), n_items)
        yield SortedCells((rows.clamp(0, n_rows - 1) * (n_items + 2) + columns + 1).sort().values)
