"""Ties: what a target's rank is when other items have its score.

Whatever the policy, no two targets of a user share a place. Of two tied targets the one with the
lower item row comes first (for "random" the keyed words decide), and the policy says where a
target is placed among the *non-targets* of its score. So rank = 1 + offset + z, with `offset` the
other targets above it, all different within a user, and z the non-targets above it:

=========  ========================================================================================
"mean"     z = greater + equal/2, the average over all orders; a rank may be half a number
"best"     z = greater
"worst"    z = greater + equal
"random"   z = greater + those of equal score whose keyed word is larger than the target's; the word
           of an item depends on seed, user row and item row, so that sampled ranks of the same seed
           see the same order (draws.py)
=========  ========================================================================================
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank._lib.types import Ints
from fullrank.data.targets import Targets

POLICIES = ("mean", "best", "worst", "random")


@dataclass(frozen=True, kw_only=True, eq=False)
class Counts:
    """What was counted for each target over all other candidates, other targets included.

    `before` counts those of `equal` that the keyed words place above the target; only the policy
    "random" fills it. `mark` is the target's own score.
    """

    greater: Ints
    equal: Ints
    before: Ints
    mark: NDArray[np.float64]

    @classmethod
    def empty(cls, size: int) -> Counts:
        return cls(
            greater=np.zeros(size, np.int64),
            equal=np.zeros(size, np.int64),
            before=np.zeros(size, np.int64),
            mark=np.zeros(size),
        )

    def add(self, part: Counts, here: slice | Ints) -> None:
        """Add the counts of some targets over other items; the marks stay."""
        for name in ("greater", "equal", "before"):
            getattr(self, name)[here] += getattr(part, name)


def placed(counts: Counts, targets: Targets, policy: str, key: int) -> tuple[NDArray[Any], Ints]:
    """The rank and the offset of every target, counts and results by `targets.order`."""
    others = Counts.empty(counts.mark.size)
    offset = np.zeros(counts.mark.size, np.int64)
    if targets.users.size < counts.mark.size:
        from fullrank.ranking.cpu import exact_kernels as kernels

        kernels.count_targets(
            targets.users, targets.starts, targets.item_rows[targets.order], counts.mark,
            policy == "random", np.uint64(key), others.greater, others.equal, others.before, offset,
        )  # fmt: skip
    greater = counts.greater - others.greater
    equal = counts.equal - others.equal
    above: dict[str, Any] = {
        "mean": greater + equal / 2,
        "best": greater,
        "worst": greater + equal,
        "random": greater + counts.before - others.before,
    }
    return 1 + offset + above[policy], offset
