"""Cornac's recommenders, ranked by `fr.rank(model, …)` as by their own `score`."""

from __future__ import annotations

import numpy as np
import pytest

import fullrank as fr
from fullrank.errors import InputError, NotFittedError
from fullrank.scorers import CallableScorer, FactorScorer
from tests.integrations.own_scores import check_counts, known, made_split, ratings, table

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning:cornac"),
]


@pytest.fixture(scope="module", autouse=True)
def cornac(package):
    return package("cornac", "cornac")


def made(kind):
    from cornac import models

    seed = {"seed": 1, "verbose": False}
    return {
        "MF": lambda: models.MF(k=6, max_iter=10, num_threads=1, **seed),
        "MF without biases": lambda: models.MF(k=6, max_iter=10, use_bias=False, **seed),
        "SVD": lambda: models.SVD(k=6, max_iter=10, num_threads=1, **seed),
        "BPR": lambda: models.BPR(k=6, max_iter=20, num_threads=1, **seed),
        "WBPR": lambda: models.WBPR(k=6, max_iter=20, num_threads=1, **seed),
        "PMF": lambda: models.PMF(k=4, max_iter=20, **seed),
        "NMF": lambda: models.NMF(k=4, max_iter=20, num_threads=1, **seed),
        "HPF": lambda: models.HPF(k=4, max_iter=10, **seed),
        "EASE": lambda: models.EASE(verbose=False),
        "MostPop": lambda: models.MostPop(),
        "BaselineOnly": lambda: models.BaselineOnly(max_iter=5, num_threads=1, **seed),
        "UserKNN": lambda: models.UserKNN(k=5, num_threads=1, seed=1, verbose=False),
    }[kind]()


def fitted(kind, split):
    from cornac.data import Dataset

    return made(kind).fit(Dataset.build(ratings(split.train)))


def own(model, split):
    return table(split, lambda user: model.score(model.uid_map[user]), list(model.iid_map))


@pytest.mark.parametrize("text", [False, True])
@pytest.mark.parametrize(
    ("kind", "scorer"),
    [
        ("MF", FactorScorer),
        ("MF without biases", FactorScorer),
        ("SVD", FactorScorer),
        ("BPR", FactorScorer),
        ("WBPR", FactorScorer),
        ("PMF", FactorScorer),
        ("NMF", FactorScorer),
        ("HPF", FactorScorer),
        ("EASE", CallableScorer),  # its item vectors are the rows of a matrix that is not symmetric
        ("MostPop", CallableScorer),
        ("BaselineOnly", CallableScorer),
        ("UserKNN", CallableScorer),
    ],
)
def test_ranks_are_counts_over_its_own_scores(kind, scorer, text) -> None:
    split = known(made_split(text=text))
    model = fitted(kind, split)
    assert list(model.uid_map) != split.train.user_ids.tolist()  # its rows are others
    assert type(fr.as_scorer(model)) is scorer
    check_counts(fr.rank(model, split.test, exclude=split.train), split, own(model, split))


@pytest.mark.parametrize("kind", ["BPR", "MostPop"])
def test_items_that_it_does_not_know_rank_last_if_they_are_named(kind) -> None:
    split = made_split(seed=3)
    missing = split.train.item_ids[split.train.item_counts() == 0]
    train = split.train.select(split.train.pairs()[1] != 0)  # nobody has the first item
    model = fitted(kind, type(split)(train=train, test=split.test))
    with pytest.raises(InputError, match=r"1 of them is not in its item_ids.*fr\.as_scorer"):
        fr.rank(model, split.test)
    scorer = fr.as_scorer(model, item_ids=split.train.item_ids)
    assert scorer.n_items == 80
    assert missing.size == 0
    ranks = fr.rank(scorer, split.test)
    where = split.test.pairs()[1] == 0
    assert where.any()
    assert (ranks.above[where] == 79).all()
    assert (ranks.equal[where] == 0).all()
    assert (ranks.above[~where] < 79).all()


def test_users_that_it_does_not_know_are_named() -> None:
    split = known(made_split())
    model = fitted("BPR", type(split)(
        train=split.train.select(split.train.pairs()[0] != 7), test=split.test
    ))  # fmt: skip
    with pytest.raises(
        InputError, match=f"1 of them is not in its user_ids: .*{split.train.user_ids[7]}"
    ):
        fr.rank(model, split.test)


def test_global_maps_hold_more_than_the_model_knows() -> None:
    from cornac.eval_methods import RatioSplit

    data = [(f"u{u}", f"i{i}", 1.0) for u in range(12) for i in range(15) if (u * i) % 4 != 1]
    method = RatioSplit(data, test_size=0.3, seed=1, exclude_unknowns=False, verbose=False)
    model = made("BPR").fit(method.train_set)
    scorer = fr.as_scorer(model)
    assert scorer.n_items == model.score(0).size
    assert scorer.n_users == model.num_users
    assert scorer.item_ids.tolist() == list(model.iid_map)[: scorer.n_items]


def test_one_that_is_not_fitted_or_needs_histories_is_refused() -> None:
    from cornac.models import SPop

    with pytest.raises(NotFittedError, match="`scorer` must be fitted; this BPR from Cornac"):
        fr.as_scorer(made("BPR"))
    with pytest.raises(InputError, match=r"SPop from Cornac also needs history_items"):
        fr.as_scorer(SPop())


def test_vectors_that_give_other_scores_are_not_used() -> None:
    split = known(made_split())

    class Shifted(type(made("BPR"))):
        def score(self, user_idx, item_idx=None):
            return -super().score(user_idx, item_idx)

    model = fitted("BPR", split)
    model.__class__ = Shifted
    assert type(fr.as_scorer(model)) is CallableScorer
    check_counts(fr.rank(model, split.test, exclude=split.train), split, own(model, split))


def test_its_metrics_are_ours_and_mrr_if_it_is_alone() -> None:
    from cornac.data import Dataset
    from cornac.eval_methods import ranking_eval
    from cornac.metrics import AUC, MRR, NDCG, Recall

    split = known(made_split())
    model = fitted("BPR", split)
    test = Dataset.build(
        ratings(split.test), global_uid_map=model.uid_map, global_iid_map=model.iid_map
    )

    def theirs(*metrics):
        return ranking_eval(model, metrics, model.train_set, test, rating_threshold=0.0)[0]

    ranks = fr.rank(model, split.test, exclude=split.train)
    ours = ranks.metrics("auc, ndcg@10, recall@10, rr")
    at_10 = (AUC(), NDCG(k=10), Recall(k=10))
    np.testing.assert_allclose(list(ours.values())[:3], theirs(*at_10), atol=1e-6)
    np.testing.assert_allclose([ours["rr"]], theirs(MRR()), atol=1e-6)
    # beside a metric at K, it reads a list that is in order up to K alone
