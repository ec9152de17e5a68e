"""Sampled ranks on the CPU: execute the rounds of a design, one pass for each.

All users that enter a round are counted together, by blocks; every kind of scorer has its count.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fullrank._lib import checks
from fullrank._lib import threads as _threads
from fullrank._lib.progress import Progress
from fullrank._lib.types import Array, Floats, Ints
from fullrank.designs.draws import Pools
from fullrank.designs.rounds import Rounds
from fullrank.ranking.capabilities import offer
from fullrank.ranking.request import Request
from fullrank.scorers.scorer import Scorer, has_own_threads, is_thread_safe, nan_error, score_block

TIES = {"best": 0, "worst": 1, "random": 2}  # the codes of sampled_kernels
_COUNTED = ("factors", "item_item")  # what has a kernel of its own
_CELLS = 1 << 18  # drawn items held at once by a thread


@dataclass(frozen=True, kw_only=True, eq=False)
class Setting(Request):
    """The cleaned arguments that sampled and adaptive ranking share."""

    ties: str
    weight: ArrayLike | None


@dataclass(frozen=True, kw_only=True)
class Run:
    """What changes speed and memory, never numbers."""

    n_jobs: int | None = None
    batch_size: int | None = None
    device: str | None = None
    progress: Progress | None = None


def run_rounds(
    setting: Setting, pools: Pools, rounds: Rounds, *, seen: bool, key: int, run: Run
) -> tuple[Ints, Ints, Floats]:
    """Ranks, sizes and scores of the targets, grouped by user."""
    t = setting.targets
    items = t.item_rows[t.order]
    group = np.repeat(np.arange(t.users.size), np.diff(t.starts))
    limits = rounds.limits(pools.sizes)
    rank, size = np.ones((2, items.size), np.int64)
    marks = np.empty(items.size)
    done = np.zeros(t.users.size, np.int64)
    active = np.arange(items.size)
    for level, refine in zip(rounds.sizes, (*rounds.refine, 0), strict=True):
        users, inverse = np.arange(t.users.size), group
        if active.size < items.size:
            users, inverse = np.unique(group[active], return_inverse=True)
        starts = np.searchsorted(inverse, np.arange(users.size + 1))
        first = done[users]
        count = np.minimum(limits[users], level - 1)

        def drawn(
            at: slice, users: Ints = users, first: Ints = first, more: Ints = count - first
        ) -> NDArray[np.int32]:
            return rounds.draw(pools, key, users[at], first[at], more[at])

        above, scores = count_above(
            setting, t.users[users], starts, items[active], drawn,
            width=int((count - first).max()), seen=seen, key=key, run=run,
        )  # fmt: skip
        rank[active] += above
        size[active] = 1 + count[inverse]
        marks[active] = scores
        done[users] = count
        complete = count == limits[users]
        active = active[(rank[active] <= refine) & ~complete[inverse]]
        if active.size == 0:
            break
    return rank, size, marks


def count_above(
    setting: Setting,
    users: Ints,
    starts: Ints,
    targets: Ints,
    drawn: Callable[[slice], NDArray[np.int32]],
    *,
    width: int,
    seen: bool,
    key: int,
    run: Run,
) -> tuple[Ints, NDArray[np.float64]]:
    """How many of its user's drawn items rank above each target, and the targets' scores.

    The targets of users[g] are targets[starts[g]:starts[g + 1]]; drawn(groups) gives their items.
    Draws that are excluded rank below where `seen` is set; elsewhere none was drawn.
    """
    above = np.zeros(targets.size, np.int64)
    marks = np.empty(targets.size)
    exclusion = setting.exclusion if seen else None
    empty = np.empty(0, np.int64), np.empty(0, np.int32)
    seen_arrays = empty if exclusion is None else (exclusion.indptr, exclusion.indices)
    common = (*seen_arrays, TIES[setting.ties], np.uint64(key))
    kernel = _kernel(setting.scorer)

    def work(groups: slice) -> None:
        here = slice(int(starts[groups.start]), int(starts[groups.stop]))
        block_starts = starts[groups.start : groups.stop + 1] - starts[groups.start]
        block = (users[groups], block_starts, targets[here], drawn(groups))
        user, item = kernel(block, common, above[here], marks[here])
        if user >= 0:
            raise nan_error(int(user), int(item))

    busy = has_own_threads(setting.scorer)
    alone = busy or (run.n_jobs is None and not is_thread_safe(setting.scorer))
    n_jobs = 1 if alone else run.n_jobs
    # a block of users reads the whole item-item matrix once: the larger, the better
    cells = _CELLS * 8 if offer(setting.scorer, _COUNTED)[0] == "item_item" else _CELLS
    most = max(1, cells // (width + int(np.diff(starts).max())))
    blocks = _blocks(users.size, most, n_jobs, run.batch_size)
    sizes = [block.stop - block.start for block in blocks]
    _threads.run(work, blocks, n_jobs=n_jobs, progress=run.progress, sizes=sizes, limited=not busy)
    return above, marks


def _blocks(n_users: int, most: int, n_jobs: int | None, batch_size: int | None) -> list[slice]:
    """Blocks of `most` users or fewer."""
    threads = _threads.n_threads(n_jobs)
    parts = 1 if threads == 1 else 2 * threads  # two each: the last to finish has less to do
    step = min(most, -(-n_users // parts))
    if batch_size is not None:
        step = checks.integer("batch_size", batch_size, low=1)
    edges = np.arange(0, n_users, step)
    stops = np.append(edges[1:], n_users)
    return [slice(int(a), int(b)) for a, b in zip(edges, stops, strict=True)]


Block = tuple[Any, ...]  # users, starts, targets, drawn: the first arguments of every kernel
Count = Callable[..., tuple[int, int]]


def _kernel(scorer: Scorer) -> Count:
    """The count for a kind of scorer, as a function of (block, common, above, marks)."""
    from fullrank.ranking.cpu import sampled_kernels as kernels

    has, offered = offer(scorer, _COUNTED)
    if has == "factors":
        bias = np.empty(0) if offered.item_bias is None else offered.item_bias
        precision = np.finfo(offered.item_factors.dtype)
        # twice what rounding can do to a sum of so many products, for the error of the bound
        terms = 2 * offered.item_factors.shape[1] + 8
        return _bound(
            kernels.factor_above, offered.user_factors, offered.item_factors, bias,
            terms * float(precision.eps), terms * float(precision.smallest_subnormal),
        )  # fmt: skip
    if has == "item_item":
        history = (offered.history_indptr, offered.history_indices, offered.history_values)
        m = offered.matrix
        if offered.is_sparse:
            return _bound(kernels.sparse_item_item_above, *history, m.indptr, m.indices, m.data)
        return _bound(kernels.item_item_above, *history, m)
    return _scored(scorer)


def _bound(count: Count, *own: Any) -> Count:
    return lambda block, common, above, marks: count(*block, *common, *own, above, marks)


def _scored(scorer: Scorer) -> Count:
    """The count for scorers that are asked for scores."""
    from fullrank.ranking.cpu import sampled_kernels as kernels

    count: Count = kernels.scored_above

    def scored(
        block: Block, common: tuple[Any, ...], above: Ints, marks: NDArray[np.float64]
    ) -> tuple[int, int]:
        users, starts, targets, drawn = block
        marks[:], scores = _score_rows(scorer, users, starts, targets, drawn)
        return count(*block, *common, scores, above, marks)

    return scored


def _score_rows(
    scorer: Scorer, users: Ints, starts: Ints, targets: Ints, drawn: Array
) -> tuple[Array, Array]:
    """Scores of the targets and of the draws, from one call with a row of items per user."""
    sizes = np.diff(starts)
    column = np.arange(int(sizes.max()))
    # short rows are filled up with the user's first target, whose extra scores nobody reads
    wanted = targets[starts[:-1, None] + np.where(column < sizes[:, None], column, 0)]
    filled = np.where(drawn < 0, wanted[:, :1], drawn)
    scores = score_block(scorer, users, np.concatenate((wanted, filled), axis=1))
    return scores[:, : column.size][column < sizes[:, None]], scores[:, column.size :]
