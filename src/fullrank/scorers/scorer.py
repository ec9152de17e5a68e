"""Scorers: the interface between models and ranking.

A scorer returns scores of a block of users for all items, or for given items. Factor and item–item
models have scorers of their own (`FactorScorer`, `ItemItemScorer`), which rank faster and exactly;
`as_scorer` wraps arrays of scores, PyTorch modules and functions.
"""

from __future__ import annotations

import warnings
from tokenize import TokenError
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from fullrank._lib import checks
from fullrank._lib.types import Array
from fullrank.errors import InputError
from fullrank.scorers.arguments import item_argument, user_argument
from fullrank.scorers.callables import CallableScorer, shaped
from fullrank.scorers.carried_ids import CarriesIds, agreed, ids_argument
from fullrank.scorers.factors import FactorScorer
from fullrank.scorers.foreign.common import with_items
from fullrank.scorers.foreign.recognise import recognised
from fullrank.scorers.item_item import ItemItemScorer
from fullrank.scorers.modules.module_calls import is_module
from fullrank.scorers.offers import scorer_of
from fullrank.scorers.reordered import Reordered

__all__ = [
    "CallableScorer",
    "FactorScorer",
    "ItemItemScorer",
    "ScoreArray",
    "Scorer",
    "as_scorer",
    "score_block",
]

# a header is a line of Python, and its sizes may be any numbers
_NOT_NPY = (ValueError, TypeError, OSError, EOFError, OverflowError, SyntaxError, TokenError)


@runtime_checkable
class Scorer(Protocol):
    """The interface that ranking needs of a model: its sizes, and one method for its scores.

    - `factors()` returns (user_factors, item_factors), or a mapping from the arguments of
      `FactorScorer`: ranks are certified, also on a GPU.
    - `item_item()` returns (history, item_item), or a mapping from the arguments of
      `ItemItemScorer`: likewise.
    - `item_scores()` returns one score for each item, the same for all users: items are sorted
    once.
    - `scores(user_rows, item_rows=None)` returns a row for each user: users are scored block by
    block.
    - `block(user_rows)` returns a row for each user with all items: likewise.
    - `pairs(user_rows, item_rows)` returns a score for each pair: pairs are scored in batches.

    The first method that a class has is used; a class needs only one of them and no base class
    (`as_scorer` makes the `scores` of this protocol). `factors()` and `item_item()` promise that
    the scores are their products, and `item_scores()` that every user has these scores.

    `n_users` may be None if any row number is valid. `scores(user_rows, item_rows)` returns one
    row for each user: against all items (`item_rows` None), against the same items (1-D) or
    against each user's own items (2-D). Higher is better; NaN is an error. A scorer with
    `thread_safe = True` is called from all cores at once unless `n_jobs` limits them. A scorer with
    `whole_rows = True` takes as long for some items as for all, so ranks up to K (`max_rank`)
    request all at once. A scorer with `own_threads = True` computes in threads of its own, as
    PyTorch does, and is called from one thread at a time, for `users_at_once` users. Attributes
    `user_ids` and `item_ids`, if it has them, are the ids of its rows.
    """

    @property
    def n_users(self) -> int | None: ...

    @property
    def n_items(self) -> int: ...

    def scores(self, user_rows: ArrayLike, item_rows: ArrayLike | None = None) -> Array: ...


class ScoreArray(CarriesIds):
    """Precomputed scores: an array (n_users, n_items), which may be a memory map.

    Parameters
    ----------
    array : scores of users (rows) and items (columns)
    user_ids, item_ids : arrays, optional; the id of each row and column, as in `FactorScorer`

    Examples
    --------
    >>> from fullrank.scorers import ScoreArray
    >>> ScoreArray([[0.1, 0.7, 0.2]]).scores([0], [2, 1])
    array([[0.2, 0.7]])
    """

    thread_safe = True
    whole_rows = True  # to read some columns takes longer than to count all

    def __init__(
        self,
        array: ArrayLike,
        *,
        user_ids: ArrayLike | None = None,
        item_ids: ArrayLike | None = None,
    ) -> None:
        if np.ma.is_masked(array):
            raise InputError("`array` must have no masked entries.")
        try:
            scores = np.asanyarray(checks.untorched("array", array))
        except ValueError:
            raise InputError(
                "`array` must have one score for each user and item; its rows differ in length."
            ) from None
        if scores.ndim != 2 or scores.dtype.kind not in "biuf" or 0 in scores.shape:
            raise InputError(
                "`array` must hold the scores of users (rows) and items (columns), not "
                f"{scores.dtype} of shape {scores.shape}."
            )
        self.array: Array = scores
        self.user_ids = ids_argument("user_ids", user_ids, scores.shape[0])
        self.item_ids = ids_argument("item_ids", item_ids, scores.shape[1])

    @property
    def n_users(self) -> int:
        return int(self.array.shape[0])

    @property
    def n_items(self) -> int:
        return int(self.array.shape[1])

    def scores(self, user_rows: ArrayLike, item_rows: ArrayLike | None = None) -> Array:
        """Return scores of users for all items, the same items (1-D) or their own items (2-D)."""
        users = user_argument(user_rows, self.n_users)
        items = item_argument(item_rows, self.n_items, users.size)
        if items is None:
            return np.asarray(self.array[users])
        return np.asarray(self.array[users[:, None], items])

    def __repr__(self) -> str:
        sizes = f"{self.n_users} users × {self.n_items} items"
        return f"ScoreArray({sizes}, {self.array.dtype}{self._ids_shown()})"


def as_scorer(
    model: Any,
    *,
    n_users: int | None = None,
    n_items: int | None = None,
    user_ids: ArrayLike | None = None,
    item_ids: ArrayLike | None = None,
) -> Scorer:
    """Return a scorer for a model, an array of scores, a PyTorch module or a function.

    Parameters
    ----------
    model : a scorer (returned unchanged), a model with a `.scorer()` method, an array or memory map
        of scores (n_users, n_items), the path of an ``.npy`` file of them (opened as a memory
        map), a PyTorch module, a function `f(user_rows, item_rows=None)`, or a fitted model of
        implicit, Cornac, LensKit, LightFM or Surprise
    n_users : int, optional
    n_items : int, required for functions and for modules without such an attribute
    user_ids, item_ids : arrays, optional
        The id of each row, as in `FactorScorer`; if the scorer has ids, they must be the same. A
        model of another library that knows its ids accepts further `item_ids`, which it cannot
        score: these items are candidates and rank last.

    Examples
    --------
    >>> from fullrank.scorers import as_scorer
    >>> as_scorer([[0.1, 0.7, 0.2]])
    ScoreArray(1 users × 3 items, float64)
    >>> as_scorer([[0.1, 0.7, 0.2]], user_ids=["ann"], item_ids=[30, 10, 20])
    ScoreArray(1 users × 3 items, float64, with ids)
    """
    users = ids_argument("user_ids", user_ids, n_users)
    items = ids_argument("item_ids", item_ids, n_items)
    n_users = n_users if users is None else users.size
    n_items = n_items if items is None else items.size
    scorer: Scorer | None = None if isinstance(model, CarriesIds) else recognised(model, n_users)
    if scorer is None and is_module(model) and not isinstance(model, Scorer):
        from fullrank.scorers.modules.torch_module import torch_scorer

        scorer = torch_scorer(model, n_items=n_items, n_users=n_users)
    elif scorer is None:
        scorer = _wrapped(model, n_items, n_users)
    if items is not None and _takes_items(scorer):
        scorer, items, n_items = with_items(scorer, items), None, None
    for name, wanted, has in (
        ("n_items", n_items, scorer.n_items),
        ("n_users", n_users, scorer.n_users),
    ):
        if wanted is not None and has is not None and wanted != has:
            raise InputError(f"`{name}` must be that of the scorer, {has}, not {wanted}.")
    if users is None and items is None:
        return scorer
    return _named(scorer, users, items)


def _takes_items(scorer: Scorer) -> bool:
    """Whether items that it lacks may be added: another library's model that knows its items."""
    return getattr(scorer, "takes_items", False) and scorer_ids(scorer)[1] is not None


def _named(scorer: Scorer, user_ids: Any, item_ids: Any) -> Scorer:
    """The scorer with ids; one that has some must not be given others."""
    has_users, has_items = scorer_ids(scorer)
    user_ids = agreed("user_ids", has_users, user_ids, "the scorer")
    item_ids = agreed("item_ids", has_items, item_ids, "the scorer")
    ours = scorer if isinstance(scorer, CarriesIds) else Reordered(scorer, None, None)
    return ours.with_ids(user_ids, item_ids)


def scorer_ids(scorer: Scorer) -> tuple[Any, Any]:
    """Return the ids of a scorer's users and items; None for a side without ids."""
    users, items = (getattr(scorer, f"{side}_ids", None) for side in ("user", "item"))
    if isinstance(scorer, CarriesIds):
        return users, items
    return (
        ids_argument("user_ids", users, scorer.n_users),
        ids_argument("item_ids", items, scorer.n_items),
    )


def has_own_threads(scorer: Scorer) -> bool:
    """Return whether it computes in threads of its own, which then must not be limited to one."""
    return getattr(scorer, "own_threads", False) is True


def is_thread_safe(scorer: Scorer) -> bool:
    """Return whether several threads may call it at once, as they may fullrank's scorers."""
    return getattr(scorer, "thread_safe", False) is True


def score_block(scorer: Scorer, user_rows: Array, item_rows: Array | None = None) -> Array:
    """Return the scores of a block, checked: the right shape, float32 or float64, without NaN."""
    scores = shaped(scorer.scores(user_rows, item_rows), user_rows, item_rows, scorer.n_items)
    bad = np.isnan(scores)
    if bad.any():
        a, b = (int(x) for x in np.argwhere(bad)[0])
        item = b if item_rows is None else item_rows[b] if item_rows.ndim == 1 else item_rows[a, b]
        raise nan_error(int(user_rows[a]), int(item))
    return scores


def nan_error(user_row: int, item_row: int) -> InputError:
    """The error for a score that is NaN; `rows` lets those who know the ids name them."""
    error = InputError(
        "`scorer` must give numbers; its score for user row "
        f"{user_row} and item row {item_row} is NaN."
    )
    error.rows = (user_row, item_row)  # type: ignore[attr-defined]
    return error


def _wrapped(obj: Any, n_items: int | None, n_users: int | None) -> Scorer:
    if isinstance(obj, CarriesIds) and isinstance(obj, Scorer):
        return obj
    offered = scorer_of(obj)
    if offered is not None:
        return offered  # type: ignore[no-any-return]
    if isinstance(obj, Scorer):
        return obj
    if callable(getattr(obj, "scorer", None)):
        return as_scorer(obj.scorer())
    if isinstance(obj, str) or hasattr(obj, "__fspath__"):
        return ScoreArray(_memory_map(obj))
    if isinstance(obj, np.ndarray | list | tuple) or checks.is_tensor(obj):
        return ScoreArray(obj)
    if callable(obj):
        return CallableScorer(obj, n_items=n_items, n_users=n_users)
    raise InputError(
        "`scorer` must be a scorer, a model, an array of scores, a PyTorch module or a function, "
        f"not {type(obj).__name__}."
    )


def _memory_map(path: Any) -> Any:
    from fullrank._lib.files import existing

    source = existing(path)
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():  # of sizes that nothing has
            warnings.simplefilter("ignore")  # of headers that old versions wrote
            return np.lib.format.open_memmap(source, mode="r")
    except _NOT_NPY as error:
        raise InputError(
            f"`scorer` must be an .npy file of numbers; {checks.printable(path)} is not."
        ) from error
