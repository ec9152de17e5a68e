"""Adaptive ranks of the device are those of the CPU, level by level."""

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array

from fullrank.designs import Adaptive
from fullrank.errors import InputError
from fullrank.ranking import sample_ranks
from fullrank.scorers import FactorScorer

KEY = 2**63 + 12345
pytestmark = pytest.mark.slow
COLUMNS = ("rank", "sample_size", "offset", "n_items")


def same(scorer, targets, design, **how):
    """The sample of the device, after comparing it with the CPU's."""
    how = {"rng": KEY, "design": design, **how}
    here, there = (sample_ranks(scorer, targets, device=one, **how) for one in (None, "cuda"))
    for name in COLUMNS:
        a, b = (getattr(one.rows, name) for one in (here, there))
        np.testing.assert_array_equal(a, b, err_msg=name)
    assert here.design == there.design
    return there


def world(seed, *, n_users=4, n_items=60, d=3, whole=True):
    """Factors, and for the first users targets at the top, in the middle and at the bottom."""
    random = np.random.default_rng(seed)
    users, items = (random.standard_normal((n, d)).astype(np.float32) for n in (n_users, n_items))
    if whole:
        users, items = np.round(users), np.round(items)
    order = np.argsort(-(users.astype(np.float64) @ items.T), axis=1, kind="stable")
    return FactorScorer(users, items), order, random


def test_targets_go_on_while_they_are_at_the_top():
    scorer, order, _ = world(0)
    targets = ([0, 1, 2, 3], [order[0, 0], order[1, 30], order[2, 2], order[3, 0]])
    sample = same(scorer, targets, "adaptive:4,limit=50,replacement=true")
    assert np.unique(sample.rows.sample_size).size > 1


@pytest.mark.verify
@pytest.mark.parametrize("ties", ["best", "worst", "random"])
def test_several_targets_each_go_on_by_themselves(ties):
    scorer, order, random = world(1)
    users = np.repeat([0, 2], 3)
    targets = (users, np.concatenate([order[0, [0, 1, 40]], order[2, [0, 5, 9]]]))
    exclude = csr_array(random.random((4, 60)) < 0.2)
    design = "adaptive:4,limit=40,growth=3,refine_rank=2,replacement=true"
    sample = same(scorer, targets, design, ties=ties, exclude=exclude)
    assert np.unique(sample.rows.sample_size).size > 1


@pytest.mark.verify
def test_a_pool_that_ends_gives_an_exact_rank():
    scorer, order, _ = world(2, n_items=9, whole=False)
    sample = same(scorer, ([0, 1], [order[0, 0], order[1, 4]]), "adaptive:5,limit=9")
    assert (sample.rows.rank[0], sample.rows.sample_size[0]) == (1, 9)


@pytest.mark.verify
def test_pools_without_seen_items():
    scorer, order, random = world(3, n_items=1_100)
    exclude = csr_array(random.random((4, 1_100)) < 0.03)
    targets = ([0, 1], order[[0, 1], [0, 3]])
    same(scorer, targets, "adaptive:4,limit=30,pool=unseen", exclude=exclude)


@pytest.mark.verify
def test_nan_at_a_later_level_is_the_error_of_the_cpu():
    scorer, order, _ = world(4, n_users=1, whole=False)
    best = order[0, 0]
    scorer.item_factors[17] = np.nan
    errors = []
    for device in (None, "cuda"):
        with pytest.raises(InputError, match=r"item row 17\b.*NaN") as caught:
            sample_ranks(
                scorer,
                ([0], [best]),
                design="adaptive:2,limit=200,replacement=true",
                rng=3,
                device=device,
            )
        errors.append(str(caught.value))
    assert errors[0] == errors[1]


@pytest.mark.gpu
@pytest.mark.parametrize("n_items", [100, 2_000, 100_000])
@pytest.mark.parametrize("replacement", [False, True])
def test_larger_worlds(n_items, replacement):
    scorer, _, random = world(5, n_users=3_000, n_items=n_items, d=16, whole=n_items == 2_000)
    targets = np.divmod(np.unique(random.integers(0, 3_000 * n_items, 5_000)), n_items)
    exclude = random_array((3_000, n_items), density=0.01, rng=1, format="csr")
    design = Adaptive(10, refine_rank=2, replacement=replacement)
    same(scorer, targets, design, exclude=exclude)
