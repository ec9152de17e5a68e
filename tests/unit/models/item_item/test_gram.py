import numpy as np
import pytest
from scipy.sparse import csr_array, random_array

from fullrank.models.item_item.gram import gram


@pytest.mark.parametrize(("n_rows", "n_columns"), [(50, 7), (9, 100), (200, 65), (3, 1)])
def test_against_the_dense_product(n_rows: int, n_columns: int) -> None:
    """Sizes below, above and not a multiple of the block."""
    matrix = csr_array(random_array((n_rows, n_columns), density=0.3, rng=n_rows))
    dense = (matrix.toarray() > 0).astype(float)
    np.testing.assert_array_equal(gram(matrix), dense.T @ dense)
    np.testing.assert_array_equal(gram(matrix, lower=True), np.tril(dense.T @ dense))


def test_types_threads_and_place() -> None:
    matrix = csr_array(random_array((80, 90), density=0.2, rng=0))
    narrow = gram(matrix, np.float32, n_jobs=1)
    assert narrow.dtype == np.float32
    out = np.zeros((90, 90))
    assert gram(matrix, out=out, n_jobs=2) is out
    np.testing.assert_array_equal(out, narrow)


def test_empty_rows_and_columns() -> None:
    assert not gram(csr_array((4, 3))).any()
