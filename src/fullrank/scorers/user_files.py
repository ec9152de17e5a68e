"""Users in a Parquet file, read shard by shard by the processes that rank them.

The process that distributes the work reads only the file's footer, so its memory does not grow with
the number of users. A row group is the smallest shard.
"""

from __future__ import annotations

import hashlib
import mmap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fullrank._lib import checks, files
from fullrank._lib.types import Array, Ints
from fullrank.data.shards import Seen, Shard
from fullrank.errors import InputError
from fullrank.scorers.factors import FactorScorer


@dataclass(frozen=True, kw_only=True)
class UserFile:
    """Users with their targets, and optionally their seen items and factors, in a Parquet file.

    Columns: `user`, whole numbers in ascending order, the user rows that determine the draws;
    `target`, an item row or a list of them; `seen`, a list of item rows that are not candidates
    (optional); and a column of factors, lists of equal length, for each model (`UserFactors`).
    Workers must be able to open the file under the same path.

    Attributes
    ----------
    path : the file
    n_items : the number of items in the catalogue

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "users.parquet")
    ...     write_users(path, [{"user": [0, 1], "target": [3, 5]}, {"user": [4], "target": [0]}])
    ...     users = UserFile(path=path, n_items=10)
    ...     users.n_users, users.shards(1), users.part(users.shards(1)[1])[0]
    (3, [Shard(start=0, stop=2), Shard(start=2, stop=3)], (array([4]), array([0])))
    """

    path: Path
    n_items: int
    columns: tuple[str, ...] = field(init=False)
    starts: tuple[int, ...] = field(init=False, repr=False)  # of the row groups, and the end
    fingerprint: str = field(init=False, repr=False)
    _sizes: tuple[int, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        path = files.existing(self.path).resolve()
        n_items = checks.integer("n_items", self.n_items, low=1)
        footer = _footer(path)
        names = tuple(footer.schema.to_arrow_schema().names)
        for name in ("user", "target"):
            if name not in names:
                raise InputError(
                    f"`path` must have the columns user and target; {path} has {', '.join(names)}."
                )
        sizes = [footer.row_group(g).num_rows for g in range(footer.num_row_groups)]
        if not sum(sizes):
            raise InputError(f"`path` must hold at least one user; {path} is empty.")
        _check_rising(path, footer, names.index("user"))
        stat = path.stat()
        mark = f"{stat.st_size} {stat.st_mtime_ns} {footer.to_dict()!r}"
        for key, value in {
            "path": path,
            "n_items": n_items,
            "columns": names,
            "starts": tuple(np.concatenate(([0], np.cumsum(sizes))).tolist()),
            "_sizes": _sizes(path, footer),
            "fingerprint": hashlib.blake2b(mark.encode(), digest_size=16).hexdigest(),
        }.items():
            object.__setattr__(self, key, value)

    @property
    def n_users(self) -> int:
        return self.starts[-1]

    @property
    def n_targets(self) -> None:
        """Not known before the file is read."""

    def shards(self, size: int) -> list[Shard]:
        """Return shards of whole row groups, of up to `size` users."""
        found: list[Shard] = []
        for start, stop in zip(self.starts[:-1], self.starts[1:], strict=True):
            if found and stop - found[-1].start <= size:
                found[-1] = Shard(found[-1].start, stop)
            elif stop > start:
                found.append(Shard(start, stop))
        return found

    def part(self, shard: Shard) -> tuple[tuple[Ints, Ints], Seen | None]:
        """Return the targets of a shard as a pair, and the items excluded for its users."""
        has_seen = "seen" in self.columns
        table = self.read(shard, ["user", "target", *(["seen"] if has_seen else [])])
        users = self._users(table)
        counts, items = _lists(table["target"])
        seen = None
        if has_seen:
            sizes, indices = _lists(table["seen"])
            lengths = np.zeros(int(users[-1]) + 2, np.int64)
            lengths[users + 1] = sizes
            seen = Seen(np.cumsum(lengths), indices.astype(np.int32), self.n_items)
        return (np.repeat(users, counts), items.astype(np.int64)), seen

    def factors(self, shard: Shard, column: str) -> tuple[Ints, Array]:
        """Return the rows of a shard's users and their factors."""
        if column not in self.columns:
            raise InputError(
                f"`column` must be one of {', '.join(map(repr, self.columns))} in {self.path}, "
                f"not {column!r}."
            )
        table = self.read(shard, ["user", column])
        users = self._users(table)
        sizes, values = _lists(table[column])
        if values.dtype.kind != "f" or (sizes != sizes[0]).any() or sizes[0] == 0:
            raise InputError(
                f"`{column}` must hold lists of numbers of equal length in {self.path}."
            )
        if not np.isfinite(values).all():
            row = int(np.argmax(~np.isfinite(values))) // int(sizes[0])
            raise InputError(
                f"`{column}` must be finite; those of user row {users[row]} in {self.path} are not."
            )
        return users, values.reshape(users.size, -1)

    def read(self, shard: Shard, columns: list[str]) -> Any:
        """Read columns of the shard's row groups."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        groups = [
            g for g, start in enumerate(self.starts[:-1]) if shard.start <= start < shard.stop
        ]
        try:
            with pq.ParquetFile(self.path) as file:
                if _sizes(self.path, file.metadata) != self._sizes:
                    raise InputError(
                        f"`path` must not change during a run; {self.path} has changed since the "
                        "run began."
                    )
                table = file.read_row_groups(groups, columns=columns, use_threads=False)
        except (pa.ArrowException, OSError) as error:
            raise InputError(
                f"`path` must be a complete Parquet file; {self.path} is not."
            ) from error
        for name in columns:
            if table[name].null_count:
                raise InputError(f"`{name}` must have no missing values; {self.path} has some.")
        return table

    def _users(self, table: Any) -> Ints:
        users = checks.integers("user", table["user"].to_numpy(), low=0)
        if (np.diff(users) <= 0).any():
            raise InputError(
                f"`user` must be in ascending order in {self.path}, with each user once."
            )
        return users


@dataclass(frozen=True, kw_only=True, eq=False)
class UserFactors:
    """A factor model whose user factors are in a column of the `UserFile` that is ranked.

    Attributes
    ----------
    item_factors : array (n_items, d)
    column : the name of the column of user factors
    """

    item_factors: ArrayLike
    column: str = "factors"

    def for_shard(self, users: Any, shard: Shard) -> FactorScorer:
        """The scorer of the shard's users, under their own rows."""
        items = np.asarray(self.item_factors)
        rows, block = users.factors(shard, self.column)
        kind = np.result_type(block.dtype, items.dtype, np.float32)
        return FactorScorer(at_rows(rows, block.astype(kind, copy=False)), items)


def at_rows(rows: Ints, block: Array) -> Array:
    """A table with the block's rows in their places; the others take no memory.

    Memory that is mapped and never touched is not there, so a table of a billion rows costs no
    more than those that are written.
    """
    n_rows, width = int(rows[-1]) + 1, block.shape[1]
    if n_rows == rows.size:
        return np.ascontiguousarray(block)
    flags = {}
    if hasattr(mmap, "MAP_NORESERVE"):
        flags["flags"] = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | mmap.MAP_NORESERVE
    memory = mmap.mmap(-1, n_rows * width * block.itemsize, **flags)
    table = np.frombuffer(memory, block.dtype).reshape(n_rows, width)
    table[rows] = block
    return table


def write_users(path: files.PathLike, blocks: Iterable[Mapping[str, Any]]) -> None:
    """Write a file for `UserFile`, one row group for each block.

    Parameters
    ----------
    path : path of the Parquet file
    blocks : mappings from column names to arrays: one-dimensional arrays, two-dimensional arrays
        for factors, or lists of arrays
    """
    import pyarrow.parquet as pq

    with files.replacing(path) as temporary:
        writer = None
        try:
            for block in blocks:
                table = _table(block)
                writer = writer or pq.ParquetWriter(temporary, table.schema)
                writer.write_table(table, row_group_size=max(table.num_rows, 1))
        finally:
            if writer is not None:
                writer.close()
        if writer is None:
            raise InputError("`blocks` must hold at least one block; there is none.")


def _table(block: Mapping[str, Any]) -> Any:
    import pyarrow as pa

    columns = {}
    for name, values in block.items():
        if isinstance(values, np.ndarray) and values.ndim == 2:
            flat = pa.array(np.ascontiguousarray(values).reshape(-1))
            columns[name] = pa.FixedSizeListArray.from_arrays(flat, values.shape[1])
        else:
            columns[name] = pa.array(values)
    return pa.table(columns)


def _lists(column: Any) -> tuple[Ints, Array]:
    """How many values each row has, and all of them; a plain column has one each."""
    import pyarrow as pa

    array = column.combine_chunks()
    if pa.types.is_primitive(array.type):
        return np.ones(len(array), np.int64), array.to_numpy(zero_copy_only=False)
    values = array.flatten().to_numpy(zero_copy_only=False)
    if pa.types.is_fixed_size_list(array.type):
        return np.full(len(array), array.type.list_size), values
    return np.asarray(array.value_lengths().to_numpy(), np.int64), values


def _footer(path: Path) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.read_metadata(path)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"`path` must be a Parquet file; {path} is not.") from error


def _sizes(path: Path, footer: Any) -> tuple[int, ...]:
    """What a copy on another machine shares with the file, and another file hardly ever does."""
    return path.stat().st_size, footer.serialized_size, footer.num_rows, footer.num_row_groups


def _check_rising(path: Path, footer: Any, column: int) -> None:
    last = -1
    for group in range(footer.num_row_groups):
        stats = footer.row_group(group).column(column).statistics
        if stats is None or not stats.has_min_max or not isinstance(stats.min, int):
            raise InputError(
                f"`user` must be a column of whole numbers with Parquet statistics; in {path}, it "
                "is not."
            )
        if stats.min <= last:
            raise InputError(
                f"`user` must be in ascending order in {path}; row group {group} is not."
            )
        last = stats.max
