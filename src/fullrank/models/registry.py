"""Models by name: those of fullrank, and those that users register."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any

from fullrank._lib import checks
from fullrank._lib.names.registry import Registry
from fullrank.errors import InputError

MODELS: Registry[Callable[..., Any]] = Registry("model")  # `fullrank.models` enters its own
_MACHINE = ("n_jobs",)  # settings that change no number


def register(name: str, make: Callable[..., Any]) -> None:
    """Register a model under a name that `evaluate` and ``--model`` accept.

    Parameters
    ----------
    name : the name; settings follow a colon, such as ``"mine:depth=3"``
    make : a class or function that takes the settings by name and returns a model: an object with
        `fit(interactions)`, which returns itself, and `scorer()`, which returns what
        `fullrank.scorers.as_scorer` takes. A dataclass that derives from `Saved` can be saved.

    Notes
    -----
    Optional: `scorer(history)` scores users from their interactions alone, whether or not they are
    training users; `memory(interactions)` returns how many bytes `fit` needs, so that a run that
    would not fit is refused before it begins; `personal = False` states that all users have the
    same scores.

    Examples
    --------
    >>> from fullrank import models
    >>> models.register("most_popular", models.Popularity)
    Traceback (most recent call last):
    fullrank.errors.InputError: `make` must be new; Popularity is registered as 'popularity'.
    """
    if not callable(make):
        raise InputError(f"`make` must be a class or a function, not {checks.shown(make)}.")
    known = name_of(make)
    if known is not None:
        raise InputError(
            f"`make` must be new; {getattr(make, '__name__', make)} is registered as {known!r}."
        )
    if isinstance(make, type) and not all(hasattr(make, one) for one in ("fit", "scorer")):
        raise InputError(f"`make` must have `fit` and `scorer`; {make.__name__} does not.")
    MODELS.register(name, make)


def unregister(name: str) -> None:
    """Remove a registered model."""
    MODELS.unregister(name)


def name_of(kind: Any) -> str | None:
    """The name of a class; None where it is not registered."""
    return next((name for name, one in MODELS.items() if one is kind), None)


def settings_of(make: Any) -> list[str] | None:
    """The settings that a class or a function takes and that change numbers; None for any."""
    if is_dataclass(make):
        return [one.name for one in fields(make) if one.init and one.name not in _MACHINE]
    try:
        parameters = inspect.signature(make).parameters.values()
    except (TypeError, ValueError):  # of a class that is not written in Python
        return None
    if any(one.kind is one.VAR_KEYWORD for one in parameters):
        return None
    named = [one.name for one in parameters if one.kind is not one.VAR_POSITIONAL]
    return [name for name in named if name not in _MACHINE]
