"""LensKit's pipelines and components, ranked as they score the same queries themselves."""

from __future__ import annotations

import numpy as np
import pytest

import fullrank as fr
from fullrank.errors import InputError, NotFittedError
from fullrank.scorers import CallableScorer, FactorScorer, ItemScorer
from tests.integrations.own_scores import check_counts, known, made_split, ratings, table

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning:lenskit"),
]


@pytest.fixture(scope="module", autouse=True)
def lenskit(package):
    return package("lenskit", "lenskit")


def component(kind):
    from lenskit.als import BiasedMFScorer, ImplicitMFScorer
    from lenskit.basic import BiasScorer, PopScorer
    from lenskit.funksvd import FunkSVDScorer
    from lenskit.knn import ItemKNNScorer

    size = {"embedding_size": 5, "epochs": 4}
    return {
        "BiasedMF": lambda: BiasedMFScorer(**size),
        "ImplicitMF": lambda: ImplicitMFScorer(**size),
        "ImplicitMF, prefer": lambda: ImplicitMFScorer(**size, user_embeddings="prefer"),
        "ImplicitMF, without": lambda: ImplicitMFScorer(**size, user_embeddings=False),
        "FunkSVD": lambda: FunkSVDScorer(embedding_size=3, epochs=30, learning_rate=0.05),
        "Bias": lambda: BiasScorer(damping=5.0),
        "Popularity": lambda: PopScorer(),
        "ItemKNN": lambda: ItemKNNScorer(max_nbrs=10, feedback="implicit"),
    }[kind]()


def trained(kind, split):
    import pandas as pd
    from lenskit.data import from_interactions_df
    from lenskit.pipeline import topn_pipeline

    frame = pd.DataFrame(ratings(split.train), columns=["user_id", "item_id", "rating"])
    pipeline = topn_pipeline(component(kind))
    pipeline.train(from_interactions_df(frame))
    return pipeline


def own(source, split):
    """The scores of a pipeline or a component for a query of the user's id."""
    from lenskit.data import ItemList

    items = ItemList(split.train.item_ids)

    def scores(user):
        if hasattr(source, "run"):
            return source.run("scorer", query=user, items=items).scores()
        return source(query=user, items=items).scores()

    return table(split, scores, split.train.item_ids)


@pytest.mark.parametrize("text", [False, True])
@pytest.mark.parametrize(
    ("kind", "scorer"),
    [
        ("BiasedMF", FactorScorer),
        ("ImplicitMF", FactorScorer),
        ("ImplicitMF, prefer", FactorScorer),
        ("ImplicitMF, without", FactorScorer),
        ("FunkSVD", FactorScorer),
        ("Bias", ItemScorer),
        ("Popularity", ItemScorer),
        ("ItemKNN", CallableScorer),
    ],
)
def test_ranks_are_counts_over_its_own_scores(kind, scorer, text) -> None:
    split = known(made_split(text=text))
    pipeline = trained(kind, split)
    assert type(fr.as_scorer(pipeline)) is scorer
    check_counts(fr.rank(pipeline, split.test, exclude=split.train), split, own(pipeline, split))


@pytest.mark.parametrize(
    "kind", ["BiasedMF", "ImplicitMF", "ImplicitMF, prefer", "FunkSVD", "Bias"]
)
def test_a_component_by_itself_scores_by_what_it_learned_of_the_user(kind) -> None:
    split = known(made_split())
    scorer = trained(kind, split).component("scorer")
    check_counts(fr.rank(scorer, split.test, exclude=split.train), split, own(scorer, split))


def test_als_computes_the_embedding_from_the_history_unless_it_prefers_that_of_training() -> None:
    split = known(made_split())
    pipeline = trained("ImplicitMF", split)
    anew = fr.as_scorer(pipeline)
    learned = fr.as_scorer(pipeline.component("scorer"))
    assert np.array_equal(anew.item_factors, learned.item_factors)
    assert not np.allclose(anew.user_factors, learned.user_factors)
    prefers = trained("ImplicitMF, prefer", split)
    same = fr.as_scorer(prefers.component("scorer"))
    assert np.array_equal(fr.as_scorer(prefers).user_factors, same.user_factors)


@pytest.mark.parametrize("kind", ["ItemKNN", "ImplicitMF, without"])
def test_a_component_that_needs_histories_is_refused_by_itself(kind) -> None:
    pipeline = trained(kind, known(made_split()))
    with pytest.raises(InputError, match="`scorer` must be the trained LensKit pipeline"):
        fr.as_scorer(pipeline.component("scorer"))


def test_popularity_by_itself_takes_the_users_that_are_given() -> None:
    split = known(made_split())
    pipeline = trained("Popularity", split)
    alone = pipeline.component("scorer")
    with pytest.raises(InputError, match=r"fr\.as_scorer\(model, user_ids=train\.user_ids\)"):
        fr.as_scorer(alone)
    scorer = fr.as_scorer(alone, user_ids=split.train.user_ids)
    ranks = fr.rank(scorer, split.test, exclude=split.train)
    whole = fr.rank(pipeline, split.test, exclude=split.train)
    assert np.array_equal(ranks.above, whole.above)


def test_items_that_it_does_not_know_rank_last_if_they_are_named() -> None:
    split = made_split(seed=3)
    train = split.train.select(split.train.pairs()[1] != 0)
    where = split.test.pairs()[1] == 0
    assert where.any()
    for kind in ("BiasedMF", "Popularity", "ItemKNN"):
        pipeline = trained(kind, type(split)(train=train, test=split.test))
        scorer = fr.as_scorer(pipeline, item_ids=split.train.item_ids)
        ranks = fr.rank(scorer, split.test)
        assert (ranks.above[where] + ranks.equal[where] == 79).all()


def test_pipelines_that_cannot_score_are_refused() -> None:
    from lenskit.pipeline import PipelineBuilder, topn_pipeline

    with pytest.raises(NotFittedError, match="Call its `train` first"):
        fr.as_scorer(topn_pipeline(component("BiasedMF")))
    with pytest.raises(NotFittedError, match="BiasedMFScorer from LensKit"):
        fr.as_scorer(component("BiasedMF"))
    with pytest.raises(InputError, match="a pipeline with a component `scorer`"):
        fr.as_scorer(PipelineBuilder().build())


def test_its_metrics_are_ours_but_for_the_discount_of_ndcg() -> None:
    import pandas as pd
    from lenskit.batch import recommend
    from lenskit.data import ItemListCollection
    from lenskit.metrics import NDCG, Recall, RecipRank, RunAnalysis
    from lenskit.metrics.ranking import LogRankWeight

    split = known(made_split())
    pipeline = trained("BiasedMF", split)
    test = pd.DataFrame(ratings(split.test), columns=["user_id", "item_id", "rating"])
    lists = ItemListCollection.from_df(test, ["user_id"])
    found = recommend(pipeline, lists.keys(), n=split.train.n_items, n_jobs=1)

    def theirs(*metrics):
        analysis = RunAnalysis()
        for metric in metrics:
            analysis.add_metric(metric)
        return analysis.measure(found, lists).list_metrics().to_numpy().mean(axis=0)

    ranks = fr.rank(pipeline, split.test, exclude=split.train)
    ours = [*ranks.metrics("recall@10, rr, ndcg@10").values()]
    shifted = NDCG(10, weight=LogRankWeight(offset=1))
    np.testing.assert_allclose(ours, theirs(Recall(10), RecipRank(), shifted), atol=1e-6)
    first = 1.0 / np.maximum(np.log2(ranks.ranks), 1.0)  # ranks 1 and 2 count alike
    value = np.where(ranks.ranks <= 10, first, 0.0).mean()
    np.testing.assert_allclose(theirs(NDCG(10)), value, atol=1e-6)
