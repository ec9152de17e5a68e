"""Factors from files: one of the users' and one of the items', or both in one.

Forms: ``.npy`` (mapped into memory, not read), ``.npz``, ``.safetensors`` and ``.parquet``. Nothing
in them is executed: pickled content is refused.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np

from fullrank._lib import checks, files, mapped_arrays, memory
from fullrank._lib.fingerprints import file_fingerprint
from fullrank._lib.types import Array
from fullrank.data import Split
from fullrank.errors import InputError
from fullrank.scorers.factors import SIMILARITIES, FactorScorer

SUFFIXES = (".npy", ".npz", ".safetensors", ".parquet")
_NAMES = {"users": "user_factors", "items": "item_factors"}
_IDS = {"users": ("user", "user_id", "id"), "items": ("item", "item_id", "id")}
_BIASES = ("item_bias", "user_bias")
_ROWS = 1 << 16  # rows looked at together


@dataclass(frozen=True, kw_only=True)
class FactorFiles:
    """The files of a factor model.

    Row i of the users' factors is the data's user row i, that is the i-th of its user ids in
    ascending order; items alike. A Parquet file may have a column of ids instead (`user` or
    `item`), and then its rows may come in any order and hold more than the data do. In Parquet
    the factors are one column of lists, or all other columns.

    Attributes
    ----------
    users, items : paths; the same path for one ``.npz`` or ``.safetensors`` file with the arrays
        `user_factors` and `item_factors` and perhaps `item_bias` and `user_bias`
    similarity : "dot" or "cosine"
    """

    users: Path
    items: Path
    similarity: str = "dot"
    _sums: Mapping[str, str] = field(init=False, repr=False, default_factory=dict)
    _marks: Mapping[Path, mapped_arrays.Mark] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        checks.choice("similarity", self.similarity, SIMILARITIES)
        for side in ("users", "items"):
            path = files.existing(getattr(self, side))
            object.__setattr__(self, side, path)
            if path.suffix.lower() not in SUFFIXES:
                raise InputError(
                    f"`factors` must be files that end in {', '.join(SUFFIXES)}; {path} does not."
                )
        if self.users == self.items and self.users.suffix.lower() not in (".npz", ".safetensors"):
            raise InputError(
                f"`factors` must be two files, users' and items', or one .npz or .safetensors with "
                f"both; {self.users} is neither."
            )
        object.__setattr__(self, "_marks", {path: mapped_arrays.mark(path) for path in self._paths})
        sums = {side: file_fingerprint(getattr(self, side)) for side in ("users", "items")}
        object.__setattr__(self, "_sums", sums)

    @property
    def _paths(self) -> tuple[Path, Path]:
        return self.users, self.items

    @classmethod
    def of(cls, text: str) -> tuple[str, Self]:
        """A name and its files from ``name=users.npy,items.npy`` or ``name=both.npz``."""
        name, equals, rest = text.partition("=")
        paths = [Path(piece.strip()) for piece in rest.split(",") if piece.strip()]
        if not equals or not name.strip() or len(paths) not in (1, 2):
            raise InputError(
                f"`factors` must be written as name=users.npy,items.npy or name=both.npz, not "
                f"{text!r}."
            )
        return name.strip(), cls(users=paths[0], items=paths[-1])

    def to_dict(self) -> dict[str, Any]:
        """The settings, and the fingerprints of the files; not their places."""
        return {"similarity": self.similarity, **self._sums}

    def scorer(self, split: Split | None) -> FactorScorer:
        """The scorer, its rows those of the data."""
        ids: Mapping[str, Any] = {"users": None, "items": None}
        if split is not None:
            ids = {"users": split.train.user_ids, "items": split.train.item_ids}
        users = _matrix(self.users, "users", ids["users"])
        items = _matrix(self.items, "items", ids["items"])
        if users.shape[1] != items.shape[1]:
            raise InputError(
                f"`factors` must have as many columns for users as for items; {self.users} has "
                f"{users.shape[1]} and {self.items} {items.shape[1]}."
            )
        biases = _biases(self.items) if self.users == self.items else {}
        for path in self._paths:
            if mapped_arrays.mark(path) != self._marks[path]:
                raise InputError(
                    f"`factors` must stay as they are during a run; {path} has changed since it "
                    "began."
                )
        return FactorScorer(users, items, similarity=self.similarity, **biases)


def _matrix(path: Path, side: str, ids: Array | None) -> Array:
    try:
        with _quiet():
            array = _READERS[path.suffix.lower()](path, side, ids)
    except InputError:
        raise
    except Exception as error:  # of whichever library reads it
        raise InputError(
            f"`factors` must be a {path.suffix} file; {path} is not: {checks.because(error)}."
        ) from error
    if array.ndim != 2 or array.dtype.kind not in "iuf" or 0 in array.shape:
        raise InputError(
            f"`factors` must be a table of numbers with a row for each of the {side}; {path} holds "
            f"{array.dtype} of shape {array.shape}."
        )
    if ids is not None and array.shape[0] != ids.size:
        raise InputError(
            f"`factors` must have a row for each of the {ids.size:,} {side} of the data; {path} "
            f"has {array.shape[0]:,}."
        )
    _reject_wild(path, array)
    return array


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Sizes that nothing has, and headers that old versions wrote."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _reject_wild(path: Path, array: Array) -> None:
    """NaN and inf, looked for block by block: the file may be larger than memory."""
    if array.dtype.kind != "f":
        return
    for start in range(0, array.shape[0], _ROWS):
        bad = ~np.isfinite(array[start : start + _ROWS])
        if bad.any():
            row, column = (int(x) for x in np.argwhere(bad)[0])
            raise InputError(
                f"`factors` must be finite; {path} has {array[start + row, column]} in row "
                f"{start + row}, column {column}."
            )


def _npy(path: Path, side: str, ids: Array | None) -> Array:
    return mapped_arrays.open_array(path)


def _npz(path: Path, side: str, ids: Array | None) -> Array:
    import zipfile

    with zipfile.ZipFile(path) as archive:
        need = sum(one.file_size for one in archive.infolist())
    memory.ask("factors", need, f"{path}, unpacked,")
    with np.load(path, allow_pickle=False) as content:
        found: Array = content[_member(path, side, list(content.files))]
    return found


def _safetensors(path: Path, side: str, ids: Array | None) -> Array:
    from safetensors import safe_open

    with safe_open(str(path), framework="np") as content:
        found: Array = content.get_tensor(_member(path, side, list(content.keys())))
    return found


def _member(path: Path, side: str, names: list[str]) -> str:
    if _NAMES[side] in names:
        return _NAMES[side]
    if len(names) == 1:
        return names[0]
    raise InputError(
        f"`factors` must hold an array {_NAMES[side]}, or one array alone; {path} has "
        f"{', '.join(map(repr, names)) or 'none'}."
    )


def _biases(path: Path) -> dict[str, Array]:
    try:
        with _quiet():
            return _read_biases(path)
    except Exception as error:  # of whichever library reads it
        raise InputError(
            f"`factors` must be a {path.suffix} file; {path} is not: {checks.because(error)}."
        ) from error


def _read_biases(path: Path) -> dict[str, Array]:
    if path.suffix.lower() == ".npz":
        with np.load(path, allow_pickle=False) as content:
            return {name: content[name] for name in _BIASES if name in content.files}
    from safetensors import safe_open

    with safe_open(str(path), framework="np") as content:
        return {name: content.get_tensor(name) for name in _BIASES if name in content.keys()}  # noqa: SIM118


def _parquet(path: Path, side: str, ids: Array | None) -> Array:
    import pyarrow as pa
    import pyarrow.parquet as pq

    footer = pq.read_metadata(path)
    groups = [footer.row_group(g) for g in range(footer.num_row_groups)]
    values = sum(one.column(c).num_values for one in groups for c in range(one.num_columns))
    memory.ask("factors", 8 * values, f"{path}, unpacked,")
    table = pq.read_table(path)
    id_name = next((name for name in _IDS[side] if name in table.column_names), None)
    names = [name for name in table.column_names if name != id_name]
    for name in names:
        if table[name].null_count:
            raise InputError(f"`factors` must have no missing values; {path} has, in {name}.")
    columns = [table[name].combine_chunks() for name in names]
    if len(columns) == 1 and not pa.types.is_primitive(columns[0].type):
        (lists,) = columns
        flat = lists.flatten().to_numpy(zero_copy_only=False)
        widths = len(flat) / max(len(lists), 1)
        if widths != int(widths) or (np.diff(_offsets(lists, int(widths))) != widths).any():
            raise InputError(f"`factors` must be lists of one length; those of {path} differ.")
        matrix: Array = flat.reshape(len(lists), -1)
    else:
        matrix = np.column_stack([column.to_numpy(zero_copy_only=False) for column in columns])
    if id_name is None or ids is None:
        return matrix
    rows: Array = matrix[_places(path, side, table[id_name].to_numpy(), ids)]
    return rows


def _offsets(lists: Any, width: int) -> Array:
    if hasattr(lists, "offsets"):
        found: Array = lists.offsets.to_numpy()
        return found
    return np.arange(len(lists) + 1) * width  # fixed-size lists


def _places(path: Path, side: str, given: Array, ids: Array) -> Array:
    """The row of the file for each id of the data."""
    if ids.dtype.kind == "U":
        given = np.asarray(given).astype(np.str_)  # as long as they are: cut, one may be another
    order = np.argsort(given, kind="stable")
    rising = given[order]
    at = np.minimum(np.searchsorted(rising, ids), max(given.size - 1, 0))
    missing = rising[at] != ids
    if missing.any():
        raise InputError(
            f"`factors` must have a row for each of the {ids.size:,} {side} of the data; {path} "
            f"lacks {int(missing.sum()):,}, the first being {ids[int(np.argmax(missing))]}."
        )
    again = np.append(rising[1:] == rising[:-1], False)[at]
    if again.any():
        raise InputError(
            f"`factors` must have one row for each of the {side}; {path} has several for "
            f"{int(again.sum()):,}, the first being {ids[int(np.argmax(again))]}."
        )
    return order[at]


_READERS = {
    ".npy": _npy,
    ".npz": _npz,
    ".safetensors": _safetensors,
    ".parquet": _parquet,
}
