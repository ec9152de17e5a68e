import numpy as np
import pytest

from fullrank.data import Interactions
from fullrank.errors import InputError, NotFittedError
from fullrank.models import DLAE, EASE, EDLAE


def random_data(n_users: int, n_items: int, density: float, seed: int = 0) -> Interactions:
    pairs = np.argwhere(np.random.default_rng(seed).random((n_users, n_items)) < density)
    return Interactions.from_arrays(*pairs.T, user_ids=range(n_users), item_ids=range(n_items))


def gram_of(data: Interactions) -> np.ndarray:
    matrix = data.matrix(np.float64).toarray()
    return matrix.T @ matrix


@pytest.mark.parametrize("n_items", [40, 300])  # more than a block of rows, too
def test_dlae_solves_its_normal_equations(n_items: int) -> None:
    data = random_data(400, n_items, 0.1)
    weights = DLAE(dropout=0.3, regularization=2).fit(data).weights_
    gram = gram_of(data)
    penalty = np.diag(0.3 / 0.7 * np.diagonal(gram) + 2)
    np.testing.assert_allclose(weights, np.linalg.solve(gram + penalty, gram), rtol=1e-6, atol=1e-9)


def test_dlae_is_what_dropping_inputs_does() -> None:
    """The loss over all ways to drop inputs, weighted by their probability, by brute force."""
    data = random_data(7, 4, 0.6, seed=2)
    matrix, p = data.matrix(np.float64).toarray(), 0.4
    left, right = np.zeros((4, 4)), np.zeros((4, 4))
    for row in matrix:
        for code in range(16):
            kept = np.array([(code >> bit) & 1 for bit in range(4)])
            chance = np.prod(np.where(kept, 1 - p, p))
            inputs = row * kept / (1 - p)
            left += chance * np.outer(inputs, inputs)
            right += chance * np.outer(inputs, row)
    expected = np.linalg.solve(left, right)
    np.testing.assert_allclose(DLAE(dropout=p).fit(data).weights_, expected, rtol=1e-6)


def test_edlae_kkt_conditions() -> None:
    """Zero diagonal; off it the gradient of ‖X − XW‖² + ‖Λ^½W‖² vanishes."""
    data = random_data(200, 60, 0.15)
    weights = EDLAE(dropout=0.6, regularization=1).fit(data).weights_.astype(np.float64)
    np.testing.assert_array_equal(np.diagonal(weights), 0)
    gram = gram_of(data)
    penalty = 1.5 * np.diagonal(gram) + 1
    gradient = gram @ weights - gram + penalty[:, None] * weights
    np.fill_diagonal(gradient, 0)
    scale = np.abs(weights).max() * (gram.sum(0).max() + penalty.max())
    assert np.abs(gradient).max() < 2.0**-24 * scale


def test_edlae_against_separate_regressions() -> None:
    data = random_data(60, 12, 0.3, seed=1)
    matrix = data.matrix(np.float64).toarray()
    weights = EDLAE(dropout=0.5).fit(data).weights_
    for item in range(12):
        others = np.delete(np.arange(12), item)
        features = matrix[:, others]
        left = features.T @ features + np.diag(features.sum(0))
        expected = np.linalg.solve(left, features.T @ matrix[:, item])
        np.testing.assert_allclose(weights[others, item], expected, rtol=2e-6, atol=1e-8)


def test_without_dropout_edlae_is_ease() -> None:
    data = random_data(100, 40, 0.2)
    weights = EDLAE(dropout=0, regularization=5).fit(data).weights_
    np.testing.assert_allclose(
        weights, EASE(regularization=5).fit(data).weights_, rtol=1e-6, atol=1e-9
    )


@pytest.mark.parametrize("kind", [DLAE, EDLAE])
def test_items_without_users_have_no_weights(kind: type[DLAE] | type[EDLAE]) -> None:
    data = Interactions.from_arrays([0, 0, 1], [0, 2, 0], item_ids=range(4))
    weights = kind(dropout=0.5).fit(data).weights_
    assert not weights[[1, 3]].any()
    assert not weights[:, [1, 3]].any()
    assert weights[0, 2] > 0


@pytest.mark.parametrize("kind", [DLAE, EDLAE])
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"dropout": 1}, r"`dropout`.*not 1\b"),
        ({"dropout": -0.5}, r"`dropout`.*-0\.5\b"),
        ({"regularization": -1}, r"`regularization`.*-1\b"),
        ({"dropout": 0}, r"`dropout`.*`regularization`.*both are 0\b"),
    ],
)
def test_bad_settings(
    kind: type[DLAE] | type[EDLAE], settings: dict[str, float], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        kind(**settings)


def test_too_little_dropout() -> None:
    with pytest.raises(InputError, match=r"`dropout`.*\b1e-12\b.*`regularization`.*\b0\b"):
        EDLAE(dropout=1e-12).fit(random_data(30, 20, 0.5))


@pytest.mark.parametrize("kind", [DLAE, EDLAE])
def test_they_must_be_fitted_first(kind: type[DLAE] | type[EDLAE]) -> None:
    with pytest.raises(NotFittedError, match=rf"\b{kind.__name__}\b.*not fitted.*`fit"):
        kind().scorer()
