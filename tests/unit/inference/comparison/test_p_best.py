import numpy as np
import pytest
from scipy import stats

from fullrank.inference.comparison.compare import compare, shares

RANDOM = np.random.default_rng(3)
BASE = RANDOM.random(500)
USERS = np.arange(500)


def model(lift: float, noise: float = 0.1, n: int = 500) -> dict[str, np.ndarray]:
    return {"ndcg@10": BASE[:n] + RANDOM.normal(lift, noise, n), "user": USERS[:n]}


TWO = {"a": model(0.01), "b": model(0.0)}
THREE = {"a": model(0.01), "b": model(0.005), "c": model(-0.1)}


def test_of_two_models_it_is_the_normal_tail_of_their_difference() -> None:
    d = TWO["a"]["ndcg@10"] - TWO["b"]["ndcg@10"]
    exact = stats.norm.cdf(d.mean() / stats.sem(d))
    found = compare(TWO, "ndcg@10", rng=0)
    assert found.p_best[0, 0] == pytest.approx(exact, abs=4 * 0.5 / np.sqrt(100_000))
    assert found.paired
    assert found.best("ndcg@10") == "a"


def test_of_three_it_is_the_normal_orthant() -> None:
    values = np.column_stack([one["ndcg@10"] for one in THREE.values()])
    mean, covariance = values.mean(axis=0), np.cov(values.T) / 500
    for i in range(3):
        others = np.delete(np.eye(3), i, axis=0)
        lead = np.eye(3)[i] - others
        # P(all leads > 0)
        exact = stats.multivariate_normal.cdf(
            lead @ mean, mean=np.zeros(2), cov=lead @ covariance @ lead.T
        )
        found = compare(THREE, "ndcg@10", rng=0).p_best[i, 0]
        assert found == pytest.approx(exact, abs=0.008)


def test_the_bootstrap_says_nearly_the_same() -> None:
    normal = compare(THREE, "ndcg@10", rng=0).p_best
    resampled = compare(THREE, "ndcg@10", test="bootstrap", n_resamples=4000, rng=0)
    assert resampled.p_best == pytest.approx(normal, abs=0.03)


@pytest.mark.parametrize("test", ["t", "bootstrap"])
def test_the_same_model_twice_shares_the_win(test: str) -> None:
    found = compare(
        {"a": TWO["a"], "again": TWO["a"], "b": model(-1.0)}, "ndcg@10", test=test, rng=0
    )
    assert found.p_best[:, 0] == pytest.approx([0.5, 0.5, 0.0])


def test_different_users_vary_by_themselves() -> None:
    a = {"ndcg@10": BASE[:200] + 0.02, "user": USERS[:200]}
    b = {"ndcg@10": BASE[200:], "user": USERS[200:]}
    found = compare({"a": a, "b": b}, "ndcg@10", rng=0)
    lead = a["ndcg@10"].mean() - b["ndcg@10"].mean()
    error = np.hypot(stats.sem(a["ndcg@10"]), stats.sem(b["ndcg@10"]))
    assert found.p_best[0, 0] == pytest.approx(stats.norm.cdf(lead / error), abs=0.02)
    assert not found.paired
    assert found.notes[0].startswith(
        "The users are not paired, because no user is in more than one"
    )


def test_shares_split_ties() -> None:
    draws = np.array([[1.0, 1.0, 0.0], [0.0, 2.0, 1.0], [3.0, 3.0, 3.0], [1.0, 0.0, 0.0]])
    first, second, third = 0.5 + 1 / 3 + 1, 0.5 + 1 + 1 / 3, 1 / 3
    assert shares(draws, 0.0) == pytest.approx([first / 4, second / 4, third / 4])


def test_probabilities_sum_to_one_and_a_seed_fixes_them() -> None:
    both = {name: one | {"recall@5": one["ndcg@10"] ** 2} for name, one in THREE.items()}
    found = compare(both, ["ndcg@10", "recall@5"], rng=1)
    assert found.p_best.sum(axis=0) == pytest.approx([1.0, 1.0])
    again = compare(both, ["ndcg@10", "recall@5"], rng=1)
    assert (found.p_best == again.p_best).all()
