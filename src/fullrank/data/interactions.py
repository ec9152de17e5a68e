"""Interactions: a compressed users × items table with the ids of both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from fullrank._lib import checks, extras, files
from fullrank.data.rows import REPEATS, Table, clean, pack
from fullrank.errors import InputError
from fullrank.tables import columns as _columns
from fullrank.tables import ids as _ids
from fullrank.tables.ids import Ids, Rows
from fullrank.tables.table import AUTO
from fullrank.tables.table import Table as OpenTable

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from fullrank.data.split import Split
    from fullrank.data.summary import Summary

_ROLES = ("user", "item", "value", "timestamp")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Interactions:
    """Users × items in compressed rows (CSR), with the ids of both.

    Make one with :meth:`from_frame`, :meth:`from_arrays`, :meth:`from_csv` or
    :meth:`from_parquet`. Models and rankings use row numbers, which count from 0; ids are those of
    the original data. The items of user row `u` are ``indices[indptr[u]:indptr[u + 1]]``, in
    ascending order, each once. Arrays are read-only. An interaction takes 4 bytes, and 4 more with
    a value and 8 more with a timestamp.

    Attributes
    ----------
    user_ids, item_ids : array
        The id of each user row and of each item row: int64 or text.
    indptr : int64 array, shape (n_users + 1,)
    indices : int32 array, shape (n_interactions,)
        Item rows.
    values : float32 array or None
        Ratings, counts or other weights, aligned with `indices`.
    timestamps : int64 array or None
        Aligned with `indices`.

    Examples
    --------
    >>> data = Interactions.from_arrays(["ann", "bob", "ann"], [30, 10, 10])
    >>> data
    Interactions(2 users × 2 items, 3 interactions)
    >>> data.matrix().toarray()
    array([[1., 1.],
           [1., 0.]], dtype=float32)
    >>> data.user_rows(["bob"]), data.item_ids
    (array([1], dtype=int32), array([10, 30]))
    """

    user_ids: Ids
    item_ids: Ids
    indptr: NDArray[np.int64]
    indices: Rows
    values: NDArray[np.float32] | None = None
    timestamps: NDArray[np.int64] | None = None

    def __post_init__(self) -> None:
        for array in vars(self).values():
            if array is not None:
                array.setflags(write=False)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()  # pickle forgets that arrays were read-only

    # ---- making one ----

    @classmethod
    def from_arrays(
        cls,
        user: ArrayLike,
        item: ArrayLike,
        *,
        value: ArrayLike | None = None,
        timestamp: ArrayLike | None = None,
        user_ids: ArrayLike | None = None,
        item_ids: ArrayLike | None = None,
        repeats: str = "last",
    ) -> Self:
        """Make interactions from one entry per user–item pair, in any order.

        Ten million pairs take one or two seconds and about 500 MB of temporary memory.

        Parameters
        ----------
        user, item : array_like, shape (n,)
            Ids: whole numbers from 0 on, with or without gaps, text, or UUIDs (kept as text).
        value : array_like of numbers, optional
        timestamp : array_like of whole numbers or datetime64, optional
            Kept as int64; for datetime64, the count in its own unit.
        user_ids, item_ids : array_like, optional
            All ids, in the order of the rows. By default the ids that occur, in ascending order.
        repeats : {"last", "sum"}
            How to treat a pair that occurs more than once. "last" keeps the one with the latest
            timestamp (the last in the input for equal times and without timestamps), and a
            DataWarning reports how many were merged. "sum" adds up the values, or 1 for each
            without values, and keeps the latest timestamp.

        Examples
        --------
        >>> Interactions.from_arrays([7, 7, 9], [1, 2, 2], item_ids=range(5))
        Interactions(2 users × 5 items, 3 interactions)
        """
        columns = {"user": user, "item": item, "value": value, "timestamp": timestamp}
        return cls._pack(clean(columns, user_ids=user_ids, item_ids=item_ids), repeats)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        user: str = AUTO,
        item: str = AUTO,
        value: str | None = AUTO,
        timestamp: str | None = AUTO,
        user_ids: ArrayLike | None = None,
        item_ids: ArrayLike | None = None,
        missing: str = "error",
        repeats: str = "last",
    ) -> Self:
        """Make interactions from a data frame: pandas, polars, pyarrow, a DuckDB relation, ….

        The frame passes its columns through the Arrow PyCapsule protocol (``__arrow_c_stream__`` or
        ``__arrow_c_array__``), so any library that implements it works and none of them is
        imported. Other columns are ignored; :func:`read_split` reads a split column.

        Parameters
        ----------
        frame : data frame
        user, item, value, timestamp : str
            Column names. "auto" takes the first of the usual names that the frame has, ignoring
            case and punctuation: `user`, `userId`, `user_id`, …. None for `value` or `timestamp`
            omits the column.
        user_ids, item_ids : array_like, optional
            As in :meth:`from_arrays`.
        missing : {"error", "drop"}
            How to treat rows without an id, a value or a time; with "drop", a DataWarning reports
            how many were dropped.
        repeats : {"last", "sum"}
            How to treat repeated pairs, as in :meth:`from_arrays`.

        Examples
        --------
        >>> import pyarrow as pa
        >>> columns = {"userId": [1, 2, 2], "title": ["x", "y", "x"], "movieId": [5, 8, 5]}
        >>> frame = pa.table(columns)
        >>> Interactions.from_frame(frame)
        Interactions(2 users × 2 items, 3 interactions)
        """
        asked = {"user": user, "item": item, "value": value, "timestamp": timestamp}
        if isinstance(frame, str):
            raise InputError("`frame` must be a data frame, not text. Use `read` for a file.")
        columns = _columns.read(frame, asked, missing=missing)
        return cls._pack(clean(columns, user_ids=user_ids, item_ids=item_ids), repeats)

    @classmethod
    def from_csv(
        cls,
        path: files.PathLike,
        *,
        user: str = AUTO,
        item: str = AUTO,
        value: str | None = AUTO,
        timestamp: str | None = AUTO,
        delimiter: str | None = None,
        names: Sequence[str] | None = None,
        encoding: str | None = None,
        user_ids: ArrayLike | None = None,
        item_ids: ArrayLike | None = None,
        missing: str = "error",
        repeats: str = "last",
    ) -> Self:
        r"""Read interactions from a file of delimited text, with a header or with `names`.

        Files compressed as `.gz`, `.bz2`, `.zst` or `.xz` are decompressed; a file that expands to
        more than 200 times its size is refused. Ids that are all plain whole numbers are kept as
        numbers, others as text ("007" is not changed).

        Parameters
        ----------
        path : path
        user, item, value, timestamp, user_ids, item_ids, missing, repeats
            As in :meth:`from_frame`.
        delimiter : str, optional
            Default: a comma, semicolon, tab or bar, whichever is most frequent in the first line.
        names : sequence of str, optional
            Names of all columns, for a file without a header.
        encoding : str, optional
            Default: UTF-8. A file that is not UTF-8 is read as Latin-1, which keeps ids apart,
            and a DataWarning says so.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "ratings.csv")
        ...     _ = path.write_text("userId,movieId,rating\n1,31,2.5\n1,1029,3.0\n2,31,4.0\n")
        ...     Interactions.from_csv(path)
        Interactions(2 users × 2 items, 3 interactions, with values)
        """
        asked = {"user": user, "item": item, "value": value, "timestamp": timestamp}
        columns = _columns.read(
            path, asked, delimiter=delimiter, names=names, encoding=encoding, missing=missing,
            suffix=_columns.text_suffix(path),
        )  # fmt: skip
        return cls._pack(clean(columns, user_ids=user_ids, item_ids=item_ids), repeats)

    @classmethod
    def from_parquet(
        cls,
        path: files.PathLike,
        *,
        user: str = AUTO,
        item: str = AUTO,
        value: str | None = AUTO,
        timestamp: str | None = AUTO,
        user_ids: ArrayLike | None = None,
        item_ids: ArrayLike | None = None,
        missing: str = "error",
        repeats: str = "last",
    ) -> Self:
        """Read interactions from a Parquet file; the arguments are those of :meth:`from_frame`.

        A split column is ignored: :func:`read_split` reads it.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import pyarrow as pa, pyarrow.parquet as pq
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "plays.parquet")
        ...     pq.write_table(pa.table({"user_id": ["a", "b"], "track_id": [5, 5]}), path)
        ...     Interactions.from_parquet(path)
        Interactions(2 users × 1 items, 2 interactions)
        """
        asked = {"user": user, "item": item, "value": value, "timestamp": timestamp}
        columns = _columns.read(path, asked, missing=missing, suffix=".parquet")
        return cls._pack(clean(columns, user_ids=user_ids, item_ids=item_ids), repeats)

    @classmethod
    def read(
        cls,
        path: files.PathLike | OpenTable,
        *,
        columns: Mapping[str, str | None] | None = None,
        user_ids: ArrayLike | None = None,
        item_ids: ArrayLike | None = None,
        encoding: str | None = None,
        missing: str = "error",
        repeats: str = "last",
    ) -> Self:
        r"""Read interactions from a file of any format that `fullrank.read_ranks` reads.

        Parameters
        ----------
        path : path
            CSV and other delimited text, which may be compressed; Parquet, Feather, JSON Lines,
            JSON.
        columns : mapping, optional
            The file's names of columns, such as ``{"user": "who", "item": "what"}``; the usual
            names are found without it. None for `value` or `timestamp` omits the column.
        user_ids, item_ids, encoding, missing, repeats
            As in :meth:`from_csv`.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "ratings.csv")
        ...     _ = path.write_text('"User-ID";"ISBN";"Book-Rating"\n"1";"034545104X";"5"\n')
        ...     Interactions.read(path)
        Interactions(1 users × 1 items, 1 interactions, with values)
        """
        for role in columns or {}:
            checks.role(role, _ROLES)
        asked = {**dict.fromkeys(_ROLES, AUTO), **(columns or {})}
        naming = "columns={{'{role}': '{name}'}}"
        found = _columns.read(path, asked, encoding=encoding, missing=missing, naming=naming)
        return cls._pack(clean(found, user_ids=user_ids, item_ids=item_ids), repeats)

    @classmethod
    def _pack(cls, table: Table, repeats: str = "last") -> Self:
        """Sort and compress the rows of a table."""
        packed = pack(table, repeats=checks.choice("repeats", repeats, REPEATS))
        return cls(user_ids=table.user_ids, item_ids=table.item_ids, **packed._asdict())

    # ---- looking at it ----

    @property
    def n_users(self) -> int:
        return int(self.user_ids.size)

    @property
    def n_items(self) -> int:
        return int(self.item_ids.size)

    @property
    def n_interactions(self) -> int:
        return int(self.indices.size)

    def __repr__(self) -> str:
        columns = [name for name in ("values", "timestamps") if getattr(self, name) is not None]
        tail = f", with {' and '.join(columns)}" if columns else ""
        return (
            f"Interactions({self.n_users:,} users × {self.n_items:,} items, "
            f"{self.n_interactions:,} interactions{tail})"
        )

    def summary(self) -> Summary:
        """Summarise the size, density and spread of the interactions.

        >>> print(Interactions.from_arrays([1, 1, 2], [1, 2, 2], item_ids=range(4)).summary())
                                  users   items
        rows                          2       4
        without interactions          0       2
        interactions: minimum         1       1
        interactions: median        1.5     1.5
        interactions: maximum         2       2
        3 interactions, 37.500 % of all pairs
        """
        from fullrank.data.summary import summarize

        return summarize(self)

    def user_counts(self) -> NDArray[np.int64]:
        """Return the number of items of each user, shape (n_users,).

        >>> Interactions.from_arrays(["a", "a", "b"], [1, 2, 2]).user_counts()
        array([2, 1])
        """
        return np.diff(self.indptr)

    def item_counts(self) -> NDArray[np.int64]:
        """Return the number of users of each item, shape (n_items,).

        >>> Interactions.from_arrays(["a", "a", "b"], [1, 2, 2]).item_counts()
        array([1, 2])
        """
        return np.bincount(self.indices, minlength=self.n_items)

    def pairs(self) -> tuple[Rows, Rows]:
        """Return the user row and the item row of every interaction, in ascending order of users.

        >>> Interactions.from_arrays(["a", "a", "b"], [1, 2, 2]).pairs()
        (array([0, 0, 1], dtype=int32), array([0, 1, 1], dtype=int32))
        """
        return np.repeat(np.arange(self.n_users, dtype=np.int32), self.user_counts()), self.indices

    def user_rows(self, ids: ArrayLike) -> Rows:
        """Return the row of each user id; an unknown id raises an InputError.

        >>> Interactions.from_arrays(["a", "a", "b"], [1, 2, 2]).user_rows(["b", "a"])
        array([1, 0], dtype=int32)
        """
        return _ids.look_up("ids", ids, self.user_ids)

    def item_rows(self, ids: ArrayLike) -> Rows:
        """Return the row of each item id; an unknown id raises an InputError.

        >>> Interactions.from_arrays(["a", "a", "b"], [1, 5, 5]).item_rows(5)
        array([1], dtype=int32)
        """
        return _ids.look_up("ids", ids, self.item_ids)

    # ---- using it ----

    def matrix(self, dtype: DTypeLike = np.float32, *, binary: bool = True) -> csr_array[Any]:
        """Return users × items as a new SciPy CSR array.

        Parameters
        ----------
        dtype : data type
        binary : bool
            Whether every interaction is 1; otherwise entries are the values.

        Examples
        --------
        >>> data = Interactions.from_arrays([0, 0, 1], [0, 1, 1], value=[3, 5, 4])
        >>> data.matrix(binary=False).toarray()
        array([[3., 5.],
               [0., 4.]], dtype=float32)
        """
        from scipy.sparse import csr_array

        if not binary and self.values is None:
            raise InputError("`binary` must be True, because these interactions have no values.")
        data = np.ones(self.n_interactions, dtype) if binary else np.array(self.values, dtype)
        shape = (self.n_users, self.n_items)
        matrix = csr_array((data, self.indices, self.indptr), shape=shape, copy=True)
        matrix.has_canonical_format = True  # sorted and without repeats: no need to look
        return matrix

    def to_arrow(self) -> Any:
        """Return a pyarrow table of user and item ids, and values and timestamps if there are any.

        >>> Interactions.from_arrays(["a", "b"], [1, 2], value=[3, 4]).to_arrow().column_names
        ['user', 'item', 'value']
        """
        import pyarrow as pa

        users, items = self.pairs()
        columns = {"user": self.user_ids[users], "item": self.item_ids[items]}
        columns |= {
            name.removesuffix("s"): getattr(self, name)
            for name in ("values", "timestamps")
            if getattr(self, name) is not None
        }
        return pa.table({name: pa.array(column) for name, column in columns.items()})

    def to_frame(self) -> Any:
        """Return the interactions as a pandas DataFrame, one row each."""
        return extras.frame(self.to_arrow())

    def select(self, keep: NDArray[np.bool_]) -> Self:
        """Return the interactions where `keep` is true, with the same users and items.

        >>> data = Interactions.from_arrays(["a", "a", "b"], [1, 2, 2])
        >>> data.select(data.indices == 1)
        Interactions(2 users × 2 items, 2 interactions)
        """
        keep = np.asarray(keep)
        if keep.dtype != np.bool_ or keep.shape != (self.n_interactions,):
            raise InputError(
                "`keep` must hold True or False for each interaction, "
                f"{self.n_interactions} in all, not {keep.dtype} of shape {keep.shape}."
            )
        kept_before = np.concatenate([[0], np.cumsum(keep, dtype=np.int64)])
        return type(self)(
            user_ids=self.user_ids,
            item_ids=self.item_ids,
            indptr=kept_before[self.indptr],
            indices=self.indices[keep],
            values=None if self.values is None else self.values[keep],
            timestamps=None if self.timestamps is None else self.timestamps[keep],
        )

    def k_core(
        self, *, items_per_user: int = 5, users_per_item: int = 5, rounds: int | None = None
    ) -> Self:
        """Remove users and items with too few interactions, and their rows.

        Each round drops items with fewer than `users_per_item` users and then users with fewer than
        `items_per_user` of the remaining items. That may leave other items with too few users, so
        rounds continue until nothing changes, or for `rounds` rounds. ``k_core(items_per_user=1,
        users_per_item=1)`` only drops the rows of users and items without any interaction.

        Parameters
        ----------
        items_per_user, users_per_item : int
            At least 1.
        rounds : int, optional
            1 applies the filter once, as several published protocols do, including that of
            MultiVAE.

        Examples
        --------
        >>> data = Interactions.from_arrays([1, 1, 2, 2, 3], [1, 2, 1, 2, 3])
        >>> data.k_core(items_per_user=2, users_per_item=2)
        Interactions(2 users × 2 items, 4 interactions)
        """
        from fullrank.data.filters import core

        return core(
            self, items_per_user=items_per_user, users_per_item=users_per_item, rounds=rounds
        )

    def union(self, other: Interactions) -> Self:
        """Return these and the other interactions, over the same users and items.

        For a pair that is in both, the interaction with the later timestamp is kept or, without
        timestamps, that of `other`.

        >>> data = Interactions.from_arrays(["a", "a", "b"], [1, 2, 2])
        >>> data.select(data.indices == 0).union(data.select(data.indices == 1))
        Interactions(2 users × 2 items, 3 interactions)
        """
        from fullrank.data.filters import union

        return union(self, other)

    def split(self, name: str = "leave-one-out", **settings: Any) -> Split:
        """Split into training and test interactions; all parts have the same users and items.

        Parameters
        ----------
        name : {"leave-one-out", "ratio", "strong"}
            Hold out one item of each user, a share of the interactions, or whole users, who are not
            trained on.
        **settings
            The settings of :func:`leave_one_out`, :func:`ratio` or :func:`strong`.

        Examples
        --------
        >>> data = Interactions.from_arrays(["a", "a", "b", "b"], [1, 2, 2, 3])
        >>> split = data.split("leave-one-out", by="random", rng=0)
        >>> split.test.user_counts()
        array([1, 1])
        """
        from fullrank.data.split_items import SPLITS

        return SPLITS[checks.choice("name", name, SPLITS)](self, **settings)
