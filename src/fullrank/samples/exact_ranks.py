"""Exact ranks: counts for each target, and the ranks and metrics that follow from them.

Whatever the tie policy, no two targets of a user share a place. So rank = 1 + offset + z, with
`offset` the user's other targets above this one and z the non-targets above it, which the policy
makes from how many non-targets are `above` and how many have `equal` scores:

=========  ========================================================================================
"mean"     z = above + equal/2, the average over all orders; a rank may be half a number
"best"     z = above
"worst"    z = above + equal
"random"   z = above + those of equal score whose keyed word is larger than the target's; the word
           of an item depends on seed, user row and item row, so that sampled ranks of the same seed
           see the same order (designs/draws.py)
=========  ========================================================================================

Ranks up to K (`max_rank`) know of the other targets only that they are `beyond` it. Such a target
is held as one of rank max(K, offset) + 1, so that every metric with a cut-off of at most K gives it
what its true rank would: nothing. Whatever would need more than that is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fullrank._lib import checks, tabular
from fullrank._lib.files import PathLike
from fullrank._lib.text import counted
from fullrank._lib.types import Array, Floats, Ints
from fullrank.designs.exact import Exact
from fullrank.designs.uniform import Uniform
from fullrank.errors import InputError
from fullrank.metrics import DEFAULT, Metric, parse_all, weighted_mean
from fullrank.samples.sample import RankSample, Rows, check_targets

POLICIES = ("mean", "best", "worst", "random")
# which policies rank no target higher than each
_NO_BETTER = {
    "best": ("mean", "worst"),
    "mean": ("worst",),
    "worst": (),
    "random": ("worst",),
}
_SHOWN = ("recall@10", "ndcg@10", "ap@10", "auc")
_COLUMNS = ("user", "item", "time", "above", "equal", "before", "beyond", "candidates",
            "n_scored", "n_targets", "offset", "weight", "count")  # fmt: skip
HIDDEN = ("rank", "above", "equal", "before")  # what is not known beyond `max_rank`
_COUNTED = ("above", "equal", "before", "beyond", "candidates", "n_targets", "offset")
_MAYBE = {"time", "n_scored"}  # known of all ranks that are added, or of none
_SETTINGS = ("ties", "pool", "precision", "seed", "n_undecided", "max_rank")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ExactRanks(tabular.Tabular):
    """Exact ranks, one for each target in the order given.

    `rank` makes them, and `+` joins those of different users. Ranks and metrics are computed from
    the counts `above`, `equal` and `candidates`, with `offset` and `n_targets` for multi-target
    users and `before` for random ties.

    Attributes
    ----------
    above, equal : non-targets with a higher and with exactly the same score
    candidates : candidates of the target's user, the user's targets included
    user, item : the caller's ids of the targets; None where only counts are kept
    time : when the target happened, where it is known
    n_targets : targets of the same user
    offset : other targets of the same user that rank above
    before : with ties="random", how many of `equal` are placed above; None otherwise
    weight : the weight of the target's user
    count : how many targets a row holds; None where each row is one target
    ties, precision, seed : the settings; `seed` is the random seed of ties="random", otherwise None
    pool : "all", or "unseen" where items were excluded
    n_undecided : on a GPU, the number of score comparisons of a factor model that were closer than
        the error bound of the product, including that of each target with itself. With precision
        "exact" these were recomputed; with "fast" they were not, and the number is extrapolated
        from a part of the items. None if no comparisons were counted this way.
    max_rank : the rank K up to which ranks are known; None where all are
    beyond : with `max_rank`, which targets have a rank above it; their counts contain no further
        information
    n_scored : with `max_rank`, how many candidates of the target's user were scored, the user's
        targets included; of a row with more than one target, their sum. It depends on the order
        of the items, on the device and on which users were ranked together; nothing else does
    """

    above: Ints
    equal: Ints
    candidates: Ints
    n_targets: Ints
    offset: Ints
    weight: Floats
    ties: str
    pool: str
    precision: str = "exact"
    user: Array | None = None
    item: Array | None = None
    time: Ints | None = None
    before: Ints | None = None
    count: Ints | None = None
    seed: int | None = None
    n_undecided: int | None = None
    max_rank: int | None = None
    beyond: NDArray[np.bool_] | None = None
    n_scored: Ints | None = None

    @cached_property
    def ranks(self) -> NDArray[Any]:
        """Ranks from 1, by the tie policy; float64 for "mean", int64 otherwise.

        With `max_rank` they are float64, and NaN for the targets that are beyond it.
        """
        if self.beyond is None:
            return self._placed
        return checks.frozen(np.where(self.beyond, np.nan, self._placed))

    @cached_property
    def _placed(self) -> NDArray[Any]:
        """The ranks, and for a target beyond `max_rank` one that is."""
        return checks.frozen(1 + self.offset + self._non_targets_above())

    def _non_targets_above(self) -> NDArray[Any]:
        if self.ties == "mean":
            return self.above + self.equal / 2
        if self.ties == "random":
            assert self.before is not None
            return self.above + self.before
        return self.above if self.ties == "best" else self.above + self.equal

    def with_ties(self, ties: str) -> ExactRanks:
        """The same counts under another tie policy.

        >>> from fullrank.ranking import rank
        >>> rank([[1.0, 2.0, 2.0]], ([0], [1])).with_ties("worst").ranks
        array([2])
        """
        policy = checks.choice("ties", ties, POLICIES)
        if policy == self.ties:
            return self
        if policy == "random":
            raise InputError(
                '`ties` must be "mean", "best" or "worst". A random order of ties needs the '
                'scores: use rank(..., ties="random").'
            )
        if self.ties == "random" and self.several:
            raise InputError(
                '`ties` must stay "random" for multi-target users, because their tied targets were '
                "put in a random order as well."
            )
        other = replace(self, ties=policy, before=None, seed=None)
        if self.max_rank is None:
            return other
        if policy not in _NO_BETTER[self.ties]:
            raise InputError(
                f"`ties` must be {self.ties!r} for these ranks up to {self.max_rank}, or a policy "
                f"that ranks no target higher: with {policy!r}, a target beyond {self.max_rank} "
                f"could rank in the first {self.max_rank}. Rank the targets again with {policy!r}."
            )
        return other.up_to(self.max_rank)

    def up_to(self, max_rank: int) -> ExactRanks:
        """Return the ranks with those above `max_rank` known only to be beyond it.

        >>> ranks = ExactRanks.from_ranks([1, 3, 12], n_items=20).up_to(10)
        >>> ranks.ranks
        array([ 1.,  3., nan])
        """
        k = checks.integer("max_rank", max_rank, low=1)
        if self.max_rank is not None and k > self.max_rank:
            raise InputError(
                f"`max_rank` must be at most {self.max_rank}, up to which these ranks are known, "
                f"not {k}."
            )
        return censored(self, k)

    def check_metrics(
        self, metrics: str | Metric | Iterable[str | Metric], *, of: str | None = None
    ) -> None:
        """Raise if a metric needs a rank beyond `max_rank`; `of` names whose ranks these are."""
        if self.max_rank is not None:
            Exact(self.max_rank).check_metrics(metrics, of=of)

    def check_all_known(self, argument: str) -> None:
        """Raise if the ranks are known only up to K."""
        if self.max_rank is not None:
            raise InputError(
                f"`{argument}` must hold ranks without a limit, computed "
                f"without `max_rank` (design exact); these are known only up to {self.max_rank}."
            )

    @property
    def share_scored(self) -> float | None:
        """The share of pairs of a user and a candidate that were scored; None if not known."""
        if self.n_scored is None:
            return None
        each = np.ones(self.above.size) if self.count is None else self.count
        pairs = (each * self.candidates / self.n_targets).sum()
        return float((self.n_scored / self.n_targets).sum() / pairs)

    @property
    def exhausted(self) -> bool:
        """True: every target was ranked among all items, as in a sample that holds them all."""
        return True

    @property
    def total_targets(self) -> int:
        """Number of targets that were ranked."""
        return int(self.above.size if self.count is None else self.count.sum())

    @cached_property
    def n_users(self) -> int:
        """Number of users that the targets belong to."""
        if not self.several:
            return self.total_targets
        if self.user is not None:
            return int(np.unique(self.user).size)
        each = np.ones(self.above.size) if self.count is None else self.count
        return round(float((each / self.n_targets).sum()))

    @property
    def n_items(self) -> int | None:
        """Number of candidates per user; None if it differs between users."""
        low, high = int(self.candidates.min()), int(self.candidates.max())
        return low if low == high else None

    @property
    def average_size(self) -> float:
        """Mean number of candidates per target."""
        return float(np.average(self.candidates, weights=self.count))

    @property
    def several(self) -> bool:
        """Whether some user has more than one target."""
        return bool((self.n_targets > 1).any())

    def metrics(self, metrics: str | Metric | Iterable[str | Metric] = DEFAULT) -> dict[str, float]:
        """Average metrics over users, as in `result.metrics("recall@10, ndcg@10")`.

        Sums are rounded once, so the result does not depend on the order of the targets. The
        default cut-off is `max_rank` if that is below 10.
        """
        if metrics is DEFAULT:
            metrics = Exact(self.max_rank).within(DEFAULT)
        return {
            metric.name: weighted_mean(self.gains(metric), self.weight, self.n_targets)
            for metric in parse_all(metrics)
        }

    def gains(self, metric: str | Metric) -> Floats:
        """Return the contribution of each target to its user's metric."""
        (parsed,) = parse_all(metric)
        self.check_metrics(parsed)
        return parsed.gains(
            self._placed, self.candidates, n_targets=self.n_targets, offset=self.offset
        )

    # ---- other forms ----

    def take(self, mask: ArrayLike) -> ExactRanks:
        """Return the targets where `mask` is true; those of a user are kept or dropped together."""
        keep = checks.mask("mask", mask, self.above.size)
        if not keep.any():
            raise InputError("`mask` must keep at least one target; it is False everywhere.")
        if keep.all():
            return self
        columns: dict[str, Any] = {
            name: checks.frozen(column[keep]) for name, column in self._columns().items()
        }
        taken = replace(self, **columns)
        if self.several:
            _check_whole(taken)
        return taken

    def __add__(self, other: ExactRanks) -> ExactRanks:
        if not isinstance(other, ExactRanks):
            return NotImplemented
        for name in ("ties", "precision", "seed", "max_rank"):
            if getattr(self, name) != getattr(other, name):
                raise InputError(
                    f"Exact ranks can be added only if their `{name}` agree; one has "
                    f"{getattr(self, name)!r}, the other {getattr(other, name)!r}."
                )
        mine, theirs = self._columns(), other._columns()
        if mine.keys() - _MAYBE != theirs.keys() - _MAYBE:
            raise InputError(
                "Exact ranks can be added only if both have rows, and both or neither have user "
                "and item ids."
            )
        for name in ("user", "item"):
            kinds = {one[name].dtype.kind == "U" for one in (mine, theirs) if name in one}
            if len(kinds) > 1:  # numpy would make text of the numbers, and 1 would meet "1"
                raise InputError(
                    "Exact ranks can be added only if their ids are all numbers or all text."
                )
        joined: dict[str, Any] = {
            name: checks.frozen(np.concatenate((column, theirs[name])))
            for name, column in mine.items()
            if name in theirs
        }
        pools = {self.pool, other.pool}
        both = [one.n_undecided for one in (self, other) if one.n_undecided is not None]
        added = replace(
            self,
            **{**dict.fromkeys(_MAYBE), **joined},
            pool="unseen" if len(pools) > 1 else self.pool,
            n_undecided=sum(both) if both else None,
        )
        _check_whole(added)
        return added

    def __radd__(self, other: Any) -> ExactRanks:
        # sum() starts from 0
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def without_rows(self) -> ExactRanks:
        """Return counts of equal outcomes, without ids: memory no longer grows with the users."""
        columns = {n: c for n, c in self._columns().items() if n in _COUNTED}
        order = np.lexsort(tuple(columns.values()))
        new = np.any([np.diff(column[order]) != 0 for column in columns.values()], axis=0)
        starts = np.concatenate([[0], np.flatnonzero(new) + 1])
        count = np.ones(order.size, np.int64) if self.count is None else self.count
        counted: dict[str, Any] = {n: checks.frozen(c[order][starts]) for n, c in columns.items()}
        summed: dict[str, Any] = {
            name: checks.frozen(np.add.reduceat(values[order], starts))
            for name, values in (*self._summed(), ("count", count))
        }
        return replace(self, **counted, **summed, user=None, item=None, time=None)

    def _summed(self) -> Iterator[tuple[str, NDArray[Any]]]:
        """The columns that add up where rows are put together."""
        yield "weight", self.weight
        if self.n_scored is not None:
            yield "n_scored", self.n_scored

    def sample(self) -> RankSample:
        """Return the ranks as a complete sample: n = N, without replacement."""
        self.check_all_known("ranks")
        if self.ties == "mean" and (self.equal % 2).any():
            raise InputError(
                '`ties` must be "best", "worst" or "random" for a sample, whose ranks are whole '
                'numbers; these ranks were made with "mean".'
            )
        return self.whole_sample()

    def whole_sample(self) -> RankSample:
        """Return the same as `sample`, with half ranks rounded up.

        >>> from fullrank.ranking import rank
        >>> tied = rank([[1.0, 1.0, 1.0, 1.0, 2.0]], ([0], [1]))
        >>> tied.ranks, tied.whole_sample().rows.rank
        (array([3.5]), array([4]))
        """
        self.check_all_known("ranks")
        whole = np.ceil(self.ranks - self.offset).astype(np.int64)
        sizes = self.candidates - self.n_targets + 1
        common: dict[str, Any] = {
            "sample_size": sizes,
            "n_items": self.candidates,
            "design": Uniform(pool=self.pool, ties="unknown" if self.ties == "mean" else self.ties),
            "weight": self.weight,
        }
        if self.count is not None:
            if self.several:
                raise InputError("`ranks` must have rows for multi-target users.")
            return RankSample.from_counts(whole, self.count, **common)
        return RankSample.from_ranks(
            whole,
            **common,
            user=self.user,
            item=self.item,
            time=self.time,
            n_targets=self.n_targets if self.several else 1,
            offset=self.offset if self.several else 0,
        )

    @classmethod
    def from_ranks(
        cls,
        rank: ArrayLike,
        *,
        n_items: ArrayLike,
        user: ArrayLike | None = None,
        item: ArrayLike | None = None,
        time: ArrayLike | None = None,
        weight: ArrayLike | None = None,
        n_targets: ArrayLike = 1,
        offset: ArrayLike = 0,
        pool: str = "all",
        max_rank: int | None = None,
    ) -> ExactRanks:
        """Create exact ranks from known ranks; halves are means over tied items.

        With `max_rank`, a rank that is larger or NaN is only known to be beyond it.

        >>> ExactRanks.from_ranks([1, 3, 2.5], n_items=10, user=["a", "b", "c"]).equal
        array([0, 0, 1])
        >>> nan = float("nan")
        >>> ExactRanks.from_ranks([1, nan, 2.5], n_items=10, max_rank=5).metrics("recall@5")
        {'recall@5': 0.6666666666666666}
        """
        if max_rank is not None:
            limit = checks.integer("max_rank", max_rank, low=1)
            rank = _bounded(rank, n_items=n_items, offset=offset, max_rank=limit)
            known = cls.from_ranks(
                rank, n_items=n_items, user=user, item=item, time=time, weight=weight,
                n_targets=n_targets, offset=offset, pool=pool,
            )  # fmt: skip
            return known.up_to(limit)
        ranks = checks.reals("rank", rank, low=1.0)
        if ranks.size == 0:
            raise InputError("`rank` must hold at least one rank; it is empty.")
        checks.reject("rank", ranks, (2.0 * ranks) % 1.0 != 0.0, "be whole numbers or halves")
        n = checks.integers("n_targets", n_targets, size=ranks.size, low=1)
        others = checks.integers("offset", offset, size=ranks.size, low=0)
        items = checks.integers("n_items", n_items, size=ranks.size, low=1)
        equal = (ranks % 1.0 != 0.0).astype(np.int64)
        above = np.floor(ranks).astype(np.int64) - 1 - others
        fits = "be below `n_targets` and at most `rank` − 1"
        checks.reject("offset", others, (others >= n) | (above < 0), fits)
        last = "`n_items` − `n_targets` + `offset` + 1" if (n > 1).any() else "`n_items`"
        checks.reject("rank", ranks, above + equal > items - n, f"be at most {last}")
        weights = np.ones(ranks.size) if weight is None else weight
        named = {"user": user, "item": item}
        names: dict[str, Any] = {
            name: checks.ids(name, ids, ranks.size)
            for name, ids in named.items() if ids is not None
        }  # fmt: skip
        found = cls(
            above=checks.frozen(above), equal=checks.frozen(equal), candidates=checks.frozen(items),
            n_targets=checks.frozen(n), offset=checks.frozen(others),
            weight=checks.frozen(checks.reals("weight", weights, size=ranks.size, low=0.0)),
            ties="mean", pool=checks.choice("pool", pool, ("all", "unseen")),
            time=None if time is None else checks.integers("time", time, size=ranks.size),
            **names,
        )  # fmt: skip
        _check_whole(found)
        return found

    @classmethod
    def of_sample(cls, sample: RankSample) -> ExactRanks:
        """Return the ranks of a complete sample."""
        if not sample.exhausted:
            raise InputError("`sample` must be complete; this one does not hold every item.")
        rows = sample.rows
        common: dict[str, Any] = {"ties": "best", "pool": sample.design.pool}
        if rows is None:
            ones, zeros = np.ones_like(sample.rank), np.zeros_like(sample.rank)
            if sample.several:
                raise InputError("`sample` must have rows for multi-target users.")
            return cls(
                above=sample.rank - 1, equal=zeros, candidates=sample.pool, n_targets=ones,
                offset=zeros, weight=sample.weight, count=sample.count, **common,
            )  # fmt: skip
        return cls(
            above=rows.rank - 1, equal=np.zeros_like(rows.rank), candidates=rows.n_items,
            n_targets=rows.n_targets, offset=rows.offset, weight=rows.weight, user=rows.user,
            item=rows.item, time=rows.time, **common,
        )  # fmt: skip

    # ---- files and tables ----

    @staticmethod
    def read(path: PathLike) -> ExactRanks:
        """Read what `write` wrote."""
        from fullrank.samples.read_ranks import read_exact

        return read_exact(path)

    def write(self, path: PathLike) -> None:
        """Write a ``.parquet`` or ``.json`` file, completely or not at all."""
        from fullrank.samples import sample_files

        sample_files.write(self, path)

    def to_dict(self) -> dict[str, Any]:
        """The settings and one list for each column, with a format version."""
        from fullrank.samples import sample_files

        return sample_files.to_plain(self)

    def to_arrow(self) -> Any:
        """Return a pyarrow table of one row per target, with the settings in its metadata."""
        from fullrank.samples import sample_files

        return sample_files.to_arrow(self)

    def settings(self) -> dict[str, Any]:
        """Return the settings that the counts do not contain."""
        found = {name: getattr(self, name) for name in _SETTINGS}
        if self.max_rank is None:
            del found["max_rank"]
        return found

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the available columns, with the ranks as the first numeric column.

        With `max_rank` the counts of a target beyond it are masked, and ``more_than`` says what is
        known.
        """
        found = self._columns()
        place = sum(name in found for name in ("user", "item", "time"))
        columns = [*found.items()]
        every = dict([*columns[:place], ("rank", self._placed), *columns[place:]])
        beyond = every.pop("beyond", None)
        if beyond is None:
            return every
        for name in HIDDEN:
            if name in every:
                every[name] = np.ma.masked_array(every[name], beyond)
        at = list(every).index("candidates")
        more = np.ma.masked_array(np.full(beyond.size, self.max_rank), ~beyond)
        columns = [*every.items()]
        return dict([*columns[:at], ("more_than", more), *columns[at:]])

    def _columns(self) -> dict[str, NDArray[Any]]:
        every = {name: getattr(self, name) for name in _COLUMNS}
        return {name: column for name, column in every.items() if column is not None}

    def _to_plain(self) -> dict[str, Any]:
        """As counts, which is all that a result needs of its ranks."""
        from fullrank.samples import sample_files

        return sample_files.to_plain(self.without_rows())

    @classmethod
    def _from_plain(cls, content: Any) -> ExactRanks:
        from fullrank.samples import sample_files

        return sample_files.from_plain(cls, content)

    def plot(self, ax: Any = None) -> Any:
        """Draw the share of targets at rank K or better: the recall curve. Returns the axes."""
        ax, order = tabular.axes(ax), np.argsort(self._placed, kind="stable")
        share = np.cumsum(self.weight[order]) / self.weight.sum()
        if self.beyond is not None:  # the curve ends where ranks are no longer known
            known = ~self.beyond[order]
            order, share = order[known], share[known]
        ax.step(self._placed[order], share, where="post")
        ax.set(xscale="log", xlabel="rank K", ylabel="share of targets at rank K or better")
        return ax

    def _title(self) -> str:
        return self.about()

    def _records(self) -> list[dict[str, Any]]:
        return list(self.to_arrow().to_pylist())

    def _table(self) -> tuple[list[str], list[list[str]]]:
        values = dict(self._shown(",.1f"))
        return ["metric", "value"], [[name, value] for name, value in values.items()]

    def _shown(self, median: str) -> Iterator[tuple[str, str]]:
        """The median rank where it is known, and a few metrics."""
        low, high = _middle(self._placed, self.count)
        if self.max_rank is None or high <= self.max_rank:
            yield "median rank", format((low + high) / 2, median)
        else:  # of two in the middle one or both are beyond
            yield "median rank", f"> {min(low, self.max_rank):,.10g}"
        shown: Any = _SHOWN
        if self.max_rank is not None:
            shown = Exact(self.max_rank).within(("recall@10", "ndcg@10", "ap@10"))
        for name, value in self.metrics(shown).items():
            yield name, f"{value:.4f}"

    def __repr__(self) -> str:
        return f"<ExactRanks: {self.about()}>"  # its metrics would take a while for many users

    def about(self) -> str:
        """A line that says how many targets were ranked among how many items."""
        low, high = int(self.candidates.min()), int(self.candidates.max())
        sizes = f"{low:,}" if low == high else f"{low:,} to {high:,}"
        kind = "exact ranks" if self.max_rank is None else f"exact ranks up to {self.max_rank}"
        return (
            f"{kind} for {counted(self.total_targets, 'target')} of "
            f"{counted(self.n_users, 'user')} among {sizes} items (ties: {self.ties})"
        )

    def __str__(self) -> str:
        lines = [f"{name:<12}{value:>10}" for name, value in self._shown(",.1f")]
        return "\n".join([self.about(), *lines])


def censored(ranks: ExactRanks, max_rank: int) -> ExactRanks:
    """The ranks with those above `max_rank` known to be beyond it, and nothing else of them."""
    beyond = ranks.ranks > max_rank
    if ranks.beyond is not None:
        beyond |= ranks.beyond
    above = np.where(beyond, np.maximum(max_rank - ranks.offset, 0), ranks.above)
    before = None if ranks.before is None else np.where(beyond, 0, ranks.before)
    return replace(
        ranks,
        above=checks.frozen(above),
        equal=checks.frozen(np.where(beyond, 0, ranks.equal)),
        before=None if before is None else checks.frozen(before),
        beyond=checks.frozen(beyond),
        max_rank=max_rank,
    )


def _bounded(rank: ArrayLike, *, n_items: Any, offset: Any, max_rank: int) -> NDArray[Any]:
    """The ranks, and for each that is NaN one that is beyond `max_rank`."""
    ranks = np.asarray(checks.as_array("rank", rank))
    if ranks.dtype.kind != "f" or ranks.ndim != 1:
        return ranks
    missing = np.isnan(ranks)
    if not missing.any():
        return ranks
    items = checks.integers("n_items", n_items, size=ranks.size, low=1)
    others = checks.integers("offset", offset, size=ranks.size, low=0)
    full = missing & (items <= max_rank)
    checks.reject("n_items", items, full, f"be above {max_rank} for a rank beyond {max_rank}")
    return np.where(missing, np.maximum(max_rank, others) + 1, ranks)


def _check_whole(ranks: ExactRanks) -> None:
    """The targets of a user must all be there, once each."""
    if ranks.count is None:
        check_targets(
            Rows(
                rank=ranks.above, sample_size=ranks.candidates, n_items=ranks.candidates,
                weight=ranks.weight, n_targets=ranks.n_targets, offset=ranks.offset,
                user=ranks.user,
            )
        )  # fmt: skip


def _middle(ranks: NDArray[Any], count: Ints | None) -> tuple[float, float]:
    """The two ranks in the middle, whose mean is the median; of an odd number one, twice."""
    order = np.argsort(ranks)
    done = np.cumsum(np.ones_like(order) if count is None else count[order])
    low, high = (np.searchsorted(done, place, side="right") for place in
                 ((done[-1] - 1) // 2, done[-1] // 2))  # fmt: skip
    return float(ranks[order][low]), float(ranks[order][high])
