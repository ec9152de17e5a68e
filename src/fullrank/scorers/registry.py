"""Scorers by name, for the command line and for text settings: they load existing models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fullrank._lib import checks
from fullrank._lib.names.registry import Registry
from fullrank.errors import InputError

SCORERS: Registry[Callable[..., Any]] = Registry("scorer")


def register(name: str, make: Callable[..., Any]) -> None:
    """Register a scorer under a name that `evaluate` and ``--model`` accept.

    Parameters
    ----------
    name : the name; settings follow a colon, such as ``"mine:path=weights.npz"``
    make : a class or function that takes the settings by name and returns what `as_scorer` takes:
        an object with `n_users`, `n_items` and one of `factors()`, `item_item()`, `item_scores()`,
        `scores(users, items)`, `block(users)` and `pairs(users, items)`, and with `user_ids` and
        `item_ids` where its rows are not those of the data

    Examples
    --------
    >>> from fullrank import scorers
    >>> class Constant:
    ...     n_users, n_items = 3, 4
    ...
    ...     def pairs(self, users, items):
    ...         return 1.0 / (1.0 + items)
    >>> scorers.register("constant", Constant)
    >>> scorers.as_scorer(Constant()).scores([0, 2], [3, 0])
    array([[0.25, 1.  ],
           [0.25, 1.  ]])
    >>> scorers.unregister("constant")
    """
    if not callable(make):
        raise InputError(f"`make` must be a class or a function, not {checks.shown(make)}.")
    SCORERS.register(name, make)


def unregister(name: str) -> None:
    """Remove a registered scorer."""
    SCORERS.unregister(name)
