"""Sampled ranks: the target against a few items drawn for its user."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fullrank._lib import checks
from fullrank._lib import threads as _threads
from fullrank._lib.checks import RandomState
from fullrank._lib.device import on_gpu
from fullrank._lib.progress import Progress, reporter
from fullrank._lib.types import Array, Ints
from fullrank.data.targets import n_candidates
from fullrank.designs.draws import POOLS, make_pools, seed_key
from fullrank.designs.given import Negatives, as_negatives, without_targets
from fullrank.designs.sizes import checked_size
from fullrank.errors import InputError
from fullrank.ranking.request import Request, make_request
from fullrank.samples.sample import RankSample
from fullrank.scorers.factors import FactorScorer
from fullrank.scorers.item_item import ItemItemScorer
from fullrank.scorers.scorer import Scorer, is_thread_safe, nan_error, score_block

if TYPE_CHECKING:
    from fullrank.ranking.cuda.sampled.device_ranks import Ranking


TIES = {"best": 0, "worst": 1, "random": 2}  # the codes of _sampled_kernels
_CELLS = 1 << 18  # drawn items held at once by a thread


def sample_ranks(
    scorer: Any,
    targets: Any,
    *,
    exclude: Any = None,
    items: Any = None,
    sample_size: int | None = None,
    replacement: bool | None = None,
    pool: str | None = None,
    negatives: Any = None,
    ties: str = "random",
    shared_draws: int | None = None,
    weight: ArrayLike | None = None,
    n_jobs: int | None = None,
    batch_size: int | None = None,
    device: str | None = None,
    progress: bool | Progress | None = None,
    rng: RandomState = None,
) -> RankSample:
    """Rank each target among items drawn at random for its user.

    A user's items depend on the seed, the user row and the user's pool alone: not on the model,
    on other users, on `batch_size` or `n_jobs`, and the first n of them not on `sample_size`. So
    models ranked with the same `rng` meet the same items. Factor and item-item models score only
    what was drawn; other scorers are called with one row of items per user.

    Parameters
    ----------
    scorer : anything `as_scorer` takes
    targets : Interactions, or a pair (user_rows, item_rows)
        Matched with the scorer as in `rank`. The other targets of a multi-target user are never
        drawn; they are all scored, and the sample records how many of them rank above (`offset`).
    exclude : Interactions or sparse matrix (users × items), optional
        Items that count as below every target, such as training items. A target stays a target.
    items : array of item ids (rows where items have no ids) or boolean mask, optional
        The catalogue; all items of the scorer by default.
    sample_size : int, default 100
        Candidates for each target, itself included. Without replacement a user with a smaller
        pool gets all of it, and an exact rank.
    replacement : bool, default False
        The papers' figures for fixed sizes are with replacement. Without it the ranks say more
        for the same cost, and a sample of everything is exact.
    pool : {"all", "unseen"}, default "all"
        "all": any item but the user's targets is drawn, excluded ones too, so that every user has
        the same number of items N. "unseen": excluded items are not drawn, and N is the user's.
    negatives : Negatives, array (n_targets, n), path of a ``.test.negative`` or a Parquet file
        Items drawn before, used instead of drawing. Rows of an array follow `targets`; entries of
        -1 pad. Where `replacement` and `pool` are not given (here or in the file) they are
        inferred from what repeats and what is excluded, with a `DataWarning` that says so.
    ties : {"random", "best", "worst"}
        The place of a target among items of equal score. "random" orders a user's equal items by
        keyed words, the same at every draw.
    shared_draws : int, optional
        Users whose rows fall into the same block of this size share their draws (but for each
        user's own holes), which a scorer that embeds items answers faster. Each rank keeps its
        law, but users of a block are no longer independent. See Notes.
    weight : array (n_targets,), optional
        The weights of the targets' users, such as those of `sample_users`; recorded.
    n_jobs : int, optional
        Threads, -1 for all cores; all by default for fullrank's scorers, one for foreign ones.
    batch_size : int, optional
        Users held at once. Speed and memory, never ranks.
    device : None, "cpu" or "cuda"
        "cuda" (or one of several GPUs, such as "cuda:1") ranks there what a factor model, an
        item-item model with a dense matrix or a PyTorch module scores; a module must be there
        itself. The ranks are the same. Item factors or the item-item matrix must fit the
        device's memory, or an `InputError` says so.
    progress : True for a line on stderr, or a function of (done, total)
    rng : None, int, SeedSequence or Generator
        An int gives the same draws in every version (`fullrank.designs.draws.seed_key`).

    Returns
    -------
    RankSample

    Notes
    -----
    Cost: n_users × sample_size scores, whatever the number of items; a sparse item-item matrix is
    added up whole for each user. Memory beyond the inputs and the result: a few MB per thread, and
    about 25 MB for item-item models.

    Shared draws inflate the variance of anything averaged over users, because users of a block
    err together where their tastes agree. Where half of the spread of the scores is common to all
    users, the variance of the naive recall@10 of 2,048 users was 2.0, 11 and 75 times that of own
    draws for blocks of 16, 128 and 1,024 (`benchmarks/ranking_sampled.py`). Intervals and bounds
    take users as independent: they do not hold for shared draws.

    Examples
    --------
    >>> import numpy as np
    >>> from fullrank.ranking import sample_ranks
    >>> scores = np.arange(12.0).reshape(2, 6)
    >>> sample = sample_ranks(scores, ([0, 1], [5, 3]), sample_size=6, rng=1)
    >>> print(sample)
    2 targets ranked among 6 of 6 items (without replacement from all items)
    >>> sample.rows.rank
    array([1, 3])
    """
    setting = prepare(scorer, targets, exclude=exclude, items=items, ties=ties, weight=weight)
    scorer = setting.scorer
    report = reporter(progress, "sampled ranks")
    run = Run(n_jobs=n_jobs, batch_size=batch_size, device=device, progress=report)
    gpu = on_gpu(device)
    if shared_draws is not None:
        shared_draws = checks.integer("shared_draws", shared_draws, low=1)
    if negatives is not None:
        if shared_draws is not None:
            raise InputError("`shared_draws` must be left out with `negatives`: nothing is drawn.")
        ids = {"user_ids": setting.user_ids, "item_ids": setting.item_ids}
        given = as_negatives(negatives, setting.targets, **ids)
        return _from_negatives(
            setting, given, sample_size=sample_size, replacement=replacement, pool=pool,
            rng=rng, run=run,
        )  # fmt: skip
    pool = checks.choice("pool", "all" if pool is None else pool, POOLS)
    replacement = checks.flag("replacement", False if replacement is None else replacement)
    size = checked_size(
        "sample_size",
        100 if sample_size is None else sample_size,
        n_items=setting.n_items,
        replacement=replacement,
    )
    key = seed_key(rng)
    t = setting.targets
    pools = make_pools(
        t, n_items=scorer.n_items, items=setting.items, exclusion=setting.exclusion, pool=pool
    )
    count = draw_counts(pools.sizes, size, replacement)
    zero = np.zeros(count.size, np.int64)

    def drawn(groups: slice) -> NDArray[np.int32]:
        at = np.arange(groups.start, groups.stop)
        return pools.draw(
            key, at, zero[groups], count[groups], replacement=replacement, shared=shared_draws
        )

    if gpu and shared_draws is None:  # the device draws by itself
        ranking = gpu_ranking(setting, seen=pool == "all", key=key, run=run)
        ranks, _, marks = ranking.climb(
            t, pools, levels=(size,), stop_rank=1, replacement=replacement
        )
        above = ranks - 1
    else:
        with setting.named():
            above, marks = count_above(
                setting, t.users, t.starts, t.item_rows[t.order], drawn, width=int(count.max()),
                seen=pool == "all", key=key, shared=shared_draws, run=run,
            )  # fmt: skip
    order = np.argsort(t.order)
    return pack(
        setting,
        rank=1 + above[order],
        sample_size=1 + np.repeat(count, np.diff(t.starts))[order],
        marks=marks[order],
        replacement=replacement,
        pool=pool,
        key=key,
        shared_draws=shared_draws is not None,
    )


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


def prepare(
    scorer: Any, targets: Any, *, exclude: Any, items: Any, ties: str, weight: ArrayLike | None
) -> Setting:
    """Clean the arguments that sampled and adaptive ranking share."""
    asked = make_request(scorer, targets, exclude=exclude, items=items)
    return Setting(**vars(asked), ties=checks.choice("ties", ties, TIES), weight=weight)


def draw_counts(pool_sizes: Ints, size: int, replacement: bool) -> Ints:
    """How many items each user draws for a sample of `size`, including the target."""
    if replacement:
        return np.where(pool_sizes > 0, size - 1, 0)
    return np.minimum(pool_sizes, size - 1)


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
    shared: int | None = None,
    run: Run,
) -> tuple[Ints, NDArray[np.float64]]:
    """How many of its user's drawn items rank above each target, and the targets' scores.

    The targets of users[g] are targets[starts[g]:starts[g + 1]]; drawn(groups) gives their items.
    Draws that are excluded rank below where `seen` is set; elsewhere none was drawn.
    """
    if on_gpu(run.device):
        ranking = gpu_ranking(setting, seen=seen, key=key, run=run)
        return ranking.count(users, starts, targets, drawn, width)
    above = np.zeros(targets.size, np.int64)
    marks = np.empty(targets.size)
    exclusion = setting.exclusion if seen else None
    empty = np.empty(0, np.int64), np.empty(0, np.int32)
    seen_arrays = empty if exclusion is None else (exclusion.indptr, exclusion.indices)
    common = (*seen_arrays, TIES[setting.ties], np.uint64(key))
    kernel = _kernel(setting.scorer, shared)

    def work(groups: slice) -> None:
        here = slice(int(starts[groups.start]), int(starts[groups.stop]))
        block_starts = starts[groups.start : groups.stop + 1] - starts[groups.start]
        block = (users[groups], block_starts, targets[here], drawn(groups))
        user, item = kernel(block, common, above[here], marks[here])
        if user >= 0:
            raise nan_error(int(user), int(item))

    n_jobs = 1 if run.n_jobs is None and not is_thread_safe(setting.scorer) else run.n_jobs
    # a block of users reads the whole item-item matrix once: the larger, the better
    cells = _CELLS * 8 if isinstance(setting.scorer, ItemItemScorer) else _CELLS
    most = max(1, cells // (width + int(np.diff(starts).max())))
    blocks = _blocks(users, most, n_jobs, run.batch_size, shared)
    sizes = [block.stop - block.start for block in blocks]
    _threads.run(work, blocks, n_jobs=n_jobs, progress=run.progress, sizes=sizes)
    return above, marks


def gpu_ranking(setting: Setting, *, seen: bool, key: int, run: Run) -> Ranking:
    """The scorer on the device of `run`; draws that are excluded rank below if `seen` is set."""
    from fullrank.ranking.cuda.sampled.device_ranks import Ranking

    return Ranking(
        run.device, setting.scorer, exclusion=setting.exclusion if seen else None,
        ties=TIES[setting.ties], key=key, batch_size=run.batch_size, progress=run.progress,
    )  # fmt: skip


def _blocks(
    users: Ints, most: int, n_jobs: int | None, batch_size: int | None, shared: int | None
) -> list[slice]:
    """Blocks of `most` users or fewer; users that share their draws stay together."""
    threads = _threads.n_threads(n_jobs)
    parts = 1 if threads == 1 else 2 * threads  # two each: the last to finish has less to do
    step = min(most, -(-users.size // parts))
    if batch_size is not None:
        step = checks.integer("batch_size", batch_size, low=1)
    edges = np.arange(0, users.size, step)
    if shared is not None and shared <= step:
        change = np.concatenate(([0], np.flatnonzero(np.diff(users // shared)) + 1))
        edges = np.unique(change[np.searchsorted(change, edges, side="right") - 1])
    stops = np.append(edges[1:], users.size)
    return [slice(int(a), int(b)) for a, b in zip(edges, stops, strict=True)]


def pack(
    setting: Setting,
    *,
    rank: Ints,
    sample_size: Ints,
    marks: NDArray[np.float64],
    replacement: bool,
    pool: str,
    key: int,
    levels: tuple[int, ...] | None = None,
    stop_rank: int = 1,
    shared_draws: bool = False,
    given: bool = False,
) -> RankSample:
    """The sample, in the order in which the targets were given.

    Without `exclude`, training items were kept; of `given` candidates that is not known.
    """
    t = setting.targets
    several = t.users.size < t.user_rows.size
    n_items: int | Ints = setting.n_items
    if pool == "unseen":
        n_items = n_candidates(
            t, n_items=setting.scorer.n_items, items=setting.items, exclusion=setting.exclusion
        )
    return RankSample.from_ranks(
        rank,
        sample_size=sample_size,
        n_items=n_items,
        replacement=replacement,
        levels=levels,
        stop_rank=stop_rank,
        pool=pool,
        ties=setting.ties,
        shared_draws=shared_draws,
        excluded=True if setting.exclusion is not None else (None if given else False),
        user=t.user,
        item=t.item,
        time=t.time,
        weight=setting.weight,
        n_targets=t.n_targets if several else 1,
        offset=_offsets(setting, marks, key) if several else 0,
    )


def _offsets(setting: Setting, marks: NDArray[np.float64], key: int) -> Ints:
    """For each target the user's other targets above it (ties between targets: see ties.py)."""
    from fullrank.ranking.cpu import exact_kernels as kernels

    t = setting.targets
    greater, equal, before, offset = np.zeros((4, marks.size), np.int64)
    count: Callable[..., None] = kernels.count_targets
    count(
        t.users, t.starts, t.item_rows[t.order], marks[t.order], setting.ties == "random",
        np.uint64(key), greater, equal, before, offset,
    )  # fmt: skip
    return offset[np.argsort(t.order)]


Block = tuple[Any, ...]  # users, starts, targets, drawn: the first arguments of every kernel
Count = Callable[..., tuple[int, int]]


def _kernel(scorer: Scorer, shared: int | None) -> Count:
    """The count for a kind of scorer, as a function of (block, common, above, marks)."""
    from fullrank.ranking.cpu import sampled_kernels as kernels

    if isinstance(scorer, FactorScorer):
        bias = np.empty(0) if scorer.item_bias is None else scorer.item_bias
        precision = np.finfo(scorer.item_factors.dtype)
        # twice what rounding can do to a sum of so many products, for the error of the bound
        terms = 2 * scorer.item_factors.shape[1] + 8
        return _bound(
            kernels.factor_above, scorer.user_factors, scorer.item_factors, bias,
            terms * float(precision.eps), terms * float(precision.smallest_subnormal),
        )  # fmt: skip
    if isinstance(scorer, ItemItemScorer):
        history = (scorer.history_indptr, scorer.history_indices, scorer.history_values)
        m = scorer.matrix
        if scorer.is_sparse:
            return _bound(kernels.sparse_item_item_above, *history, m.indptr, m.indices, m.data)
        return _bound(kernels.item_item_above, *history, m)
    return _scored(scorer, shared)


def _bound(count: Count, *own: Any) -> Count:
    return lambda block, common, above, marks: count(*block, *common, *own, above, marks)


def _scored(scorer: Scorer, shared: int | None) -> Count:
    """The count for scorers that are asked for scores."""
    from fullrank.ranking.cpu import sampled_kernels as kernels

    count: Count = kernels.scored_above

    def scored(
        block: Block, common: tuple[Any, ...], above: Ints, marks: NDArray[np.float64]
    ) -> tuple[int, int]:
        users, starts, targets, drawn = block
        if shared is None:
            marks[:], scores = _score_rows(scorer, users, starts, targets, drawn)
        else:
            marks[:], scores = _score_shared(scorer, users, starts, targets, drawn, shared)
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


def _score_shared(
    scorer: Scorer, users: Ints, starts: Ints, targets: Ints, drawn: Array, shared: int
) -> tuple[Array, Array]:
    """As _score_rows, from one call per block of users with one list of items for all of them."""
    marks, scores = np.empty(targets.size), np.empty(drawn.shape)
    edges = np.flatnonzero(np.diff(users // shared)) + 1
    for first, last in zip(np.r_[0, edges], np.r_[edges, users.size], strict=True):
        here = slice(starts[first], starts[last])
        wanted = np.unique(np.concatenate((targets[here], drawn[first:last].ravel())))
        wanted = wanted[wanted >= 0]
        table = score_block(scorer, users[first:last], wanted)
        row = np.repeat(np.arange(last - first), np.diff(starts[first : last + 1]))
        marks[here] = table[row, np.searchsorted(wanted, targets[here])]
        at = np.searchsorted(wanted, np.maximum(drawn[first:last], wanted[0]))
        scores[first:last] = np.take_along_axis(table, at, axis=1)
    return marks, scores


def _from_negatives(
    setting: Setting,
    given: Negatives,
    *,
    sample_size: int | None,
    replacement: bool | None,
    pool: str | None,
    rng: RandomState,
    run: Run,
) -> RankSample:
    """Ranks among given items: every target is a block of its own with its row of them."""
    t = setting.targets
    drawn = given.items[given.rows_of(t.user_rows, t.item_rows)]
    drawn = without_targets(drawn, t, setting.scorer.n_items)
    checked = given.declared(
        drawn, t, setting.exclusion, n_items=setting.scorer.n_items, items=setting.items,
        replacement=replacement, pool=pool,
    )  # fmt: skip
    size = 1 + np.count_nonzero(drawn >= 0, axis=1)
    if sample_size is not None:
        wanted = checks.integer("sample_size", sample_size, low=2)
        checks.reject(
            "negatives", size - 1, size != wanted, f"hold {wanted - 1} items for each target",
            "Leave `sample_size` out to take the negatives as they are.",
        )  # fmt: skip
    key = given.seed if rng is None and given.seed is not None else seed_key(rng)
    starts = np.arange(t.user_rows.size + 1)
    above, marks = count_above(
        setting, t.user_rows, starts, t.item_rows, lambda groups: drawn[groups],
        width=drawn.shape[1], seen=checked.pool == "all", key=key, run=run,
    )  # fmt: skip
    return pack(
        setting,
        rank=1 + above,
        sample_size=size,
        marks=marks,
        replacement=checked.replacement,
        pool=checked.pool,
        key=key,
        given=True,
    )
