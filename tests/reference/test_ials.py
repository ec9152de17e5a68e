"""iALS beside `implicit`, and on two data sets of the papers.

Hu et al.'s loss L (observed pairs with confidence κ and target 1, others with 1 and 0, λ′ on all
norms) is that of IALS at ν = 0: with κ = 1 + 1/α₀, λ′ = λ(1 + α₀)/α₀ and factors √(1 + α₀) times as
large, the loss of IALS is α₀/(1 + α₀)²·L + n·α₀/(1 + α₀), n the number of interactions.
"""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from fullrank.data import Interactions, read_split, simulate
from fullrank.models import IALS
from fullrank.ranking import rank

ALPHA, LAMBDA, N_FACTORS = 0.1, 0.5, 16
CONFIDENCE, THEIR_LAMBDA = 1 + 1 / ALPHA, LAMBDA * (1 + ALPHA) / ALPHA


@pytest.fixture(scope="module")
def data() -> Interactions:
    return simulate(n_users=400, n_items=250, mean_interactions=25)


@pytest.fixture(scope="module")
def peer(data: Interactions) -> Any:
    """implicit's model after 60 iterations of exact solutions."""
    als = pytest.importorskip("implicit.cpu.als")
    with warnings.catch_warnings():  # about the threads of BLAS
        warnings.simplefilter("ignore")
        model = als.AlternatingLeastSquares(
            factors=N_FACTORS,
            regularization=THEIR_LAMBDA,
            alpha=CONFIDENCE,
            iterations=60,
            use_cg=False,
            random_state=0,
            num_threads=1,
        )
        model.fit(csr_matrix(data.matrix(np.float32)), show_progress=False)
    return model


def ours(**settings: Any) -> IALS:
    return IALS(
        n_factors=N_FACTORS,
        regularization=LAMBDA,
        unobserved_weight=ALPHA,
        frequency_scaling=0.0,
        **settings,
    )


def with_factors_of(peer: Any, data: Interactions) -> IALS:
    model, scale = ours(), np.float32(np.sqrt(1 + ALPHA))
    model.user_factors_, model.item_factors_ = peer.user_factors / scale, peer.item_factors / scale
    model.interactions_ = data
    return model


def test_the_objective_is_that_of_implicit(peer: Any, data: Interactions) -> None:
    """Its loss is divided by the sum of all weights."""
    from implicit.cpu.als import calculate_loss

    matrix = csr_matrix(data.matrix(np.float32)) * np.float32(CONFIDENCE)
    mean = calculate_loss(matrix, peer.user_factors, peer.item_factors, THEIR_LAMBDA, 1)
    n = data.n_interactions
    theirs = mean * (n * CONFIDENCE + data.n_users * data.n_items - n)
    expected = ALPHA / (1 + ALPHA) ** 2 * theirs + n * ALPHA / (1 + ALPHA)
    assert with_factors_of(peer, data).objective() == pytest.approx(expected, rel=1e-5)


def test_both_reach_the_same_objective(peer: Any, data: Interactions) -> None:
    """Two starts, of which each may end in a minimum of its own: near each other, they do."""
    theirs = with_factors_of(peer, data).objective()
    assert ours(epochs=60).fit(data).objective() == pytest.approx(theirs, rel=2e-3)
    assert ours(epochs=1).fit(data).objective() > 1.005 * theirs


def test_the_users_are_those_of_implicit(peer: Any, data: Interactions) -> None:
    """For the items of implicit, the users that implicit makes of the same histories."""
    model = with_factors_of(peer, data)
    folded = peer.recalculate_user(
        np.arange(data.n_users), csr_matrix(data.matrix(np.float32))
    ) / np.sqrt(1 + ALPHA)
    np.testing.assert_allclose(
        model.fold_in(data), folded, rtol=0, atol=2e-5 * np.abs(folded).max()
    )


@pytest.mark.verify
@pytest.mark.slow
def test_ml_1m(data_file: Callable[[str], Path]) -> None:
    """Training items kept: 90 % of the Recall@10 that AAAI 2021 prints for ALS, 24.17 per mille.

    The settings are the best of docs/studies/ml1m_ials.md.
    """
    split = read_split(data_file("ml-1m.parquet"))
    model = IALS(n_factors=64, unobserved_weight=0.003, regularization=0.001, epochs=6)
    found = rank(model.fit(split.train), split.test).metrics("recall@10")
    assert found["recall@10"] > 0.9 * 0.02417


@pytest.mark.verify
@pytest.mark.slow
def test_gowalla(data_file: Callable[[str], Path]) -> None:
    """Training items excluded, several targets: what 003, Table 13, prints for iALS."""
    split = read_split(data_file("gowalla.parquet"))
    model = IALS(n_factors=64, unobserved_weight=0.01, regularization=0.003, epochs=6)
    ranks = rank(model.fit(split.train), split.test, exclude=split.train)
    found = ranks.metrics("recall@20, ndcg@20")
    assert found["recall@20"] > 0.1388
    assert found["ndcg@20"] > 0.1224
