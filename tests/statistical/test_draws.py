"""The draws follow their laws: uniform, in pairs, as sets and as whole permutations."""

import itertools

import numpy as np
import pytest
from scipy import stats

from fullrank.data.targets import clean_targets
from fullrank.designs import Uniform
from fullrank.designs import draw_kernels as kernels
from fullrank.designs.draws import make_pools
from fullrank.ranking import sample_ranks
from fullrank.scorers import CallableScorer, FactorScorer

pytestmark = [pytest.mark.slow, pytest.mark.verify]

# All seeds are fixed, so a test passes always or never; with a hundred or so p-values, one below
# 1e-5 has a chance of one in a thousand.
ALPHA = 1e-5


def draws(n_users, size, count, *, replacement, key=1, first_user=0):
    """Users' draws as indices into a pool of `size`."""
    users = np.arange(first_user, first_user + n_users)
    out = np.empty((n_users, count), np.int32)
    kernels.fill_items(
        np.uint64(key), users, np.zeros(n_users + 1, np.int64), np.empty(0, np.int32), size,
        np.zeros(n_users, np.int64), np.full(n_users, count), replacement, out,
    )  # fmt: skip
    return out


def p_value(observed, expected, *, scale=1.0):
    """Chi-square, cells merged until 20 are expected in each."""
    expected = np.broadcast_to(np.asarray(expected, float), observed.shape)
    edges, since = [], np.inf
    for at, one in enumerate(expected):
        if since >= 20:
            edges.append(at)
            since = 0.0
        since += one
    if since < 20:
        edges.pop()  # what is left over belongs to the cell before
    seen, wanted = np.add.reduceat(observed, edges), np.add.reduceat(expected, edges)
    statistic = scale * np.sum((seen - wanted) ** 2 / wanted)
    return stats.chi2.sf(statistic, seen.size - 1)


def test_ten_million_draws_with_replacement_are_uniform():
    out = draws(100_000, 1000, 100, replacement=True)
    assert p_value(np.bincount(out.ravel(), minlength=1000), 1e4) > ALPHA
    for position in (0, 1, 2, 50, 99):
        assert p_value(np.bincount(out[:, position], minlength=1000), 100) > ALPHA
    pairs = out[:, ::2].astype(np.int64) // 10 * 100 + out[:, 1::2] // 10  # neighbours in a block
    assert p_value(np.bincount(pairs.ravel(), minlength=10_000), 500) > ALPHA
    neighbours = out[1:, :50].astype(np.int64) // 10 * 100 + out[:-1, :50] // 10
    assert p_value(np.bincount(neighbours.ravel(), minlength=10_000), 99_999 * 50 / 1e4) > ALPHA


@pytest.mark.parametrize("size", [1000, 1024, 4097])
def test_ten_million_draws_without_replacement_are_uniform(size):
    count, n_users = 100, 100_000
    out = draws(n_users, size, count, replacement=False)
    observed = np.bincount(out.ravel(), minlength=size)
    # counts of a user's items are negatively correlated: their variance is (P - n)/(P - 1) of
    # that of independent draws
    scale = (size - 1) / (size - count)
    assert p_value(observed, n_users * count / size, scale=scale) > ALPHA
    for position in (0, 1, 2, 50, 99):
        assert p_value(np.bincount(out[:, position], minlength=size), n_users / size) > ALPHA
    neighbours = out[1:].astype(np.int64) * 64 // size * 64 + out[:-1].astype(np.int64) * 64 // size
    cell = np.bincount(np.arange(size) * 64 // size)
    expected = np.outer(cell, cell).ravel() / size**2 * neighbours.size
    assert p_value(np.bincount(neighbours.ravel(), minlength=4096), expected) > ALPHA


@pytest.mark.parametrize("size", [3, 4, 5, 6, 9, 12, 30])
def test_pairs_without_replacement_are_uniform(size):
    out = draws(500_000, size, size, replacement=False)
    for i, j in {(0, 1), (0, size - 1), (size // 2, size - 1), (1, size // 2 + 1)}:
        if i == j:
            continue
        pair = out[:, i].astype(np.int64) * size + out[:, j]
        table = np.bincount(pair, minlength=size**2).reshape(size, size)
        assert np.trace(table) == 0
        off = table[~np.eye(size, dtype=bool)]
        assert p_value(off, 500_000 / off.size) > ALPHA


@pytest.mark.parametrize("size", [2, 3, 4, 5, 6, 7, 8])
def test_small_pools_are_permuted_uniformly(size):
    n_users, depth = 1_000_000, min(size, 5)
    out = draws(n_users, size, depth, replacement=False, key=3)
    code = out.astype(np.int64) @ size ** np.arange(depth)[::-1]
    possible = [
        int(np.dot(p, size ** np.arange(depth)[::-1]))
        for p in itertools.permutations(range(size), depth)
    ]
    observed = np.bincount(code, minlength=size**depth)[possible]
    assert observed.sum() == n_users
    assert p_value(observed, n_users / len(possible)) > ALPHA


@pytest.mark.parametrize(
    ("size", "count"),
    [(12, 6), (16, 8), (20, 5), (20, 10), (36, 12), (63, 31), (64, 16), (64, 32), (100, 50),
     (144, 72), (1023, 250), (1024, 512), (9916, 300)],
)  # fmt: skip
def test_sets_follow_the_hypergeometric_law(size, count):
    """Marked items in patterns that suit the sides of the network: where a weak one shows."""
    n_users = 10_000_000 // count // 4
    out = draws(n_users, size, count, replacement=False, key=7)
    _, b = kernels.sides(size)
    item = np.arange(size)
    patterns = (
        item < size // 2, item % 2 == 0, item % b == 0, item // b == 0, item % b < b // 2,
        (item // b + item % b) % 2 == 0,
    )  # fmt: skip
    for marked in patterns:
        hits = marked[out].sum(axis=1)
        law = stats.hypergeom(size, int(marked.sum()), count).pmf(np.arange(count + 1))
        assert p_value(np.bincount(hits, minlength=count + 1), law * n_users) > ALPHA


def test_consecutive_seeds_are_independent():
    seeds = 200_000
    first = np.empty((seeds, 2), np.int64)
    for replacement in (True, False):
        for seed in range(seeds):
            kernels.fill_indices(
                np.uint64(seed), 5, 64, 0, replacement, first[seed],
                np.empty(2, np.uint32), np.empty(2, np.uint32),
            )  # fmt: skip
        assert p_value(np.bincount(first[:, 0], minlength=64), seeds / 64) > ALPHA
        joint = first[1:, 0] * 64 + first[:-1, 0]
        assert p_value(np.bincount(joint, minlength=4096), (seeds - 1) / 4096) > ALPHA


def test_the_test_sees_a_weak_shuffle():
    random = np.random.default_rng(0)
    rotated = (np.arange(10) + random.integers(0, 20, 100_000)[:, None]) % 20
    assert p_value(np.bincount(rotated[:, 3], minlength=20), 5000) > ALPHA  # uniform one by one
    hits = (rotated < 10).sum(axis=1)
    law = stats.hypergeom(20, 10, 10).pmf(np.arange(11))
    assert p_value(np.bincount(hits, minlength=11), law * 100_000) < 1e-100


@pytest.mark.parametrize("replacement", [True, False])
def test_sampled_ranks_follow_their_kernel(replacement):
    """From the scorer to the rank: a target at rank R of N among n candidates."""
    n_users, n_items, true_rank, size = 200_000, 60, 9, 15
    scorer = FactorScorer(np.ones((n_users, 1)), np.arange(n_items, 0, -1.0)[:, None])
    sample = sample_ranks(
        scorer,
        (np.arange(n_users), np.full(n_users, true_rank - 1)),
        design=Uniform(size, replacement=replacement),
        rng=5,
    )
    if replacement:
        law = stats.binom(size - 1, (true_rank - 1) / (n_items - 1))
    else:
        law = stats.hypergeom(n_items - 1, true_rank - 1, size - 1)
    observed = np.bincount(sample.rows.rank - 1, minlength=size)
    assert p_value(observed, law.pmf(np.arange(size)) * n_users) > ALPHA


def test_random_ties_place_a_target_uniformly():
    n_users = 100_000
    scorer = CallableScorer(lambda users, items: np.zeros(items.shape), n_items=30)
    targets = (np.arange(n_users), np.arange(n_users) % 30)
    ranks = sample_ranks(scorer, targets, design="sampled:10", rng=2).rows.rank
    assert p_value(np.bincount(ranks - 1, minlength=10), n_users / 10) > ALPHA


def test_items_of_a_pool_with_holes_are_uniform():
    n_users = 50_000
    users = np.repeat(np.arange(n_users), 3)
    items = np.tile([0, 17, 18], n_users)
    pools = make_pools(clean_targets((users, items), n_users=None, n_items=40), n_items=40)
    groups = np.arange(n_users)
    count = np.full(n_users, 10)
    for replacement in (True, False):
        out = pools.draw(9, groups, np.zeros_like(groups), count, replacement=replacement)
        observed = np.bincount(out.ravel(), minlength=40)
        assert observed[[0, 17, 18]].sum() == 0
        scale = 1.0 if replacement else 36 / 27
        left = np.delete(observed, [0, 17, 18])
        assert p_value(left, n_users * 10 / 37, scale=scale) > ALPHA
