"""LightFM's models (lightfm-next), ranked as by their own `predict` and `predict_rank`."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import coo_matrix, csr_matrix, hstack, identity

import fullrank as fr
from fullrank.errors import InputError, NotFittedError
from tests.integrations.own_scores import check_counts, made_split, table

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::DeprecationWarning")]


@pytest.fixture(scope="module", autouse=True)
def lightfm(package):
    return package("lightfm", "lightfm-next")


def matrix(data, kind=csr_matrix):
    """With 32-bit indices, which LightFM needs."""
    users, items = data.pairs()
    entries = np.ones(users.size, np.float32), (users.astype(np.int32), items.astype(np.int32))
    return kind(coo_matrix(entries, shape=(data.n_users, data.n_items)))


def fitted(split, loss="warp", **features):
    from lightfm import LightFM

    model = LightFM(no_components=6, loss=loss, random_state=1)
    return model.fit(matrix(split.train, coo_matrix), epochs=8, **features)


def own(model, split, **features):
    items = np.arange(split.train.n_items, dtype=np.int32)
    rows = {user: row for row, user in enumerate(split.train.user_ids.tolist())}
    return table(
        split, lambda user: model.predict(rows[user], items, **features), split.train.item_ids
    )


@pytest.mark.parametrize("loss", ["warp", "bpr", "logistic"])
def test_ranks_are_counts_over_its_own_scores(loss) -> None:
    split = made_split(rows=True)
    model = fitted(split, loss)
    check_counts(fr.rank(model, split.test, exclude=split.train), split, own(model, split))


def test_ids_are_those_that_are_given() -> None:
    split = made_split(text=True)
    model = fitted(split)
    with pytest.raises(InputError, match=r"fr\.as_scorer\(model, user_ids=…, item_ids=…\)"):
        fr.rank(model, split.test)
    scorer = fr.as_scorer(model, user_ids=split.train.user_ids, item_ids=split.train.item_ids)
    check_counts(fr.rank(scorer, split.test, exclude=split.train), split, own(model, split))


def test_predict_rank_counts_from_0_and_gives_ties_the_worst_place() -> None:
    split = made_split(rows=True)
    model = fitted(split)
    users, items = split.test.pairs()
    theirs = model.predict_rank(matrix(split.test), matrix(split.train))
    ours = fr.rank(model, split.test, exclude=split.train, ties="worst").ranks
    assert np.array_equal(np.asarray(theirs[users, items]).reshape(-1) + 1, ours)


def test_feature_matrices_are_applied_by_the_user() -> None:
    split = made_split(rows=True)
    rng = np.random.default_rng(0)

    def with_features(size):
        shape = (size, 3)
        groups = csr_matrix(rng.random(shape) < 0.4, dtype=np.float32)
        return csr_matrix(hstack([identity(size, dtype=np.float32), groups]))

    features = {"user_features": with_features(45), "item_features": with_features(80)}
    model = fitted(split, **features)
    with pytest.raises(InputError, match=r"has 48\..*get_user_representations\(features\)"):
        fr.rank(model, split.test)
    model = fitted(split, item_features=features["item_features"])
    with pytest.raises(InputError, match=r"has 83\..*get_item_representations\(features\)"):
        fr.rank(model, split.test)
    model = fitted(split, **features)
    user_bias, users = model.get_user_representations(features["user_features"])
    item_bias, items = model.get_item_representations(features["item_features"])
    scorer = fr.FactorScorer(users, items, item_bias=item_bias, user_bias=user_bias)
    ranks = fr.rank(scorer, split.test, exclude=split.train)
    check_counts(ranks, split, own(model, split, **features))


def test_one_that_is_not_fitted_is_refused() -> None:
    from lightfm import LightFM

    with pytest.raises(NotFittedError, match="`scorer` must be fitted; this LightFM"):
        fr.as_scorer(LightFM())


def test_its_metrics_are_ours() -> None:
    from lightfm.evaluation import auc_score, precision_at_k, recall_at_k, reciprocal_rank

    split = made_split(rows=True)
    model = fitted(split)
    matrices = {"test_interactions": matrix(split.test), "train_interactions": matrix(split.train)}
    theirs = [
        precision_at_k(model, **matrices, k=10).mean(),
        recall_at_k(model, **matrices, k=10).mean(),
        reciprocal_rank(model, **matrices).mean(),
        auc_score(model, **matrices).mean(),
    ]
    ranks = fr.rank(model, split.test, exclude=split.train, ties="worst")
    ours = ranks.metrics("precision@10, recall@10, rr, auc")
    np.testing.assert_allclose(list(ours.values()), theirs, atol=1e-6)
