"""Sampled ranks: the target against items that a design draws for its user."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fullrank._lib import checks
from fullrank._lib.checks import RandomState
from fullrank._lib.device import on_gpu
from fullrank._lib.progress import Progress, reporter
from fullrank._lib.types import Ints
from fullrank.data.targets import n_candidates
from fullrank.designs.design import Design
from fullrank.designs.draws import make_pools, seed_key
from fullrank.designs.exact import Exact
from fullrank.designs.given import Negatives, as_negatives, without_targets
from fullrank.errors import InputError
from fullrank.ranking.capabilities import gpu_of
from fullrank.ranking.cpu.sampled_counts import TIES, Run, Setting, count_above, run_rounds
from fullrank.ranking.request import make_request
from fullrank.samples.sample import RankSample

if TYPE_CHECKING:
    from fullrank.ranking.cuda.sampled.device_ranks import Ranking


def sample_ranks(
    scorer: Any,
    targets: Any,
    *,
    design: str | Design | None = None,
    exclude: Any = None,
    items: Any = None,
    negatives: Any = None,
    ties: str | None = None,
    weight: ArrayLike | None = None,
    device: str | None = None,
    n_jobs: int | None = None,
    batch_size: int | None = None,
    progress: bool | Progress | None = None,
    rng: RandomState = None,
) -> RankSample:
    """Rank each target among items drawn at random for its user.

    A user's items depend only on the seed, the user row and the user's pool: not on the model,
    other users, `batch_size` or `n_jobs`. The first n of them do not depend on the design. Models
    ranked with the same `rng` therefore have the same candidates. Factor models and dense item-item
    models score only the drawn items; a sparse item-item matrix is added up whole for each user,
    and other scorers are called with one row of items per user.

    Parameters
    ----------
    scorer : anything `as_scorer` takes
    targets : Interactions, or a pair (user_rows, item_rows)
        Matched with the scorer as in `rank`. The other targets of a multi-target user are never
        drawn; they are all scored, and the sample records how many of them rank above (`offset`).
    exclude : Interactions, or sparse matrix or sparse tensor (users × items), optional
        Items that count as below every target, such as training items. A target stays a target.
    items : array of item ids (rows where items have no ids) or boolean mask, optional
        The catalogue; all items of the scorer by default.
    design : Design or text, default "sampled:100"
        How items are drawn, and how many: ``"sampled:100"`` for a fixed number,
        ``"adaptive:25"`` for more while the target is among the first
        (`fullrank.designs.Adaptive`), or any other registered design except ``"exact"``. In the
        pool "all" any item except the user's targets can be drawn, excluded items too, so N is the
        same for every user; in the pool "unseen" excluded items are not drawn, and N differs
        between users.
    negatives : Negatives, array (n_targets, n), path of a ``.test.negative`` or a Parquet file
        Items to use instead of drawing. Rows of an array follow `targets`, with -1 as padding.
        `design` or the file states how they were drawn; otherwise it is inferred from repeated and
        excluded items, with a `DataWarning`.
    ties : {"random", "best", "worst"}, default that of the design, or "random"
        The place of a target among items of equal score. "random" breaks ties by pseudorandom
        numbers that are the same in every draw.
    weight : array (n_targets,), optional
        The weights of the targets' users, such as those of `sample_users`; recorded.
    device : None, "cpu" or "cuda"
        None is the CPU, except for a `BlockScorer` whose module is on a GPU, where Triton is
        installed. "cuda" (or one of several GPUs, such as "cuda:1") ranks factor models, item-item
        models with a dense matrix and PyTorch modules on the GPU; a module must already be on it.
        Ranks do not depend on the device. Item factors or the item-item matrix must fit the
        device's memory, or an `InputError` says so.
    n_jobs : int, optional
        Threads, -1 for all cores; all by default for fullrank's scorers, one for foreign ones.
    batch_size : int, optional
        Number of users processed together. It changes speed and memory, never ranks.
    progress : True for a line on stderr, or a function of (done, total)
    rng : None, int, SeedSequence or Generator
        An int gives the same draws in every version (`fullrank.designs.draws.seed_key`).

    Returns
    -------
    RankSample

    Notes
    -----
    Cost: the scores of the drawn items, whatever the number of items; a sparse item-item matrix is
    added up whole for each user. Memory beyond the inputs and the result: a few MB per thread, and
    about 25 MB for item-item models.

    Each target of a multi-target user continues independently, with the same draws. Without
    replacement, a user whose pool is smaller than a level gets the whole pool, and an exact rank;
    the papers draw with replacement for fixed sizes.

    Examples
    --------
    >>> import numpy as np
    >>> from fullrank.ranking import sample_ranks
    >>> scores = np.arange(12.0).reshape(2, 6)
    >>> sample = sample_ranks(scores, ([0, 1], [5, 3]), design="sampled:6", rng=1)
    >>> print(sample)
    2 targets ranked among 6 of 6 items (without replacement from all items)
    >>> sample.rows.rank
    array([1, 3])
    >>> scores = np.arange(200.0).reshape(2, 100)
    >>> sample = sample_ranks(scores, ([0, 1], [99, 50]), design="adaptive:5,limit=100", rng=1)
    >>> sample.rows.rank, sample.rows.sample_size
    (array([1, 4]), array([100,   5]))
    """
    wanted = None if design is None else Design.of(design)
    asked = make_request(scorer, targets, exclude=exclude, items=items)
    setting = Setting(**vars(asked), ties=_ties(ties, wanted), weight=weight)
    report = reporter(progress, "sampled ranks")
    place = gpu_of(asked.scorer, asked.targets.users) if device is None else device
    run = Run(n_jobs=n_jobs, batch_size=batch_size, device=place, progress=report)
    if negatives is not None:
        ids = {"user_ids": setting.user_ids, "item_ids": setting.item_ids}
        given = as_negatives(negatives, setting.targets, **ids)
        return _from_negatives(setting, given, design=wanted, rng=rng, run=run)
    if isinstance(wanted, Exact):
        raise InputError(
            f"`design` must draw candidates; {wanted} does not. Use `rank` for exact ranks."
        )
    return _drawn(setting, wanted or Design.of("sampled:100"), rng=rng, run=run)


def _ties(ties: str | None, design: Design | None) -> str:
    """The policy asked for, here or in the design."""
    if ties is None:
        own = "unknown" if design is None else design.ties
        return "random" if own == "unknown" else own
    return checks.choice("ties", ties, TIES)


def _drawn(setting: Setting, design: Design, *, rng: RandomState, run: Run) -> RankSample:
    """Ranks among items that are drawn now."""
    gpu = on_gpu(run.device)
    fixed = design.drawable(setting.n_items)
    rounds, key, t = fixed.rounds(setting.n_items), seed_key(rng), setting.targets
    pools = make_pools(
        t, n_items=setting.scorer.n_items, items=setting.items, exclusion=setting.exclusion,
        pool=fixed.pool,
    )  # fmt: skip
    rounds.check_pools(pools.sizes, t.users)
    seen = fixed.pool == "all"
    if gpu:
        ranking = _gpu_ranking(setting, seen=seen, key=key, run=run)
        rank, size, marks = ranking.run_rounds(t, pools, rounds)
    else:
        with setting.named():
            rank, size, marks = run_rounds(setting, pools, rounds, seen=seen, key=key, run=run)
    back = np.argsort(t.order)
    return _pack(
        setting, rank=rank[back], sample_size=size[back], marks=marks[back], design=fixed, key=key
    )


def _gpu_ranking(setting: Setting, *, seen: bool, key: int, run: Run) -> Ranking:
    """The scorer on the device of `run`; draws that are excluded rank below if `seen` is set."""
    from fullrank.ranking.cuda.sampled.device_ranks import Ranking

    return Ranking(
        run.device, setting.scorer, exclusion=setting.exclusion if seen else None,
        ties=TIES[setting.ties], key=key, batch_size=run.batch_size, progress=run.progress,
    )  # fmt: skip


def _pack(
    setting: Setting,
    *,
    rank: Ints,
    sample_size: Ints,
    marks: NDArray[np.float64],
    design: Design,
    key: int,
    given: bool = False,
) -> RankSample:
    """The sample, in the order in which the targets were given.

    Without `exclude`, training items were kept; of `given` candidates that is not known.
    """
    t = setting.targets
    several = t.users.size < t.user_rows.size
    n_items: int | Ints = setting.n_items
    if design.pool == "unseen":
        n_items = n_candidates(
            t, n_items=setting.scorer.n_items, items=setting.items, exclusion=setting.exclusion
        )
    return RankSample.from_ranks(
        rank,
        sample_size=sample_size,
        n_items=n_items,
        design=design.with_(
            ties=setting.ties,
            excluded=True if setting.exclusion is not None else (None if given else False),
        ),
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


def _from_negatives(
    setting: Setting, given: Negatives, *, design: Design | None, rng: RandomState, run: Run
) -> RankSample:
    """Ranks among given items: every target is a block of its own with its row of them."""
    t = setting.targets
    drawn = given.items[given.rows_of(t.user_rows, t.item_rows)]
    drawn = without_targets(drawn, t, setting.scorer.n_items)
    size = 1 + np.count_nonzero(drawn >= 0, axis=1)
    declared = given.declared(
        drawn, t, setting.exclusion, n_items=setting.scorer.n_items, items=setting.items,
        design=design,
    )  # fmt: skip
    key = given.seed if rng is None and given.seed is not None else seed_key(rng)
    starts, width, seen = np.arange(t.user_rows.size + 1), drawn.shape[1], declared.pool == "all"
    columns = (t.user_rows, starts, t.item_rows, lambda groups: drawn[groups])
    if on_gpu(run.device):
        above, marks = _gpu_ranking(setting, seen=seen, key=key, run=run).count(*columns, width)
    else:
        above, marks = count_above(setting, *columns, width=width, seen=seen, key=key, run=run)
    return _pack(
        setting, rank=1 + above, sample_size=size, marks=marks, design=declared, key=key, given=True
    )
