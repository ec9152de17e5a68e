"""What tests, intervals and probabilities promise, counted."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from fullrank.designs import RankGrid
from fullrank.inference.comparison.compare import compare
from fullrank.inference.statistics.hypothesis_tests import holm, paired_test
from fullrank.inference.statistics.means import mean_interval
from fullrank.inference.statistics.proportions import hoeffding, wald, wilson
from fullrank.metrics import parse
from fullrank.samples import simulate

pytestmark = [pytest.mark.slow, pytest.mark.verify]

N = 2000


def ranks_of(random: np.random.Generator, n_users: int, shift: float = 0.0) -> np.ndarray:
    """Ranks of two models on the same users: alike, each with noise of its own; (2, n_users)."""
    taste = random.normal(4.5, 1.6, n_users)
    own = random.normal(0.0, 0.8, (2, n_users))
    log_rank = taste + own - np.array([[shift], [0.0]])
    return np.clip(np.rint(np.exp(log_rank)), 1, N).astype(np.int64)


@pytest.mark.parametrize("n", [40, 200, 1000])
@pytest.mark.parametrize("share", [0.02, 0.05, 0.3])
def test_wilson_covers_on_average(n: int, share: float) -> None:
    """Exactly, by the binomial: no simulation. On average over nearby shares, as it promises."""
    hits = np.arange(n + 1)
    ends = np.array([wilson(h, n) for h in hits])
    shares = share * np.linspace(0.8, 1.25, 46)
    cover = [
        stats.binom.pmf(hits, n, p)[(ends[:, 0] <= p) & (p <= ends[:, 1])].sum() for p in shares
    ]
    assert 0.93 <= np.mean(cover) <= 0.97
    assert min(cover) > 0.86


def test_wald_does_not_with_few_hits() -> None:
    hits = np.arange(101)
    ends = np.array([wald(h, 100) for h in hits])
    inside = (ends[:, 0] <= 0.02) & (ends[:, 1] >= 0.02)
    assert stats.binom.pmf(hits, 100, 0.02)[inside].sum() < 0.90


def test_hoeffding_always_covers() -> None:
    hits = np.arange(201)
    ends = np.array([hoeffding(h / 200, 200) for h in hits])
    for p in np.linspace(0.005, 0.995, 67):
        inside = (ends[:, 0] <= p) & (ends[:, 1] >= p)
        assert stats.binom.pmf(hits, 200, p)[inside].sum() >= 0.95


def test_t_covers_with_thirty_hits() -> None:
    """NDCG@10 of 1,000 users of whom some fifty hit: 2,000 runs, within 93 to 97 %."""
    random = np.random.default_rng(0)
    population = parse("ndcg@10").weights(ranks_of(random, 400_000)[0], N)
    covered, enough = 0, 0
    for _ in range(2000):
        found = mean_interval(random.choice(population, 1000))
        low, high = found.confidence_interval
        enough += not found.few_hits
        covered += low <= population.mean() <= high
    assert enough > 1990
    assert 0.93 <= covered / 2000 <= 0.97


def test_a_known_population_is_covered() -> None:
    """400 of 1,000 users drawn: without the correction the interval would cover 98.9 %."""
    random = np.random.default_rng(1)
    population = parse("recall@100").weights(ranks_of(random, 1000)[0], N)
    for method in ("t", "wilson"):
        covered = 0
        for _ in range(2000):
            x = random.choice(population, 400, replace=False)
            low, high = mean_interval(x, uncertainty=method, population=1000).confidence_interval
            covered += low <= population.mean() <= high
        assert 0.93 <= covered / 2000 <= 0.97


@pytest.mark.parametrize(
    ("test", "runs", "n_resamples"),
    [("t", 2000, 1), ("z", 2000, 1), ("randomization", 1000, 199), ("bootstrap", 1000, 199),
     ("sign", 2000, 1), ("wilcoxon", 500, 1)],
)  # fmt: skip
def test_under_the_null_five_percent_are_rejected(test: str, runs: int, n_resamples: int) -> None:
    random = np.random.default_rng(2)
    rejected = 0
    for _ in range(runs):
        ranks = ranks_of(random, 500)
        values = parse("ndcg@50").weights(ranks, N)
        found = paired_test(values[0] - values[1], test=test, n_resamples=n_resamples, rng=random)
        rejected += found.p_value[0] <= 0.05
    spread = np.sqrt(0.05 * 0.95 / runs)
    assert (
        0.05 - 3.5 * spread
        <= rejected / runs
        <= 0.05
        + 3.5 * spread
        + 0.01
        * (
            test == "bootstrap"  # known to be a little bold
        )
    )


@pytest.mark.parametrize("test", ["sign", "wilcoxon"])
def test_sign_and_rank_tests_reject_where_means_are_equal(test: str) -> None:
    """One model gains much for few users and loses a little for many; the mean is the same."""
    random = np.random.default_rng(3)
    rejected = {"t": 0, test: 0}
    for _ in range(200):
        d = np.where(random.random(5000) < 0.25, 0.3, -0.1)
        for name in rejected:
            rejected[name] += paired_test(d, test=name).p_value[0] <= 0.05
    assert rejected["t"] <= 22
    assert rejected[test] == 200


def test_holm_keeps_the_family() -> None:
    """Three models that are alike, three metrics: a false call in at most 5 % of 1,000 runs."""
    random = np.random.default_rng(4)
    alarms = 0
    for _ in range(1000):
        taste = random.normal(4.5, 1.6, 400)
        ranks = np.exp(taste + random.normal(0, 0.8, (3, 400))).clip(1, N).round()
        columns = [
            parse(metric).weights(ranks[i], N) - parse(metric).weights(ranks[j], N)
            for i, j in ((0, 1), (0, 2), (1, 2))
            for metric in ("ndcg@20", "recall@20", "recall@100")
        ]
        alarms += holm(paired_test(np.column_stack(columns)).p_value).min() < 0.05
    assert 0.01 < alarms / 1000 <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 1000)


def test_the_probability_of_the_named_winner_is_right() -> None:
    """Of the runs that give their winner about p, about p name the true one.

    True values are spread over several standard errors, as the flat prior has it.
    """
    random = np.random.default_rng(5)
    stated, right = [], []
    for _ in range(1500):
        truth = random.normal(0.0, 0.02, 3)
        shared = random.normal(0.0, 0.2, 300)
        values = truth[:, None] + shared + random.normal(0.0, 0.1, (3, 300))
        results = {str(i): {"ndcg@10": one} for i, one in enumerate(values)}
        found = compare(results, "ndcg@10", paired=True, rng=random)
        named = int(np.argmax(found.p_best[:, 0]))
        stated.append(found.p_best[named, 0])
        right.append(named == int(np.argmax(truth)))
    stated, right = np.array(stated), np.array(right)
    for low, high in ((0.3, 0.6), (0.6, 0.8), (0.8, 0.95), (0.95, 1.01)):
        inside = (stated >= low) & (stated < high)
        n = int(inside.sum())
        assert n >= 100
        p = stated[inside].mean()
        # three standard errors, and the prior is not quite flat
        assert abs(right[inside].mean() - p) < 3 * np.sqrt(p * (1 - p) / n) + 0.03


def test_differences_of_adaptive_samples_cover_the_true_difference() -> None:
    """Users and items sampled, EM estimates, 150 runs: 95 % intervals for the population."""
    random = np.random.default_rng(6)
    population = ranks_of(random, 300_000, shift=0.15)
    truth = np.subtract(*(parse("recall@50").weights(one, N).mean() for one in population))
    covered, p_best = 0, []
    grid = RankGrid.default(N, tail=60)
    for _ in range(150):
        users = random.integers(300_000, size=1000)
        samples = {
            name: simulate(
                one[users],
                n_items=N,
                design="adaptive:levels=25/100/400",
                user=np.arange(1000),
                rng=random,
            )
            for name, one in zip("ab", population, strict=True)
        }
        found = compare(samples, "recall@50", method="MLE", grid=grid, rng=random)
        low, high = found.differences[0].confidence_interval
        covered += low <= truth <= high
        p_best.append(found.p_best[0, 0])
    assert 0.9 <= covered / 150 <= 0.99  # 95 % ± 1.8 % a standard error
    assert np.mean(np.array(p_best) > 0.5) == pytest.approx(np.mean(p_best), abs=0.12)
