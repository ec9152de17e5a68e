import numpy as np
import pytest

from fullrank.data import Interactions
from fullrank.errors import NotFittedError
from fullrank.models import Popularity


def test_counts() -> None:
    data = Interactions.from_arrays([0, 1, 1, 2], [4, 4, 2, 4], item_ids=[2, 3, 4])
    model = Popularity()
    assert model.fit(data) is model
    np.testing.assert_array_equal(model.item_counts_, [1, 0, 3])
    np.testing.assert_array_equal(model.scorer().scores([0, 2]), [[1, 0, 3], [1, 0, 3]])


def test_it_must_be_fitted_first() -> None:
    with pytest.raises(NotFittedError, match=r"Popularity.*`fit\("):
        Popularity().scorer()
