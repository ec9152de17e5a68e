"""implicit's factor models, ranked as by the scores of its own `recommend`."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import fullrank as fr
from fullrank.errors import InputError, NotFittedError
from tests.integrations.own_scores import check_counts, made_split, table

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:OpenBLAS is configured to use"),
    pytest.mark.filterwarnings("ignore:Method expects CSR input"),  # its TF-IDF warns of itself
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


@pytest.fixture(scope="module", autouse=True)
def implicit(package):
    return package("implicit", "implicit")


def made(kind):
    from implicit.als import AlternatingLeastSquares
    from implicit.bpr import BayesianPersonalizedRanking
    from implicit.lmf import LogisticMatrixFactorization

    same = {"random_state": 1, "num_threads": 1}
    return {
        "als": lambda: AlternatingLeastSquares(factors=8, iterations=4, **same),
        "bpr": lambda: BayesianPersonalizedRanking(factors=7, iterations=20, **same),
        "lmf": lambda: LogisticMatrixFactorization(factors=6, iterations=8, **same),
    }[kind]()


def fitted(kind, split):
    model = made(kind)
    model.fit(csr_matrix(split.train.matrix()), show_progress=False)
    return model


def own(model, split):
    """Scores of all items by `recommend`, in the rows of the matrix."""
    n_items = split.train.n_items
    rows = {user: row for row, user in enumerate(split.train.user_ids.tolist())}

    def scores(user):
        items, values = model.recommend(
            rows[user], None, N=n_items, filter_already_liked_items=False
        )
        out = np.empty(n_items)
        out[items] = values
        return out

    return table(split, scores, split.train.item_ids)


@pytest.mark.parametrize("kind", ["als", "bpr", "lmf"])
def test_ranks_are_counts_over_its_own_scores(kind) -> None:
    split = made_split(rows=True)
    model = fitted(kind, split)
    check_counts(fr.rank(model, split.test, exclude=split.train), split, own(model, split))


@pytest.mark.parametrize("kind", ["als", "bpr", "lmf"])
@pytest.mark.parametrize("text", [False, True])
def test_ids_are_those_that_are_given(kind, text) -> None:
    split = made_split(text=text)
    model = fitted(kind, split)
    train = split.train
    scorer = fr.as_scorer(model, user_ids=train.user_ids, item_ids=train.item_ids)
    ranks = fr.rank(scorer, split.test, exclude=train)
    check_counts(ranks, split, own(model, split))

    reverse = fr.as_scorer(fr.FactorScorer(
        model.user_factors[::-1], model.item_factors[::-1],
        user_ids=train.user_ids[::-1], item_ids=train.item_ids[::-1],
    ))  # fmt: skip
    again = fr.rank(reverse, split.test, exclude=train)
    assert np.array_equal(again.above, ranks.above)


def test_without_ids_the_error_shows_how_to_give_them() -> None:
    split = made_split(text=True)
    with pytest.raises(InputError, match=r"fr\.as_scorer\(model, user_ids=…, item_ids=…\)"):
        fr.rank(fitted("als", split), split.test)


def test_it_is_ranked_by_every_verb() -> None:
    split = made_split(rows=True)
    model = fitted("bpr", split)
    exact = fr.rank(model, split.test, exclude=split.train)
    run = fr.evaluate({"bpr": model}, split, metrics="ndcg@10")
    assert run.estimates["bpr"].values["ndcg@10"] == exact.metrics("ndcg@10")["ndcg@10"]
    sample = fr.sample_ranks(model, split.test, design="sampled:20", exclude=split.train, rng=0)
    same = fr.FactorScorer(model.user_factors, model.item_factors)
    expected = fr.sample_ranks(same, split.test, design="sampled:20", exclude=split.train, rng=0)
    assert np.array_equal(sample.rank, expected.rank)


def test_a_class_derived_from_one_is_recognised_unless_it_says_how_it_scores() -> None:
    from implicit.als import AlternatingLeastSquares

    split = made_split(rows=True)

    class Mine(type(made("als"))):
        pass

    class Own(type(made("als"))):
        n_users, n_items = 2, 3

        def item_scores(self):
            return [1.0, 3.0, 2.0]

    assert isinstance(made("als"), type(AlternatingLeastSquares()))
    mine = Mine(factors=4, iterations=2, random_state=1, num_threads=1)
    mine.fit(csr_matrix(split.train.matrix()), show_progress=False)
    assert fr.as_scorer(mine).scores([3]).shape == (1, 80)
    assert fr.as_scorer(Own()).scores([0]).tolist() == [[1.0, 3.0, 2.0]]


@pytest.mark.parametrize("kind", ["als", "bpr", "lmf"])
def test_one_that_is_not_fitted_is_refused(kind) -> None:
    with pytest.raises(NotFittedError, match=r"`scorer` must be fitted; .* from implicit"):
        fr.as_scorer(made(kind))


def test_neighbours_need_the_histories_and_the_error_shows_how() -> None:
    from implicit.nearest_neighbours import TFIDFRecommender

    split = made_split(rows=True)
    model = TFIDFRecommender(K=5, num_threads=1)
    liked = csr_matrix(split.train.matrix())
    model.fit(liked, show_progress=False)
    with pytest.raises(InputError, match=r"fr\.ItemItemScorer\(train, model\.similarity\)"):
        fr.rank(model, split.test)

    ranks = fr.rank(
        fr.ItemItemScorer(split.train, model.similarity), split.test, exclude=split.train
    )

    def scores(user):
        items, values = model.recommend(user, liked[user], N=80, filter_already_liked_items=False)
        out = np.zeros(80)  # those that it leaves out have no neighbour
        out[items] = values
        return out

    check_counts(ranks, split, table(split, scores, np.arange(80)))


def test_an_approximate_index_is_ranked_by_the_model_that_it_holds(package) -> None:
    package("faiss", "faiss-cpu")
    from implicit.ann.faiss import FaissModel

    split = made_split(rows=True)
    model = fitted("als", split)
    held = fr.rank(FaissModel(model, use_gpu=False), split.test, exclude=split.train)
    assert np.array_equal(held.above, fr.rank(model, split.test, exclude=split.train).above)


def small(data):
    """With 32-bit indices, which its evaluation needs."""
    rows = data.indices.astype(np.int32), data.indptr.astype(np.int32)
    return csr_matrix((np.ones(data.n_interactions, np.float32), *rows), data.matrix().shape)


def test_its_metrics_are_ours_but_for_precision_over_all_users_and_auc() -> None:
    from implicit.evaluation import ranking_metrics_at_k

    data = made_split(rows=True)
    split = data.train.union(data.test).split("ratio", test=0.3, by="random", rng=0)
    model = fitted("als", split)
    theirs = ranking_metrics_at_k(
        model, small(split.train), small(split.test), K=10, show_progress=False, num_threads=1
    )
    ranks = fr.rank(model, split.test, exclude=split.train)
    ours = ranks.metrics("ndcg@10, ap@10, auc")
    assert ranks.n_targets.max() > 3
    np.testing.assert_allclose([theirs["ndcg"], theirs["map"]], list(ours.values())[:2], atol=1e-6)

    held_out = np.diff(split.test.indptr)
    micro = (ranks.ranks <= 10).sum() / np.minimum(held_out, 10).sum()
    np.testing.assert_allclose(theirs["precision"], micro, atol=1e-6)
    assert abs(theirs["auc"] - ours["auc"]) > 1e-3  # all items behind the first 10 as if at random
