"""Who interacted with what: a compressed users × items table with the ids of both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from fullrank import _checks, _files
from fullrank.data import _ids, _tables
from fullrank.data._ids import Ids, Rows
from fullrank.data._rows import Table, clean, indptr_of, order_of
from fullrank.errors import InputError

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from fullrank.data.splits import Split


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Interactions:
    """Users × items in compressed rows (CSR), with the ids of both.

    Make one with :meth:`from_arrays`, :meth:`from_csv` or :meth:`from_parquet`. Row numbers
    count from 0 and are what models and rankings use; ids are what the data came with. The
    items of user row `u` are ``indices[indptr[u]:indptr[u + 1]]``, in ascending order, each
    once. Arrays are read-only. An interaction takes 4 bytes, and 4 more with a value and 8
    more with a timestamp.

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
    ) -> Self:
        """Interactions from one entry per user–item pair, in any order.

        Ten million pairs take a few seconds. Where a pair comes more than once, the one
        with the latest timestamp is kept (of equal times, and without timestamps, the last
        in the input), and a DataWarning says how many were merged.

        Parameters
        ----------
        user, item : array_like, shape (n,)
            Ids: whole numbers from 0 on, with or without gaps, or text.
        value : array_like of numbers, optional
        timestamp : array_like of whole numbers or datetime64, optional
            Kept as int64; of datetime64, the count of its own unit.
        user_ids, item_ids : array_like, optional
            All ids there are, in the order of the rows to be. By default the ids that occur,
            in ascending order.

        Examples
        --------
        >>> Interactions.from_arrays([7, 7, 9], [1, 2, 2], item_ids=range(5))
        Interactions(2 users × 5 items, 3 interactions)
        """
        columns = {"user": user, "item": item, "value": value, "timestamp": timestamp}
        return cls._pack(clean(columns, user_ids=user_ids, item_ids=item_ids))

    @classmethod
    def from_csv(
        cls,
        path: _files.PathLike,
        *,
        user: str = _tables.AUTO,
        item: str = _tables.AUTO,
        value: str | None = _tables.AUTO,
        timestamp: str | None = _tables.AUTO,
        delimiter: str = ",",
        names: Sequence[str] | None = None,
        user_ids: ArrayLike | None = None,
        item_ids: ArrayLike | None = None,
    ) -> Self:
        r"""Interactions from a CSV file with a header; `.gz` and `.bz2` are unpacked.

        Ids that are all plain whole numbers are kept as numbers, others as text ("007" stays
        what it is).

        Parameters
        ----------
        path : path
        user, item, value, timestamp : str
            Column names. "auto" takes the first of the usual names that is there, whatever
            its case and punctuation: `user`, `userId`, `user_id`, …; None for `value` or
            `timestamp` leaves it out.
        delimiter : str
        names : sequence of str, optional
            Names of all columns, for a file without a header.
        user_ids, item_ids : array_like, optional
            As in :meth:`from_arrays`, which also says what happens to repeated pairs.

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
        columns = _tables.read_csv(path, asked, delimiter=delimiter, names=names)
        return cls._pack(clean(columns, user_ids=user_ids, item_ids=item_ids))

    @classmethod
    def from_parquet(
        cls,
        path: _files.PathLike,
        *,
        user: str = _tables.AUTO,
        item: str = _tables.AUTO,
        value: str | None = _tables.AUTO,
        timestamp: str | None = _tables.AUTO,
        user_ids: ArrayLike | None = None,
        item_ids: ArrayLike | None = None,
    ) -> Self:
        """Interactions from a Parquet file; the arguments are those of :meth:`from_csv`.

        A split column is not looked at: :func:`read_split` reads it.

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
        columns = _tables.read_parquet(path, asked)
        return cls._pack(clean(columns, user_ids=user_ids, item_ids=item_ids))

    @classmethod
    def _pack(cls, table: Table) -> Self:
        """Sort and compress the rows of a table."""
        order = order_of(table)
        return cls(
            user_ids=table.user_ids,
            item_ids=table.item_ids,
            indptr=indptr_of(table.users[order], table.user_ids.size),
            indices=table.items[order],
            values=None if table.values is None else table.values[order],
            timestamps=None if table.timestamps is None else table.timestamps[order],
        )

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
        extras = [name for name in ("values", "timestamps") if getattr(self, name) is not None]
        tail = f", with {' and '.join(extras)}" if extras else ""
        return (
            f"Interactions({self.n_users:,} users × {self.n_items:,} items, "
            f"{self.n_interactions:,} interactions{tail})"
        )

    def user_counts(self) -> NDArray[np.int64]:
        """How many items each user has, shape (n_users,).

        >>> Interactions.from_arrays(["a", "a", "b"], [1, 2, 2]).user_counts()
        array([2, 1])
        """
        return np.diff(self.indptr)

    def item_counts(self) -> NDArray[np.int64]:
        """How many users each item has, shape (n_items,).

        >>> Interactions.from_arrays(["a", "a", "b"], [1, 2, 2]).item_counts()
        array([1, 2])
        """
        return np.bincount(self.indices, minlength=self.n_items)

    def pairs(self) -> tuple[Rows, Rows]:
        """The user row and the item row of every interaction, users ascending.

        >>> Interactions.from_arrays(["a", "a", "b"], [1, 2, 2]).pairs()
        (array([0, 0, 1], dtype=int32), array([0, 1, 1], dtype=int32))
        """
        return np.repeat(np.arange(self.n_users, dtype=np.int32), self.user_counts()), self.indices

    def user_rows(self, ids: ArrayLike) -> Rows:
        """The row of each user id; an unknown id is an InputError.

        >>> Interactions.from_arrays(["a", "a", "b"], [1, 2, 2]).user_rows(["b", "a"])
        array([1, 0], dtype=int32)
        """
        return _ids.look_up("ids", [ids] if np.ndim(ids) == 0 else ids, self.user_ids)

    def item_rows(self, ids: ArrayLike) -> Rows:
        """The row of each item id; an unknown id is an InputError.

        >>> Interactions.from_arrays(["a", "a", "b"], [1, 5, 5]).item_rows(5)
        array([1], dtype=int32)
        """
        return _ids.look_up("ids", [ids] if np.ndim(ids) == 0 else ids, self.item_ids)

    # ---- using it ----

    def matrix(self, dtype: DTypeLike = np.float32, *, binary: bool = True) -> csr_array[Any]:
        """Users × items as a new SciPy CSR array.

        Parameters
        ----------
        dtype : data type
        binary : bool
            1 for every interaction; else the values.

        Examples
        --------
        >>> data = Interactions.from_arrays([0, 0, 1], [0, 1, 1], value=[3, 5, 4])
        >>> data.matrix(binary=False).toarray()
        array([[3., 5.],
               [0., 4.]], dtype=float32)
        """
        from scipy.sparse import csr_array

        if not binary and self.values is None:
            raise InputError("`binary` must be True, for these interactions have no values.")
        data = np.ones(self.n_interactions, dtype) if binary else np.array(self.values, dtype)
        shape = (self.n_users, self.n_items)
        matrix = csr_array((data, self.indices, self.indptr), shape=shape, copy=True)
        matrix.has_canonical_format = True  # sorted and without repeats: no need to look
        return matrix

    def select(self, keep: NDArray[np.bool_]) -> Self:
        """The interactions where `keep` is true, with the same users and items.

        >>> data = Interactions.from_arrays(["a", "a", "b"], [1, 2, 2])
        >>> data.select(data.indices == 1)
        Interactions(2 users × 2 items, 2 interactions)
        """
        keep = np.asarray(keep)
        if keep.dtype != np.bool_ or keep.shape != (self.n_interactions,):
            raise InputError(
                f"`keep` must hold True or False for each of {self.n_interactions} interactions, "
                f"not {keep.dtype} of shape {keep.shape}."
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

    def split(self, name: str = "leave-one-out", **settings: Any) -> Split:
        """Split into training and test interactions, both with all users and items.

        Parameters
        ----------
        name : str
            "leave-one-out".
        **settings
            Those of the function of that name, here :func:`leave_one_out`.

        Examples
        --------
        >>> data = Interactions.from_arrays(["a", "a", "b", "b"], [1, 2, 2, 3])
        >>> split = data.split("leave-one-out", by="random", rng=0)
        >>> split.test.user_counts()
        array([1, 1])
        """
        from fullrank.data.splits import SPLITS

        return SPLITS[_checks.choice("name", name, SPLITS)](self, **settings)
