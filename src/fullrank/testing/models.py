"""The contract of models."""

from __future__ import annotations

import inspect
import pickle
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from fullrank.data import Interactions, simulate
from fullrank.errors import NotFittedError
from fullrank.models import Model, Saved, load
from fullrank.models.registry import name_of
from fullrank.scorers import as_scorer
from fullrank.testing.expect import expect


def check_model(make: Callable[[], Model]) -> None:
    """Check that a model keeps the contract: fit, score, repeat, and leave its input unchanged.

    A scorer with ids must have those of the interactions. A model whose `scorer` takes a `history`
    must score users by their items alone, whoever the other users are. A model that can be
    saved must be the same after it is loaded.

    Parameters
    ----------
    make : callable
        Returns a new model with the settings to check, the same every time.

    Raises
    ------
    AssertionError
        If a promise is broken; the message names it.

    Examples
    --------
    >>> from fullrank.models import EASE
    >>> check_model(lambda: EASE(regularization=10.0))
    """
    train = _small_data()
    _check_unfitted(make())
    before = pickle.dumps(train)
    model = make()
    expect(model.fit(train) is model, "`fit` must return the model itself")
    expect(pickle.dumps(train) == before, "`fit` must not change the interactions")
    scores = _check_scores(model, train)
    again = np.asarray(as_scorer(make().fit(train)).scores(np.arange(train.n_users)))
    expect(np.array_equal(scores, again), "the same settings must give the same scores")
    expect(not np.array_equal(scores, scores[:, ::-1]), "scores must differ between items")
    if hasattr(model, "memory"):
        need = float(model.memory(train))
        expect(need >= 0.0, "`memory` must return the number of bytes that `fit` needs")
    if "history" in inspect.signature(model.scorer).parameters:
        _check_history(model, train, scores)
    if isinstance(model, Saved) and name_of(type(model)) is not None:
        _check_file(model, train)


def _small_data() -> Interactions:
    """Sixty users, one of them without items, and fifty items, one of them without users."""
    data = simulate(n_users=59, n_items=49, mean_interactions=12)
    users, items = data.pairs()
    return Interactions.from_arrays(users, items, user_ids=np.arange(60), item_ids=np.arange(50))


def _check_unfitted(model: Model) -> None:
    try:
        model.scorer()
    except NotFittedError:
        return
    raise AssertionError("`scorer` must raise NotFittedError before `fit`.")


def _check_scores(model: Model, train: Interactions) -> np.ndarray:
    scorer = as_scorer(model.scorer())
    expect(scorer.n_items == train.n_items, "the scorer must have all items of the training data")
    _check_ids(model, scorer, train)
    users = np.arange(train.n_users)
    scores = np.asarray(scorer.scores(users))
    shape = (train.n_users, train.n_items)
    said = f"scores must have shape {shape} (users × items), not {scores.shape}"
    expect(scores.shape == shape, said)
    expect(bool(np.isfinite(scores).all()), "scores must be finite")
    some = np.array([40, 3, 49])
    expect(
        np.allclose(scorer.scores(users[:7], some), scores[:7, some], rtol=1e-5, atol=1e-6),
        "scores of some items must equal those when all items are scored",
    )
    return scores


def _check_ids(model: Any, scorer: Any, data: Interactions) -> None:
    needed = isinstance(model, Saved)
    for side in ("user_ids", "item_ids"):
        carried, own = getattr(scorer, side, None), getattr(data, side)
        right = not needed if carried is None else np.array_equal(carried, own)
        expect(right, f"the scorer must carry the {side} of the interactions that it scores")


def _check_history(model: Any, train: Interactions, scores: np.ndarray) -> None:
    """Some of the users, in another order and under other names, as if they were new."""
    chosen = np.array([17, 3, 3, 59, 20])
    users, items = train.pairs()
    rows = [(new, item) for new, old in enumerate(chosen) for item in items[users == old]]
    history = Interactions.from_arrays(
        *np.array(rows).T, user_ids=np.arange(chosen.size), item_ids=train.item_ids
    )
    scorer = as_scorer(model.scorer(history))
    _check_ids(model, scorer, history)
    found = np.asarray(scorer.scores(np.arange(chosen.size)))
    tolerance = 1e-5 * float(np.abs(scores).max())
    expect(
        np.allclose(found, scores[chosen], rtol=1e-4, atol=tolerance),
        "`scorer(history)` must score new users from their items alone",
    )


def _check_file(model: Any, train: Interactions) -> None:
    users = np.arange(train.n_users)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.safetensors")
        model.save(path)
        again = load(path)
    expect(type(again) is type(model), "`load` must restore the class that was saved")
    expect(repr(again) == repr(model), "`load` must restore the settings that were saved")
    expect(
        np.array_equal(again.scorer().scores(users), model.scorer().scores(users)),
        "`load` must restore a model with the scores of the one that was saved",
    )
    same = np.array_equal(again.interactions_.item_ids, train.item_ids)
    expect(same, "`load` must restore the ids that were saved")
