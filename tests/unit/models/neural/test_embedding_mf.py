import math
import re
from typing import Any

import numpy as np
import pytest

from fullrank.data import Interactions, Split, load, simulate
from fullrank.errors import DataWarning, InputError
from fullrank.losses import LOSSES, positive_share
from fullrank.models import EmbeddingMF, LightGCN, NeuMF, Popularity
from fullrank.models.training.batches import PairBatch
from fullrank.ranking import rank

pytestmark = pytest.mark.usefixtures("torch")


def ndcg(model: Any, split: Split) -> float:
    return rank(model.scorer(), split.test, exclude=split.train).metrics("ndcg@20")["ndcg@20"]


@pytest.mark.breadth
@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [
        {"learning_rate": 0.01, "batch_size": 512},
        {"loss": "mine-plus", "temperature": 0.2, "n_negatives": 32, "learning_rate": 0.01},
    ],
)
def test_five_epochs_on_the_embedded_data_set(settings: dict[str, Any]) -> None:
    split = load("ml-latest-small").split("leave-one-out", by="random", rng=0)
    history = EmbeddingMF(epochs=5, **settings).fit(split.train, valid=split.test).history_
    assert history.metric[-1] > 1.15 * history.metric[0]
    assert history.best_metric > 1.25 * ndcg(Popularity().fit(split.train), split)
    assert (np.diff(history.loss) < 0).all()


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(
    "how", [{}, {"shared_negatives": True}, {"negatives": "popularity", "popularity_power": 0.5}]
)
def test_every_loss_learns(split: Split, loss: str, how: dict[str, Any]) -> None:
    if loss == "mine-plus":  # its low default suits more negatives, drawn alike
        how = how | {"temperature": 0.4}
    model = EmbeddingMF(
        n_factors=16,
        loss=loss,
        learning_rate=0.02,
        batch_size=512,
        epochs=10,
        n_negatives=20,
        **how,
    )
    before = ndcg(EmbeddingMF(n_factors=16, loss=loss, epochs=0).fit(split.train), split)
    assert ndcg(model.fit(split.train), split) > 1.3 * before
    assert model.history_.loss[-1] < model.history_.loss[0]


@pytest.mark.parametrize("similarity", ["dot", "cosine"])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_loss_is_that_of_the_batchs_scores(
    split: Split, torch: Any, loss: str, similarity: str
) -> None:
    """Scores by hand, gradients by plain indexing."""
    given = {"temperature": 0.5, "margin": 0.1, "negative_weight": 3.0}
    settings = {name: x for name, x in given.items() if name in LOSSES[loss].settings}
    model = EmbeddingMF(
        n_factors=5, loss=loss, similarity=similarity, regularization=0.3, initial_scale=1.0,
        growth=0.5, unseen=2, negatives="popularity", **settings,
    )  # fmt: skip
    data, cpu = split.train, torch.device("cpu")
    learner = model._learner(data, cpu)
    generator = torch.Generator().manual_seed(0)
    users, items = torch.tensor([3, 0, 3]), torch.tensor([5, 5, 7])
    negatives = torch.randint(data.n_items, (3, 4), generator=generator)
    extra = torch.randint(data.n_items, (3, 2), generator=generator)
    kind = LOSSES[loss]
    batch = PairBatch(
        users,
        items,
        None if kind.catalogue else negatives,
        extra if kind.extra_positives else None,
        0,
    )
    found = learner.loss(batch, generator)

    w, h = learner.users[users], learner.items
    if similarity == "cosine":
        w, h = (x / x.norm(dim=1, keepdim=True) for x in (w, h))
    table = w @ h.T
    pick = torch.arange(3)[:, None]
    more: list[Any] = []
    if kind.extra_positives:
        counts = torch.from_numpy(data.user_counts())[users]
        settings["positive_share"] = positive_share(counts, data.n_items, growth=0.5, unseen=2)
        more = [table[pick, extra]]
    if kind.log_probability:
        chances = data.item_counts() / data.item_counts().sum()
        settings["log_probability"] = torch.from_numpy(chances).float().log()[negatives]
    if loss == "debiased-info-nce" and similarity == "dot":
        settings["lowest_score"] = -math.inf
    others = table if kind.catalogue else table[pick, negatives]
    expected = kind.function(table[pick[:, 0], items], others, *more, **settings)
    penalty = (
        learner.users[users].square().sum(1).mean() + learner.items[items].square().sum(1).mean()
    )
    if not kind.catalogue:
        penalty = penalty + learner.items[negatives].square().sum(-1).mean()
    expected = expected + 0.15 * penalty
    torch.testing.assert_close(found, expected)
    both = [learner.users, learner.items]
    for ours, theirs in zip(
        torch.autograd.grad(found, both), torch.autograd.grad(expected, both), strict=True
    ):
        torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-4)


def test_shared_negatives_are_those_of_every_pair(split: Split, torch: Any) -> None:
    learner = EmbeddingMF(n_factors=5, initial_scale=1.0)._learner(split.train, torch.device("cpu"))
    users, items = torch.tensor([3, 0, 3]), torch.tensor([5, 5, 7])
    one = torch.tensor([4, 9, 1, 4])
    shared = learner.loss(PairBatch(users, items, one, None, 0), None)
    own = learner.loss(PairBatch(users, items, one.expand(3, 4), None, 0), None)
    torch.testing.assert_close(shared, own)


def test_one_adam_step_by_hand(torch: Any) -> None:
    """With one pair and the softmax the gradient is simple, and Adam's first step is the rate."""
    data = Interactions.from_arrays([0], [1], item_ids=range(3))
    how = {"n_factors": 2, "loss": "softmax", "initial_scale": 1.0, "learning_rate": 0.1}
    before = EmbeddingMF(epochs=0, **how).fit(data)
    after = EmbeddingMF(epochs=1, **how).fit(data)
    w, h = before.user_factors_[0].astype(float), before.item_factors_.astype(float)
    chance = np.exp(h @ w) / np.exp(h @ w).sum() - np.array([0, 1, 0])
    np.testing.assert_allclose(after.user_factors_[0], w - 0.1 * np.sign(chance @ h), rtol=1e-4)
    np.testing.assert_allclose(
        after.item_factors_, h - 0.1 * np.sign(chance[:, None] * w), rtol=1e-4
    )


def test_the_scorer_has_the_similarity_of_training(split: Split) -> None:
    kinds = {"bpr": "dot", "mine-plus": "cosine"}
    for loss, similarity in kinds.items():
        model = EmbeddingMF(n_factors=4, loss=loss, epochs=1).fit(split.train)
        assert model.scorer().similarity == similarity
    model = EmbeddingMF(n_factors=4, similarity="cosine", epochs=1).fit(split.train)
    w, h = model.user_factors_.astype(float), model.item_factors_.astype(float)
    cosines = (w / np.linalg.norm(w, axis=1)[:, None]) @ (h / np.linalg.norm(h, axis=1)[:, None]).T
    np.testing.assert_allclose(model.scorer().scores(np.arange(200)), cosines, atol=1e-6)


def test_users_are_found_by_their_ids(split: Split) -> None:
    train = split.train
    model = EmbeddingMF(n_factors=4, epochs=1).fit(train)
    scores = model.scorer().scores(np.arange(200))
    some = Interactions.from_arrays([7, 150], [1, 2], user_ids=[150, 7], item_ids=train.item_ids)
    np.testing.assert_array_equal(model.scorer(some).scores([0, 1]), scores[[150, 7]])
    np.testing.assert_array_equal(model.scorer(split.history).scores([3]), scores[[3]])
    new = Interactions.from_arrays([7, 200, 999], [1, 2, 2], item_ids=train.item_ids)
    with pytest.raises(
        InputError,
        match=r"^EmbeddingMF .*users.*2 of 3 were not .*\b200\b",
    ):
        model.scorer(new)


@pytest.mark.parametrize("kind", [EmbeddingMF, LightGCN, NeuMF])
def test_users_with_nothing_to_learn_from_are_warned_of(kind: Any) -> None:
    """In a strong split everybody has a row, and who is tested has no items in it."""
    strong = simulate(n_users=60, n_items=40, mean_interactions=12).split("strong", rng=0)
    model = kind(n_factors=4, epochs=1).fit(strong.train)
    model.scorer()
    n_tested = int((strong.history.user_counts() > 0).sum())
    assert n_tested
    with pytest.warns(
        DataWarning,
        match=rf"{n_tested} of 60.*{kind.__name__}.*random",
    ):
        model.scorer(strong.history)


def test_new_users_cannot_be_validated(split: Split) -> None:
    with pytest.raises(InputError, match=r"`valid_history`.*None"):
        EmbeddingMF(epochs=1).fit(split.train, valid=split.test, valid_history=split.train)


def test_regularization_shortens_vectors(split: Split) -> None:
    long, short = (
        np.linalg.norm(
            EmbeddingMF(n_factors=8, epochs=10, learning_rate=0.02, regularization=x)
            .fit(split.train)
            .item_factors_
        )
        for x in (0.0, 0.5)
    )
    assert short < 0.8 * long


def test_negatives_by_default(split: Split, torch: Any) -> None:
    cpu = torch.device("cpu")
    assert EmbeddingMF()._source(split.train, cpu).n_negatives == 1
    assert EmbeddingMF(loss="mine")._source(split.train, cpu).n_negatives == 128
    assert EmbeddingMF(loss="mine", n_negatives=3)._source(split.train, cpu).n_negatives == 3


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"loss": "hinge"}, r"`loss`.*'softmax'.*'hinge'"),
        ({"similarity": "l2"}, r"`similarity`.*'dot', 'cosine'.*'l2'"),
        ({"negatives": "hard"}, r"`negatives`.*'uniform', 'popularity'.*'hard'"),
        ({"n_factors": 0}, r"`n_factors`.*\b0\b"),
        ({"n_negatives": 0}, r"`n_negatives`.*\b0\b"),
        ({"n_positives": 0}, r"`n_positives`.*\b0\b"),
        ({"regularization": -1}, r"`regularization`.*-1\b"),
        ({"popularity_power": -1}, r"`popularity_power`.*-1\b"),
        ({"growth": -1}, r"`growth`.*-1\b"),
        ({"unseen": -1}, r"`unseen`.*-1\b"),
        ({"initial_scale": 0}, r"`initial_scale`.*not 0\b"),
        ({"shared_negatives": 1}, r"`shared_negatives`.*True.*False.*\b1\b"),
        (
            {"margin": 0.5},
            r"`margin`.*None.*'bpr'.*\b0\.5\b",
        ),
        (
            {"loss": "mine-plus", "margin": 0.5},
            r"`margin`.*None.*'mine-plus'.*temperature.*negative_weight.*\b0\.5\b",
        ),
        (
            {"loss": "debiased-info-nce", "margin": 0.5},
            r"`margin`.*which takes temperature and negative_weight; it is 0\.5",
        ),
        ({"loss": "ccl", "margin": "x"}, r"`margin`.*'x'"),
    ],
)
def test_settings(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        EmbeddingMF(**settings)


@pytest.mark.parametrize("loss", LOSSES)
def test_settings_of_the_loss_are_checked_as_the_loss_does(torch: Any, loss: str) -> None:
    """At once, and not after the data were read."""
    one = LOSSES[loss]
    given: list[object] = [torch.zeros(1), torch.zeros(1, 2)]
    more: dict[str, object] = {}
    if one.extra_positives:
        given, more = [*given, torch.zeros(1, 2)], {"positive_share": 0.1}
    if one.log_probability:
        more["log_probability"] = torch.zeros(2)
    for name in {"temperature", "margin", "negative_weight"} & set(one.settings):
        for value in (-2.0, 0.0, 2.0, math.nan, "much"):
            settings = {name: value}
            try:
                one.function(*given, **more, **settings)
            except InputError as error:
                with pytest.raises(InputError, match=f"^{re.escape(str(error))}$"):
                    EmbeddingMF(loss=loss, **settings)
            else:
                EmbeddingMF(loss=loss, **settings)
