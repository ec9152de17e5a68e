import numpy as np
import pytest

from fullrank.data import Interactions, simulate
from fullrank.errors import FullrankWarning, InputError
from fullrank.models import SLIM

DATA = simulate(n_users=300, n_items=80, mean_interactions=14)


def violations(model: SLIM, data: Interactions) -> np.ndarray:
    """How far each weight is from the optimality conditions, in units of the item's users."""
    matrix = data.matrix(np.float64).toarray()
    gram = matrix.T @ matrix
    weights = model.weights_.toarray().astype(np.float64)
    slope = gram - gram @ weights - model.regularization * weights - model.l1
    far = np.where(weights > 0, np.abs(slope), np.maximum(slope, 0))
    np.fill_diagonal(far, 0)
    return far / np.maximum(np.diagonal(gram), 1)


@pytest.mark.parametrize("l1", [0.0, 0.5, 4.0])
@pytest.mark.parametrize("regularization", [1.0, 30.0])
def test_kkt_conditions(l1: float, regularization: float) -> None:
    model = SLIM(l1=l1, regularization=regularization, tolerance=1e-6).fit(DATA)
    weights = model.weights_
    assert weights.dtype == np.float32
    assert weights.has_canonical_format
    assert weights.nnz > 0
    assert weights.data.min() > 0
    assert not weights.diagonal().any()
    # beside the tolerance, half a unit in the last place of float32 weights in each term
    assert violations(model, DATA).max() < 1e-6 + 2.0**-23 * (80 + regularization)


def test_looser_is_farther_but_within_its_tolerance() -> None:
    tight, loose = (
        violations(SLIM(l1=1, regularization=5, tolerance=t).fit(DATA), DATA).max()
        for t in (1e-6, 1e-2)
    )
    assert tight < 2e-6 < loose < 1.01e-2


def test_two_items_by_hand() -> None:
    """3 users each, 2 in common: w = (2 − l1)/(3 + λ)."""
    data = Interactions.from_arrays([0, 0, 1, 1, 2, 3], [0, 1, 0, 1, 0, 1])
    weights = SLIM(l1=0.5, regularization=1).fit(data).weights_.toarray()
    np.testing.assert_allclose(weights, [[0, 1.5 / 4], [1.5 / 4, 0]], rtol=1e-6)
    assert SLIM(l1=2, regularization=1).fit(data).weights_.nnz == 0


def test_items_that_no_weight_helps() -> None:
    data = Interactions.from_arrays([0, 0, 1], [0, 2, 0], item_ids=range(4))
    weights = SLIM(l1=0.1, regularization=1).fit(data).weights_.toarray()
    assert not weights[[1, 3]].any()
    assert not weights[:, [1, 3]].any()


def test_threads_change_nothing() -> None:
    one, two = (SLIM(l1=1, regularization=5, n_jobs=n).fit(DATA).weights_ for n in (1, 3))
    np.testing.assert_array_equal(one.toarray(), two.toarray())


def test_stopping_early_is_said() -> None:
    pattern = (
        r"of 80 columns did not converge in 2 sweeps; .* times the number of users of the item"
    )
    with pytest.warns(FullrankWarning, match=pattern):
        SLIM(l1=1, regularization=5, max_iterations=2).fit(DATA)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"regularization": -1}, r"`regularization`.*-1\b"),
        ({"l1": -1}, r"`l1`.*-1\b"),
        ({"tolerance": -1}, r"`tolerance`.*-1\b"),
        ({"max_iterations": 0}, r"`max_iterations`.*\b0\b"),
        ({"n_jobs": 0}, r"`n_jobs`.*\b0\b"),
    ],
)
def test_bad_settings(settings: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        SLIM(**settings)  # type: ignore[arg-type]
