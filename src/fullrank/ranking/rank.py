"""Exact ranks: every target against the whole catalogue, by counting."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fullrank._lib import checks
from fullrank._lib.checks import RandomState
from fullrank._lib.device import on_gpu
from fullrank._lib.progress import Progress, reporter
from fullrank._lib.types import Ints
from fullrank.data.targets import Targets, n_candidates
from fullrank.designs.draws import seed_key
from fullrank.errors import InputError
from fullrank.ranking.capabilities import gpu_of
from fullrank.ranking.count import count
from fullrank.ranking.job import Job
from fullrank.ranking.order import Order, make_order
from fullrank.ranking.request import Request, make_request
from fullrank.ranking.ties import between_targets
from fullrank.samples.exact_ranks import POLICIES, ExactRanks, censored

PRECISIONS = ("exact", "fast")
OPERANDS = ("tf32", "bf16")


def rank(
    scorer: Any,
    targets: Any,
    *,
    exclude: Any = None,
    items: ArrayLike | None = None,
    max_rank: int | None = None,
    order: Any = None,
    ties: str = "mean",
    precision: str = "exact",
    device: str | None = None,
    operands: str | None = None,
    n_jobs: int | None = None,
    batch_size: int | None = None,
    progress: bool | Progress | None = None,
    weight: ArrayLike | None = None,
    rng: RandomState = None,
) -> ExactRanks:
    """Rank every target among all items.

    A rank is a count: one plus the number of candidates that score higher than the target. Nothing
    is sorted, and no users × items table is stored: scores are computed in small blocks and
    counted.

    Parameters
    ----------
    scorer : anything `as_scorer` takes: a scorer, a model, an array of scores, …
    targets : Interactions, or a pair (user_rows, item_rows) of equally long arrays
        An Interactions is matched with the scorer by id. A scorer without ids has its users and
        items in rows 0 … n - 1, and the ids of the Interactions must be these numbers. A pair
        holds row numbers. A user that occurs more than once has more than one target. Each target
        is ranked among all candidates, the user's other targets included.
    exclude : Interactions, or sparse matrix or sparse tensor (users × items), optional
        Items that are not candidates, such as training items; an Interactions is matched by id. A
        target stays a target even if it is in `exclude`.
    items : array of item ids (rows where items have no ids) or boolean mask, optional
        The catalogue; all items of the scorer by default. Targets must be in it.
    max_rank : int, optional
        The largest rank to determine. Once a target has that many candidates above it, no further
        candidates are scored for it: all that is known of its rank is that it is larger. Every
        metric with a cut-off of at most `max_rank` is the same to the last bit.
    order : str, array, mapping, table, scorer or path, optional
        With `max_rank`, the order in which candidates are visited. It changes the time, never a
        rank. Factor models always use "norms", whatever name is given. For other scorers the
        default is "popularity" (counted in `exclude`), or "random" without `exclude`. An array of
        item ids (rows if items have no ids) is for all users. Lists per user are a mapping from
        user ids to items, a table or file with the columns user and item, an array with a row for
        each user (users numbered from 0, -1 as padding, as an index of nearest neighbours returns),
        or a cheap scorer or model, such as last week's, which may lack users and items
        (`fullrank.ranking.order`).
    ties : {"mean", "best", "worst", "random"}
        How to rank a target among candidates of exactly its score (`fullrank.ranking.ties`).
        `sample()` needs whole ranks: any but "mean".
    precision : {"exact", "fast"}
        "exact": ranks follow the scores as they are defined (see Notes). "fast": factor models are
        ranked by their float32 matrix products. Scores that differ only by rounding may then change
        places, items with equal vectors may not tie, and counts may depend on `batch_size`. "fast"
        takes longer than "exact" for full ranks on an x86 processor, where integer products decide
        most comparisons. On a GPU the scores are those of the tensor cores, and `n_undecided` is
        the number of comparisons that were closer than their error bound. Other scorers are ranked
        exactly with either setting.
    device : None, "cpu", "cuda" or one of several GPUs such as "cuda:1"
        Where scores are computed and counted. None is the CPU, except for a `BlockScorer` whose
        module is on a GPU, where Triton is installed. A GPU ranks factor models, item-item models
        and PyTorch modules that are already on it (extra `cuda`). Exact ranks do not depend on the
        device. The blocks of a `BlockScorer` are counted where its module is, unless "cpu" copies
        them to the host.
    operands : None, "tf32" or "bf16"
        The precision to which a GPU's tensor cores round factors. Exact ranks do not depend on it.
        None chooses "tf32", which on an H200 took at most a fifth longer than "bf16", and half as
        long as "bf16" when many scores were close. With `precision="fast"`, "bf16" is faster and
        less accurate.
    n_jobs : int, optional
        Threads, -1 for all cores; all by default for fullrank's scorers, one for foreign ones.
    batch_size : int, optional
        Number of users scored together. It changes speed and memory, never exact ranks.
    progress : True for a line on stderr, or a function of (done, total)
    weight : array, one for each target, optional
        Weights of the targets' users, such as those of `sample_users`; 1 by default.
    rng : None, int, SeedSequence or Generator
        Random seed of `ties="random"`; the same seed gives the same order as in `sample_ranks`.

    Returns
    -------
    ExactRanks

    Notes
    -----
    For `FactorScorer` and `ItemItemScorer` the ranks are *certified*: they are those of the
    float64 sums, in index order, that define the scores. A product of integers or of float32
    numbers decides wherever its rigorous error bound allows, and the few scores within that bound
    of the target's are summed again. So batches, blocks and threads cannot change a count, and
    items with equal vectors tie. For other scorers, the scores are those that they return. A NaN
    score raises an error; infinite ones compare as usual, so that an item with -inf is still a
    candidate.

    With `max_rank` all targets of a user are scored first. A target is finished once 1 + (the
    user's other targets above it) + the higher scores + its part of the ties, as counted so far,
    exceeds K; the user is done when all targets are finished. For a user with a target within K
    every candidate is scored, so the share of scores computed is at least the share of such users.
    A scorer whose scores come row by row (`whole_rows`, such as arrays) gives all of them. A NaN
    raises an error only if it is reached. If rounding makes a module's scores depend on what is
    scored with them, its ranks do too.

    Cost: ranking a factor model takes less time than the float32 matrix product on an x86 processor
    and about as much elsewhere, and less where the lengths of the factors rule out blocks of items.
    A sparse item-item model costs the sparse product of histories and weights, and scores that all
    users share cost one sort; "random" compares each target with all items that tie with it. Memory
    beyond the inputs: some 50 bytes for each item, at most 16 MB for items as integers, and a few
    MB for each thread.

    Examples
    --------
    >>> import numpy as np
    >>> from fullrank.scorers import FactorScorer
    >>> from fullrank.ranking import rank
    >>> random = np.random.default_rng(0)
    >>> scorer = FactorScorer(random.normal(size=(3, 8)), random.normal(size=(50, 8)))
    >>> result = rank(scorer, ([0, 1, 2], [7, 7, 11]))
    >>> result.ranks
    array([ 8., 17., 21.])
    >>> result.metrics("recall@20")
    {'recall@20': 0.6666666666666666}
    """
    policy = checks.choice("ties", ties, POLICIES)
    # a seed is checked whether the ties need it or not
    key = 0 if rng is None and policy != "random" else seed_key(rng)
    limit = None if max_rank is None else checks.integer("max_rank", max_rank, low=1)
    asked = make_request(scorer, targets, exclude=exclude, items=items)
    clean = asked.targets
    place = gpu_of(asked.scorer, clean.users) if device is None else device
    job = Job(
        scorer=asked.scorer,
        targets=clean,
        catalogue=asked.items,
        exclusion=asked.exclusion,
        random=policy == "random",
        key=key,
        fast=checks.choice("precision", precision, PRECISIONS) == "fast",
        n_jobs=n_jobs,
        batch_size=None if batch_size is None else checks.integer("batch_size", batch_size, low=1),
        progress=reporter(progress, "exact ranks"),
        device=str(place) if on_gpu(place) else None,
        operands=OPERANDS[0] if operands is None else checks.choice("operands", operands, OPERANDS),
        policy=policy,
        max_rank=limit,
        order=_order(order, limit, asked),
    )
    with asked.named():
        counts, undecided = count(job)
    others, offset = between_targets(counts, clean, policy, key)
    weights = np.ones(offset.size) if weight is None else _weights(weight, clean)
    given = np.argsort(clean.order)
    candidates = n_candidates(
        clean, n_items=asked.scorer.n_items, items=asked.items, exclusion=asked.exclusion
    )
    before = (counts.before - others.before)[given] if policy == "random" else None
    ranks = ExactRanks(
        user=checks.frozen(clean.user),
        item=checks.frozen(clean.item),
        time=None if clean.time is None else checks.frozen(clean.time),
        above=checks.frozen((counts.greater - others.greater)[given]),
        equal=checks.frozen((counts.equal - others.equal)[given]),
        before=None if before is None else checks.frozen(before),
        candidates=checks.frozen(candidates),
        n_targets=checks.frozen(clean.n_targets),
        offset=checks.frozen(offset[given]),
        weight=checks.frozen(weights),
        ties=policy,
        precision=precision,
        pool="all" if asked.exclusion is None else "unseen",
        seed=key if policy == "random" else None,
        n_undecided=undecided,
    )
    return ranks if limit is None else _up_to(limit, ranks, counts.out[given], counts.scored[given])


def _up_to(max_rank: int, ranks: ExactRanks, out: NDArray[np.bool_], scored: Ints) -> ExactRanks:
    """What is known of the ranks: those up to `max_rank`, and how much was scored for them."""
    found = censored(replace(ranks, max_rank=max_rank, beyond=out), max_rank)
    return replace(found, n_scored=checks.frozen(np.where(scored < 0, ranks.candidates, scored)))


def _order(order: Any, max_rank: int | None, asked: Request) -> Order | None:
    """The order of the candidates, in the rows of the request."""
    if max_rank is None:
        if order is not None:
            raise InputError(
                "`order` must be omitted without `max_rank`, because all items are then scored."
            )
        return None
    return make_order(
        order, max_rank=max_rank, scorer=asked.scorer, targets=asked.targets,
        catalogue=asked.items, exclusion=asked.exclusion, user_ids=asked.user_ids,
        item_ids=asked.item_ids,
    )  # fmt: skip


def _weights(weight: ArrayLike, targets: Targets) -> NDArray[np.float64]:
    """One weight for each user, given for each of the user's targets."""
    weights = checks.reals("weight", weight, size=targets.order.size, low=0.0)
    ordered = weights[targets.order]
    first = np.repeat(ordered[targets.starts[:-1]], np.diff(targets.starts))
    differs = np.empty(weights.size, bool)
    differs[targets.order] = ordered != first
    checks.reject("weight", weights, differs, "be the same for all targets of a user")
    if not weights.sum() > 0.0:
        raise InputError("`weight` must have a positive sum; all weights are 0.")
    return weights
