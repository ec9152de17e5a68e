"""The contract of scorers."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np

from fullrank.scorers import as_scorer
from fullrank.scorers.offers import offers
from fullrank.testing.expect import expect

_USERS, _ITEMS = 7, 5


def check_scorer(scorer: Any, *, tolerance: float = 1e-5) -> None:
    """Check that a scorer keeps the contract: the same scores for any form of the call.

    Parameters
    ----------
    scorer : anything that `as_scorer` takes, with at least 2 users and 3 items
    tolerance : relative tolerance, for scores that depend on the block in which they are computed

    Raises
    ------
    AssertionError
        If a promise is broken; the message names it.

    Examples
    --------
    >>> from fullrank.scorers import FactorScorer
    >>> check_scorer(FactorScorer([[1.0], [2.0]], [[3.0], [5.0], [7.0]]))
    """
    asked = as_scorer(scorer)
    n_users = asked.n_users if asked.n_users is not None else _USERS
    users = np.arange(min(n_users, _USERS))
    scores = np.asarray(asked.scores(users))
    shape = (users.size, asked.n_items)
    said = f"scores must have shape {shape} (users × items), not {scores.shape}"
    expect(scores.shape == shape, said)
    expect(not np.isnan(scores).any(), "no score may be NaN")
    expect(
        np.array_equal(scores, asked.scores(users)), "the same arguments must give the same scores"
    )
    _check_parts(asked, users, scores, tolerance)
    _check_copies(asked)
    if offers(scorer, "scores") and any(offers(scorer, one) for one in ("factors", "item_item")):
        own = np.asarray(scorer.scores(users))
        expect(
            _close(own, scores, tolerance),
            "scores must equal the products of the factors or weights that the scorer offers",
        )


def _check_parts(asked: Any, users: np.ndarray, scores: np.ndarray, tolerance: float) -> None:
    some = np.arange(asked.n_items)[:: -max(1, asked.n_items // _ITEMS)]
    expect(
        _close(asked.scores(users, some), scores[:, some], tolerance),
        "scores of some items must equal those when all items are scored",
    )
    own = (some[None, :] + users[:, None]) % asked.n_items
    expect(
        _close(asked.scores(users, own), np.take_along_axis(scores, own, axis=1), tolerance),
        "scores of different items for each user must equal those when all items are scored",
    )
    expect(
        _close(asked.scores(users[::-1]), scores[::-1], tolerance),
        "scores must not depend on the order of the users",
    )


def _check_copies(asked: Any) -> None:
    try:
        pickle.dumps(asked)
    except Exception as error:
        raise AssertionError(
            f"the scorer must be picklable, so that worker processes can copy it: {error}."
        ) from error


def _close(first: Any, second: Any, tolerance: float) -> bool:
    return bool(np.allclose(first, second, rtol=tolerance, atol=tolerance * 1e-3, equal_nan=True))
