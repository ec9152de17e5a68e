import numpy as np
import pytest
from scipy.optimize import minimize

from fullrank.data import Interactions
from fullrank.errors import InputError, NotFittedError
from fullrank.models import EDLAE, LowRankEDLAE

N_ITEMS, RANK, DROPOUT, REGULARIZATION = 14, 4, 1 / 3, 1.0


def random_data(n_users: int, n_items: int, density: float, seed: int = 0) -> Interactions:
    pairs = np.argwhere(np.random.default_rng(seed).random((n_users, n_items)) < density)
    return Interactions.from_arrays(*pairs.T, user_ids=range(n_users), item_ids=range(n_items))


def model(**settings: float) -> LowRankEDLAE:
    known = {"n_factors": RANK, "dropout": DROPOUT, "regularization": REGULARIZATION}
    return LowRankEDLAE(**(known | settings))


class Problem:
    """The loss of equation 108 and its gradient, in double precision."""

    def __init__(self, data: Interactions) -> None:
        matrix = data.matrix(np.float64).toarray()
        self.gram = matrix.T @ matrix
        self.penalty = (0.5 * np.diagonal(self.gram) + REGULARIZATION)[:, None]

    def loss(self, u: np.ndarray, v: np.ndarray) -> float:
        w = self.weights(u, v)
        fit = np.trace(self.gram) - 2 * np.sum(w * self.gram) + np.sum(w * (self.gram @ w))
        return float(fit + np.sum(self.penalty * w**2))

    def weights(self, u: np.ndarray, v: np.ndarray) -> np.ndarray:
        w = u @ v.T
        np.fill_diagonal(w, 0)
        return w

    def gradients(self, u: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        w = self.weights(u, v)
        outer = 2 * (self.gram @ w - self.gram + self.penalty * w)
        np.fill_diagonal(outer, 0)
        return outer @ v, outer.T @ u

    def least(self, starts: int) -> float:
        size = N_ITEMS * RANK

        def both(x: np.ndarray) -> tuple[float, np.ndarray]:
            u, v = x[:size].reshape(N_ITEMS, RANK), x[size:].reshape(N_ITEMS, RANK)
            return self.loss(u, v), np.concatenate([g.ravel() for g in self.gradients(u, v)])

        generator = np.random.default_rng(0)
        tries = (0.3 * generator.standard_normal(2 * size) for _ in range(starts))
        options = {"maxiter": 5000}
        return min(
            minimize(both, x, jac=True, method="L-BFGS-B", options=options).fun for x in tries
        )


def test_it_ends_where_the_loss_is_stationary() -> None:
    data = random_data(60, N_ITEMS, 0.3)
    problem = Problem(data)
    for coupling in (1.0, 100.0):
        found = model(coupling=coupling, epochs=1500).fit(data)
        u, v = found.encoder_.astype(np.float64), found.decoder_.astype(np.float64)
        for gradient in problem.gradients(u, v):
            # of terms of the size of gram · v, each with the error of float32
            assert np.abs(gradient).max() < 1e-4 * problem.gram.max()


def test_it_finds_the_least_loss_that_a_general_optimiser_finds() -> None:
    data = random_data(60, N_ITEMS, 0.3)
    problem = Problem(data)
    found = model(epochs=500).fit(data)
    loss = problem.loss(found.encoder_.astype(np.float64), found.decoder_.astype(np.float64))
    least = problem.least(starts=10)
    assert loss == pytest.approx(least, rel=1e-5)
    one = model(epochs=1).fit(data)
    assert problem.loss(one.encoder_, one.decoder_) > 1.001 * least


def test_at_full_rank_it_is_edlae() -> None:
    data = random_data(60, N_ITEMS, 0.3)
    weights = model(n_factors=N_ITEMS, epochs=500).fit(data).weights()
    full = EDLAE(dropout=DROPOUT, regularization=REGULARIZATION).fit(data).weights_
    np.testing.assert_allclose(weights, full, rtol=0, atol=1e-4 * full.max())


def test_it_has_no_more_factors_than_items() -> None:
    assert model(n_factors=50, epochs=3).fit(random_data(20, 6, 0.5)).encoder_.shape == (6, 6)


def test_scores_are_history_times_weights() -> None:
    data = random_data(30, N_ITEMS, 0.3)
    found = model().fit(data)
    expected = data.matrix(np.float64).toarray() @ found.weights().astype(np.float64)
    np.testing.assert_allclose(found.scorer().scores(np.arange(30)), expected, rtol=0, atol=1e-12)
    assert not found.weights().diagonal().any()


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("n_factors", 0, r"`n_factors`.*\b0\b"),
        ("dropout", 1, r"`dropout`.*not 1\b"),
        ("coupling", 0, r"`coupling`.*not 0\b"),
        ("epochs", 0, r"`epochs`.*\b0\b"),
        ("seed", -1, r"`seed`.*-1\b"),
    ],
)
def test_bad_settings(name: str, value: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        LowRankEDLAE(**{name: value})


def test_it_must_be_fitted_first() -> None:
    for call in (LowRankEDLAE().scorer, LowRankEDLAE().weights):
        with pytest.raises(NotFittedError, match=r"LowRankEDLAE.*not fitted.*`fit"):
            call()
