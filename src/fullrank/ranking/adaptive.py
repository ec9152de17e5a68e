"""Adaptive sampling: draw on for the targets that are still at the top."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fullrank._lib import checks, extras
from fullrank._lib.device import on_gpu
from fullrank._lib.progress import Progress, reporter
from fullrank._lib.rng import RandomState
from fullrank.designs.design import Design
from fullrank.designs.draws import POOLS, Pools, make_pools, seed_key
from fullrank.errors import InputError
from fullrank.ranking.sampled import (
    Run,
    Setting,
    checked_size,
    count_above,
    draw_counts,
    gpu_ranking,
    pack,
    prepare,
)
from fullrank.samples.sample import RankSample
from fullrank.scorers.scorer import as_scorer

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def adaptive_ranks(
    scorer: Any,
    targets: Any,
    *,
    exclude: Any = None,
    items: Any = None,
    start: int = 25,
    limit: int | None = None,
    growth: float = 2,
    stop_rank: int = 1,
    replacement: bool = False,
    pool: str = "all",
    ties: str = "random",
    weight: ArrayLike | None = None,
    n_jobs: int | None = None,
    batch_size: int | None = None,
    device: str | None = None,
    progress: bool | Progress | None = None,
    rng: RandomState = None,
) -> RankSample:
    """Rank each target among few items, and among more while it is still at the top.

    A fixed sample cannot tell the first ranks apart: its best rank covers N/n of them. Here every
    target is ranked among `start` candidates; one at rank `stop_rank` or better is ranked among
    `growth` times as many, and so on to `limit`. All users at a level are counted together.

    Parameters
    ----------
    scorer, targets, exclude, items, pool, ties, weight, n_jobs, batch_size, device, progress, rng :
        See `sample_ranks`. The stopping rule uses the rank under the same ties.
    start : int
        Candidates at the first level, including the target.
    limit : int, optional
        Candidates at the last level; an eighth of the items by default (at least `start`), the
        middle of the 10 to 15 percent that the paper found. See `recommend_limit`.
    growth : number above 1
        The levels are start, start·growth, start·growth², … (rounded up) below `limit`, and
        `limit`. From a level n to 2n a user draws n more.
    stop_rank : int
        More candidates are drawn while the rank is at most this.
    replacement : bool
        Without replacement (the default) a user who has drawn the whole pool has an exact rank.

    Returns
    -------
    RankSample
        With the levels and the stopping rank in its design.

    Notes
    -----
    Algorithm 1 of Li et al. (AAAI 2023). Each target of a multi-target user continues by itself,
    along the same draws. Without replacement a user whose pool ends below a level stops at the
    pool. Users draw the same items as in `sample_ranks` with the same seed.

    Examples
    --------
    >>> import numpy as np
    >>> from fullrank.ranking import adaptive_ranks
    >>> scores = np.arange(200.0).reshape(2, 100)
    >>> sample = adaptive_ranks(scores, ([0, 1], [99, 50]), start=5, limit=100, rng=1)
    >>> print(sample)
    2 targets ranked among 5 to 100 of 100 items (adaptive 5 to 100, without replacement from all \
items)
    >>> sample.rows.rank, sample.rows.sample_size
    (array([1, 4]), array([100,   5]))
    """
    scorer = as_scorer(scorer)
    setting = prepare(scorer, targets, exclude=exclude, items=items, ties=ties, weight=weight)
    replacement = checks.flag("replacement", replacement)
    pool = checks.choice("pool", pool, POOLS)
    levels = _levels(setting, start, limit, growth, replacement)
    design = Design(replacement=replacement, levels=levels, stop_rank=stop_rank)
    key = seed_key(rng)
    pools = make_pools(
        setting.targets, n_items=scorer.n_items, items=setting.items,
        exclusion=setting.exclusion, pool=pool,
    )  # fmt: skip
    empty = setting.targets.users[pools.sizes == 0]
    if replacement and empty.size:
        raise InputError(
            "`replacement` must be False where a user has no item left to draw; "
            f"{empty.size} of {pools.sizes.size} have none, the first being user row {empty[0]}."
        )
    report = reporter(progress, "adaptive ranks")
    run = Run(n_jobs=n_jobs, batch_size=batch_size, device=device, progress=report)
    if on_gpu(device):
        ranking = gpu_ranking(setting, seen=pool == "all", key=key, run=run)
        rank, size, marks = ranking.climb(
            setting.targets, pools, levels=levels, stop_rank=design.stop_rank,
            replacement=replacement,
        )  # fmt: skip
    else:
        rank, size, marks = _climb(setting, pools, design, seen=pool == "all", key=key, run=run)
    back = np.argsort(setting.targets.order)
    return pack(
        setting,
        rank=rank[back],
        sample_size=size[back],
        marks=marks[back],
        replacement=replacement,
        pool=pool,
        key=key,
        levels=levels,
        stop_rank=design.stop_rank,
    )


def _climb(
    setting: Setting, pools: Pools, design: Design, *, seen: bool, key: int, run: Run
) -> tuple[Ints, Ints, Floats]:
    """Ranks, sizes and target scores, targets grouped by user: one pass per level."""
    t = setting.targets
    items = t.item_rows[t.order]
    group = np.repeat(np.arange(t.users.size), np.diff(t.starts))
    rank = np.ones(items.size, np.int64)
    size = np.ones(items.size, np.int64)
    marks = np.empty(items.size)
    done = np.zeros(t.users.size, np.int64)
    active = np.arange(items.size)
    for level in design.levels or ():
        users, inverse = np.unique(group[active], return_inverse=True)
        starts = np.searchsorted(inverse, np.arange(users.size + 1))
        first = done[users]
        count = draw_counts(pools.sizes[users], level, design.replacement)
        more = count - first

        def drawn(
            at: slice, users: Ints = users, first: Ints = first, more: Ints = more
        ) -> NDArray[np.int32]:
            return pools.draw(key, users[at], first[at], more[at], replacement=design.replacement)

        above, scores = count_above(
            setting, t.users[users], starts, items[active], drawn, width=int(more.max()),
            seen=seen, key=key, run=run,
        )  # fmt: skip
        rank[active] += above
        size[active] = 1 + count[inverse]
        marks[active] = scores
        done[users] = count
        exhausted = (count == pools.sizes[users]) & (not design.replacement)
        active = active[(rank[active] <= design.stop_rank) & ~exhausted[inverse]]
        if active.size == 0:
            break
    return rank, size, marks


def _levels(
    setting: Setting, start: Any, limit: Any, growth: Any, replacement: bool
) -> tuple[int, ...]:
    first = checked_size("start", start, setting, replacement)
    last = max(first, setting.n_items // 8) if limit is None else limit
    last = checked_size("limit", last, setting, replacement)
    if last < first:
        raise InputError(f"`limit` must be at least `start`, {first}, not {last}.")
    factor = checks.real("growth", growth)
    if factor <= 1:
        raise InputError(f"`growth` must be above 1, not {factor:g}.")
    levels = [first]
    while (level := int(np.ceil(levels[-1] * factor))) < last:
        levels.append(level)
    return tuple(levels) if levels[-1] == last else (*levels, last)


@dataclass(frozen=True, kw_only=True, eq=False)
class SamplingEfficiency:
    """What each level of an adaptive sample costs for each target that it settles.

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

    def plot(self, ax: Any = None) -> Any:
        """Cost against the share of items, as Figure 2 of the paper; returns the axes."""
        if ax is None:
            pyplot = extras.load("matplotlib.pyplot", extra="plot", purpose="Plotting")
            _, ax = pyplot.subplots()
        ax.plot(self.level / self.n_items, self.cost, marker="o")
        ax.set_xlabel("sample size / number of items")
        ax.set_ylabel("items drawn for each target settled")
        return ax


def sampling_efficiency(sample: RankSample) -> SamplingEfficiency:
    """The cost C_j of each level of an adaptive sample (equation 13 of Li et al., AAAI 2023).

    C_j = M_j·(n_j - n_{j-1}) / m_j, M_j being the targets that reached level j and m_j those that
    were settled there, that is, left at a rank below the stopping rank; n_{-1} = 0. The paper
    leaves the last level out; here only targets settled there count, as at every other level.

    Examples
    --------
    >>> from fullrank.ranking.adaptive import sampling_efficiency
    >>> from fullrank.samples.sample import RankSample
    >>> sample = RankSample.from_ranks(
    ...     [3, 2, 2, 1],
    ...     sample_size=[10, 10, 20, 20],
    ...     n_items=80,
    ...     levels=(10, 20),
    ...     replacement=False,
    ... )
    >>> print(sampling_efficiency(sample))
    level  share of items  reached  settled  cost
       10           12.5%        4        2  20.0
       20           25.0%        2        1  20.0
    """
    levels = sample.design.levels
    if levels is None:
        raise InputError("`sample` must be adaptive; this one has a fixed size.")
    level = np.asarray(levels)
    at = np.searchsorted(level, sample.sample_size)
    stopped = np.bincount(at, weights=sample.count, minlength=level.size).astype(np.int64)
    below = sample.rank > sample.design.stop_rank
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
    """The `limit` up to which an adaptive sample pays, from a pilot on some users.

    The largest level up to which settling one more target costs at most `max_cost` drawn items;
    by default a quarter of the number of items, which gives 16 % of them for EASE on pinterest-20
    where the paper found 10 to 15 % on its data. Give the pilot a `limit` near the number of items,
    and a few thousand users.

    Examples
    --------
    >>> from fullrank.ranking.adaptive import recommend_limit
    >>> from fullrank.samples.sample import RankSample
    >>> pilot = RankSample.from_ranks(
    ...     [3, 2, 2, 1],
    ...     sample_size=[10, 10, 20, 20],
    ...     n_items=80,
    ...     levels=(10, 20),
    ...     replacement=False,
    ... )
    >>> recommend_limit(pilot, max_cost=15), recommend_limit(pilot)
    (10, 20)
    """
    curve = sampling_efficiency(pilot)
    allowed = curve.n_items / 4 if max_cost is None else checks.real("max_cost", max_cost, low=0)
    dear = np.flatnonzero(curve.cost > allowed)
    last = curve.level.size - 1 if dear.size == 0 else max(int(dear[0]) - 1, 0)
    return int(curve.level[last])
