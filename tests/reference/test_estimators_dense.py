"""Every estimator against its equation written out over all N ranks, on small catalogues."""

import numpy as np
import pytest
from scipy import optimize, stats

from fullrank.designs import Adaptive, Design, RankGrid, Uniform
from fullrank.estimators import bv, cls, mes, mle, mn, weighted_mle
from fullrank.estimators.system import possible_system
from fullrank.estimators.uniform import entropy, likelihood
from fullrank.metrics import parse
from fullrank.samples import RankSample, simulate

N_ITEMS, SIZE, USERS = 40, 8, 300
GRID = RankGrid.dense(N_ITEMS)
RANKS = np.arange(1, N_ITEMS + 1)


def draw(*, levels: tuple[int, ...] | None = None, replacement: bool = True) -> RankSample:
    true = np.minimum(np.random.default_rng(1).geometric(0.12, USERS), N_ITEMS)
    design: Design = Uniform(SIZE) if levels is None else Adaptive(levels=levels)
    return simulate(true, n_items=N_ITEMS, design=design.with_(replacement=replacement), rng=2)


def table(replacement: bool) -> np.ndarray:
    """P(r | R), N × n, from scipy (Jin et al. 2021, equation 16)."""
    x = np.arange(SIZE)
    if replacement:
        return stats.binom.pmf(x, SIZE - 1, ((RANKS - 1) / (N_ITEMS - 1))[:, None])
    return stats.hypergeom.pmf(x, N_ITEMS - 1, RANKS[:, None] - 1, SIZE - 1)


def shares(sample: RankSample) -> np.ndarray:
    """P̃(r), r = 1..n."""
    assert sample.rows is not None
    return np.bincount(sample.rows.rank, minlength=SIZE + 1)[1:] / USERS


@pytest.fixture(params=[True, False], ids=["with replacement", "without"])
def case(request: pytest.FixtureRequest) -> tuple[RankSample, np.ndarray, np.ndarray]:
    sample = draw(replacement=request.param)
    return sample, table(request.param), shares(sample)


@pytest.mark.parametrize("gamma", [0.01, 0.1, 1.0])
@pytest.mark.parametrize("metric", ["recall@3", "ndcg@10", "ap"])
def test_bv(case: tuple, gamma: float, metric: str) -> None:
    """Jin et al. 2021, equations 11 and 12, for the metric and with a uniform prior."""
    sample, kernel, observed = case
    prior = np.full(N_ITEMS, 1.0 / N_ITEMS)
    a = np.sqrt(prior)[:, None] * kernel
    b = np.sqrt(prior) * parse(metric).weights(RANKS, N_ITEMS)
    x = np.linalg.solve((1 - gamma) * a.T @ a + gamma * np.diag(prior @ kernel), a.T @ b)
    np.testing.assert_allclose(
        bv(sample, gamma=gamma, grid=GRID).metric(metric), observed @ x, rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize("prior", ["uniform", "mle", "mes"])
@pytest.mark.parametrize("metric", ["recall@3", "ndcg@10", "ap"])
def test_mn(case: tuple, prior: str, metric: str) -> None:
    """Li et al. 2023, equation 11."""
    sample, kernel, observed = case
    d = {
        "uniform": np.full(N_ITEMS, 1.0 / N_ITEMS),
        "mle": mle(sample, grid=GRID).mass,
        "mes": mes(sample, grid=GRID).mass,
    }[prior]
    lam = np.diag(kernel.sum(axis=0))
    g = kernel.T @ np.diag(d) @ kernel - kernel.T @ kernel / USERS + lam / USERS
    x = np.linalg.solve(g, kernel.T @ (d * parse(metric).weights(RANKS, N_ITEMS)))
    found = mn(sample, prior=prior, grid=GRID)
    np.testing.assert_allclose(found.metric(metric), observed @ x, rtol=1e-8, atol=1e-11)
    np.testing.assert_allclose(g @ np.ones(SIZE), kernel.T @ d, atol=1e-12)
    np.testing.assert_allclose(found.mass.sum(), 1.0, atol=1e-9)


def test_mn_minimises_its_objective(case: tuple) -> None:
    """L1 + L2 of Li et al. 2023 (equations 7 and 8), by the definition of a variance."""
    sample, kernel, _ = case
    b = parse("ndcg@5").weights(RANKS, N_ITEMS)

    def objective(x: np.ndarray) -> float:
        mean = kernel @ x
        variance = kernel @ x**2 - mean**2
        return float(((mean - b) ** 2).mean() + variance.sum() / USERS)

    best = optimize.minimize(objective, np.zeros(SIZE), method="BFGS", options={"gtol": 1e-10})
    np.testing.assert_allclose(
        mn(sample, grid=GRID).metric("ndcg@5"), shares(sample) @ best.x, rtol=1e-4
    )


def test_mle_is_em_over_users_and_ranks(case: tuple) -> None:
    """Jin et al. 2021, equation 20, user by user."""
    sample, kernel, _ = case
    rank = sample.rows.rank
    pi = np.full(N_ITEMS, 1.0 / N_ITEMS)
    for _ in range(30):
        joint = pi * kernel[:, rank - 1].T
        pi = (joint / joint.sum(axis=1, keepdims=True)).mean(axis=0)
    np.testing.assert_allclose(mle(sample, iterations=30, grid=GRID).mass, pi, atol=1e-13)


def test_adaptive_mle_is_em_over_users_with_their_own_sizes() -> None:
    """Li et al. 2023, equation 12 and below."""
    sample = draw(levels=(4, 8, 16, 32))
    assert np.unique(sample.sample_size).size > 2
    kernel = stats.binom.pmf(
        sample.rows.rank[:, None] - 1,
        sample.rows.sample_size[:, None] - 1,
        (RANKS - 1) / (N_ITEMS - 1),
    )
    pi = np.full(N_ITEMS, 1.0 / N_ITEMS)
    for _ in range(50):
        joint = pi * kernel
        pi = (joint / joint.sum(axis=1, keepdims=True)).mean(axis=0)
    np.testing.assert_allclose(mle(sample, grid=GRID).mass, pi, atol=1e-13)


def test_converged_mle_is_the_maximum(case: tuple) -> None:
    sample, kernel, observed = case
    found = mle(sample, tol=1e-9, grid=GRID).mass
    slope = kernel @ np.divide(observed, found @ kernel, out=np.zeros(SIZE), where=observed > 0)
    assert slope.max() <= 1.0 + 1e-9  # no rank would gain
    value = observed[observed > 0] @ np.log((found @ kernel)[observed > 0])
    pi = np.full(N_ITEMS, 1.0 / N_ITEMS)
    for _ in range(4_000):
        pi = pi * (
            kernel @ np.divide(observed, pi @ kernel, out=np.zeros(SIZE), where=observed > 0)
        )
    assert value >= observed[observed > 0] @ np.log((pi @ kernel)[observed > 0]) - 1e-12


def test_accelerated_steps_never_lose_likelihood(case: tuple) -> None:
    system = likelihood.observed_system(case[0], GRID)
    mass = likelihood.uniform(system)
    value = likelihood.log_likelihood(system, mass)
    for _ in range(40):
        first = likelihood.step(system, mass)
        second = likelihood.step(system, first)
        mass, new = likelihood.accelerated(system, mass, first, second, value)
        np.testing.assert_allclose(new, likelihood.log_likelihood(system, mass), atol=1e-12)
        assert new >= likelihood.log_likelihood(system, second) - 1e-15
        value = new


@pytest.mark.parametrize("weighting", ["weighted", "unweighted"])
def test_mes_is_the_maximum_of_the_primal(case: tuple, weighting: str) -> None:
    """Jin et al. 2021, equations 25-27, by a general solver over the simplex."""
    sample, kernel, observed = case
    eta = 0.01
    weight = observed if weighting == "weighted" else np.ones(SIZE)

    def loss(pi: np.ndarray) -> tuple[float, np.ndarray]:
        inside = np.maximum(pi, 1e-300)
        error = pi @ kernel - observed
        value = eta * (inside @ np.log(inside)) + weight @ error**2
        return value, eta * (np.log(inside) + 1) + 2 * kernel @ (weight * error)

    best = optimize.minimize(
        loss,
        np.full(N_ITEMS, 1.0 / N_ITEMS),
        jac=True,
        method="SLSQP",
        bounds=[(1e-12, 1.0)] * N_ITEMS,
        constraints={"type": "eq", "fun": lambda pi: pi.sum() - 1, "jac": np.ones_like},
        options={"ftol": 1e-15, "maxiter": 2000},
    )
    ours = mes(sample, eta=eta, weighting=weighting, grid=GRID).mass
    np.testing.assert_allclose(ours, best.x, atol=2e-6)
    assert loss(ours)[0] <= best.fun + 1e-12


@pytest.mark.parametrize("weighting", ["weighted", "unweighted"])
@pytest.mark.parametrize("eta", [0.1, 1e-3, 1e-6, 1e-9])
def test_mes_has_no_gradient_left(case: tuple, eta: float, weighting: str) -> None:
    system = possible_system(case[0], GRID)
    weights = system.observed if weighting == "weighted" else None
    solved = entropy.solve(system, eta, weights)
    assert solved.residual < 1e-8
    # π ∝ exp(Aλ) with λ = -(2/η) w (q - P̃): the stationarity of the primal
    height = system.table @ solved.multipliers
    likely = np.exp(height - height.max())
    np.testing.assert_allclose(solved.mass, likely / likely.sum(), atol=1e-12)
    weight = np.ones(SIZE) if weights is None else weights
    error = weight * (solved.mass @ system.table - system.observed)
    np.testing.assert_allclose(-0.5 * eta * solved.multipliers, error, atol=1e-8)


@pytest.mark.parametrize("metric", ["recall@3", "ndcg@10", "ap"])
def test_cls(case: tuple, metric: str) -> None:
    """Least squares over x_1 ≥ x_2 ≥ … ≥ x_n, by a bounded solver on the falls."""
    sample, kernel, observed = case
    falls = np.cumsum(kernel, axis=1)
    low = np.append(np.zeros(SIZE - 1), -np.inf)  # the last x may be negative
    b = parse(metric).weights(RANKS, N_ITEMS)
    best = optimize.lsq_linear(falls, b, bounds=(low, np.inf), method="bvls", tol=1e-14)
    x = np.cumsum(best.x[::-1])[::-1]
    np.testing.assert_allclose(cls(sample, metric, grid=GRID), observed @ x, rtol=1e-7)


@pytest.mark.parametrize("metric", ["ndcg", "ap"])
def test_weighted_mle_literal_is_equation_23(case: tuple, metric: str) -> None:
    sample, kernel, observed = case
    weight = parse(metric).shape(np.arange(1, SIZE + 1) / 5.0, N_ITEMS)
    counts = observed * weight / (observed @ weight)
    pi = np.full(N_ITEMS, 1.0 / N_ITEMS)
    for _ in range(100):
        pi = pi * (kernel @ np.divide(counts, pi @ kernel, out=np.zeros(SIZE), where=counts > 0))
    found = weighted_mle(sample, weight=metric, scale=5.0, form="literal", grid=GRID)
    np.testing.assert_allclose(found.mass, pi, atol=1e-12)


def test_weighted_mle_maximises_the_weighted_likelihood_of_the_tilted_family(case: tuple) -> None:
    """The weighted users have the density w(r) P(r) / Σ w P: EM must climb its likelihood."""
    sample, kernel, observed = case
    weight = parse("ndcg").shape(np.arange(1, SIZE + 1) / 10.0, N_ITEMS)
    counts = observed * weight / (observed @ weight)

    def value(pi: np.ndarray) -> float:
        tilted = (pi @ kernel) * weight
        return float(counts[counts > 0] @ np.log((tilted / tilted.sum())[counts > 0]))

    few, many = (weighted_mle(sample, iterations=i, grid=GRID).mass for i in (20, 2000))
    assert value(np.full(N_ITEMS, 1.0 / N_ITEMS)) < value(few) < value(many)
    rng = np.random.default_rng(0)
    for _ in range(50):  # nothing nearby is better
        other = many * np.exp(0.3 * rng.standard_normal(N_ITEMS))
        assert value(other / other.sum()) < value(many) + 1e-6


@pytest.mark.parametrize("replacement", [True, False])
def test_linear_estimators_of_adaptive_samples(replacement: bool) -> None:
    """With the outcomes (r, n) as columns, P(r, n | R) by following the levels draw by draw."""
    levels = (4, 8)
    sample = draw(levels=levels, replacement=replacement)
    columns = {}
    for r, n, chance in _two_levels(levels, replacement):
        columns[r, n] = columns.get((r, n), 0.0) + chance
    kernel = np.stack(list(columns.values()), axis=1)
    np.testing.assert_allclose(kernel.sum(axis=1), 1.0, atol=1e-12)
    pairs = list(zip(sample.rows.rank.tolist(), sample.rows.sample_size.tolist(), strict=True))
    observed = np.array([pairs.count(key) for key in columns]) / USERS
    d = np.full(N_ITEMS, 1.0 / N_ITEMS)
    g = 0.9 * kernel.T @ (d[:, None] * kernel) + 0.1 * np.diag(d @ kernel)
    expected = d * (kernel @ np.linalg.solve(g, observed))
    np.testing.assert_allclose(bv(sample, gamma=0.1, grid=GRID).mass, expected, atol=1e-10)


def _two_levels(levels: tuple[int, int], replacement: bool):
    first, second = levels
    p = (RANKS - 1) / (N_ITEMS - 1)
    for above in range(first):
        if replacement:
            start = stats.binom.pmf(above, first - 1, p)
        else:
            start = stats.hypergeom.pmf(above, N_ITEMS - 1, RANKS - 1, first - 1)
        if above > 0:
            yield above + 1, first, start
            continue
        for more in range(second - first + 1):
            if replacement:
                rest = stats.binom.pmf(more, second - first, p)
            else:  # the first draws all stood below
                rest = stats.hypergeom.pmf(
                    more, N_ITEMS - first, np.minimum(RANKS - 1, N_ITEMS - first), second - first
                )
            yield more + 1, second, start * rest
