"""The base of all models: settings, `fit`, a scorer, and saving."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from fullrank._lib import checks, files
from fullrank.data.interactions import Interactions
from fullrank.errors import DataWarning, InputError, NotFittedError

if TYPE_CHECKING:
    from fullrank.scorers import ItemItemScorer
    from fullrank.scorers.carried_ids import CarriesIds

    Named = TypeVar("Named", bound=CarriesIds)


class Model(Protocol):
    """The interface of a model: `fit` and `scorer`."""

    def fit(self, interactions: Interactions) -> Self:
        """Learn from the interactions and return the model itself."""
        ...

    def scorer(self) -> Any:
        """Return the scorer, which ranking needs."""
        ...


class Saved:
    """A model that can be saved: a dataclass whose fields are settings or learned values.

    Fields that `__init__` takes are settings. The others end in `_`, are learned by `fit` and
    declare their shape with :func:`learned`; `interactions_` holds the argument of `fit`.
    """

    interactions_: Interactions
    personal: ClassVar[bool] = True  # False where all users get the same scores
    pair_bytes: ClassVar[float] = 0.0  # that `fit` takes for each pair of items

    def fit(self, interactions: Interactions) -> Self:
        raise NotImplementedError

    def memory(self, interactions: Interactions) -> float:
        """Return about how many bytes `fit` needs in addition to the interactions."""
        return self.pair_bytes * interactions.n_items**2

    def scorer(self) -> Any:
        raise NotImplementedError

    def save(self, path: files.PathLike) -> None:
        """Write the fitted model to a safetensors file, completely or not at all.

        The file holds the settings, the learned values, the ids and the training interactions (with
        values but without timestamps): everything that :func:`fullrank.models.load` needs to return
        the same scores. Loading does not execute anything in the file.

        Parameters
        ----------
        path : path
            Usually with the suffix ``.safetensors``; an existing file is replaced.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from fullrank import models
        >>> from fullrank.data import simulate
        >>> model = models.EASE(regularization=100).fit(simulate(n_items=200))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "ease.safetensors")
        ...     model.save(path)
        ...     models.load(path)
        EASE(regularization=100.0)
        """
        from fullrank.models.saving import save

        save(self, path)


class ItemItemModel(Saved):
    """A model that scores any user's history with weights between items."""

    weights_: Any
    pair_bytes: ClassVar[float] = 8.0

    def scorer(self, history: Interactions | None = None) -> ItemItemScorer:
        """Return the scorer of histories × weights, for the training users or other users."""
        from fullrank.scorers import ItemItemScorer

        return ItemItemScorer(history_for(self, history), self.weights_)


def factor_bytes(n_factors: int, interactions: Interactions) -> float:
    """Bytes for the factors of all users and items while they are learned."""
    return 12.0 * n_factors * (interactions.n_users + interactions.n_items)


def learned(*shape: str, dtype: Any = np.float32, sparse: bool = False) -> Mapping[str, Any]:
    """Return the metadata of a learned field, against which a loaded file is checked.

    Parameters
    ----------
    *shape : str
        One word for each dimension: "users", "items", or another word such as "factors", which then
        is the same number in all fields of the model. Without words, the field is a number.
    dtype : data type
    sparse : bool
        Whether it is a SciPy `csr_array` (sorted, without duplicates) instead of an array.
    """
    return {"shape": shape, "dtype": np.dtype(dtype), "sparse": sparse}


def to_learn_from(interactions: Interactions) -> Interactions:
    """The argument of `fit`, which is easily mistaken for a split or a matrix."""
    if not isinstance(interactions, Interactions):
        raise InputError(
            f"`interactions` must be Interactions, not {type(interactions).__name__}. "
            f"If you have a split, give its training part."
        )
    return interactions


def fitted(model: Any) -> None:
    """Raise unless `fit` has been called."""
    if not hasattr(model, "interactions_"):
        name = type(model).__name__
        raise NotFittedError(f"{name} is not fitted yet; call `fit(interactions)` first.")


def history_for(model: Saved, history: Interactions | None) -> Interactions:
    """The histories to score: those that were learned from, or others over the same items.

    Scores of new users need no training where they follow from the user's items alone.
    """
    fitted(model)
    if history is None:
        return model.interactions_
    return to_score_from(history, model.interactions_.item_ids)


def named_as(scorer: Named, data: Interactions) -> Named:
    """The scorer with the ids of the interactions that its rows are those of."""
    return scorer.with_ids(data.user_ids, data.item_ids)


def to_score_from(
    history: Interactions, known: NDArray[Any], name: str = "history"
) -> Interactions:
    """The argument of that name, which must be over the items `known`."""
    if not isinstance(history, Interactions):
        raise InputError(
            f"`{name}` must be Interactions or None, not {type(history).__name__}. "
            f"If you have a split, give the part to score from."
        )
    if history.n_items != known.size:
        raise InputError(
            f"`{name}` must have the {known.size} items that the model was fitted on, not "
            f"{history.n_items}. Pass `item_ids` when you create it."
        )
    # element by element: an array of text and one of numbers compare as a whole
    different = np.array(history.item_ids != known)
    if different.any():
        at = int(np.argmax(different)) if different.ndim else 0
        raise InputError(
            f"`{name}` must have the model's items in the same order; item {at} is "
            f"{history.item_ids[at]}, not {known[at]}. Pass `item_ids` when you create it."
        )
    return history


def rows_of(
    model: Saved, users: Interactions | None, *, by_items: bool = False
) -> NDArray[np.int64] | None:
    """Rows of users among those learned from, by their ids; None for all of them as they are.

    For models that have a vector for each user and none for others; `by_items` says that the
    model can do without, as far as the user's items tell.
    """
    fitted(model)
    if users is None:
        return None
    known = model.interactions_.user_ids
    asked = to_score_from(users, model.interactions_.item_ids, "users").user_ids
    rows: NDArray[np.int64] | None = None
    if not np.array_equal(asked, known):
        order = np.argsort(known)
        at = np.searchsorted(known, asked, sorter=order).clip(max=known.size - 1)
        rows = order[at]
        strange = np.array(known[rows] != asked)
        if strange.any():
            first = asked[int(np.argmax(strange))] if strange.ndim else asked[0]
            n = int(strange.sum())
            raise InputError(
                f"{type(model).__name__} must have been fitted on the users that it scores; "
                f"{n:,} of {asked.size:,} {'was' if n == 1 else 'were'} not in its training data "
                f"(first: {checks.printable(first)}). Train on some of their items, or use a model "
                "that scores new users from their items."
            )
    if not by_items:
        _warn_of_the_untrained(model, users, slice(None) if rows is None else rows)
    return rows


def _warn_of_the_untrained(model: Saved, users: Interactions, rows: Any) -> None:
    """In a strong split the people who are tested are there, but with nothing to learn from."""
    untrained = (model.interactions_.user_counts()[rows] == 0) & (users.user_counts() > 0)
    if untrained.any():
        warnings.warn(
            f"{int(untrained.sum())} of {users.n_users} users had no items when "
            f"{type(model).__name__} was trained (the first is "
            f"{users.user_ids[int(np.argmax(untrained))]}); their scores are random. Train on "
            "some of their items, or use a model that scores new users from their items.",
            DataWarning,
            stacklevel=4,
        )
