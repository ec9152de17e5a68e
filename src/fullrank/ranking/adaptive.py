"""Adaptive sampling: draw on for the targets that are still at the top."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fullrank._lib import checks
from fullrank._lib.checks import RandomState
from fullrank._lib.device import on_gpu
from fullrank._lib.progress import Progress, reporter
from fullrank._lib.types import Floats, Ints
from fullrank.designs.design import Design
from fullrank.designs.draws import POOLS, Pools, make_pools, seed_key
from fullrank.designs.sizes import checked_size, growing_levels
from fullrank.errors import InputError
from fullrank.ranking.sampled import (
    Run,
    Setting,
    count_above,
    draw_counts,
    gpu_ranking,
    pack,
    prepare,
)
from fullrank.samples.sample import RankSample


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
    setting = prepare(scorer, targets, exclude=exclude, items=items, ties=ties, weight=weight)
    replacement = checks.flag("replacement", replacement)
    pool = checks.choice("pool", pool, POOLS)
    levels = _levels(setting, start, limit, growth, replacement)
    design = Design(replacement=replacement, levels=levels, stop_rank=stop_rank)
    key = seed_key(rng)
    pools = make_pools(
        setting.targets, n_items=setting.scorer.n_items, items=setting.items,
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
        with setting.named():
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
    n_items = setting.n_items
    first = checked_size("start", start, n_items=n_items, replacement=replacement)
    last = max(first, n_items // 8) if limit is None else limit
    last = checked_size("limit", last, n_items=n_items, replacement=replacement)
    if last < first:
        raise InputError(f"`limit` must be at least `start`, {first}, not {last}.")
    factor = checks.real("growth", growth)
    if factor <= 1:
        raise InputError(f"`growth` must be above 1, not {factor:g}.")
    return growing_levels(first, last, factor)
