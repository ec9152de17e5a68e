from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fullrank.data import Interactions
from fullrank.errors import NotFittedError
from fullrank.models import EASE, MODELS, Model, Popularity, load
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


class Personal(Popularity):
    def scorer(self, history=None):
        scorer = super().scorer(history)
        if history is not None:
            scorer.user_factors[:] = 2
        return scorer


@pytest.mark.parametrize(
    ("model", "promise"),
    [
        (Unready, r"`scorer`.*NotFittedError.*`fit`"),
        (Selfless, r"`fit`.*itself"),
        (Forgetful, "all items"),
        (Fickle, "same settings"),
        (Undefined, "finite"),
        (Equal, "differ between items"),
        (Personal, "new users"),
    ],
)
def test_the_contract_notices(model: type[Popularity], promise: str) -> None:
    with pytest.raises(AssertionError, match=promise):
        check_model(model)


def scored_otherwise(path: Path) -> Model:
    model = load(path)
    model.item_counts_[5] += 1
    return model


def of_another_class(path: Path) -> Model:
    return EASE().fit(load(path).interactions_)


def with_other_settings(path: Path) -> Model:
    model = load(path)
    model.regularization = 7.0
    return model


def under_other_ids(path: Path) -> Model:
    model = load(path)
    model.interactions_ = replace(model.interactions_, item_ids=np.arange(50, 100))
    return model


@pytest.mark.parametrize(
    ("loaded", "promise"),
    [
        (scored_otherwise, r"`load`.*scores"),
        (of_another_class, r"`load`.*class"),
        (under_other_ids, r"`load`.*ids"),
    ],
)
def test_the_contract_notices_what_a_file_lost(
    loaded: Callable[[Path], Model], promise: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fullrank.testing.models.load", loaded)
    with pytest.raises(AssertionError, match=promise):
        check_model(Popularity)


def test_the_contract_notices_lost_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fullrank.testing.models.load", with_other_settings)
    with pytest.raises(AssertionError, match=r"`load`.*settings"):
        check_model(EASE)
