"""The linear models beside scikit-learn's, which solve the same problems in another way."""

import numpy as np
import pytest

from fullrank.data import simulate
from fullrank.models import SLIM, PureSVD

DATA = simulate(n_users=700, n_items=620, mean_interactions=30)


@pytest.mark.parametrize("n_factors", [20, 100])
def test_pure_svd(n_factors: int) -> None:
    """TruncatedSVD by ARPACK; 20 factors of 620 are ARPACK's here too, 100 are not."""
    pytest.importorskip("sklearn")
    from sklearn.decomposition import TruncatedSVD

    other = TruncatedSVD(n_factors, algorithm="arpack", random_state=0)
    users = other.fit_transform(DATA.matrix(np.float64))
    scores = PureSVD(n_factors=n_factors).fit(DATA).scorer().scores(np.arange(DATA.n_users))
    # float32 factors: each of the products of size ≤ 1 is off by about 2⁻²⁴
    np.testing.assert_allclose(scores, users @ other.components_, rtol=0, atol=1e-6)


@pytest.mark.parametrize(("l1", "regularization"), [(2.0, 10.0), (10.0, 100.0), (0.5, 500.0)])
def test_slim_columns(l1: float, regularization: float) -> None:
    """ElasticNet(positive=True) divides the squared error by the number of users."""
    pytest.importorskip("sklearn")
    from sklearn.linear_model import ElasticNet

    model = SLIM(l1=l1, regularization=regularization, tolerance=1e-7).fit(DATA)
    weights = model.weights_.toarray()
    features = DATA.matrix(np.float64).toarray()
    for item in range(0, DATA.n_items, 31):
        other = ElasticNet(
            alpha=(l1 + regularization) / DATA.n_users,
            l1_ratio=l1 / (l1 + regularization),
            positive=True,
            fit_intercept=False,
            tol=1e-9,
            max_iter=100_000,
        )
        without = features.copy()
        without[:, item] = 0
        other.fit(without, features[:, item])
        np.testing.assert_allclose(weights[:, item], other.coef_, rtol=0, atol=2e-6)


def test_the_test_can_fail() -> None:
    """The tolerances are far below what the models differ by."""
    scores = [
        PureSVD(n_factors=n).fit(DATA).scorer().scores(np.arange(DATA.n_users)) for n in (19, 20)
    ]
    assert np.abs(scores[0] - scores[1]).max() > 0.1
    weights = [SLIM(l1=2, regularization=r).fit(DATA).weights_.toarray() for r in (10, 10.1)]
    assert np.abs(weights[0] - weights[1]).max() > 1e-4
