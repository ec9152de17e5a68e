"""Models and scorers of one's own, by name and as they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fullrank as fr
from fullrank import models, scorers
from fullrank.data import Interactions, Split, simulate
from fullrank.errors import InputError, NotFittedError
from fullrank.evaluation import Evaluation, make_model, train_model
from fullrank.models import Saved, learned
from fullrank.scorers import FactorScorer
from fullrank.testing import check_model


class Plain:
    """Nothing of fullrank in it but what `scorer` returns."""

    def __init__(self, power: float = 1.0) -> None:
        self.power = power

    def fit(self, interactions: Interactions) -> Plain:
        self.counts_ = interactions.item_counts().astype(float) ** self.power
        self.n_users_ = interactions.n_users
        return self

    def scorer(self) -> Any:
        return FactorScorer(np.ones((self.n_users_, 1)), self.counts_[:, None])


@dataclass(kw_only=True, eq=False)
class Kept(Saved):
    """A model that can be saved: it says which of its fields are learned."""

    power: float = 1.0
    counts_: Any = field(init=False, repr=False, metadata=learned("items"))
    interactions_: Interactions = field(init=False, repr=False)
    personal = False

    def fit(self, interactions: Interactions) -> Kept:
        self.counts_ = (interactions.item_counts() ** self.power).astype(np.float32)
        self.interactions_ = interactions
        return self

    def scorer(self, history: Interactions | None = None) -> Any:
        if not hasattr(self, "interactions_"):
            raise NotFittedError("Kept is not fitted yet.")
        data = self.interactions_ if history is None else history
        ones = np.ones((data.n_users, 1), np.float32)
        return FactorScorer(
            ones, self.counts_[:, None], user_ids=data.user_ids, item_ids=data.item_ids
        )


class Greedy(Plain):
    def memory(self, interactions: Interactions) -> float:
        return 1e18


class Short(Plain):
    def scorer(self) -> Any:
        return FactorScorer(np.ones((3, 1)), self.counts_[:5, None])


@pytest.fixture
def registered() -> Iterator[None]:
    models.register("plain", Plain)
    models.register("kept", Kept)
    scorers.register("ones", lambda n_users, n_items: np.ones((n_users, n_items)))
    yield
    for name in ("plain", "kept"):
        models.unregister(name)
    scorers.unregister("ones")


@pytest.fixture(scope="module")
def split() -> Split:
    return simulate(n_users=80, n_items=60, mean_interactions=10).split("leave-one-out", rng=0)


def value(found: Evaluation, name: str) -> float:
    return found.estimates[name]["ndcg@10"]


@pytest.mark.usefixtures("registered")
def test_by_name_with_settings(split: Split) -> None:
    names = ["plain", "kept:power=1", "popularity", "plain:power=-1", "ones:n_users=80,n_items=60"]
    found = fr.evaluate(names, split, "ndcg@10")
    assert value(found, "plain") == value(found, "kept:power=1") == value(found, "popularity")
    assert value(found, "plain:power=-1") < value(found, "plain")


@pytest.mark.usefixtures("registered")
def test_what_is_not_known_is_told() -> None:
    with pytest.raises(InputError, match=r"`model` must be one of 'plain'.*'ease'.*not 'plane'"):
        make_model("plane")
    with pytest.raises(InputError, match=r"`model`.*plain \(power\), not 'speed'"):
        make_model("plain:speed=3")
    with pytest.raises(InputError, match=r"`name`.*'plain'"):
        models.register("plain", Greedy)
    with pytest.raises(InputError, match=r"`make` must be new; Plain is registered as 'plain'"):
        models.register("other", Plain)


def test_as_they_are_fitted_or_not(split: Split) -> None:
    given = {"object": Plain(), "class": Plain, "fitted": Kept().fit(split.train)}
    found = fr.evaluate(given, split, "ndcg@10")
    assert len({value(found, name) for name in given}) == 1


def test_a_run_resumes_with_the_same_class_alone(split: Split, tmp_path: Path) -> None:
    first = fr.evaluate(
        {"m": Plain()}, split, "ndcg@10", design="sampled:20", out=tmp_path / "run", report=False
    )
    again = fr.evaluate(
        {"m": Plain()}, split, "ndcg@10", design="sampled:20", out=tmp_path / "run", report=False
    )
    assert value(first, "m") == value(again, "m")
    for other in (Plain(2.0), Greedy()):
        other.memory = lambda data: 0.0  # type: ignore[union-attr]
        with pytest.raises(InputError, match=r"`out`"):
            fr.evaluate(
                {"m": other},
                split,
                "ndcg@10",
                design="sampled:20",
                out=tmp_path / "run",
                report=False,
            )


def test_what_does_not_fit_is_refused(split: Split) -> None:
    with pytest.raises(InputError, match=r"`models`.*mine.*PiB"):
        fr.evaluate({"mine": Greedy()}, split)
    with pytest.raises(
        InputError, match=r"`models`.*80 users and 60 items.*mine scores 3 users and 5 items"
    ):
        fr.evaluate({"mine": Short()}, split)


@pytest.mark.usefixtures("registered")
def test_a_model_that_says_what_it_learns_is_saved(tmp_path: Path) -> None:
    check_model(Kept)
    train_model("simulated", "kept:power=0.5", tmp_path / "model.safetensors")
    assert models.load(tmp_path / "model.safetensors").power == 0.5
    with pytest.raises(InputError, match=r"`model`.*Plain has no method `save`"):
        train_model("simulated", "plain", tmp_path / "other.safetensors")


def test_a_class_that_is_not_registered_cannot_be_loaded(tmp_path: Path, split: Split) -> None:
    with pytest.raises(InputError, match=r"`model`.*EASE.*not Kept"):
        Kept().fit(split.train).save(tmp_path / "model.safetensors")


def test_a_loss_of_ones_own(need: Any) -> None:
    need("torch")
    from fullrank import losses

    losses.register("plain_bpr", losses.bpr)
    try:
        data = simulate(n_users=30, n_items=25, mean_interactions=10)
        fitted = models.EmbeddingMF(loss="plain-bpr", epochs=1, n_factors=2).fit(data)
        assert fitted.loss == "plain_bpr"
        assert fitted.scorer().n_items == 25
    finally:
        losses.unregister("plain_bpr")
    with pytest.raises(InputError, match=r"`loss`.*'bpr'.*not 'bprr'"):
        models.EmbeddingMF(loss="bprr")
