"""Factors from files: one file for users and one for items, or both in one.

Formats: ``.npy`` (memory-mapped), ``.npz``, ``.safetensors`` and ``.parquet``. Nothing in them is
executed: pickled content is refused.
"""

from __future__ import annotations

import contextlib
import json
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from fullrank._lib import checks, files, mapped_arrays, memory
from fullrank._lib.fingerprints import file_fingerprint
from fullrank._lib.types import Array
from fullrank.errors import InputError
from fullrank.scorers.carried_ids import agreed
from fullrank.scorers.factors import SIMILARITIES, FactorScorer
from fullrank.tables import ids as _ids
from fullrank.tables.id_files import id_column, read_ids
from fullrank.tables.ids import Ids
from fullrank.tables.packed_ids import unpack_ids
from fullrank.tables.table import open_table

SUFFIXES = (".npy", ".npz", ".safetensors", ".parquet")
_SIDES = {"users": "user", "items": "item"}
_BIASES = ("item_bias", "user_bias")
_KNOWN = ("user_factors", "item_factors", "user_ids", "item_ids", *_BIASES)
_ROWS = 1 << 16  # rows looked at together
_MANY = 8  # rows in which whole numbers, all different, are no accident


@dataclass(frozen=True, kw_only=True)
class FactorFiles:
    """The files of a factor model.

    Rows may be in any order and include users and items that are not in the data: they are matched
    by ids, which are in the same files or in separate ones. Without ids, those of the data must be
    0 … n−1, which are then the rows.

    Attributes
    ----------
    users, items : paths; the same path for one ``.npz`` or ``.safetensors`` file with the arrays
        `user_factors` and `item_factors` and optionally `item_bias` and `user_bias`
    similarity : "dot" or "cosine"
    user_ids, item_ids : paths of files with the id of each row, optional
        ``.txt`` with one id per line, the first column of ``.csv`` (with a header) or ``.parquet``,
        or ``.npy``.
    columns : mapping, optional
        The names of the id columns in CSV and Parquet files, such as
        ``{"user": "customer_id", "item": "sku"}``; the usual names are found without it.

    Notes
    -----
    Ids in the files of factors: arrays `user_ids` and `item_ids` in ``.npz``; in ``.safetensors``
    the same, of int64, or text as a JSON list in the file's metadata under these names, or as in
    saved models; in Parquet a column. All other columns of Parquet are factors, or one of them
    holds lists. In text files, ids that are all plain whole numbers are numbers, and others are
    text ("007" is not changed); 7 and "7" are different ids.
    """

    users: Path
    items: Path
    similarity: str = "dot"
    user_ids: Path | None = None
    item_ids: Path | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    _sums: Mapping[str, str] = field(init=False, repr=False, default_factory=dict)
    _marks: Mapping[Path, mapped_arrays.Mark] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        checks.choice("similarity", self.similarity, SIMILARITIES)
        for name in self._names:
            said = "factors" if name in _SIDES else name
            object.__setattr__(self, name, files.existing(getattr(self, name), said))
        for side in _SIDES:
            path = getattr(self, side)
            if path.suffix.lower() not in SUFFIXES:
                raise InputError(
                    f"`factors` must be files of type {', '.join(SUFFIXES)}; {path} is not."
                )
        if self.users == self.items and self.users.suffix.lower() not in (".npz", ".safetensors"):
            raise InputError(
                "`factors` must be two files, one for users and one for items, or one .npz or "
                f".safetensors file with both; {self.users} is neither."
            )
        for role in self.columns:
            checks.role(role, tuple(_SIDES.values()))
        paths = [getattr(self, name) for name in self._names]
        object.__setattr__(self, "_marks", {path: mapped_arrays.mark(path) for path in paths})
        sums = {name: file_fingerprint(getattr(self, name)) for name in self._names}
        object.__setattr__(self, "_sums", sums)

    @property
    def _names(self) -> list[str]:
        """The attributes that are paths and given."""
        ids = [name for name in ("user_ids", "item_ids") if getattr(self, name) is not None]
        return [*_SIDES, *ids]

    @classmethod
    def of(cls, text: str, **settings: Any) -> tuple[str, Self]:
        """Parse a name and its files from ``name=users.npy,items.npy`` or ``name=both.npz``."""
        name, equals, rest = text.partition("=")
        paths = [Path(piece.strip()) for piece in rest.split(",") if piece.strip()]
        if not equals or not name.strip() or len(paths) not in (1, 2):
            raise InputError(
                f"`factors` must be written as name=users.npy,items.npy or name=both.npz, not "
                f"{text!r}."
            )
        return name.strip(), cls(users=paths[0], items=paths[-1], **settings)

    def to_dict(self) -> dict[str, Any]:
        """Return the settings and the fingerprints of the files, but not their paths."""
        columns = {"columns": dict(self.columns)} if self.columns else {}
        return {"similarity": self.similarity, **columns, **self._sums}

    def scorer(self) -> FactorScorer:
        """Return the scorer, with the ids in the files."""
        users, items = self._side("users"), self._side("items")
        if users.factors.shape[1] != items.factors.shape[1]:
            raise InputError(
                f"`factors` must have as many columns for users as for items; {self.users} has "
                f"{users.factors.shape[1]} and {self.items} {items.factors.shape[1]}."
            )
        biases = _biases(self.items) if self.users == self.items else {}
        for path, before in self._marks.items():
            if mapped_arrays.mark(path) != before:
                raise InputError(
                    f"`factors` must not change during a run; {path} has changed since the run "
                    "began."
                )
        scorer = FactorScorer(users.factors, items.factors, similarity=self.similarity, **biases)
        return scorer.with_ids(users.ids, items.ids)  # which are clean

    def _side(self, side: str) -> Side:
        """The factors and ids of the users, or of the items."""
        path, role = getattr(self, side), _SIDES[side]
        column = self.columns.get(role)
        factors, ids = _matrix(path, side, column)
        beside = getattr(self, f"{role}_ids")
        if beside is not None:
            ids = agreed(f"{role}_ids", ids, read_ids(beside, role, column=column), str(path))
        if ids is not None and ids.size != factors.shape[0]:
            header = " A CSV file must have a header." if ".csv" in str(beside).lower() else ""
            raise InputError(
                f"`{role}_ids` must have one id for each of the {factors.shape[0]:,} rows of "
                f"{path}; {path if beside is None else beside} has {ids.size:,}.{header}"
            )
        return Side(factors, ids)


class Side(NamedTuple):
    """Factors, and the id of each row where there are any."""

    factors: Array
    ids: Ids | None


def _matrix(path: Path, side: str, column: str | None) -> Side:
    try:
        with _quiet():
            array, given = _READERS[path.suffix.lower()](path, side, column)
    except InputError:
        raise
    except Exception as error:  # of whichever library reads it
        raise InputError(
            f"`factors` must be a {path.suffix} file; {path} is not: {checks.because(error)}."
        ) from error
    if array.ndim != 2 or array.dtype.kind not in "iuf" or 0 in array.shape:
        raise InputError(
            f"`factors` must be a table of numbers with a row for each {_SIDES[side]}; {path} "
            f"holds {array.dtype} of shape {array.shape}."
        )
    _reject_wild(path, array)
    name = f"{_SIDES[side]}_ids of {checks.printable(path)}"
    return Side(array, None if given is None else _ids.unique(name, given))


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


def _npy(path: Path, side: str, column: str | None) -> tuple[Array, Any]:
    return mapped_arrays.open_array(path), None


def _npz(path: Path, side: str, column: str | None) -> tuple[Array, Any]:
    import zipfile

    with zipfile.ZipFile(path) as archive:
        need = sum(one.file_size for one in archive.infolist())
    memory.ask("factors", need, f"{path}, unpacked,")
    name = f"{_SIDES[side]}_ids"
    with np.load(path, allow_pickle=False) as content:
        names = list(content.files)
        found = _array(content, _member(path, side, names))
        for other in (one for one in names if one not in _KNOWN and one != _only(names)):
            if _array(content, other).shape == found.shape[:1]:
                raise InputError(
                    f"`factors` must have ids in an array called {name}; {path} has {other!r}, "
                    f"which has one entry per {_SIDES[side]} but is not read."
                )
        return found, _array(content, name) if name in names else None


def _array(content: Any, name: str) -> Array:
    """An array of an .npz file; numpy returns the bytes of a member that is none."""
    found = content[name]
    if not isinstance(found, np.ndarray):
        raise ValueError(f"{name!r} is not an array")
    return found


def _only(names: list[str]) -> str | None:
    """The array that is taken for the factors where none has their name."""
    others = [name for name in names if name not in _KNOWN]
    return others[0] if len(others) == 1 and not set(_KNOWN[:2]) & set(names) else None


def _safetensors(path: Path, side: str, column: str | None) -> tuple[Array, Any]:
    from safetensors import safe_open

    name = f"{_SIDES[side]}_ids"
    with safe_open(str(path), framework="np") as content:
        found: Array = content.get_tensor(_member(path, side, list(content.keys())))
        packed = {
            key: content.get_tensor(key)
            for key in content.keys()  # noqa: SIM118
            if key in (name, f"{name}.text", f"{name}.ends")
        }
        text = (content.metadata() or {}).get(name)
    ids = None if text is None else _listed(path, name, text)
    if not packed:
        return found, ids
    held = packed[name] if name in packed else unpack_ids(name, packed)
    return found, agreed(name, held, ids, f"the metadata of {path}")


def _listed(path: Path, name: str, text: str) -> Any:
    """Ids written as a JSON list."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, list):
        raise InputError(f"`{name}` must be a JSON list in the metadata of {path}.")
    return _ids.unique(f"{name} of {checks.printable(path)}", found)


def _member(path: Path, side: str, names: list[str]) -> str:
    wanted = f"{_SIDES[side]}_factors"
    if wanted in names:
        return wanted
    others = [name for name in names if name.partition(".")[0] not in ("user_ids", "item_ids")]
    if len(others) == 1:
        return others[0]
    raise InputError(
        f"`factors` must hold an array named {wanted}, or a single array; {path} has "
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
            return {name: _array(content, name) for name in _BIASES if name in content.files}
    from safetensors import safe_open

    with safe_open(str(path), framework="np") as content:
        return {name: content.get_tensor(name) for name in _BIASES if name in content.keys()}  # noqa: SIM118


def _parquet(path: Path, side: str, column: str | None) -> tuple[Array, Any]:
    import pyarrow as pa

    with open_table(path, argument="factors") as file:
        every = {name: name for name in file.names}
        first = next(file.pieces(every), None)  # whose lists are as long as all others
        if first is not None and len(first):
            size = first.nbytes / len(first) * file.source.n_rows
            memory.ask("factors", int(size), f"{path}, unpacked,")
        table = file.whole(every)
    id_name = id_column(table.column_names, _SIDES[side], column)
    names = [name for name in table.column_names if name != id_name]
    for name in names:
        if table[name].null_count:
            raise InputError(f"`factors` must have no missing values; {path} has some in {name}.")
    columns = [table[name].combine_chunks() for name in names]
    if len(columns) == 1 and not pa.types.is_primitive(columns[0].type):
        (lists,) = columns
        flat = lists.flatten().to_numpy(zero_copy_only=False)
        widths = len(flat) / max(len(lists), 1)
        if widths != int(widths) or (np.diff(_offsets(lists, int(widths))) != widths).any():
            raise InputError(f"`factors` must be lists of equal length; those of {path} differ.")
        matrix: Array = flat.reshape(len(lists), -1)
    else:
        _reject_ids_among_factors(path, side, table.select(names).schema)
        matrix = np.column_stack([column.to_numpy(zero_copy_only=False) for column in columns])
        if id_name is None:
            _reject_numbered(path, side, names, matrix)
    return matrix, None if id_name is None else table[id_name]


def _reject_ids_among_factors(path: Path, side: str, schema: Any) -> None:
    """Ids under a name that nobody gave would be taken for a factor."""
    import pyarrow as pa

    kinds = {column.name: column.type for column in schema}
    lists = [name for name, kind in kinds.items() if pa.types.is_nested(kind)]
    if lists:
        strange = [name for name in kinds if name not in lists] or lists
    elif any(pa.types.is_floating(kind) for kind in kinds.values()):
        strange = [name for name, kind in kinds.items() if not pa.types.is_floating(kind)]
    else:
        strange = [name for name, kind in kinds.items() if not pa.types.is_integer(kind)]
    if strange:
        raise InputError(
            "`factors` must be floating-point columns or one column of lists, apart from the ids; "
            f"column {strange[0]!r} of {path} is {kinds[strange[0]]}. If it holds ids, add "
            f"{_naming(side, strange[0])}."
        )


def _reject_numbered(path: Path, side: str, names: list[str], matrix: Array) -> None:
    """A column of whole numbers, each once, beside others that are not, holds ids."""
    if matrix.shape[0] < _MANY:
        return
    ids = [
        name
        for name, column in zip(names, matrix.T, strict=True)
        if (column % 1 == 0).all() and np.unique(column).size == column.size
    ]
    if 0 < len(ids) < len(names):
        raise InputError(
            f"`factors` must hold only factors and ids; {path} has a different whole number in "
            f"each row of {ids[0]!r}. If this column holds ids, add "
            f"{_naming(side, ids[0])}."
        )


def _naming(side: str, column: str) -> str:
    """How the caller says that a column holds the ids."""
    return f"`columns={{{_SIDES[side]!r}: {column!r}}}`"


def _offsets(lists: Any, width: int) -> Array:
    if hasattr(lists, "offsets"):
        found: Array = lists.offsets.to_numpy()
        return found
    return np.arange(len(lists) + 1) * width  # fixed-size lists


_READERS = {
    ".npy": _npy,
    ".npz": _npz,
    ".safetensors": _safetensors,
    ".parquet": _parquet,
}
