import numpy as np
import pytest

from fullrank.designs import RankGrid, kernel, kernel_averages
from fullrank.errors import InputError


def test_without_replacement_a_sample_of_all_items_shows_the_rank_itself() -> None:
    assert np.array_equal(
        kernel(np.arange(1, 51), sample_size=50, n_items=50, replacement=False), np.eye(50)
    )
    grid = RankGrid.default(2_000)
    table = kernel_averages(
        np.arange(1, 2_001), sample_size=2_000, n_items=2_000, replacement=False, grid=grid
    )
    membership = np.zeros_like(table)
    membership[grid.bin_of(np.arange(1, 2_001)), np.arange(2_000)] = 1.0
    np.testing.assert_allclose(table, membership / grid.widths[:, None], atol=1e-14)


def test_best_and_worst_rank_are_certain() -> None:
    for replacement in (True, False):
        table = kernel([1, 9], sample_size=4, n_items=9, replacement=replacement)
        assert np.array_equal(table, [[1, 0, 0, 0], [0, 0, 0, 1]])


def test_a_sample_may_exceed_the_catalogue_with_replacement() -> None:
    table = kernel([1, 2], sample_size=6, n_items=3, replacement=True)
    np.testing.assert_allclose(table[1], np.array([1, 5, 10, 10, 5, 1]) / 32)


def test_a_target_alone_is_at_rank_one() -> None:
    for replacement in (True, False):
        table = kernel([1, 7], sample_size=1, n_items=7, replacement=replacement)
        assert np.array_equal(table, [[1.0], [1.0]])


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        (
            {"sample_size": 8, "n_items": 7, "replacement": False},
            r"`sample_size`.*`n_items`.*\b7\b.*\b8\b",
        ),
        ({"sample_size": 0, "n_items": 7}, r"`sample_size`.*\b0\b"),
        (
            {"sample_size": 2, "n_items": 1},
            r"`n_items`.*\b1\b",
        ),
        (
            {"sample_size": 2, "n_items": 5, "replacement": "no"},
            r"`replacement`.*True.*False.*'no'",
        ),
    ],
)
def test_bad_sizes(settings: dict[str, object], says: str) -> None:
    with pytest.raises(InputError, match=says):
        kernel([1], **settings)  # type: ignore[arg-type]


def test_bad_ranks() -> None:
    with pytest.raises(InputError, match=r"`true_ranks`.*1 of 1.*true_ranks\[0\] = 0\b"):
        kernel([0], sample_size=2, n_items=9, replacement=True)
    with pytest.raises(InputError, match=r"`ranks`.*1 of 1.*ranks\[0\] = 3\b"):
        kernel([1], [3], sample_size=2, n_items=9, replacement=True)
