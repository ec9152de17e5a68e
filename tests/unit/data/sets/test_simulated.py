import numpy as np
import pytest

from fullrank.data import simulate
from fullrank.errors import InputError


def test_it_looks_like_movielens() -> None:
    data = simulate()
    assert (data.n_users, data.n_items) == (1_000, 3_000)
    assert 75_000 < data.n_interactions < 85_000
    users, items = data.user_counts(), np.sort(data.item_counts())[::-1]
    assert users.min() >= 10
    assert np.quantile(users, 0.95) > 3 * np.median(users)
    assert items[:300].sum() > 0.35 * items.sum()  # a tenth of the items, over a third of the use
    assert items[0] < 0.6 * data.n_users
    assert data.values is not None
    assert set(np.unique(data.values)) == {1, 2, 3, 4, 5}
    assert 3.2 < data.values.mean() < 4


def test_tastes_are_few() -> None:
    """Shares of 20 genres span 19 directions, which stand out from the noise; no other does."""
    matrix = simulate().matrix(np.float64).toarray()
    expected = np.outer(matrix.sum(axis=1), matrix.sum(axis=0)) / matrix.sum()
    residual = (matrix - expected) / np.sqrt(expected + 0.1)
    spectrum = np.sqrt(np.linalg.eigvalsh(residual @ residual.T)[::-1])
    steps = spectrum[:30] / spectrum[1:31]
    assert np.argmax(steps) + 1 == 19
    assert steps[18] > 1.1


def test_seeds() -> None:
    small = {"n_users": 30, "n_items": 40, "mean_interactions": 12}
    again, other = simulate(**small), simulate(**small, rng=1)
    np.testing.assert_array_equal(simulate(**small).timestamps, again.timestamps)
    assert not np.array_equal(other.indices, again.indices)


def test_times_follow_one_another() -> None:
    data = simulate(n_users=20, n_items=30, mean_interactions=12)
    assert data.timestamps is not None
    assert data.timestamps.min() >= 946_684_800


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_users": 0}, r"`n_users`.*\b0\b"),
        ({"n_items": 5}, r"`n_items`.*\b5\b"),
        ({"n_factors": 0}, r"`n_factors`.*\b0\b"),
        (
            {"n_items": 40, "mean_interactions": 25},
            r"`mean_interactions`.*\b25\b",
        ),
    ],
)
def test_bad_settings(settings: dict[str, int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        simulate(**settings)
