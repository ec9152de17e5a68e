"""What every model offers, and the check that it has learned something."""

from __future__ import annotations

from typing import Any, Protocol, Self

from fullrank.data.interactions import Interactions
from fullrank.errors import InputError, NotFittedError


class Model(Protocol):
    """Settings in, scorer out."""

    def fit(self, interactions: Interactions) -> Self:
        """Learn from the interactions; returns the model itself."""
        ...

    def scorer(self) -> Any:
        """What ranking needs: scores of users against items."""
        ...


def to_learn_from(interactions: Interactions) -> Interactions:
    """The argument of `fit`, which is easily mistaken for a split or a matrix."""
    if not isinstance(interactions, Interactions):
        raise InputError(
            f"`interactions` must be Interactions, not {type(interactions).__name__}. "
            f"Of a split, give the training part."
        )
    return interactions


def fitted(model: Model) -> None:
    """Raise unless `fit` has been called."""
    if not hasattr(model, "interactions_"):
        name = type(model).__name__
        raise NotFittedError(f"{name} has learned nothing yet; call `fit(interactions)` first.")
