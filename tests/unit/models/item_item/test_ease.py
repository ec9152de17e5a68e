import numpy as np
import pytest

from fullrank.data import Interactions, simulate
from fullrank.errors import InputError, NotFittedError
from fullrank.models import EASE, Popularity


def random_data(n_users: int, n_items: int, density: float, seed: int = 0) -> Interactions:
    pairs = np.argwhere(np.random.default_rng(seed).random((n_users, n_items)) < density)
    return Interactions.from_arrays(*pairs.T, user_ids=range(n_users), item_ids=range(n_items))


def weights_by_textbook(data: Interactions, regularization: float) -> np.ndarray:
    """One ridge regression per item on all other items."""
    matrix = data.matrix(np.float64).toarray()
    weights = np.zeros((data.n_items, data.n_items))
    for item in range(data.n_items):
        others = np.delete(np.arange(data.n_items), item)
        features = matrix[:, others]
        gram = features.T @ features + regularization * np.eye(others.size)
        weights[others, item] = np.linalg.solve(gram, features.T @ matrix[:, item])
    return weights


def test_two_items_by_hand() -> None:
    """Items with 3 users each, 2 in common, λ = 1: the weight is 2/(3 + 1)."""
    data = Interactions.from_arrays([0, 0, 1, 1, 2, 3], [0, 1, 0, 1, 0, 1])
    weights = EASE(regularization=1).fit(data).weights_
    np.testing.assert_allclose(weights, [[0, 0.5], [0.5, 0]], rtol=1e-7)


@pytest.mark.parametrize(
    ("n_users", "n_items", "density"),
    [(40, 23, 0.3), (500, 300, 0.2), (700, 601, 0.002), (23, 40, 0.3), (90, 601, 0.1)],
)
def test_against_separate_regressions(n_users: int, n_items: int, density: float) -> None:
    """Sizes below, above and not a multiple of the block; fewer users and fewer items."""
    data = random_data(n_users, n_items, density)
    weights = EASE(regularization=3.5).fit(data).weights_
    assert weights.dtype == np.float32
    assert weights.flags.c_contiguous
    columns = np.linspace(0, n_items - 1, 25).astype(int)
    expected = weights_by_textbook(data, 3.5) if n_items < 100 else None
    if expected is not None:
        np.testing.assert_allclose(weights, expected, rtol=1e-6, atol=1e-9)
    inverse = np.linalg.inv(_gram(data) + 3.5 * np.eye(n_items))
    closed = -inverse / np.diagonal(inverse)
    np.fill_diagonal(closed, 0)
    np.testing.assert_allclose(weights[:, columns], closed[:, columns], rtol=1e-6, atol=1e-9)


def test_kkt_conditions() -> None:
    """Zero diagonal; off it the gradient of ‖X − XB‖² + λ‖B‖² vanishes."""
    data = random_data(200, 60, 0.15, seed=1)
    weights = EASE(regularization=10).fit(data).weights_.astype(np.float64)
    np.testing.assert_array_equal(np.diagonal(weights), 0)
    gram = _gram(data)
    gradient = gram @ weights - gram + 10 * weights
    np.fill_diagonal(gradient, 0)
    # weights rounded to float32 leave at most half a unit in the last place, times the rows of gram
    assert np.abs(gradient).max() < 2.0**-24 * np.abs(weights).max() * (gram.sum(0).max() + 10)


def test_items_without_users_have_no_weights() -> None:
    data = Interactions.from_arrays([0, 0, 1], [0, 2, 0], item_ids=range(4))
    weights = EASE(regularization=1).fit(data).weights_
    assert not weights[[1, 3]].any()
    assert not weights[:, [1, 3]].any()
    assert weights[0, 2] > 0


def test_values_do_not_count() -> None:
    rated = Interactions.from_arrays([0, 0, 1], [0, 1, 0], value=[5, 1, 3])
    plain = Interactions.from_arrays([0, 0, 1], [0, 1, 0])
    np.testing.assert_array_equal(EASE().fit(rated).weights_, EASE().fit(plain).weights_)


def test_scores_are_history_times_weights() -> None:
    data = random_data(30, 20, 0.3)
    model = EASE(regularization=5).fit(data)
    expected = data.matrix(np.float64).toarray() @ model.weights_.astype(np.float64)
    np.testing.assert_allclose(model.scorer().scores(np.arange(30)), expected, rtol=0, atol=1e-12)


def test_it_beats_popularity_where_there_are_tastes() -> None:
    split = simulate().split("leave-one-out", rng=0)
    users, targets = split.test.pairs()
    seen = split.train.matrix().toarray() > 0

    def hits_at_20(model: EASE | Popularity) -> np.ndarray:
        scores = model.fit(split.train).scorer().scores(users)
        scores[seen[users]] = -np.inf
        at_target = scores[np.arange(users.size), targets][:, None]
        return (np.sum(scores > at_target, axis=1) < 20).astype(float)

    gain = hits_at_20(EASE(regularization=100)) - hits_at_20(Popularity())
    standard_error = gain.std() / np.sqrt(gain.size)

    assert gain.mean() > 3 * standard_error


def test_repr_shows_the_settings_only() -> None:
    model = EASE(regularization=7).fit(random_data(5, 5, 0.9))
    assert repr(model) == "EASE(regularization=7.0)"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (0, r"`regularization`.*not 0\b"),
        (-1.5, r"`regularization`.*-1\.5\b"),
        (float("nan"), r"`regularization`.*\bnan\b"),
        ("much", r"`regularization`.*'much'"),
    ],
)
def test_bad_settings(value: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        EASE(regularization=value)


def test_too_little_regularization() -> None:
    """XᵀX is all 2s, singular; its columns sum to 6, and ε/ε₃₂ is 2⁻²⁹."""
    data = Interactions.from_arrays([0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 1, 2])
    with pytest.raises(InputError, match=r"`regularization`.*\b1\.1e-08\b.*\b1e-08\b"):
        EASE(regularization=1e-8).fit(data)


def test_as_little_regularization_as_is_allowed() -> None:
    """All-equal items share the prediction: (n − 1) weights of c/(c(n − 1) + λ), c users each."""
    data = Interactions.from_arrays([0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 1, 2])
    weights = EASE(regularization=1.2e-8).fit(data).weights_
    np.testing.assert_allclose(weights, 0.5 * (1 - np.eye(3)), rtol=2.0**-23)


def test_a_split_is_not_interactions() -> None:
    data = Interactions.from_arrays([0, 0], [0, 1])
    with pytest.raises(InputError, match=r"`interactions`.*\bSplit\b"):
        EASE().fit(data.split(rng=0))


def test_new_users_are_scored_by_their_items() -> None:
    model = EASE(regularization=5).fit(random_data(30, 20, 0.3))
    new = Interactions.from_arrays(["x", "x"], [3, 9], item_ids=range(20))
    expected = model.weights_[3].astype(np.float64) + model.weights_[9]
    np.testing.assert_allclose(model.scorer(new).scores([0])[0], expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("item_ids", "message"),
    [
        (range(3), r"`history`.*\b4\b.*\b3\b"),
        ([0, 1, 3, 2], r"`history`.*item 2.*\b3\b"),
        (["0", "1", "2", "3"], r"`history`.*item 0"),
    ],
)
def test_histories_over_other_items(item_ids: object, message: str) -> None:
    model = EASE(regularization=5).fit(random_data(30, 4, 0.3))
    other = Interactions.from_arrays([0], [item_ids[0]], item_ids=item_ids)  # type: ignore[index,arg-type]
    with pytest.raises(InputError, match=f"{message}.*`item_ids`"):
        model.scorer(other)


def test_a_matrix_is_not_a_history() -> None:
    model = EASE(regularization=5).fit(random_data(30, 4, 0.3))
    with pytest.raises(InputError, match=r"`history`.*None.*\bndarray\b"):
        model.scorer(np.eye(4))  # type: ignore[arg-type]


def test_it_must_be_fitted_first() -> None:
    with pytest.raises(NotFittedError, match=r"\bEASE\b.*not fitted.*`fit"):
        EASE().scorer()


def _gram(data: Interactions) -> np.ndarray:
    matrix = data.matrix(np.float64).toarray()
    return matrix.T @ matrix
