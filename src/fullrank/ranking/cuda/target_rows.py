"""Which targets a row of the count holds, and in which order the rows are taken."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fullrank._lib.types import Ints

_WIDEST = 8  # targets of a row


@dataclass(frozen=True, kw_only=True, eq=False)
class Rows:
    """Users, or parts of users, with up to `group` targets each.

    Attributes
    ----------
    group : a power of two
    user : of each row
    slots : for each of the rows × group places the target there, -1 for none
    needed : for each row the length an item must have to reach its lowest target, rising
    """

    group: int
    user: Ints
    slots: Ints
    needed: NDArray[np.float64]

    def take(self, keep: NDArray[np.bool_]) -> Rows:
        """The rows where `keep` is true."""
        slots = self.slots.reshape(-1, self.group)[keep].ravel()
        return Rows(group=self.group, user=self.user[keep], slots=slots, needed=self.needed[keep])

    def targets(self, first: int, last: int, size: int) -> Ints:
        """The targets of some rows, -1 behind them up to `size`."""
        out = np.full(size, -1)
        out[: (last - first) * self.group] = self.slots[first * self.group : last * self.group]
        return out


def place_rows(starts: Ints, mark: Any, length: Any, tiny: float) -> Rows:
    """Rows for users whose targets are starts[g]..starts[g + 1], with their scores and lengths.

    Items shorter than (lowest mark)/|u| are below all targets of a row, but for underflow.
    """
    sizes = np.diff(starts)
    n, n_users = int(starts[-1]), sizes.size
    group = min(_WIDEST, 1 << int(np.ceil(np.log2(max(1.0, n / n_users)))))
    rows_of = -(-sizes // group)
    first_row = np.cumsum(rows_of) - rows_of
    group_of = np.repeat(np.arange(n_users), sizes)
    within = np.arange(n) - starts[group_of]
    row = first_row[group_of] + within // group
    user = np.repeat(np.arange(n_users), rows_of)
    lowest = np.full(user.size, np.inf)
    np.minimum.at(lowest, row, mark)
    with np.errstate(divide="ignore", invalid="ignore"):
        needed = np.where(length[user] > 0, (lowest - tiny) / length[user], -np.inf)
    order = np.argsort(needed, kind="stable")
    place = np.empty(order.size, np.int64)
    place[order] = np.arange(order.size)
    slots = np.full(order.size * group, -1)
    slots[place[row] * group + within % group] = np.arange(n)
    return Rows(group=group, user=user[order], slots=slots, needed=needed[order])
