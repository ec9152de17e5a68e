"""The sampled rank of each target among its candidates, and the design that produced it."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fullrank._lib import checks, tabular
from fullrank._lib.files import PathLike
from fullrank._lib.text import counted
from fullrank._lib.types import Floats, Ints
from fullrank.designs.design import ONE_BASED, Design
from fullrank.designs.grid import RankGrid
from fullrank.designs.outcomes import Strata
from fullrank.errors import InputError
from fullrank.metrics import Metric, parse
from fullrank.samples.distribution import RankDistribution

_SIZES = 20  # rows of the table, at most


@dataclass(frozen=True, kw_only=True, eq=False)
class Rows:
    """One row for each target, in the order in which they were given.

    `user` is None where every target has a user of its own. `rank` and `sample_size` count
    the target and the drawn non-targets; `offset` counts the other targets of the same
    user above this one, which need no sampling. `user` and `item` are the caller's ids, `time`
    is when the target happened, where these are known. `strata` has the draws by stratum, where
    there are several (designs/outcomes.py).
    """

    rank: Ints
    sample_size: Ints
    n_items: Ints
    weight: Floats
    n_targets: Ints
    offset: Ints
    user: NDArray[Any] | None = None
    item: NDArray[Any] | None = None
    time: Ints | None = None
    strata: Strata | None = None

    @property
    def pool(self) -> Ints:
        """The target and the items that could be drawn: N - |T| + 1."""
        return self.n_items - self.n_targets + 1

    def __add__(self, other: Rows) -> Rows:
        if (self.user is None) != (other.user is None):
            raise InputError("Samples can be added only if both have user ids or neither does.")
        for name in ("user", "item"):
            ids = [getattr(one, name) for one in (self, other)]
            kinds = {one.dtype.kind in "iu" for one in ids if one is not None}
            if len(kinds) > 1:  # numpy would make text of the numbers, and 1 would meet "1"
                raise InputError(
                    f"Samples can be added only if their {name} ids are all numbers or all text."
                )
        if (self.strata is None) != (other.strata is None):
            raise InputError("Samples can be added only if both have strata or neither does.")
        joined = {
            name: np.concatenate([getattr(self, name), getattr(other, name)])
            for name in (field.name for field in fields(Rows))
            if name != "strata"
            and getattr(self, name) is not None
            and getattr(other, name) is not None
        }
        both = None if self.strata is None or other.strata is None else self.strata + other.strata
        return replace(_frozen_rows(**joined), strata=both)

    def take(self, keep: NDArray[np.bool_]) -> Rows:
        """The rows where `keep` is true."""
        names = [field.name for field in fields(Rows) if field.name != "strata"]
        columns = {name: getattr(self, name) for name in names}
        taken = _frozen_rows(**{n: None if c is None else c[keep] for n, c in columns.items()})
        return taken if self.strata is None else replace(taken, strata=self.strata.take(keep))


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RankSample(tabular.Tabular):
    """Sampled ranks: counts of the outcomes (r, n), their design and, if available, the rows.

    Create one with `from_ranks`, `from_counts` or `read`. Two samples of the same design and
    catalogue can be added: the sample of two shards is the sum of their samples. If either sample
    holds only counts, so does the sum.

    Attributes
    ----------
    design : how the candidates were drawn
    n_items : number N of items that candidates are drawn from, including the target; None where
        each user has a catalogue of their own
    rank, sample_size, pool : the distinct outcomes; pool is the target and what could be drawn
    count : how many targets had each outcome
    weight : the sum of their weights
    rows : the targets one by one, or None
    anchor : P(R) of other models on the same data, whose shape estimates borrow; or None

    Examples
    --------
    >>> sample = RankSample.from_ranks([1, 3, 1], n_items=50, design="sampled:10")
    >>> print(sample + sample)
    6 targets ranked among 10 of 50 items, target included (without replacement from all items)
    >>> sample.rank, sample.count
    (array([1, 3]), array([2, 1]))
    """

    design: Design
    n_items: int | None
    rank: Ints
    sample_size: Ints
    pool: Ints
    count: Ints
    weight: Floats
    rows: Rows | None = None
    anchor: RankDistribution | None = None

    @classmethod
    def from_ranks(
        cls,
        rank: ArrayLike,
        *,
        n_items: ArrayLike,
        sample_size: ArrayLike | None = None,
        design: str | Design = "sampled",
        user: ArrayLike | None = None,
        item: ArrayLike | None = None,
        time: ArrayLike | None = None,
        weight: ArrayLike | None = None,
        n_targets: ArrayLike = 1,
        offset: ArrayLike = 0,
        strata: Strata | None = None,
    ) -> RankSample:
        """Create a sample from one rank for each target.

        Parameters
        ----------
        rank : whole ranks r in 1..n, where n includes the target
        n_items : number N of items that candidates are drawn from, including the target: the
            catalogue or, if training items were never drawn, the catalogue without them; one
            number, or one for each target. Where it differs between targets, candidates are drawn
            from the items that each user has not seen (the pool "unseen")
        sample_size : candidates n, including the target; one number, or one for each target;
            default: that of the design
        design : how the candidates were drawn, as a `Design` or its text form
        user : ids, to pair models by user; needed for multi-target users
        item, time : ids of the targets, and when they happened, where these are known
        weight : weights of the targets' users, not negative
        n_targets, offset : for multi-target users, the number of targets |T| and how many
            of the others rank above; `rank` then counts sampled non-targets only
        strata : the draws by stratum, whose sums `rank` and `sample_size` are
        """
        drawn = Design.of(design)
        r = checks.integers("rank", rank, hint=ONE_BASED)
        if r.size == 0:
            raise InputError("`rank` must hold at least one rank; the sample is empty.")
        items = checks.integers("n_items", n_items, size=r.size, low=1)
        size = drawn.size_for(int(items[0])) if sample_size is None else sample_size
        rows = _frozen_rows(
            rank=r,
            sample_size=checks.integers("sample_size", size, size=r.size, low=1),
            n_items=items,
            weight=_weights(weight, r.size),
            n_targets=checks.integers("n_targets", n_targets, size=r.size, low=1),
            offset=checks.integers("offset", offset, size=r.size, low=0),
            user=None if user is None else checks.ids("user", user, r.size),
            item=None if item is None else checks.ids("item", item, r.size),
            time=None if time is None else checks.integers("time", time, size=r.size),
        )
        if (items != items[0]).any():
            drawn = drawn.with_(pool="unseen")
        if drawn.excluded is None and drawn.pool == "unseen":  # they are what was not drawn
            drawn = drawn.with_(excluded=True)
        drawn = drawn.seen(rows.sample_size).resolved(int(items.max()))
        drawn.check(rows.rank, rows.sample_size, rows.pool)
        check_targets(rows)
        return cls._from_rows(drawn, rows if strata is None else _with_strata(rows, strata))

    @classmethod
    def from_counts(
        cls,
        rank: ArrayLike,
        count: ArrayLike,
        *,
        n_items: ArrayLike,
        sample_size: ArrayLike | None = None,
        design: str | Design = "sampled",
        weight: ArrayLike | None = None,
    ) -> RankSample:
        """Create a sample from the number of targets at each outcome.

        `weight` is the sum of the weights of all targets at the outcome, by default `count`; the
        other arguments are those of `from_ranks`.

        Examples
        --------
        >>> RankSample.from_counts(
        ...     [1, 2, 5], [70, 20, 10], n_items=99, design="sampled:5"
        ... ).n_targets
        100
        """
        r = checks.integers("rank", np.atleast_1d(checks.as_array("rank", rank)), hint=ONE_BASED)
        number = checks.integers("count", count, size=r.size, low=0)
        weights = number.astype(np.float64) if weight is None else _weights(weight, r.size)
        seen = number > 0
        if not seen.any():
            raise InputError("`count` must have a positive entry; the sample is empty.")
        items = checks.integers("n_items", n_items, size=r.size)
        if sample_size is not None:
            sample_size = checks.integers("sample_size", sample_size, size=r.size)[seen]
        sample = cls.from_ranks(
            r[seen],
            n_items=items[seen],
            sample_size=sample_size,
            design=design,
            weight=weights[seen],
        )
        # the outcomes as they were given: those of the sample are sorted and stand once each
        rows = sample.rows
        assert rows is not None
        given = replace(sample, rank=rows.rank, sample_size=rows.sample_size, pool=rows.pool)
        return given._merged(number[seen], weights[seen])

    @classmethod
    def _from_rows(cls, design: Design, rows: Rows) -> RankSample:
        sample = cls(
            design=design,
            n_items=int(rows.n_items[0]) if design.pool == "all" else None,
            rank=rows.rank,
            sample_size=rows.sample_size,
            pool=rows.pool,
            count=np.ones(rows.rank.size, np.int64),
            weight=rows.weight,
        )
        return replace(sample._merged(sample.count, sample.weight), rows=rows)

    def _merged(self, count: Ints, weight: Floats) -> RankSample:
        """The same outcomes, each once, sorted; without the rows."""
        order = np.lexsort((self.rank, self.sample_size, self.pool))
        keys = [column[order] for column in (self.pool, self.sample_size, self.rank)]
        new = np.any([np.diff(column) != 0 for column in keys], axis=0)
        starts = np.concatenate([[0], np.flatnonzero(new) + 1])
        pool, size, rank = (column[starts] for column in keys)
        return replace(
            self,
            pool=checks.frozen(pool),
            sample_size=checks.frozen(size),
            rank=checks.frozen(rank),
            count=checks.frozen(np.add.reduceat(count[order], starts)),
            weight=checks.frozen(np.add.reduceat(weight[order], starts)),
            rows=None,
        )

    def __add__(self, other: RankSample) -> RankSample:
        if not isinstance(other, RankSample):
            return NotImplemented
        design = self.design.joined(other.design)
        if design is None:
            raise InputError(
                f"Samples can be added only if their designs agree; one is {self.design}, "
                f"the other {other.design}."
            )
        if self.n_items != other.n_items:
            raise InputError(
                f"Samples can be added only if their catalogues agree; one has {_size(self)}, "
                f"the other {_size(other)}."
            )
        if not _alike(self.anchor, other.anchor):
            raise InputError(
                "Samples can be added only if their anchors agree; `anchored(None)` removes an "
                "anchor."
            )
        if self.rows is not None and other.rows is not None:
            rows = self.rows + other.rows
            check_targets(rows)
            return replace(self._from_rows(design, rows), anchor=self.anchor)
        self.without_rows(), other.without_rows()  # whether they can do without
        both: dict[str, Any] = {
            name: np.concatenate([getattr(self, name), getattr(other, name)])
            for name in ("rank", "sample_size", "pool", "count", "weight")
        }
        joined = replace(self, **both, design=design, rows=None)
        return joined._merged(both["count"], both["weight"])

    def __radd__(self, other: Any) -> RankSample:
        # sum() starts from 0
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def take(self, mask: ArrayLike) -> RankSample:
        """Return the targets where `mask` is true; those of a user are kept or dropped together.

        Examples
        --------
        >>> sample = RankSample.from_ranks([1, 3, 1], n_items=50, design="sampled:10")
        >>> sample.take([True, True, False]).rows.rank
        array([1, 3])
        """
        if self.rows is None:
            raise InputError(
                "`rows` must be kept to take some of the targets; this sample has only counts."
            )
        keep = checks.mask("mask", mask, self.rows.rank.size)
        if not keep.any():
            raise InputError("`mask` must keep at least one target; it is False everywhere.")
        if keep.all():
            return self
        rows = self.rows.take(keep)
        check_targets(rows)
        return replace(self._from_rows(self.design, rows), anchor=self.anchor)

    def anchored(self, anchor: RankDistribution | None) -> RankSample:
        """Return the sample with an anchor, the shape of other models on the same data.

        None removes it. `fullrank.anchored` makes the shape from exact ranks.
        """
        if anchor is not None and not isinstance(anchor, RankDistribution):
            raise InputError(
                f"`anchor` must be a RankDistribution, not {type(anchor).__name__}; "
                "`fullrank.anchored` takes exact ranks."
            )
        return replace(self, anchor=anchor)

    def without_rows(self) -> RankSample:
        """Return the counts only. `estimate` needs rows for multi-target users."""
        if self.stratified:
            raise InputError("`rows` must be kept where candidates come from several strata.")
        if self.several and self.n_items is None:
            raise InputError(
                "`rows` must be kept for multi-target users with catalogues of their own, which "
                "counts alone do not distinguish."
            )
        return replace(self, rows=None)

    @property
    def several(self) -> bool:
        """Whether some user has more than one target."""
        if self.rows is not None:
            return bool((self.rows.n_targets > 1).any())
        return self.n_items is not None and bool((self.pool < self.n_items).any())

    @property
    def stratified(self) -> bool:
        """Whether candidates came from several strata, so that (r, n) is not the whole outcome."""
        return self.rows is not None and self.rows.strata is not None

    @cached_property
    def n_targets(self) -> int:
        """Number of targets that were ranked."""
        return int(self.count.sum())

    @cached_property
    def n_users(self) -> int | None:
        """Number of users that they belong to; the number of targets if users have no ids."""
        if self.rows is None or self.rows.user is None:
            return self.n_targets
        return int(np.unique(self.rows.user).size)

    @property
    def average_size(self) -> float:
        """Mean number of candidates for each target: the cost of the sample."""
        return float(np.average(self.sample_size, weights=self.count))

    @property
    def exhausted(self) -> bool:
        """Whether every target was ranked among all items, so that its rank is exact."""
        return bool(self.design.exhausted(self.sample_size, self.pool).all())

    def probabilities(self, grid: RankGrid) -> Floats:
        """P(outcome | R) of the observed outcomes on a rank grid: (n_bins, n_outcomes)."""
        return self.design.probabilities(self.rank, self.sample_size, n_items=self.pool, grid=grid)

    def naive(self, metric: str | Metric) -> float:
        """Compute the sampled metric: the metric formula applied to sampled ranks.

        It is not an estimate of the full-catalogue metric. It needs one target per user and a
        fixed design, because adaptive sample sizes differ.
        """
        metric = parse(metric)
        if self.design.adaptive:
            raise InputError(
                "`naive` must be called on a sample of a fixed design; this one is adaptive."
            )
        if self.several:
            raise InputError(
                "`naive` must be called on a sample with one target per user; this one has "
                "multi-target users."
            )
        values = metric.weights(self.rank, self.sample_size)
        return float(np.average(values, weights=self.weight))

    @staticmethod
    def read(path: PathLike, *, model: str | None = None, **settings: Any) -> RankSample:
        """Read one sample from a file of any format that `fullrank.read_ranks` reads.

        A file that fullrank wrote contains its design. Any other file needs a column ``rank``;
        give whatever has no column as an argument.

        Parameters
        ----------
        path : the file
        model : which model to take where the file holds several
        settings : ``n_items``, ``sample_size``, ``design`` (inferred by default), ``columns``,
            ``encoding`` and whatever else `fullrank.read_ranks` takes

        Examples
        --------
        >>> RankSample.read("ranks.csv", n_items=3706, design="sampled:100")  # doctest: +SKIP
        """
        from fullrank.samples.read_ranks import read_one

        return read_one(path, model=model, **settings)

    @staticmethod
    def from_frame(frame: Any, *, model: str | None = None, **settings: Any) -> RankSample:
        """Create a sample from a data frame (pandas, polars, pyarrow) with a column ``rank``.

        Examples
        --------
        >>> import pyarrow as pa
        >>> frame = pa.table({"userId": ["ann", "bob"], "rank": [1, 4]})
        >>> print(RankSample.from_frame(frame, n_items=50, design="sampled:10"))
        2 targets ranked among 10 of 50 items, target included (without replacement from all items)
        """
        from fullrank.samples.read_ranks import read_one

        return read_one(frame, model=model, **settings)

    def write(self, path: PathLike) -> None:
        """Write the sample to a ``.parquet`` or ``.json`` file, completely or not at all."""
        from fullrank.samples import sample_files

        sample_files.write(self, path)

    def to_arrow(self) -> Any:
        """Return a pyarrow table of the rows (or counts), with the design in its metadata."""
        from fullrank.samples import sample_files

        return sample_files.to_arrow(self)

    def to_dict(self) -> dict[str, Any]:
        """The design and one list for each column, with a format version."""
        from fullrank.samples import sample_files

        return sample_files.to_plain(self)

    def _to_plain(self) -> dict[str, Any]:
        """As counts where these tell everything, which is all that a result needs of its sample."""
        from fullrank.samples import sample_files

        bare = self.several and self.n_items is None
        return sample_files.to_plain(self if bare else self.without_rows())

    @classmethod
    def _from_plain(cls, content: Any) -> RankSample:
        from fullrank.samples import sample_files

        return sample_files.from_plain(cls, content)

    def _title(self) -> str:
        return str(self)

    def _records(self) -> list[dict[str, Any]]:
        return list(self.to_arrow().to_pylist())

    def _table(self) -> tuple[list[str], list[list[str]]]:
        """For each sample size its targets, and how many of them came out first."""
        sizes = np.unique(self.sample_size)
        if sizes.size > _SIZES:
            parts = {f"{sizes[0]:,} to {sizes[-1]:,}": np.ones(self.rank.size, bool)}
        else:
            parts = {f"{size:,}": self.sample_size == size for size in sizes.tolist()}
        rows = []
        for size, here in parts.items():
            count, first = self.count[here].sum(), self.count[here & (self.rank == 1)].sum()
            rows.append([size, f"{count:,}", f"{first:,}"])
        return ["candidates", "targets", "at rank 1"], rows

    def plot(self, ax: Any = None) -> Any:
        """Draw the share of targets at rank r or better among their candidates. Returns the axes.

        One line for each sample size: of an adaptive design, of the targets that stopped there.
        """
        ax = tabular.axes(ax)
        for size in np.unique(self.sample_size).tolist():
            here = self.sample_size == size
            shares = np.bincount(self.rank[here], self.weight[here], size + 1)[1:]
            ranks = np.arange(1, size + 1)
            label = f"among {size:,} candidates"
            ax.step(ranks, np.cumsum(shares) / shares.sum(), where="post", label=label)
        ax.set(xscale="log", xlabel="rank r among the candidates",
               ylabel="share of targets at rank r or better")  # fmt: skip
        ax.legend()
        return ax

    def __str__(self) -> str:
        sizes = np.unique(self.sample_size)
        among = f"{sizes[0]:,}" if sizes.size == 1 else f"{sizes[0]:,} to {sizes[-1]:,}"
        whose = "the items in each user's pool"
        items = whose if self.n_items is None else f"{self.n_items:,} items"
        own = "" if self.exhausted else ", target included"
        how = self.design.describe()
        targets = counted(self.n_targets, "target")
        return f"{targets} ranked among {among} of {items}{own} ({how})"

    def __repr__(self) -> str:
        return f"<RankSample: {self}>"


def _size(sample: RankSample) -> str:
    """The catalogue of a sample, for an error."""
    if sample.n_items is None:
        return "a number of items that differs between users"
    return f"{sample.n_items} items"


def _alike(first: RankDistribution | None, second: RankDistribution | None) -> bool:
    """Whether two samples borrow the same shape, or none."""
    if first is None or second is None:
        return first is second
    return np.array_equal(first.grid.edges, second.grid.edges) and np.array_equal(
        first.mass, second.mass
    )


def _frozen_rows(**columns: Any) -> Rows:
    frozen: dict[str, Any] = {
        name: None if values is None else checks.frozen(values) for name, values in columns.items()
    }
    return Rows(**frozen)


def _weights(weight: ArrayLike | None, size: int) -> Floats:
    if weight is None:
        return np.ones(size)
    return checks.weights("weight", weight, size)


def _with_strata(rows: Rows, strata: Strata) -> Rows:
    """The rows with their draws by stratum, which must add up to them."""
    if not isinstance(strata, Strata):
        raise InputError(f"`strata` must be Strata, not {type(strata).__name__}.")
    for name in ("rank", "sample_size"):
        sums, given = getattr(strata, name), getattr(rows, name)
        if sums.shape != given.shape or (sums != given).any():
            raise InputError(f"`strata` must add up to `{name}` for each target.")
    return replace(rows, strata=strata)


def check_targets(rows: Any) -> None:
    """Check that all targets of a user are present, with consistent offsets."""
    checks.reject(
        "n_targets", rows.n_targets, rows.n_targets > rows.n_items, "be at most `n_items`"
    )
    checks.reject("offset", rows.offset, rows.offset >= rows.n_targets, "be below `n_targets`")
    if rows.user is None:
        checks.reject(
            "n_targets",
            rows.n_targets,
            rows.n_targets > 1,
            "be 1 if `user` is not given",
            "Multi-target users need user ids.",
        )
        return
    _, group, number = np.unique(rows.user, return_inverse=True, return_counts=True)
    wrong = number[group] != rows.n_targets
    if wrong.any():
        first = int(np.argmax(wrong))
        raise InputError(
            f"`user` must have as many rows as `n_targets` states; user "
            f"{checks.printable(rows.user[first])} has "
            f"{counted(int(number[group][first]), 'row')}, but n_targets is "
            f"{rows.n_targets[first]}. Omit `user` to count every target as a separate user."
        )
