"""Ties: small cases worked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from fullrank.errors import InputError
from fullrank.ranking import rank

#          0    1    2    3    4    5
SCORES = [[2.0, 1.0, 1.0, 1.0, 1.0, 0.0]]


@pytest.mark.parametrize(("ties", "expected"), [("mean", 3.5), ("best", 2), ("worst", 5)])
def test_one_target(ties, expected):
    result = rank(SCORES, ([0], [2]), ties=ties)
    assert result.ranks.tolist() == [expected]
    assert result.ranks.dtype == (np.float64 if ties == "mean" else np.int64)
    assert (result.above[0], result.equal[0]) == (1, 3)


@pytest.mark.parametrize(
    ("ties", "expected"), [("mean", [4, 3, 1]), ("best", [3, 2, 1]), ("worst", [5, 4, 1])]
)
def test_of_tied_targets_the_lower_item_row_stands_first(ties, expected):
    result = rank(SCORES, ([0, 0, 0], [3, 1, 0]), ties=ties)
    # 3 and 1 tie with each other and with the non-targets 2 and 4
    assert result.offset.tolist() == [2, 1, 0]
    assert result.ranks.tolist() == expected
    assert result.equal.tolist() == [2, 2, 0]  # targets are counted by `offset`
    assert result.metrics("hit_rate@10") == {"hit_rate@10": 1.0}


def test_random_places_are_uniform_over_seeds_and_targets_never_share_one():
    at = [0, 0], [3, 1]
    ranks = np.array([rank(SCORES, at, ties="random", rng=seed).ranks for seed in range(600)])
    assert set(np.unique(ranks)) == {2, 3, 4, 5}
    assert (ranks[:, 0] != ranks[:, 1]).all()
    for column in ranks.T:
        counts = np.bincount(column, minlength=6)[2:]
        # 150 expected in each, standard deviation 10.6; five of them
        assert np.abs(counts - 150).max() < 53
    together = np.bincount((ranks[:, 0] - 2) * 4 + ranks[:, 1] - 2, minlength=16)
    # 12 ordered pairs, 50 expected in each, standard deviation 6.8
    assert np.abs(together[together > 0] - 50).max() < 34


def test_random_depends_on_seed_and_user_alone():
    table = np.repeat(SCORES, 40, axis=0)
    users, items = np.arange(40), np.full(40, 3)
    whole = rank(table, (users, items), ties="random", rng=5)
    assert whole.seed == 5
    assert np.unique(whole.ranks).size == 4
    some = rank(table, (users[::-3], items[::-3]), ties="random", rng=5, batch_size=1)
    np.testing.assert_array_equal(some.ranks, whole.ranks[::-3])
    assert not np.array_equal(rank(table, (users, items), ties="random", rng=6).ranks, whole.ranks)


def test_random_keeps_the_counts_and_excluded_items_out():
    from scipy.sparse import csr_array

    exclude = csr_array(np.array([[0, 1, 0, 0, 1, 0]]))
    for seed in range(20):
        result = rank(SCORES, ([0], [2]), ties="random", exclude=exclude, rng=seed)
        assert (result.above[0], result.equal[0]) == (1, 1)
        assert result.ranks[0] in (2, 3)


def test_unknown_policy():
    with pytest.raises(InputError, match=r"`ties`.*'mean', 'best', 'worst', 'random'.*'first'"):
        rank(SCORES, ([0], [2]), ties="first")
