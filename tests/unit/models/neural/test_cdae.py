from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from fullrank.data import Interactions
from fullrank.errors import InputError, NotFittedError
from fullrank.models import CDAE, load
from fullrank.models.neural.cdae import CDAELearner
from fullrank.models.training.batches import Histories
from fullrank.ranking import rank

SMALL = {"n_factors": 6, "epochs": 5, "batch_size": 64, "learning_rate": 0.02}


pytestmark = pytest.mark.usefixtures("torch")


def one_batch(torch: ModuleType, data: Interactions) -> Histories:
    return next(iter(Histories(data, batch_size=20, device="cpu").epoch(torch.Generator(), 0)))


@pytest.mark.parametrize("loss", ["logistic", "square"])
def test_the_loss_of_all_outputs_by_hand(torch: ModuleType, data: Interactions, loss: str) -> None:
    model = CDAE(**SMALL, dropout=0, n_negatives=0, loss=loss)
    learner = CDAELearner(model, data, torch.device("cpu"))
    batch = one_batch(torch, data)
    users = batch.users.numpy()
    scores = np.asarray(learner.scorer().scores(users))
    seen = data.matrix(np.float64).toarray()[users]
    if loss == "square":
        expected = ((seen - scores) ** 2).sum(1).mean()
    else:
        chances = 1 / (1 + np.exp(-scores))
        expected = -(seen * np.log(chances) + (1 - seen) * np.log(1 - chances)).sum(1).mean()
    assert float(learner.loss(batch, torch.Generator()).detach()) == pytest.approx(expected, 1e-5)


def test_own_items_count_and_others_as_often_as_asked(
    torch: ModuleType, data: Interactions
) -> None:
    learner = CDAELearner(CDAE(**SMALL, n_negatives=2), data, torch.device("cpu"))
    table = one_batch(torch, data).dense()
    generator = torch.Generator().manual_seed(0)
    counted = [learner._counted(torch, table, generator) for _ in range(400)]
    drawn = torch.stack([one & (table == 0) for one in counted]).double()
    assert all(bool(one[table > 0].all()) for one in counted)
    n_own = table.sum(1).double()
    wanted = torch.minimum(2 * n_own, 60 - n_own)  # never more than there are
    # a mean over 400 sums of at most 60 draws: 5 deviations are below 1
    np.testing.assert_allclose(drawn.sum(2).mean(0).numpy(), wanted.numpy(), atol=1.0)
    assert float(drawn.std(0)[table == 0].max()) > 0.3  # each by itself, anew every time


@pytest.mark.parametrize("loss", ["logistic", "square"])
def test_five_epochs_lower_the_loss_and_raise_the_metric(data: Interactions, loss: str) -> None:
    split = data.split(rng=0)
    model = CDAE(**SMALL, loss=loss, metric="ndcg@20").fit(split.train, valid=split.test)
    assert model.history_.loss[-1] < 0.9 * model.history_.loss[0]
    assert model.history_.best_metric > 1.1 * model.history_.metric[0]
    ranks = rank(model, split.test, exclude=split.train).metrics("ndcg@20")["ndcg@20"]
    assert ranks == pytest.approx(model.history_.best_metric, rel=1e-12)


def test_a_user_is_more_than_the_items(data: Interactions) -> None:
    """Two users with the same items have scores of their own, by what is learned of each."""
    users, items = data.pairs()
    twin = np.concatenate([users[users != 1], np.ones((users == 0).sum(), int)])
    both = Interactions.from_arrays(
        twin,
        np.concatenate([items[users != 1], items[users == 0]]),
        user_ids=np.arange(150),
        item_ids=np.arange(60),
    )
    model = CDAE(**SMALL).fit(both)
    first, second = model.scorer().scores([0, 1])
    assert np.abs(first - second).max() > 1e-3
    model.user_weights_[1] = model.user_weights_[0]
    first, second = model.scorer().scores([0, 1])
    np.testing.assert_array_equal(first, second)


def test_known_users_are_found_by_their_ids_and_scored_from_new_items(data: Interactions) -> None:
    model = CDAE(**SMALL).fit(data)
    users, items = data.pairs()
    here = np.isin(users, [5, 70])
    some = Interactions.from_arrays(
        users[here], items[here], user_ids=[70, 5], item_ids=np.arange(60)
    )
    np.testing.assert_array_equal(model.scorer(some).scores([0, 1]), model.scorer().scores([70, 5]))
    one = Interactions.from_arrays([5], [3], user_ids=[5], item_ids=np.arange(60))
    hidden = model.input_weights_[3] + model.user_weights_[5] + model.hidden_bias_
    scores = model.item_factors_ @ (1 / (1 + np.exp(-hidden))) + model.item_bias_
    np.testing.assert_allclose(model.scorer(one).scores([0])[0], scores, rtol=1e-5, atol=1e-6)
    stranger = Interactions.from_arrays([999], [3], user_ids=[999], item_ids=np.arange(60))
    with pytest.raises(InputError, match=r"^CDAE .*users.*1 of 1 was not .*\b999\b"):
        model.scorer(stranger)


def test_the_same_seed_gives_the_same_scores(data: Interactions) -> None:
    first, second, other = (
        CDAE(**SMALL, seed=seed).fit(data).scorer().scores([0, 1]) for seed in (3, 3, 4)
    )
    np.testing.assert_array_equal(first, second)
    assert np.abs(first - other).max() > 0.01


def test_a_file_gives_the_same_scores(data: Interactions, tmp_path: Path) -> None:
    model = CDAE(**SMALL).fit(data)
    model.save(tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors")
    assert repr(again) == repr(model)
    np.testing.assert_array_equal(
        again.scorer().scores(np.arange(150)), model.scorer().scores(np.arange(150))
    )


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_factors": 0}, r"`n_factors`.*\b0\b"),
        ({"dropout": 1}, r"`dropout`.*not 1\b"),
        ({"loss": "bpr"}, r"`loss`.*'logistic', 'square'.*'bpr'"),
        ({"n_negatives": -1}, r"`n_negatives`.*-1\b"),
    ],
)
def test_settings_are_checked(settings: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        CDAE(**settings)


def test_it_must_be_fitted() -> None:
    with pytest.raises(NotFittedError, match=r"CDAE.*not fitted.*`fit"):
        CDAE().scorer()
