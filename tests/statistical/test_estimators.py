"""Known truths: which estimators converge as users are added, and how well catalogues pool."""

import numpy as np
import pytest
from numpy.typing import NDArray

from fullrank import metrics
from fullrank.designs import RankGrid, Uniform, kernel
from fullrank.estimators import bv, cls, mes, mle, mn, weighted_mle
from fullrank.inference import estimate
from fullrank.samples import RankSample, simulate

pytestmark = [pytest.mark.slow, pytest.mark.verify]

# as many outcomes as ranks, so that the outcomes determine P(R)
TRUTH = np.array([0.30, 0.05, 0.25, 0.10, 0.20, 0.10])
GRID = RankGrid.dense(6)
USERS = (10**3, 10**5, 10**7, 10**9)


def errors(fit, replacement: bool, size: int) -> NDArray[np.float64]:
    """Root mean squared error of P(R) over 20 samples, for growing numbers of users."""
    table = kernel(np.arange(1, 7), sample_size=size, n_items=6, replacement=replacement)
    rng = np.random.default_rng(8)
    found = []
    for users in USERS:
        squares = [
            np.mean(
                (
                    fit(
                        RankSample.from_counts(
                            np.arange(1, size + 1),
                            rng.multinomial(users, TRUTH @ table),
                            sample_size=size,
                            n_items=6,
                            design=Uniform(replacement=replacement),
                        )
                    ).mass
                    - TRUTH
                )
                ** 2
            )
            for _ in range(20)
        ]
        found.append(np.sqrt(np.mean(squares)))
    return np.array(found)


CONSISTENT = {
    "converged MLE": lambda sample: mle(sample, tol=1e-10, grid=GRID),
    "weighted MLE": lambda sample: weighted_mle(sample, iterations=6_000, grid=GRID),
    "BV 0": lambda sample: bv(sample, gamma=0.0, grid=GRID),
    "MN": lambda sample: mn(sample, grid=GRID),
    "MN_MES": lambda sample: mn(sample, prior="mes", grid=GRID),
}
BIASED = {
    "BV 0.1": lambda sample: bv(sample, gamma=0.1, grid=GRID),
    "MES 0.1": lambda sample: mes(sample, eta=0.1, grid=GRID),
    "MLE, 10 steps": lambda sample: mle(sample, iterations=10, grid=GRID),
    "literal weighted MLE": lambda sample: weighted_mle(
        sample, form="literal", iterations=1_000, scale=1.0, grid=GRID
    ),
    "CLS": lambda sample: cls(sample, grid=GRID),
}


@pytest.mark.parametrize("name", CONSISTENT)
def test_consistent_estimators_converge(name: str) -> None:
    found = errors(CONSISTENT[name], True, 6)
    assert (found[1:] < 0.5 * found[:-1]).all(), found
    assert found[-1] < 2e-3, found


@pytest.mark.parametrize("name", BIASED)
def test_smoothers_keep_a_bias(name: str) -> None:
    found = errors(BIASED[name], True, 6)
    assert found[-1] > 5e-3, found
    assert found[-1] > 0.8 * found[-2], found


def test_smoothed_with_catalogues_of_the_users_own() -> None:
    rng = np.random.default_rng(5)
    pool = rng.integers(900, 1101, 2000)
    true = np.minimum(rng.geometric(0.01, 2000), pool)
    own = RankSample.from_ranks(
        1 + rng.hypergeometric(true - 1, pool - true, 99), sample_size=100, n_items=pool
    )
    exact = metrics.evaluate(true, "recall@50", n_items=1100)["recall@50"]
    found = estimate(own, method="smoothed", metrics="recall@50")["recall@50"]
    assert abs(found / exact - 1.0) < 0.05


def test_several_targets_from_adaptive_samples() -> None:
    """The mean over repeats lies at the exact metric, offset and rank being dependent."""
    rng = np.random.default_rng(0)
    number = rng.integers(1, 5, 1500)
    user = np.repeat(np.arange(1500), number)
    rank = np.concatenate([np.unique(rng.geometric(0.02, n * 9))[:n] for n in number])
    number = np.bincount(user)[user]
    offset = metrics.averages.offsets(rank, user)
    names = ("recall@20", "ndcg@20", "ap@20")
    exact = metrics.evaluate(rank, names, n_items=1000, user=user)
    found = []
    for seed in range(10):
        ranks, sizes = np.empty_like(rank), np.empty_like(rank)
        for n in np.unique(number):
            here = number == n
            drawn = simulate(
                (rank - offset)[here],
                n_items=int(1001 - n),
                design="adaptive:levels=25/50/100/400",
                rng=seed,
            )
            assert drawn.rows is not None
            ranks[here], sizes[here] = drawn.rows.rank, drawn.rows.sample_size
        sample = RankSample.from_ranks(
            ranks,
            sample_size=sizes,
            n_items=1000,
            design="adaptive:levels=25/50/100/400",
            user=user,
            n_targets=number,
            offset=offset,
        )
        result = estimate(sample, method="MLE", metrics=names)
        found.append([result[name] / exact[name] - 1.0 for name in names])
    assert (np.abs(np.mean(found, axis=0)) < 0.06).all(), np.mean(found, axis=0)
