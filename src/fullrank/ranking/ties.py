"""What is counted for each target, and the part of it that is the user's other targets.

No two targets of a user share a place: of two tied targets the one with the lower item row comes
first (for "random" the keyed words decide). `offset` counts the targets above, and what is left is
counts over non-targets, from which `samples.exact_ranks` makes ranks by any tie policy.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fullrank._lib.types import Array, Ints
from fullrank.data.targets import Targets


@dataclass(frozen=True, kw_only=True, eq=False)
class Counts:
    """What was counted for each target over all other candidates, other targets included.

    `before` counts those of `equal` that the keyed words place above the target; only the policy
    "random" fills it. `mark` is the target's own score. With `max_rank`, the other counts of a
    target that is `out` are meaningless: its rank is beyond. `scored` counts the candidates of the
    target's user that were scored; -1 where all were.
    """

    greater: Ints
    equal: Ints
    before: Ints
    mark: NDArray[np.float64]
    out: NDArray[np.bool_]
    scored: Ints

    @classmethod
    def empty(cls, size: int) -> Counts:
        return cls(
            greater=np.zeros(size, np.int64),
            equal=np.zeros(size, np.int64),
            before=np.zeros(size, np.int64),
            mark=np.zeros(size),
            out=np.zeros(size, np.bool_),
            scored=np.full(size, -1, np.int64),
        )

    def add(self, part: Counts, here: slice | Ints) -> None:
        """Add the counts of some targets over other items; the marks stay."""
        for name in ("greater", "equal", "before", "scored"):
            getattr(self, name)[here] += getattr(part, name)
        self.out[here] |= part.out


def between_targets(counts: Counts, targets: Targets, policy: str, key: int) -> tuple[Counts, Ints]:
    """What the user's other targets add to each count, and how many of them are placed above.

    Counts and results are by `targets.order`.
    """
    return between_rows(
        targets.users, targets.starts, targets.item_rows[targets.order], counts.mark, policy, key
    )


def between_rows(
    users: Ints, starts: Ints, items: Ints, mark: Array, policy: str, key: int
) -> tuple[Counts, Ints]:
    """What other targets add for some users: those of users[g] begin at starts[g]."""
    others = Counts.empty(mark.size)
    offset = np.zeros(mark.size, np.int64)
    if users.size < mark.size:
        from fullrank.ranking.cpu import exact_kernels as kernels

        kernels.count_targets(
            users, starts, items, mark, policy == "random", np.uint64(key), others.greater,
            others.equal, others.before, offset,
        )  # fmt: skip
    return others, offset
