import numpy as np
import pytest

from fullrank.data import Interactions, simulate
from fullrank.errors import InputError
from fullrank.models import ItemKNN
from fullrank.models.item_item import item_knn

DATA = simulate(n_users=150, n_items=90, mean_interactions=14)


def similarities(data: Interactions, model: ItemKNN) -> np.ndarray:
    """All pairs of items from the formulas, vector by vector."""
    dense = data.matrix(np.float64).toarray()
    if model.weighting != "none":
        per_user = dense.sum(axis=1)
        dense *= np.maximum(0, np.log(data.n_items / (1 + per_user)))[:, None]
    if model.weighting == "bm25":
        length = data.item_counts() / data.item_counts().mean()
        dense *= (model.k1 + 1) / (model.k1 * (1 - model.b + model.b * length) + 1)
    product = dense.T @ dense
    square = np.diagonal(product)
    below = {
        "dot": 1.0,
        "cosine": np.sqrt(np.outer(square, square)) + model.shrinkage,
        "jaccard": square + square[:, None] - product + model.shrinkage,
    }[model.similarity]
    found = np.divide(product, below, out=np.zeros_like(product), where=product > 0)
    np.fill_diagonal(found, 0)
    return found


def nearest(every: np.ndarray, n: int) -> np.ndarray:
    """Of each column the n largest, the first of equal ones."""
    kept = np.zeros_like(every)
    for j, column in enumerate(every.T):
        rows = np.lexsort((np.arange(column.size), -column.astype(np.float32)))[:n]
        kept[rows, j] = column[rows]
    return kept


@pytest.mark.parametrize("similarity", item_knn.SIMILARITIES)
@pytest.mark.parametrize("weighting", item_knn.WEIGHTINGS)
@pytest.mark.parametrize("n_neighbors", [1, 7, 89])
def test_against_the_formulas(similarity: str, weighting: str, n_neighbors: int) -> None:
    shrinkage = 0.0 if similarity == "dot" else 2.5
    model = ItemKNN(
        similarity=similarity, weighting=weighting, n_neighbors=n_neighbors, shrinkage=shrinkage
    ).fit(DATA)
    expected = nearest(similarities(DATA, model), n_neighbors)
    weights = model.weights_
    assert weights.dtype == np.float32
    assert weights.has_canonical_format
    np.testing.assert_allclose(weights.toarray(), expected, rtol=2e-7, atol=0)


def test_jaccard_is_the_share_of_common_users() -> None:
    data = Interactions.from_arrays([0, 1, 2, 1, 2, 3, 4], [0, 0, 0, 1, 1, 1, 1])
    weights = ItemKNN(similarity="jaccard").fit(data).weights_.toarray()
    np.testing.assert_allclose(weights, [[0, 2 / 5], [2 / 5, 0]], rtol=1e-7)


def test_equally_similar_items_come_in_their_order() -> None:
    """Item 3 has one user, who has all others: they tie."""
    users = [0, 0, 0, 0, 1, 1, 1]
    data = Interactions.from_arrays(users, [0, 1, 2, 3, 0, 1, 2])
    weights = ItemKNN(n_neighbors=2).fit(data).weights_.toarray()
    np.testing.assert_array_equal(np.flatnonzero(weights[:, 3]), [0, 1])


def test_many_items_with_few_pairs() -> None:
    """Both ways of adding up: rows with few pairs and one with many."""
    rng = np.random.default_rng(0)
    users = np.concatenate([np.repeat(np.arange(400), 2), np.arange(400)])
    items = np.concatenate([rng.integers(1, 600, 800), np.zeros(400, int)])
    pairs = np.unique(np.stack([users, items]), axis=1)
    data = Interactions.from_arrays(*pairs, item_ids=range(600))
    model = ItemKNN(n_neighbors=5, weighting="tfidf").fit(data)
    expected = nearest(similarities(data, model), 5)
    np.testing.assert_allclose(model.weights_.toarray(), expected, rtol=2e-7)


def test_items_that_nobody_has_change_nothing() -> None:
    """So many that a task takes more of them than otherwise."""
    more = Interactions.from_arrays(*DATA.pairs(), item_ids=range(20_000))
    few, many = (ItemKNN(n_neighbors=5).fit(data).weights_ for data in (DATA, more))
    assert many.shape == (20_000, 20_000)
    assert many.nnz == few.nnz
    np.testing.assert_array_equal(many[:90, :90].toarray(), few.toarray())


def test_threads_change_nothing() -> None:
    one, two = (ItemKNN(weighting="bm25", n_jobs=n).fit(DATA).weights_ for n in (1, 3))
    np.testing.assert_array_equal(one.toarray(), two.toarray())


def test_users_with_every_item_do_not_count_under_tfidf() -> None:
    data = Interactions.from_arrays([0, 0, 0, 1], [0, 1, 2, 0])
    assert ItemKNN(weighting="tfidf").fit(data).weights_.nnz == 0


def test_one_item_and_no_interactions() -> None:
    assert ItemKNN().fit(Interactions.from_arrays([0], [0])).weights_.shape == (1, 1)
    nothing = DATA.select(np.zeros(DATA.n_interactions, bool))
    assert ItemKNN(weighting="bm25").fit(nothing).weights_.nnz == 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_neighbors": 0}, r"`n_neighbors`.*\b0\b"),
        ({"shrinkage": -1}, r"`shrinkage`.*-1\b"),
        ({"k1": -1}, r"`k1`.*-1\b"),
        ({"b": 2}, r"`b`.*\b2\b"),
        ({"n_jobs": 0}, r"`n_jobs`.*\b0\b"),
        (
            {"similarity": "cos"},
            r"`similarity`.*'dot', 'cosine', 'jaccard'.*'cos'",
        ),
        ({"weighting": "idf"}, r"`weighting`.*'none', 'tfidf', 'bm25'.*'idf'"),
        (
            {"similarity": "dot", "shrinkage": 3},
            r"`shrinkage`.*\b0\b.*similarity='dot'.*\b3\b",
        ),
    ],
)
def test_bad_settings(settings: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        ItemKNN(**settings)  # type: ignore[arg-type]
