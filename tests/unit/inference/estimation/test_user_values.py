import json

import numpy as np
import pytest

from fullrank.data import sample_users
from fullrank.errors import InputError
from fullrank.inference.estimation.user_values import user_means
from fullrank.inference.statistics.means import mean_interval
from fullrank.ranking import rank
from fullrank.scorers import FactorScorer

RANDOM = np.random.default_rng(0)
SCORER = FactorScorer(RANDOM.normal(size=(300, 4)), RANDOM.normal(size=(40, 4)))
LABELS = np.repeat(["new", "old"], [100, 200])
CHOSEN = sample_users(300, 90, strata=LABELS, allocation={"new": 60, "old": 30}, rng=0)
RANKS = rank(SCORER, (CHOSEN.user_rows, CHOSEN.user_rows % 40), weight=CHOSEN.weight)


def test_shares_take_wilson_and_others_t() -> None:
    found = user_means(RANKS, "recall@10, ndcg@10, hr@5", users=CHOSEN)
    assert [one.uncertainty for one in found.means.values()] == ["wilson", "t", "wilson"]
    hits = (RANKS.ranks <= 10).astype(float)
    assert found["recall@10"].to_dict() == (
        mean_interval(hits, uncertainty="wilson", users=CHOSEN).to_dict()
    )
    # the same point as the weighted mean of the ranks
    assert found["ndcg@10"].value == pytest.approx(RANKS.metrics("ndcg@10")["ndcg@10"])
    assert {
        one.uncertainty for one in user_means(RANKS, uncertainty="hoeffding").means.values()
    } == {"hoeffding"}


def test_several_targets_are_no_shares() -> None:
    users = np.repeat(np.arange(50), 2)
    ranks = rank(SCORER, (users, np.tile([3, 9], 50)))
    found = user_means(ranks, "recall@10", population=300)
    assert found["recall@10"].uncertainty == "t"
    assert found["recall@10"].n_users == 50
    assert found["recall@10"].population == 300
    assert found["recall@10"].value == pytest.approx(ranks.metrics("recall@10")["recall@10"])


def test_without_the_sample_its_weights_count() -> None:
    found = user_means(RANKS, "ndcg@10")
    assert found["ndcg@10"].value == pytest.approx(RANKS.metrics("ndcg@10")["ndcg@10"])
    assert found["ndcg@10"].population is None


def test_what_it_shows(need) -> None:
    found = user_means(RANKS, "recall@10, ndcg@10", users=CHOSEN)
    one = found["ndcg@10"]
    assert str(found).splitlines()[1] == f"ndcg@10    {one}"
    assert found.to_markdown().splitlines()[3].startswith(f"| ndcg@10 | {one.value:.4f} |")
    assert f"ndcg@10 & {one.value:.4f} & " in found.to_latex()
    assert f"<td>{one.value:.4f}</td>" in found._repr_html_()
    content = json.loads(json.dumps(found.to_dict()))
    assert content["metrics"][1]["low"] == one.confidence_interval.low
    need("pandas")
    assert found.to_frame()["value"].tolist()[1] == one.value


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            {"users": sample_users(300, 80, rng=0)},
            r"`users`.*\b90\b.*\b80\b",
        ),
        (
            {"uncertainty": "exact"},
            r"`uncertainty`.*'auto', 't', 'normal', 'wilson', 'hoeffding'.*'exact'",
        ),
    ],
)
def test_errors_say_what_is_wrong(arguments, says: str) -> None:
    with pytest.raises(InputError, match=says):
        user_means(RANKS, "recall@10", **arguments)


def test_samples_of_items_have_their_own_estimates() -> None:
    with pytest.raises(InputError, match=r"`ranks`.*ExactRanks.*\blist\b"):
        user_means([1, 2, 3])
