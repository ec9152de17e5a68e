from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from fullrank.scorers import CallableScorer, FactorScorer, ItemItemScorer, ScoreArray
from fullrank.testing import check_scorer

RANDOM = np.random.default_rng(0)
USERS, ITEMS = RANDOM.normal(size=(9, 3)), RANDOM.normal(size=(12, 3))


def function(users: Any, items: Any = None) -> Any:
    return FactorScorer(USERS, ITEMS).scores(users, items)


class Offering:
    n_users, n_items = 9, 12

    def factors(self) -> Any:
        return USERS, ITEMS

    def scores(self, users: Any, items: Any = None) -> Any:
        return -function(users, items)


class Fickle:
    n_users, n_items = 9, 12

    def block(self, users: Any) -> Any:
        return RANDOM.normal(size=(len(users), 12))


class Batched:
    """Scores that depend on who else is asked about."""

    n_users, n_items = 9, 12

    def block(self, users: Any) -> Any:
        return function(users) - function(users)[0]


@pytest.mark.parametrize(
    "scorer",
    [
        FactorScorer(USERS, ITEMS),
        ItemItemScorer(csr_array(np.eye(9, 12)), RANDOM.normal(size=(12, 12))),
        ScoreArray(RANDOM.normal(size=(9, 12))),
        CallableScorer(function, n_items=12),
    ],
)
def test_our_scorers_keep_the_contract(scorer: Any) -> None:
    check_scorer(scorer)


@pytest.mark.parametrize(
    ("scorer", "promise"),
    [
        (Offering(), "products"),
        (Fickle(), "same arguments"),
        (Batched(), "order of the users"),
        (CallableScorer(lambda users: function(users), n_items=12), "worker processes"),
        (ScoreArray(np.full((9, 12), np.nan)), "NaN"),
    ],
)
def test_the_contract_notices(scorer: Any, promise: str) -> None:
    with pytest.raises(AssertionError, match=promise):
        check_scorer(scorer)
