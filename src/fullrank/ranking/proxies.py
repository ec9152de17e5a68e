"""A cheap scorer that says which candidates of each user a costly one should meet first."""

from __future__ import annotations

import threading
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fullrank._lib import checks
from fullrank._lib.types import Array, Ints
from fullrank.data.targets import Exclusion
from fullrank.errors import InputError
from fullrank.ranking.capabilities import CAPABILITIES, offer
from fullrank.ranking.own_lists import Names
from fullrank.scorers.callables import shaped
from fullrank.scorers.scorer import Scorer, as_scorer, is_thread_safe, scorer_ids
from fullrank.tables import ids as _ids

_CELLS = 1 << 20  # scores held at once by a thread
_SCORES = (*CAPABILITIES, "scores", "block", "pairs", "scorer", "__call__")


class Proxy(NamedTuple):
    """A scorer, and its row of each user and item of the data, -1 for those it lacks.

    Rows are None where they are the same.
    """

    scorer: Scorer
    user_rows: Ints | None
    item_rows: Ints | None


def as_proxy(order: Any, names: Names) -> Proxy:
    """Whatever can score, matched by id; it may lack users and items, as last week's model may."""
    if not isinstance(order, np.ndarray) and not any(
        callable(getattr(order, name, None)) for name in _SCORES
    ):
        raise InputError(
            "`order` must be a name, a file, items, lists of items or a scorer, not "
            f"{checks.shown(order)}."
        )
    # functions and modules do not know how many items there are
    sized = callable(order) and getattr(order, "n_items", None) is None
    scorer = as_scorer(order, n_items=names.n_items if sized else None)
    has_users, has_items = scorer_ids(scorer)
    return Proxy(
        scorer,
        _rows("user", names.user_ids, has_users, names.n_users, scorer.n_users),
        _rows("item", names.item_ids, has_items, names.n_items, scorer.n_items),
    )


def _rows(
    side: str, wanted: Array | None, has: Array | None, n_wanted: int, n_has: int | None
) -> Ints | None:
    """The proxy's row for each of ours."""
    if wanted is not None and has is not None:
        if _ids.same(wanted, has):
            return None
        found = _ids.find("order", wanted, has).astype(np.int64)
        if (found < 0).all():
            raise InputError(
                f"`order` must cover {side}s of the data; it covers none of them, and its first "
                f"{side} is {checks.printable(has[0])}."
            )
        return found
    known = wanted if has is None else has
    if known is not None and not _ids.are_rows(known):
        raise InputError(
            f"`order` must have ids for its {side}s, because the {side}s of the data are not "
            "numbered from 0."
            if has is None
            else f"`order` must have {side}s numbered from 0, because the {side}s of the data have "
            "no ids."
        )
    if n_has is not None and (n_has < n_wanted or (side == "item" and n_has != n_wanted)):
        raise InputError(
            f"`order` must score the same {side}s as `scorer`, {n_wanted:,} in all; it scores "
            f"{n_has:,}."
        )
    return None


class Best:
    """Each user's best items by the scores of a proxy, those excluded left out."""

    def __init__(
        self, proxy: Proxy, items: Ints, n_items: int, exclusion: Exclusion | None, width: int
    ) -> None:
        self.scorer, self.user_rows, rows = proxy
        self.columns = items if rows is None else rows[items]
        self.items = items[self.columns >= 0]
        self.columns = self.columns[self.columns >= 0]
        self.width = min(width, self.items.size)
        self.exclusion = exclusion
        self.place = np.full(n_items, -1, np.int64)
        self.place[self.items] = np.arange(self.items.size)
        self._all = np.array_equal(self.columns, np.arange(self.scorer.n_items))
        has, offered = offer(self.scorer)
        self.factors = offered if has == "factors" else None
        self._lock: Any = nullcontext() if is_thread_safe(self.scorer) else threading.Lock()
        if self.factors is not None:
            vectors = self.factors.item_factors
            self._vectors = vectors if self._all else vectors[self.columns]
            bias = self.factors.item_bias
            self._bias = None if bias is None else bias[self.columns].astype(vectors.dtype)

    def __call__(self, users: Ints) -> NDArray[np.int64]:
        """A row for each of these users, -1 where there are fewer."""
        out = np.full((users.size, self.width), -1, np.int64)
        rows = users if self.user_rows is None else self.user_rows[users]
        known = np.flatnonzero(rows >= 0)
        step = max(1, _CELLS // max(1, self.items.size))
        for at in range(0, known.size if self.width else 0, step):
            here = known[at : at + step]
            out[here] = self._best(users[here], rows[here])
        return out

    def _best(self, users: Ints, rows: Ints) -> NDArray[np.int64]:
        from fullrank.ranking.cpu import early_stop_kernels as kernels

        scores = np.negative(self._scores(rows))
        scores[np.isnan(scores)] = np.inf
        if self.exclusion is not None:
            indptr, indices = self.exclusion.indptr, self.exclusion.indices
            sizes = indptr[users + 1] - indptr[users]
            ends = np.cumsum(sizes)
            at = np.arange(sizes.sum()) + np.repeat(indptr[users] - ends + sizes, sizes)
            place = self.place[indices[at]]
            scores[np.repeat(np.arange(users.size), sizes)[place >= 0], place[place >= 0]] = np.inf
        best = np.empty((users.size, self.width), np.int64)
        highest = np.partition(scores, self.width - 1, axis=1)[:, self.width - 1]
        kernels.best_columns(scores, highest, best)
        found = np.take_along_axis(scores, best, axis=1)
        by_score = np.argsort(found, axis=1)
        best = np.take_along_axis(best, by_score, axis=1)
        left_out = np.take_along_axis(found, by_score, axis=1) == np.inf
        return np.where(left_out, -1, self.items[best])

    def _scores(self, rows: Ints) -> Array:
        """In whatever precision is cheapest: no rank depends on it."""
        if self.factors is not None:
            scores: Array = self.factors.user_factors[rows] @ self._vectors.T
            return scores if self._bias is None else scores + self._bias
        with self._lock:
            wanted = None if self._all else self.columns
            return shaped(self.scorer.scores(rows, wanted), rows, wanted, self.scorer.n_items)
