"""The cost of each level of an adaptive sample, and the limit that a pilot recommends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fullrank._lib import checks, tabular
from fullrank._lib.types import Floats, Ints
from fullrank.errors import InputError
from fullrank.samples.sample import RankSample


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SamplingEfficiency(tabular.Tabular):
    """The cost of each level of an adaptive sample per target that it settles.

    Attributes
    ----------
    level : candidates n_j at each level
    n_reached : targets that were ranked at the level
    n_settled : of these, the targets that came out below the stopping rank
    cost : C_j, items drawn at the level for each target settled there; inf where none was
    n_items : the number of items N (its mean where users have their own)
    """

    level: Ints
    n_reached: Ints
    n_settled: Ints
    cost: Floats
    n_items: float

    def __str__(self) -> str:
        lines = ["level  share of items  reached  settled  cost"]
        lines += [
            f"{n:5d}  {n / self.n_items:14.1%}  {r:7d}  {m:7d}  {c:.1f}"
            for n, r, m, c in zip(
                self.level, self.n_reached, self.n_settled, self.cost, strict=True
            )
        ]
        return "\n".join(lines)

    def _title(self) -> str:
        return "what each level of an adaptive sample costs"

    def _records(self) -> list[dict[str, Any]]:
        columns = (self.level, self.n_reached, self.n_settled, self.cost)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return [
            dict(zip(("level", "reached", "settled", "cost"), row, strict=True)) for row in rows
        ]

    def _table(self) -> tuple[list[str], list[list[str]]]:
        rows = [
            [f"{one['level']:,}", f"{one['level'] / self.n_items:.1%}", f"{one['reached']:,}",
             f"{one['settled']:,}", f"{one['cost']:.1f}"]
            for one in self._records()
        ]  # fmt: skip
        return ["level", "share of items", "reached", "settled", "cost"], rows

    def plot(self, ax: Any = None) -> Any:
        """Cost against the share of items, as Figure 2 of the paper; returns the axes."""
        ax = tabular.axes(ax)
        ax.plot(self.level / self.n_items, self.cost, marker="o")
        ax.set_xlabel("sample size / number of items")
        ax.set_ylabel("items drawn per settled target")
        return ax


def sampling_efficiency(sample: RankSample) -> SamplingEfficiency:
    """The cost C_j of each level of an adaptive sample (equation 13 of Li et al., AAAI 2023).

    C_j = M_j·(n_j - n_{j-1}) / m_j, M_j being the targets that reached level j and m_j those that
    were settled there, that is, left at a rank below the stopping rank; n_{-1} = 0. The paper
    leaves the last level out; here only targets settled there count, as at every other level.

    Examples
    --------
    >>> from fullrank.samples.efficiency import sampling_efficiency
    >>> from fullrank.samples.sample import RankSample
    >>> sample = RankSample.from_ranks(
    ...     [3, 2, 2, 1],
    ...     sample_size=[10, 10, 20, 20],
    ...     n_items=80,
    ...     design="adaptive:levels=10/20",
    ... )
    >>> print(sampling_efficiency(sample))
    level  share of items  reached  settled  cost
       10           12.5%        4        2  20.0
       20           25.0%        2        1  20.0
    """
    if not sample.design.adaptive:
        raise InputError("`sample` must have an adaptive design; this one has a fixed sample size.")
    rounds = sample.design.rounds(int(sample.pool.max()))
    level = np.asarray(rounds.sizes)
    at = np.searchsorted(level, sample.sample_size)
    stopped = np.bincount(at, weights=sample.count, minlength=level.size).astype(np.int64)
    refine = np.asarray(
        [*rounds.refine, *rounds.refine[-1:]]
    )  # the last level has no rank of its own
    below = sample.rank > refine[np.minimum(at, refine.size - 1)]
    settled = np.bincount(at, weights=sample.count * below, minlength=level.size).astype(np.int64)
    reached = sample.n_targets - np.concatenate(([0], np.cumsum(stopped)[:-1]))
    drawn = reached * np.diff(level, prepend=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        cost = np.where(settled > 0, drawn / settled, np.inf)
    return SamplingEfficiency(
        level=checks.frozen(level),
        n_reached=checks.frozen(reached),
        n_settled=checks.frozen(settled),
        cost=checks.frozen(cost),
        n_items=float(np.average(sample.pool, weights=sample.count)),
    )


def recommend_limit(pilot: RankSample, *, max_cost: float | None = None) -> int:
    """Recommend the `limit` of an adaptive design from a pilot on some users.

    The largest level up to which settling one more target costs at most `max_cost` drawn items;
    by default a quarter of the number of items, which gives 16 % of them for EASE on pinterest-20
    where the paper found 10 to 15 % on its data. Give the pilot a `limit` near the number of items,
    and a few thousand users.

    Examples
    --------
    >>> from fullrank.samples.efficiency import recommend_limit
    >>> from fullrank.samples.sample import RankSample
    >>> pilot = RankSample.from_ranks(
    ...     [3, 2, 2, 1],
    ...     sample_size=[10, 10, 20, 20],
    ...     n_items=80,
    ...     design="adaptive:levels=10/20",
    ... )
    >>> recommend_limit(pilot, max_cost=15), recommend_limit(pilot)
    (10, 20)
    """
    curve = sampling_efficiency(pilot)
    allowed = curve.n_items / 4 if max_cost is None else checks.real("max_cost", max_cost, low=0)
    dear = np.flatnonzero(curve.cost > allowed)
    last = curve.level.size - 1 if dear.size == 0 else max(int(dear[0]) - 1, 0)
    return int(curve.level[last])
