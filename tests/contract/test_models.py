import numpy as np
import pytest

from fullrank.data import Interactions
from fullrank.errors import NotFittedError
from fullrank.models import MODELS, Popularity
from fullrank.testing import check_model


@pytest.mark.parametrize("name", MODELS)
def test_every_model_keeps_the_contract(name: str) -> None:
    check_model(MODELS[name])


class Unready(Popularity):
    def scorer(self):
        return Popularity().fit(Interactions.from_arrays([0], [0])).scorer()


class Selfless(Popularity):
    def fit(self, interactions):
        super().fit(interactions)


class Forgetful(Popularity):
    def scorer(self):
        if not hasattr(self, "interactions_"):
            raise NotFittedError
        scorer = super().scorer()
        scorer.item_factors = scorer.item_factors[:-1]
        return scorer


class Fickle(Popularity):
    n_fits = 0

    def fit(self, interactions):
        super().fit(interactions)
        Fickle.n_fits += 1
        self.item_counts_[0] += Fickle.n_fits
        return self


class Undefined(Popularity):
    def fit(self, interactions):
        super().fit(interactions)
        self.item_counts_[3] = np.nan
        return self


class Equal(Popularity):
    def fit(self, interactions):
        super().fit(interactions)
        self.item_counts_[:] = 1
        return self


@pytest.mark.parametrize(
    ("model", "promise"),
    [
        (Unready, "`scorer` must raise NotFittedError before `fit`"),
        (Selfless, "`fit` must return the model itself"),
        (Forgetful, "the scorer must have all items"),
        (Fickle, "the same settings must learn the same scores"),
        (Undefined, "scores must be finite"),
        (Equal, "scores must tell items apart"),
    ],
)
def test_the_contract_notices(model: type[Popularity], promise: str) -> None:
    with pytest.raises(AssertionError, match=promise):
        check_model(model)
