import numpy as np
import pytest

from fullrank.data import Interactions
from fullrank.errors import InputError, NotFittedError
from fullrank.models import EASE, DebiasedEASE


def random_data(n_users: int, n_items: int, density: float, seed: int = 0) -> Interactions:
    pairs = np.argwhere(np.random.default_rng(seed).random((n_users, n_items)) < density)
    return Interactions.from_arrays(*pairs.T, user_ids=range(n_users), item_ids=range(n_items))


def test_kkt_conditions_of_its_own_loss() -> None:
    """Zero diagonal; off it the gradient of ‖X − XW‖² − α‖XW‖² + λ‖W‖² vanishes."""
    data = random_data(200, 60, 0.15)
    model = DebiasedEASE(regularization=10, debiasing=0.4).fit(data)
    weights = model.weights_.astype(np.float64)
    np.testing.assert_array_equal(np.diagonal(weights), 0)
    matrix = data.matrix(np.float64).toarray()
    gram = matrix.T @ matrix
    gradient = gram @ weights - gram - 0.4 * gram @ weights + 10 * weights
    np.fill_diagonal(gradient, 0)
    # two roundings to float32, times the rows of gram
    assert np.abs(gradient).max() < 2.0**-23 * np.abs(weights).max() * (gram.sum(0).max() + 10)


def test_each_column_is_the_least_of_its_loss() -> None:
    """Solved for each item alone: (1 − α)·XᵀX + λI over the other items."""
    data = random_data(60, 12, 0.3, seed=1)
    matrix = data.matrix(np.float64).toarray()
    weights = DebiasedEASE(regularization=2, debiasing=0.7).fit(data).weights_
    for item in range(12):
        others = np.delete(np.arange(12), item)
        features = matrix[:, others]
        left = 0.3 * features.T @ features + 2 * np.eye(11)
        expected = np.linalg.solve(left, features.T @ matrix[:, item])
        np.testing.assert_allclose(weights[others, item], expected, rtol=2e-6, atol=1e-8)


def test_theorem_3() -> None:
    """Debiased EASE at λ and α is EASE at λ/(1 − α), but for the factor 1/(1 − α)."""
    data = random_data(150, 80, 0.1)
    weights = DebiasedEASE(regularization=3, debiasing=0.25).fit(data).weights_
    plain = EASE(regularization=3 / 0.75).fit(data).weights_
    np.testing.assert_allclose(0.75 * weights, plain, rtol=2.0**-22)
    nothing = DebiasedEASE(regularization=3, debiasing=0).fit(data).weights_
    np.testing.assert_array_equal(nothing, EASE(regularization=3).fit(data).weights_)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("regularization", 0, r"`regularization`.*not 0\b"),
        ("debiasing", 1, r"`debiasing`.*not 1\b"),
        ("debiasing", -0.1, r"`debiasing`.*-0\.1\b"),
    ],
)
def test_bad_settings(name: str, value: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        DebiasedEASE(**{name: value})


def test_it_must_be_fitted_first() -> None:
    with pytest.raises(NotFittedError, match=r"DebiasedEASE.*not fitted.*`fit"):
        DebiasedEASE().scorer()
