"""PureSVD, MF and LRR: one decomposition, three gains."""

import numpy as np
import pytest

from fullrank.data import Interactions, simulate
from fullrank.errors import InputError
from fullrank.models import LRR, MF, PureSVD
from fullrank.models.low_rank import spectrum as _spectrum
from fullrank.models.low_rank.spectrum import SpectralModel, spectrum

TALL = simulate(n_users=120, n_items=60, mean_interactions=14)
WIDE = simulate(n_users=40, n_items=90, mean_interactions=14)


def dense(data: Interactions) -> np.ndarray:
    return data.matrix(np.float64).toarray()


def scores(model: SpectralModel) -> np.ndarray:
    return model.scorer().scores(np.arange(model.interactions_.n_users))


@pytest.mark.parametrize("data", [TALL, WIDE])
@pytest.mark.parametrize("lanczos", [False, True])
def test_singular_values_and_vectors(
    data: Interactions, lanczos: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if lanczos:
        monkeypatch.setattr(_spectrum, "_SMALL", 0)
        monkeypatch.setattr(_spectrum, "_all", None)
    found = spectrum(data, 2)
    _, values, right = np.linalg.svd(dense(data))
    np.testing.assert_allclose(found.values, values[:2], rtol=1e-12)
    signs = np.sign(right[np.arange(2), np.argmax(np.abs(right[:2]), axis=1)])
    np.testing.assert_allclose(found.vectors.T, right[:2] * signs[:, None], atol=1e-9)


@pytest.mark.parametrize("data", [TALL, WIDE])
def test_all_of_them(data: Interactions) -> None:
    found = spectrum(data)
    values = np.linalg.svd(dense(data), compute_uv=False)
    np.testing.assert_allclose(found.values, values[: found.values.size], rtol=1e-9)
    assert np.all(values[found.values.size :] < 1e-6)
    product = found.vectors.T @ found.vectors
    np.testing.assert_allclose(product, np.eye(found.values.size), atol=1e-8)


def test_no_more_factors_than_the_rank() -> None:
    data = Interactions.from_arrays([0, 0, 1, 1, 2], [0, 1, 0, 1, 2])
    model = PureSVD(n_factors=64).fit(data)
    assert model.item_factors_.shape == (3, 2)
    np.testing.assert_allclose(scores(model), dense(data), atol=1e-6)


@pytest.mark.parametrize("data", [TALL, WIDE])
def test_pure_svd_is_the_nearest_of_its_rank(data: Interactions) -> None:
    left, values, right = np.linalg.svd(dense(data), full_matrices=False)
    expected = (left[:, :5] * values[:5]) @ right[:5]
    np.testing.assert_allclose(scores(PureSVD(n_factors=5).fit(data)), expected, atol=3e-6)


@pytest.mark.parametrize("regularization", [0.0, 2.0, 6.0])
def test_mf_makes_the_gradient_vanish(regularization: float) -> None:
    """Of ‖X − PQᵀ‖² + λ(‖P‖² + ‖Q‖²) at the balanced P and Q, in both (003, equation 72)."""
    X, n = dense(TALL), 8
    found = spectrum(TALL, n)
    model = MF(n_factors=n, regularization=regularization).fit(TALL)
    root = np.sqrt(np.maximum(0, found.values - regularization))
    P = X @ found.vectors / found.values * root
    Q = found.vectors * root
    np.testing.assert_allclose(scores(model), P @ Q.T, atol=3e-6)
    gradients = (P @ Q.T - X) @ Q + regularization * P, (P @ Q.T - X).T @ P + regularization * Q
    for gradient in gradients:
        assert np.abs(gradient).max() < 1e-9


def test_mf_has_no_negative_gains() -> None:
    assert spectrum(TALL, 60).values.min() < 6
    assert MF(n_factors=60, regularization=6).fit(TALL).gains_.min() == 0


@pytest.mark.parametrize("regularization", [0.0, 30.0])
def test_lrr_of_full_rank_solves_the_normal_equations(regularization: float) -> None:
    """(XᵀX + λI)·W = XᵀX (003, equation 68 before the rank is cut)."""
    X = dense(TALL)
    model = LRR(n_factors=60, regularization=regularization).fit(TALL)
    V = spectrum(TALL).vectors
    W = (V * model.gains_) @ V.T
    residual = (X.T @ X + regularization * np.eye(60)) @ W - X.T @ X
    assert np.abs(residual).max() < 1e-9
    np.testing.assert_allclose(scores(model), X @ W, atol=2e-5)


def test_lrr_is_the_best_of_its_rank() -> None:
    """No W near it with the same rank, and none of many at random, has a smaller objective."""
    X, n, penalty = dense(TALL), 4, 25.0
    rng = np.random.default_rng(0)
    model = LRR(n_factors=n, regularization=penalty).fit(TALL)
    V = spectrum(TALL, n).vectors

    def objective(A: np.ndarray, B: np.ndarray) -> float:
        W = A @ B.T
        return float(np.sum((X - X @ W) ** 2) + penalty * np.sum(W**2))

    best = objective(V * model.gains_, V)
    for scale in (1e-4, 1e-2, 1.0):
        for _ in range(20):
            A = V * model.gains_ + scale * rng.normal(size=V.shape)
            B = V + scale * rng.normal(size=V.shape)
            assert objective(A, B) > best


def test_lrr_with_a_penalty_for_each_factor() -> None:
    each = [3.0, 40.0, 5.0]
    model = LRR(n_factors=3, regularization=np.array(each)).fit(TALL)
    squares = spectrum(TALL, 3).values ** 2
    np.testing.assert_allclose(model.gains_, squares / (squares + each), rtol=1e-12)
    alike = LRR(n_factors=3, regularization=[7.0, 7.0, 7.0]).fit(TALL)
    np.testing.assert_array_equal(
        scores(alike), scores(LRR(n_factors=3, regularization=7).fit(TALL))
    )


def test_one_decomposition_serves_all() -> None:
    """003, Algorithm 2."""
    found = spectrum(TALL, 20)
    for n in (5, 20):
        model = LRR(n_factors=n, regularization=9.0)
        again = LRR(n_factors=n, regularization=9.0).fit_from(found, TALL)
        np.testing.assert_allclose(scores(again), scores(model.fit(TALL)), atol=1e-6)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PureSVD(n_factors=0), r"`n_factors`.*\b0\b"),
        (lambda: MF(regularization=-1), r"`regularization`.*-1\b"),
        (lambda: LRR(regularization=-1), r"`regularization`.*-1\b"),
        (
            lambda: LRR(n_factors=3, regularization=[1.0, 2.0]),
            r"`regularization`.*\b3\b.*\b2\b",
        ),
        (
            lambda: LRR(n_factors=2, regularization=[1.0, -2.0]),
            r"`regularization`.*1 of 2.*regularization\[1\] = -2\.0\b",
        ),
        (
            lambda: PureSVD().fit(TALL.select(np.zeros(TALL.n_interactions, bool))),
            r"`interactions`.*empty",
        ),
    ],
)
def test_bad_settings(make: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()  # type: ignore[operator]
