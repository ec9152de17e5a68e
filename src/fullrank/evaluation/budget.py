"""A budget of items to score: a pilot, and the design with the smallest predicted error."""

from __future__ import annotations

from typing import Any

from fullrank._lib import checks
from fullrank._lib.text import counted
from fullrank.data.shards import ShardedTargets
from fullrank.designs import Adaptive, Design
from fullrank.errors import InputError
from fullrank.inference import plan
from fullrank.inference.planning.plan import LEAST
from fullrank.ranking import sample_ranks

_PILOT = 2_000  # users


def affordable(
    budget: float,
    scorer: Any,
    targets: ShardedTargets,
    *,
    metric: str,
    most: int | None,
    seed: int,
) -> tuple[Design, int | None]:
    """Return the design that a budget covers, and for how many users; None for all of them.

    The pilot, an adaptive sample of up to 2,000 users with the first model, comes on top of the
    budget.
    """
    if targets.n_targets > targets.n_users:
        raise InputError(
            "`budget` must not be given for multi-target users: `plan` does not cover them."
        )
    few = chosen_users(targets, min(_PILOT, targets.n_users), seed)
    pairs, seen = few.part(few.shards(few.n_users)[0])
    pilot = sample_ranks(scorer, pairs, design=Adaptive(), exclude=seen, rng=seed)
    best = plan(
        metric, pilot=pilot, n_users=targets.n_users, budget=budget, interval_for="users"
    ).recommended
    if best is None or best.n_users is None:
        least = counted(min(LEAST, targets.n_users), "user")
        raise InputError(
            f"`budget` must be large enough to rank at least {least}; {budget:g} is too small for "
            "any design."
        )
    users = min(best.n_users, most or best.n_users)
    return best.design.with_(excluded=None), users if users < targets.n_users else None


def chosen_users(targets: ShardedTargets, number: int, seed: int) -> ShardedTargets:
    """Return the targets of randomly chosen users, each at most once."""
    if number > targets.n_users:
        raise InputError(
            f"`n_users` must be at most {targets.n_users}, the number of users with targets, not "
            f"{number}."
        )
    rows = checks.generator(seed).choice(targets.users, number, replace=False)
    rows.sort()
    return targets.of_users(rows)
