"""itemKNN beside implicit's, which keeps each item as a neighbour of its own and we do not."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from fullrank.data import simulate
from fullrank.models import ItemKNN

DATA = simulate(n_users=300, n_items=250, mean_interactions=25)


@pytest.mark.filterwarnings("ignore:Method expects CSR input")
@pytest.mark.parametrize(
    ("peer", "similarity", "weighting"),
    [
        ("CosineRecommender", "cosine", "none"),
        ("TFIDFRecommender", "cosine", "tfidf"),
        ("BM25Recommender", "dot", "bm25"),
    ],
)
def test_all_similarities(peer: str, similarity: str, weighting: str) -> None:
    """With every item a neighbour nothing hangs on ties; each column of ours is a row of theirs."""
    pytest.importorskip("implicit")
    from implicit import nearest_neighbours

    other = getattr(nearest_neighbours, peer)(K=DATA.n_items, num_threads=1)
    other.fit(csr_matrix(DATA.matrix(np.float64)), show_progress=False)
    expected = other.similarity.toarray()
    np.fill_diagonal(expected, 0)
    model = ItemKNN(similarity=similarity, weighting=weighting, n_neighbors=DATA.n_items)
    found = model.fit(DATA).weights_.toarray().T
    assert np.count_nonzero(found) > 0.5 * found.size
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)


@pytest.mark.filterwarnings("ignore:Method expects CSR input")
def test_the_nearest_ten() -> None:
    """Eleven of theirs with the item itself. Where the tenth and the next tie, either may do."""
    pytest.importorskip("implicit")
    from implicit.nearest_neighbours import CosineRecommender

    other = CosineRecommender(K=11, num_threads=1)
    other.fit(csr_matrix(DATA.matrix(np.float64)), show_progress=False)
    expected = other.similarity.toarray()
    np.fill_diagonal(expected, 0)
    found = ItemKNN(n_neighbors=10).fit(DATA).weights_.toarray().T
    np.testing.assert_allclose(np.sort(found), np.sort(expected), rtol=1e-6)
