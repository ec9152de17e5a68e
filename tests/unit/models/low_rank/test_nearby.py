from collections.abc import Callable
from types import ModuleType

import numpy as np
import pytest

from fullrank.data import Interactions, Split, simulate
from fullrank.errors import InputError, MissingExtraError, NotFittedError
from fullrank.models import DLAE, EASE, LRR, HeadTail, ItemKNN, LambdaSearch, Popularity, Sparsified
from fullrank.models.low_rank import bpr
from fullrank.ranking import rank

KINDS = [LambdaSearch, HeadTail, Sparsified]


@pytest.fixture(autouse=True)
def _torch(need: Callable[[str], ModuleType]) -> None:
    need("torch")


@pytest.fixture(scope="module")
def split() -> Split:
    return simulate(n_users=400, n_items=120, mean_interactions=15).split(rng=0)


def bpr_loss(scores: np.ndarray, data: Interactions, scale: float) -> float:
    """The mean of log(1 + exp(−t·difference)) over all pairs of an item and one that is lacking."""
    seen = data.matrix().toarray() > 0
    losses = []
    for row, mask in zip(scores, seen, strict=True):
        difference = row[mask][:, None] - row[~mask][None, :]
        losses.append(np.logaddexp(0, -scale * difference).mean(1))
    return float(np.concatenate(losses).mean())


def left_out_scores(data: Interactions, weights: np.ndarray) -> np.ndarray:
    """Scores in which an item of the user's own is scored from the others."""
    histories = data.matrix(np.float64).toarray()
    return histories @ weights - histories * np.diagonal(weights)


def test_without_epochs_they_are_their_base(split: Split) -> None:
    train = split.train
    search = LambdaSearch(n_factors=9, regularization=40, epochs=0).fit(train)
    plain = LRR(n_factors=9, regularization=40).fit(train)
    np.testing.assert_allclose(search.penalties_, 40)
    np.testing.assert_allclose(search.gains_, plain.gains_, rtol=1e-6)
    base = EASE(regularization=20).fit(train).weights_
    both = HeadTail(base=EASE(regularization=20), epochs=0).fit(train)
    np.testing.assert_allclose(both.weights_, base / 4, rtol=1e-6)
    sparse = Sparsified(base=EASE(regularization=20), threshold=0.05, epochs=0).fit(train)
    np.testing.assert_allclose(
        sparse.weights_.toarray(), np.where(base > 0.05, base / 2, 0), rtol=1e-6
    )


def test_lambdas_lower_the_loss_and_stay_in_range(split: Split) -> None:
    train = split.train
    losses = []
    for epochs in (0, 8):
        model = LambdaSearch(
            n_factors=30, regularization=100, search_range=0.9, epochs=epochs, dropout=0
        ).fit(train)
        v = model.item_factors_.astype(np.float64)
        losses.append(bpr_loss(left_out_scores(train, (v * model.gains_) @ v.T), train, 10.0))
    assert losses[1] < losses[0] - 1e-3
    assert 10 < model.penalties_.min() < model.penalties_.max() < 190
    assert np.ptp(model.penalties_) > 10


def test_head_and_tail_lower_the_loss(split: Split) -> None:
    train = split.train
    losses = []
    for epochs in (0, 8):
        base = EASE(regularization=20)
        model = HeadTail(base=base, epochs=epochs, dropout=0).fit(train)
        # heads and tails start at ½, and scale all scores alike
        losses.append(bpr_loss(left_out_scores(train, model.weights_), train, 10.0))
    assert losses[1] < losses[0] - 1e-3
    for factor in (model.head_, model.tail_):
        assert 0 < factor.min() < factor.max() < 1
    assert not hasattr(base, "weights_")
    expected = model.head_[:, None] * base.fit(train).weights_ * model.tail_
    np.testing.assert_allclose(model.weights_, expected, rtol=1e-6)


def test_sparsified_lowers_the_loss_with_the_same_entries(split: Split) -> None:
    train = split.train
    models = [
        Sparsified(base=EASE(regularization=20), threshold=0.02, epochs=epochs, dropout=0).fit(
            train
        )
        for epochs in (0, 8)
    ]
    losses = [
        bpr_loss(left_out_scores(train, model.weights_.toarray()), train, 10.0) for model in models
    ]
    assert losses[1] < losses[0] - 1e-3
    first, last = (model.weights_ for model in models)
    np.testing.assert_array_equal(first.indices, last.indices)
    assert 0 < first.nnz < 120 * 120 / 2
    share = last.data / (2 * first.data)
    assert 0 < share.min() < share.max() < 1


def test_a_threshold_above_all_weights_leaves_none(split: Split) -> None:
    model = Sparsified(base=EASE(regularization=20), threshold=9, epochs=1).fit(split.train)
    assert model.weights_.nnz == 0


def test_they_rank_no_worse_than_their_base(split: Split) -> None:
    """On held-out items, by more than chance would make it."""
    base = rank(EASE(regularization=20).fit(split.train), split.test, exclude=split.train)
    model = HeadTail(base=EASE(regularization=20)).fit(split.train)
    ranks = rank(model, split.test, exclude=split.train)
    gain = ranks.gains("auc") - base.gains("auc")
    assert gain.mean() > -3 * gain.std() / np.sqrt(gain.size)
    assert gain.any()


@pytest.mark.parametrize("kind", KINDS)
def test_the_seed_decides(kind: type, split: Split) -> None:
    scores = [
        kind(epochs=1, seed=seed, **({"n_factors": 9} if kind is LambdaSearch else {}))
        .fit(split.train)
        .scorer()
        .scores([0, 1, 2])
        for seed in (1, 1, 2)
    ]
    np.testing.assert_array_equal(scores[0], scores[1])
    assert not np.array_equal(scores[0], scores[2])


def test_batches_hold_every_interaction_and_items_that_are_lacking(split: Split) -> None:
    data = split.train
    how = bpr.Descent(epochs=1, learning_rate=1, batch_size=100, dropout=0.5, scale=1, seed=0)
    batches = list(bpr.batches(data, how, np.random.default_rng(0)))
    wanted = np.concatenate([batch[1] for batch in batches])
    np.testing.assert_array_equal(np.bincount(wanted, minlength=120), data.item_counts())
    values = np.concatenate([batch[0] for batch in batches])
    others = np.concatenate([batch[2] for batch in batches])
    assert set(np.unique(values)) == {0.0, 2.0}
    rows = np.arange(wanted.size)
    assert not values[rows, wanted].any()
    assert not values[rows, others].any()
    # of the n(n − 1) items that are left of n, in each of n histories, a half is dropped
    counts = data.user_counts()
    left = float(np.sum(counts * (counts - 1)))
    assert values.sum() / 2 == pytest.approx(left / 2, abs=5 * np.sqrt(left / 4))


def test_users_who_have_everything_are_left_out() -> None:
    data = Interactions.from_arrays([0, 0, 0, 1], [0, 1, 2, 0])
    how = bpr.Descent(epochs=1, learning_rate=1, batch_size=9, dropout=0, scale=1, seed=0)
    ((histories, wanted, others),) = bpr.batches(data, how, np.random.default_rng(0))
    assert histories.shape == (1, 3)
    assert wanted.tolist() == [0]
    assert others[0] in (1, 2)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("epochs", -1, r"`epochs`.*-1\b"),
        ("learning_rate", 0, r"`learning_rate`.*not 0\b"),
        ("batch_size", 0, r"`batch_size`.*\b0\b"),
        ("dropout", 1, r"`dropout`.*not 1\b"),
        ("scale", 0, r"`scale`.*not 0\b"),
        ("seed", -1, r"`seed`.*-1\b"),
    ],
)
def test_bad_settings(kind: type, name: str, value: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        kind(**{name: value})


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("regularization", 0, r"`regularization`.*not 0\b"),
        ("search_range", 1, r"`search_range`.*not 1\b"),
    ],
)
def test_bad_settings_of_the_search(name: str, value: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        LambdaSearch(**{name: value})


@pytest.mark.parametrize("kind", [HeadTail, Sparsified])
@pytest.mark.parametrize("base", [Popularity(), ItemKNN()])
def test_a_base_without_dense_weights(kind: type, base: object, split: Split) -> None:
    with pytest.raises(InputError, match=rf"`base`.*`weights_`.*EASE.*{type(base).__name__}"):
        kind(base=base).fit(split.train)


@pytest.mark.parametrize("kind", [HeadTail, Sparsified])
@pytest.mark.parametrize(("base", "got"), [(EASE, "the class EASE"), ("ease", "str")])
def test_a_base_that_is_no_model(kind: type, base: object, got: str) -> None:
    with pytest.raises(InputError, match=rf"`base`.*EASE\(\).*{got}"):
        kind(base=base)


def test_a_base_with_a_diagonal(split: Split) -> None:
    model = HeadTail(base=DLAE(dropout=0.5), epochs=1).fit(split.train)
    some = split.train.item_counts() > 0
    np.testing.assert_array_equal(model.weights_.diagonal() > 0, some)


@pytest.mark.parametrize("kind", KINDS)
def test_they_must_be_fitted_first(kind: type) -> None:
    with pytest.raises(NotFittedError, match=rf"{kind.__name__}.*not fitted.*`fit"):
        kind().scorer()


def test_without_torch(split: Split, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r'pip install "fullrank\[torch\]"'):
        HeadTail().fit(split.train)
