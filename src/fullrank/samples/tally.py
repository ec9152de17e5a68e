"""Counting ranks as they are read: what is kept of a file is one line for each outcome."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank._lib.types import Ints
from fullrank.designs.design import ONE_BASED
from fullrank.errors import InputError
from fullrank.tables.arrow import not_text
from fullrank.tables.table import Table

SEVERAL = "multi-target users"
_KEYS = ("model", "n_items", "sample_size", "rank")
_NAMES = [*_KEYS, "count", "weight", "least", "most"]
MODELS = 10_000  # a column of more names is one of users or items
_SPAN = 1 << 20  # outcomes counted in one array
_BLOCK = 1 << 14  # texts hashed together
# a weight for each place in a text
_ODD = np.random.default_rng(7).integers(2**63, 2**64, 256, dtype=np.uint64) | np.uint64(1)


@dataclass(kw_only=True)
class Tally:
    """How often each outcome of each model occurred, and whether that is all there is to know.

    Attributes
    ----------
    table : the file that is read
    outcomes : a pyarrow table: model, n_items, sample_size, rank, count, weight
    models : their names, with the number of each in `outcomes`
    n_rows : rows read
    needs_rows : why counts alone would not do, or nothing
    """

    table: Table
    outcomes: Any = None
    models: dict[str, int] = field(default_factory=dict)
    n_rows: int = 0
    needs_rows: str = ""
    _parts: list[Any] = field(default_factory=list)
    _users: list[NDArray[np.uint64]] = field(default_factory=list)
    _bad: dict[str, tuple[int, int, int]] = field(default_factory=dict)  # how many, row, value

    def add(self, piece: Any, given: Mapping[str, int]) -> None:
        """Count a piece; `given` are sizes that have no column."""
        columns: dict[str, Any] = {"model": self._models(piece)}
        for role in _KEYS[1:]:
            columns[role] = (
                np.broadcast_to(np.int64(given[role]), len(piece))
                if role in given
                else self.table.integers(role, piece.column(role), self.n_rows)
            )
        if "weight" in piece.column_names:
            weight = self.table.numbers("weight", piece.column("weight"), self.n_rows)
            wrong = ~(weight >= 0)
            self.table.reject("weight", weight, wrong, "be at least 0", start=self.n_rows)
            columns["weight"] = weight.astype(np.float64, copy=False)
        part = _counted(columns) if len(piece) else _grouped(columns)
        self._check(part, columns)
        self._look_at_users(piece, columns["model"])
        self._parts.append(part)
        self.n_rows += len(piece)
        if len(self._parts) > 16:
            self._parts = [self._merged()]

    def finish(self) -> Tally:
        """Raise what was wrong, or give the counts."""
        for must, (number, row, value) in self._bad.items():
            raise self.table.wrong("rank", must, number, self.n_rows, row, value, ONE_BASED)
        if not self.n_rows:
            raise self.table.empty("rank")
        self.outcomes = self._merged()
        if self._users:
            keys = np.concatenate(self._users)
            self._users.clear()
            keys.sort()
            if (keys[1:] == keys[:-1]).any():
                self.needs_rows = self.needs_rows or "repeated users"
        lightest, heaviest = (self.outcomes[name].to_numpy() for name in ("least", "most"))
        if heaviest.max() > lightest.min():
            self.needs_rows = self.needs_rows or "unequal weights"
        return self

    def _merged(self) -> Any:
        import pyarrow as pa

        table = pa.concat_tables(self._parts)
        how = [("count", "sum"), ("weight", "sum"), ("least", "min"), ("most", "max")]
        merged = table.group_by(list(_KEYS)).aggregate(how).rename_columns(_NAMES)
        return merged.sort_by([(key, "ascending") for key in _KEYS])

    def _check(self, part: Any, columns: Mapping[str, Any]) -> None:
        """Find the rows behind impossible outcomes; few files have any."""
        rank, n, count = (part[name].to_numpy() for name in ("rank", "sample_size", "count"))
        for must, bad in (
            ("be at least 1", rank < 1),
            ("be at most the sample size", rank > n),
        ):
            if not bad.any():
                continue
            number, first, value = self._bad.get(must, (0, -1, 0))
            if first < 0:
                low = must == "be at least 1"
                r = columns["rank"]
                at = int(np.argmax(r < 1 if low else r > columns["sample_size"]))
                first, value = self.n_rows + at, int(r[at])
            self._bad[must] = (number + int(count[bad].sum()), first, value)

    def _models(self, piece: Any) -> Ints:
        """The number of each row's model."""
        if "model" not in piece.column_names:
            self.models[""] = 0
            return np.zeros(len(piece), np.int64)
        import pyarrow as pa

        column = self.table.present("model", piece.column("model"), self.n_rows)
        if pa.types.is_nested(column.type):
            raise InputError(f"`model` must hold text, not {column.type}.")
        if not pa.types.is_dictionary(column.type):
            column = column.dictionary_encode()
        column = column.combine_chunks()
        try:
            names = [str(name) for name in column.dictionary.to_pylist()]
        except UnicodeError as error:
            raise not_text("model", error) from None
        places = np.array([self.models.setdefault(one, len(self.models)) for one in names] or [0])
        if len(self.models) > MODELS:
            raise too_many()
        return np.asarray(places[column.indices.to_numpy()])

    def _look_at_users(self, piece: Any, model: Ints) -> None:
        for role, alone in (("n_targets", 1), ("offset", 0)):
            if role in piece.column_names:
                found = self.table.integers(role, piece.column(role), self.n_rows)
                if (found != alone).any():
                    self.needs_rows = SEVERAL
        if "user" in piece.column_names and not self.needs_rows:
            keys = user_keys(self.table.present("user", piece.column("user"), self.n_rows))
            # the same user may occur in every model
            self._users.append(keys + _ODD[0] * model.astype(np.uint64))


def _counted(columns: Mapping[str, Any]) -> Any:
    """The outcomes of a piece: counted in an array where they span little, else grouped."""
    keys = [columns[name] for name in _KEYS]
    low = [int(key.min()) for key in keys]
    span = [int(key.max()) - start + 1 for key, start in zip(keys, low, strict=True)]
    if "weight" in columns or math.prod(span) > _SPAN:
        return _grouped(columns)
    import pyarrow as pa

    code = np.zeros(keys[0].size, np.int64)
    for key, start, width in zip(keys, low, span, strict=True):
        if width > 1:
            code = code * width + (key - start)
    count = np.bincount(code, minlength=math.prod(span))
    seen = np.flatnonzero(count)
    places = np.unravel_index(seen, span)
    outcomes = {k: x + start for k, x, start in zip(_KEYS, places, low, strict=True)}
    ones = np.ones(seen.size)
    number = count[seen]
    return pa.table({**outcomes, "count": number, "weight": ones * number, "least": ones,
                     "most": ones})  # fmt: skip


def _grouped(columns: Mapping[str, Any]) -> Any:
    import pyarrow as pa

    weight = columns.get("weight", np.ones(columns["rank"].size))
    table = pa.table({**{name: columns[name] for name in _KEYS}, "weight": weight})
    how = [([], "count_all"), ("weight", "sum"), ("weight", "min"), ("weight", "max")]
    return table.group_by(list(_KEYS)).aggregate(how).rename_columns(_NAMES)


def too_many() -> InputError:
    """The error for a column of models that can only be one of users or items."""
    return InputError(
        f"`model` must name models; the column has more than {MODELS:,} different names."
    )


def user_keys(column: Any) -> NDArray[np.uint64]:
    """Numbers that are equal for equal names, and almost never for others.

    Whole numbers are kept as they are. The bytes of a text are weighted by position and summed; a
    collision costs time, not correctness: the rows are then read and compared.
    """
    import pyarrow as pa

    if pa.types.is_integer(column.type):
        return np.asarray(column.to_numpy()).astype(np.uint64)
    try:
        text = column.cast(pa.string()).cast(pa.large_binary()).combine_chunks()
    except pa.ArrowException:
        raise InputError(f"`user` must hold whole numbers or text, not {column.type}.") from None
    ends = np.frombuffer(text.buffers()[1], np.int64)[text.offset : text.offset + len(text) + 1]
    data = text.buffers()[2]
    raw = np.frombuffer(data if data is not None else b"", np.uint8)
    blocks = [ends[start : start + _BLOCK + 1] for start in range(0, len(text), _BLOCK)]
    return np.concatenate([np.zeros(0, np.uint64), *(_hashed(raw, block) for block in blocks)])


def _hashed(raw: NDArray[np.uint8], ends: Ints) -> NDArray[np.uint64]:
    length, start = np.diff(ends), ends - ends[0]
    at = np.arange(start[-1]) - np.repeat(start[:-1], length)
    # the last weight is the length's; beyond 255 bytes places share their weights
    parts = (raw[ends[0] : ends[-1]] + np.uint64(1)) * _ODD.take(at, mode="wrap")
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(parts)])
    return np.asarray(sums[start[1:]] - sums[start[:-1]] + _ODD[-1] * length.astype(np.uint64))
