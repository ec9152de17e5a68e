"""Surprise's algorithms, ranked as by their own estimates."""

from __future__ import annotations

import numpy as np
import pytest

import fullrank as fr
from fullrank.errors import NotFittedError
from fullrank.scorers import CallableScorer, FactorScorer, ItemScorer
from tests.integrations.own_scores import check_counts, known, made_split, ratings, table

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::DeprecationWarning")]


@pytest.fixture(scope="module", autouse=True)
def surprise(package):
    return package("surprise", "scikit-surprise")


def made(kind):
    import surprise

    size = {"n_factors": 5, "n_epochs": 8, "random_state": 1}
    return {
        "SVD": lambda: surprise.SVD(**size),
        "SVD, not biased": lambda: surprise.SVD(**size, biased=False),
        "SVDpp": lambda: surprise.SVDpp(**size),
        "NMF": lambda: surprise.NMF(**size),
        "NMF, biased": lambda: surprise.NMF(**size, biased=True),
        "BaselineOnly": lambda: surprise.BaselineOnly(verbose=False),
        "SlopeOne": lambda: surprise.SlopeOne(),
        "KNNBasic": lambda: surprise.KNNBasic(k=5, verbose=False),
        "KNNBaseline": lambda: surprise.KNNBaseline(
            k=5, verbose=False, bsl_options={"verbose": False}
        ),
    }[kind]()


def trainset(split):
    import pandas as pd
    from surprise import Dataset, Reader

    frame = pd.DataFrame(ratings(split.train), columns=["user", "item", "rating"])
    return Dataset.load_from_df(frame, Reader(rating_scale=(1, 5))).build_full_trainset()


def own(algorithm, split):
    """What `predict` gives without clipping, for the raw ids."""
    items = split.train.item_ids.tolist()
    return table(
        split,
        lambda user: [algorithm.predict(user, item, clip=False).est for item in items],
        items,
    )


@pytest.mark.parametrize("text", [False, True])
@pytest.mark.parametrize(
    ("kind", "scorer"),
    [
        ("SVD", FactorScorer),
        ("SVD, not biased", FactorScorer),
        ("SVDpp", FactorScorer),
        ("NMF", FactorScorer),
        ("NMF, biased", FactorScorer),
        ("BaselineOnly", ItemScorer),
        ("SlopeOne", CallableScorer),
        ("KNNBasic", CallableScorer),
        ("KNNBaseline", CallableScorer),
    ],
)
def test_ranks_are_counts_over_its_own_scores(kind, scorer, text) -> None:
    split = known(made_split(text=text))
    algorithm = made(kind).fit(trainset(split))
    assert type(fr.as_scorer(algorithm)) is scorer
    check_counts(fr.rank(algorithm, split.test, exclude=split.train), split, own(algorithm, split))


def test_clipped_predictions_would_tie() -> None:
    split = known(made_split())
    algorithm = made("SVD").fit(trainset(split))
    algorithm.bi += 3.0  # most estimates leave the scale
    items = split.train.item_ids.tolist()
    clipped = table(split, lambda u: [algorithm.predict(u, i).est for i in items], items)
    assert len(np.unique(clipped)) < clipped.size / 2
    ranks = fr.rank(algorithm, split.test, exclude=split.train)
    assert ranks.equal.max() == 0


def test_an_algorithm_of_ones_own_is_ranked_by_its_estimates() -> None:
    from surprise import SVD, AlgoBase

    split = known(made_split())

    class Lengths(AlgoBase):
        def estimate(self, u, i):
            return (7 * i + u) % 31

    class Reversed(SVD):
        def estimate(self, u, i):
            return -super().estimate(u, i)

    for algorithm in (Lengths(), Reversed(n_factors=4, n_epochs=3, random_state=1)):
        algorithm.fit(trainset(split))
        assert type(fr.as_scorer(algorithm)) is CallableScorer
        ranks = fr.rank(algorithm, split.test, exclude=split.train)
        check_counts(ranks, split, own(algorithm, split))


@pytest.mark.parametrize("kind", ["SVD", "KNNBasic"])
def test_one_that_is_not_fitted_is_refused(kind) -> None:
    with pytest.raises(NotFittedError, match=r"`scorer` must be fitted; .* from Surprise"):
        fr.as_scorer(made(kind))
