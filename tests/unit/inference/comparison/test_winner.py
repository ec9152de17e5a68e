import json

import numpy as np
import pytest
from scipy import stats

from fullrank.errors import InputError
from fullrank.inference.comparison.compare import compare
from fullrank.inference.comparison.winner import shares, winner
from fullrank.inference.comparison.winner_result import Winner
from fullrank.samples import RankSample

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
    found = winner(TWO, "ndcg@10", rng=0)
    assert found["ndcg@10"]["a"] == pytest.approx(exact, abs=4 * 0.5 / np.sqrt(100_000))
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
        found = winner(THREE, "ndcg@10", rng=0).probability[i, 0]
        assert found == pytest.approx(exact, abs=0.008)


def test_the_bootstrap_says_nearly_the_same() -> None:
    normal = winner(THREE, "ndcg@10", rng=0).probability
    resampled = winner(THREE, "ndcg@10", how="bootstrap", n_draws=4000, rng=0)
    assert resampled.probability == pytest.approx(normal, abs=0.03)
    assert (resampled.how, resampled.n_draws) == ("bootstrap", 4000)


@pytest.mark.parametrize("how", ["normal", "bootstrap"])
def test_the_same_model_twice_shares_the_win(how: str) -> None:
    found = winner({"a": TWO["a"], "again": TWO["a"], "b": model(-1.0)}, "ndcg@10", how=how, rng=0)
    assert found.probability[:, 0] == pytest.approx([0.5, 0.5, 0.0])


@pytest.mark.parametrize("how", ["normal", "bootstrap"])
def test_different_users_vary_by_themselves(how: str) -> None:
    a = {"ndcg@10": BASE[:200] + 0.02, "user": USERS[:200]}
    b = {"ndcg@10": BASE[200:], "user": USERS[200:]}
    found = winner({"a": a, "b": b}, "ndcg@10", how=how, n_draws=20_000, rng=0)
    lead = a["ndcg@10"].mean() - b["ndcg@10"].mean()
    error = np.hypot(stats.sem(a["ndcg@10"]), stats.sem(b["ndcg@10"]))
    assert found["ndcg@10"]["a"] == pytest.approx(stats.norm.cdf(lead / error), abs=0.02)
    assert not found.paired
    assert found.notes[0].startswith("Compared as measured on different users: no user is in two")


def test_shares_split_ties() -> None:
    draws = np.array([[1.0, 1.0, 0.0], [0.0, 2.0, 1.0], [3.0, 3.0, 3.0], [1.0, 0.0, 0.0]])
    first, second, third = 0.5 + 1 / 3 + 1, 0.5 + 1 + 1 / 3, 1 / 3
    assert shares(draws, 0.0) == pytest.approx([first / 4, second / 4, third / 4])


def test_probabilities_sum_to_one_and_a_seed_fixes_them() -> None:
    both = {name: one | {"recall@5": one["ndcg@10"] ** 2} for name, one in THREE.items()}
    found = winner(both, ["ndcg@10", "recall@5"], rng=1)
    assert found.probability.sum(axis=0) == pytest.approx([1.0, 1.0])
    again = winner(both, ["ndcg@10", "recall@5"], rng=1)
    assert (found.probability == again.probability).all()


def _shown() -> Winner:
    return winner({"a<b": TWO["a"], "b_2": TWO["b"]}, "ndcg@10", rng=0)


def test_what_a_result_shows() -> None:
    found = _shown()
    p, q = (f"{x:.2f}" for x in found.probability[:, 0])
    assert str(found).splitlines() == [
        "P(best)       ndcg@10",
        f"a<b              {p}",
        f"b_2              {q}",
    ]
    assert found.to_markdown().splitlines()[2] == f"| a<b | {p} |"
    assert rf"b\_2 & {q} \\" in found.to_latex()
    assert "<td>a&lt;b</td>" in found._repr_html_()
    content = json.loads(json.dumps(found.to_dict()))
    assert (content["format"], content["kind"]) == (1, "Winner")
    assert content["probabilities"][0]["p_best"] == found.probability[0, 0]
    assert found.to_arrow().num_rows == 2


def test_what_pandas_and_matplotlib_show(need) -> None:
    need("pandas"), need("matplotlib")
    found = _shown()
    assert found.to_frame()["p_best"].tolist() == found.probability[:, 0].tolist()
    assert len(found.plot().patches) == 2


def sampled(size: int, shared: bool = False) -> RankSample:
    rank = np.random.default_rng(size).integers(1, size + 1, 500)
    return RankSample.from_ranks(rank, sample_size=size, n_items=900, user=USERS)


def test_naive_says_what_it_is_worth() -> None:
    samples = {"a": sampled(40), "b": sampled(40), "c": sampled(40)}
    found = winner(samples, "ndcg@10", method="naive", rng=0)
    assert found.notes == compare(samples, "ndcg@10", method="naive", rng=0).notes
    assert found.notes[0].startswith("Not a valid comparison: sampled ndcg@10")
    assert not any("valid comparison" in note for note in winner(samples, "ndcg@10", rng=0).notes)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            {"results": {"a": sampled(40), "b": sampled(30)}, "method": "naive"},
            r'`method`.*"naive".*same catalogue',
        ),
        (
            {"results": {"a": sampled(40, shared=True), "b": sampled(40)}},
            r"`results`.*users of a.*independent",
        ),
        (
            {"results": {"a": TWO["a"]}},
            r"`results`.*two models",
        ),
        (
            {"results": TWO, "how": "exact"},
            r"`how`.*'normal', 'bootstrap'.*'exact'",
        ),
        ({"results": TWO, "n_draws": 0}, r"`n_draws`.*\b0\b"),
    ],
)
def test_errors_say_what_is_wrong(arguments, says: str) -> None:
    with pytest.raises(InputError, match=says):
        winner(metrics="ndcg@10", **arguments)


def test_only_metrics_asked_for_are_there() -> None:
    with pytest.raises(InputError, match=r"`metric`.*'ndcg@10'.*'recall@5'"):
        _shown()["recall@5"]
