"""The scorer of NeuMF: a network that scores one pair at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fullrank.scorers.arguments import item_argument, user_argument
from fullrank.scorers.carried_ids import CarriesIds

Floats = NDArray[np.float32]


class PairScorer(CarriesIds):
    """Scores u·q + tower(relu(a + c)), with u and a of the user, q and c of the item.

    The first layer of the network is a sum of a user part and an item part, each computed once;
    every pair then needs only their sum and the narrow layers above. A score does not depend on the
    rest of the block, and takes 4 bytes plus some KB per thread.

    Parameters
    ----------
    user_factors, item_factors : float32 arrays, (n_users, d) and (n_items, d); d may be 0
    user_inputs, item_inputs : float32 arrays, (n_users, w) and (n_items, w)
    tower : float32 array
        The layers above, weights and bias of each; see `fullrank.models.neural.learners.layers`.
    widths : w, …, 1
    """

    thread_safe = True

    def __init__(
        self,
        user_factors: Floats,
        item_factors: Floats,
        user_inputs: Floats,
        item_inputs: Floats,
        tower: Floats,
        widths: Sequence[int],
    ) -> None:
        self._users = tuple(
            np.ascontiguousarray(one, np.float32) for one in (user_factors, user_inputs)
        )
        # items along the rows: the kernel takes many of them at once
        self._items = tuple(
            np.ascontiguousarray(one.T, np.float32) for one in (item_factors, item_inputs)
        )
        self._tower = np.ascontiguousarray(tower, np.float32)
        self.widths = tuple(widths)

    @property
    def n_users(self) -> int:
        return int(self._users[0].shape[0])

    @property
    def n_items(self) -> int:
        return int(self._items[0].shape[1])

    def scores(self, user_rows: ArrayLike, item_rows: ArrayLike | None = None) -> NDArray[Any]:
        """Return scores of users for all items, the same items (1-D) or their own items (2-D)."""
        from fullrank.models.neural.learners.neumf_kernels import score_pairs

        users = user_argument(user_rows, self.n_users)
        items = item_argument(item_rows, self.n_items, users.size)
        columns, own = self._items, np.empty((0, 0), np.int64)
        if items is not None and items.ndim == 1:
            columns = tuple(np.ascontiguousarray(one[:, items]) for one in columns)
        elif items is not None:
            own = np.ascontiguousarray(items, np.int64)
        width = self.n_items if items is None else items.shape[-1]
        out = np.empty((users.size, width), np.float32)
        score_pairs(
            users,
            own,
            self._users[0],
            columns[0],
            self._users[1],
            columns[1],
            self._tower,
            np.array(self.widths, np.int64),
            out,
        )
        return out

    def __repr__(self) -> str:
        layers = ", ".join(map(str, self.widths))
        return (
            f"PairScorer({self.n_users} users × {self.n_items} items, "
            f"{self._users[0].shape[1]} factors, layers {layers}{self._ids_shown()})"
        )
