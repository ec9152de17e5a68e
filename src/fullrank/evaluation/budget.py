"""A budget of items to score: a pilot, and the design that is predicted to do most with it."""

from __future__ import annotations

from typing import Any

from fullrank._lib import checks
from fullrank.data.shards import ShardedTargets
from fullrank.errors import InputError
from fullrank.evaluation.strategy import Strategy
from fullrank.inference import plan
from fullrank.ranking import adaptive_ranks

_PILOT = 2_000  # users


def settled_strategy(
    strategy: Strategy, scorer: Any, targets: ShardedTargets, *, metric: str, seed: int
) -> Strategy:
    """The strategy that a budget buys; any other as it is.

    The pilot, an adaptive sample of up to 2,000 users with the first model, comes on top of the
    budget.
    """
    if strategy.name != "budget":
        return strategy
    if targets.n_targets > targets.n_users:
        raise InputError(
            "`strategy` must not be a budget where users have several targets: no plan is made "
            "for them."
        )
    few = chosen_users(targets, min(_PILOT, targets.n_users), seed)
    pairs, seen = few.part(few.shards(few.n_users)[0])
    pilot = adaptive_ranks(scorer, pairs, exclude=seen, rng=seed)
    items = strategy.settings["items"]
    best = plan(metric, pilot=pilot, n_users=targets.n_users, budget=items).recommended
    if best is None or best.n_users is None:
        raise InputError(
            f"`strategy` must have a budget that pays for 30 users of some design; {items:g} items "
            "do not."
        )
    design = best.design
    users = best.n_users if best.n_users < targets.n_users else None
    if strategy.users is not None:
        users = min(users or targets.n_users, strategy.users)
    if design is None:
        return Strategy(name="exact" if users is None else "users", users=users)
    if design.levels is None:
        return Strategy(name="sampled", users=users, settings={"sample_size": best.sample_size})
    settings = {"start": design.levels[0], "limit": design.levels[-1]}
    return Strategy(name="adaptive", users=users, settings=settings)


def chosen_users(targets: ShardedTargets, number: int, seed: int) -> ShardedTargets:
    """The targets of some users, drawn without replacement."""
    if number > targets.n_users:
        raise InputError(
            f"`users` must be at most {targets.n_users}, the users who have targets, not {number}."
        )
    rows = checks.generator(seed).choice(targets.users, number, replace=False)
    rows.sort()
    return targets.of_users(rows)
