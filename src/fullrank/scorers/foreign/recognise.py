"""Which library a model comes from, by the modules of its classes; no library is imported."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fullrank.errors import InputError
from fullrank.scorers.foreign import cornac, implicit, lenskit, lightfm, surprise
from fullrank.scorers.foreign.common import derives


def _recbole(model: Any, n_users: int | None) -> Any:
    """Refuse a model of RecBole: its rows are numbers that its own data set gave out."""
    if not derives(model, "recbole", "AbstractRecommender"):
        return None
    raise InputError(
        f"`scorer` must come with RecBole's own data, whose row numbers {type(model).__name__} "
        "uses: call fullrank.integrations.recbole.rank(trainer, test_data)."
    )


# Each gives the scorer of a fitted model, or None for anything else.
LIBRARIES: Mapping[str, Callable[[Any, int | None], Any]] = {
    "cornac": cornac.scorer_of,
    "implicit": implicit.scorer_of,
    "lenskit": lenskit.scorer_of,
    "lightfm": lightfm.scorer_of,
    "lightfm_next": lightfm.scorer_of,
    "recbole": _recbole,
    "surprise": surprise.scorer_of,
}
# A class of the user's own that has one of these says by itself how it scores.
_OWN = ("factors", "item_item", "item_scores", "scores", "block", "pairs", "scorer")


def recognised(model: Any, n_users: int | None = None) -> Any:
    """Return the scorer of another library's model; None for anything else.

    Parameters
    ----------
    model : an instance of a class of one of the `LIBRARIES`, or of a derived class
    n_users : int, optional; for models that do not know their users

    Notes
    -----
    Starting with the most derived class, the first one that decides is used: a class of a library,
    or your own class with a method that `as_scorer` knows.
    """
    for kind in type(model).__mro__:
        make = LIBRARIES.get(kind.__module__.partition(".")[0])
        if make is not None:
            return make(model, n_users)
        if any(callable(vars(kind).get(name)) for name in _OWN):
            return None
    return None
